//===- TensorMap.h - Tensors that are copied in boxes -----------*- C++ -*-===//
//
// What a CUtensorMap holds here: the fake driver encodes it, and so do tests
// that have no driver; and copies of boxes between the tensor and shared
// memory, as the hardware does them when their time has come (Hopper.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_TENSORMAP_H
#define CCN_TEST_COMMON_EMULATOR_TENSORMAP_H

#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/GpuProgram.h"

#include <cstdint>
#include <span>

namespace ccn::emulator {

/// Dimensions begin with the innermost one, as the driver and PTX have them.
struct TensorMap {
  static constexpr uint64_t right = 0x70616d726f736e65;
  static constexpr int maxDims = 5;

  /// Of a map that was encoded.
  uint64_t magic = 0;
  char *address = nullptr;
  uint64_t sizes[maxDims] = {};
  /// In bytes, of all but the innermost dimension.
  uint64_t strides[maxDims - 1] = {};
  uint16_t box[maxDims] = {};
  uint8_t elementBytes = 0, dims = 0, swizzle = 0;

  /// The bytes that a box has in shared memory.
  size_t boxBytes() const;
  /// Copies the box at these indices to or from shared memory.
  void load(char *to, const int *at) const;
  void store(const char *from, const int *at) const;
  /// Why the hardware could not do that, with so many indices; null if it can.
  const char *whyNot(const char *shared, const int *at, int indices) const;

private:
  template <typename Copy> void forEachUnit(const int *at, Copy copy) const;
};
static_assert(sizeof(TensorMap) <= sizeof(CcnTensorMap));

/// The map of a tensor of a program, at an address; zeros if it has no
/// elements.
CcnTensorMap encode(const runtime::GpuTensorMap &tensor, void *address);
/// The maps of a launch, for a kernel that gets these addresses and this
/// context.
std::vector<CcnTensorMap> encodeAll(const runtime::Plan &plan,
                                    const runtime::GpuProgram &program,
                                    const runtime::GpuLaunch &launch,
                                    const CcnContext &context,
                                    std::span<void *const> addresses);
/// What a map says that was encoded here; its `magic` may be wrong.
TensorMap decode(const void *map);

/// Where a byte of shared memory is that is swizzled within so many bytes; each
/// way.
inline uintptr_t swizzled(uintptr_t address, int bytes) {
  uintptr_t bits = bytes == 128 ? 7 : bytes == 64 ? 3 : bytes == 32 ? 1 : 0;
  return address ^ (address >> 7 & bits) << 4;
}

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_TENSORMAP_H
