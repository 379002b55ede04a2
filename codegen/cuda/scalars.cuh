//===- scalars.cuh - Element types and their arithmetic -------------------===//
//
// What a plan's elements are on the GPU, with the results that the runtime's
// kernels for the CPU give (runtime/NarrowFloat.h, Blocks.h, Combine.h): floats
// of 16 and 8 bits, which only convert, and how elements combine across ranks.
//
//===----------------------------------------------------------------------===//

/// Floats of 16 and 8 bits: patterns only.
struct f16 {
  unsigned short bits;
};
struct bf16 {
  unsigned short bits;
};
struct f8e4m3 {
  unsigned char bits;
};
struct f8e5m2 {
  unsigned char bits;
};
