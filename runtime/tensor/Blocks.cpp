//===- Blocks.cpp - Loads and stores of compute types ---------------------===//
//
// One loop for each pair of an element type and a compute type.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Blocks.h"

#include "runtime/tensor/NarrowFloat.h"

#include <cassert>

namespace ccn::runtime {

namespace {

template <typename Element, typename Compute>
void loadAs(const std::byte *data, int64_t first, int64_t n, Compute *out) {
  const Element *in = reinterpret_cast<const Element *>(data) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Compute>(in[i]);
}

template <typename Element, typename Compute>
void storeAs(std::byte *data, int64_t first, int64_t n, const Compute *in) {
  Element *out = reinterpret_cast<Element *>(data) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Element>(in[i]);
}

template <typename Format, typename Bits, typename Compute>
void decodeBlock(const std::byte *data, int64_t first, int64_t n,
                 Compute *out) {
  const Bits *in = reinterpret_cast<const Bits *>(data) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = decodeAs<Format>(in[i]);
}

template <typename Format, typename Bits, typename Compute>
void encodeBlock(std::byte *data, int64_t first, int64_t n, const Compute *in) {
  Bits *out = reinterpret_cast<Bits *>(data) + first;
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<Bits>(encodeAs<Format>(in[i]));
}

template <typename Compute>
void loadFloats(ElementType type, const std::byte *data, int64_t first,
                int64_t n, Compute *out) {
  switch (type) {
  case ElementType::F64:
    return loadAs<double>(data, first, n, out);
  case ElementType::F32:
    return loadAs<float>(data, first, n, out);
  case ElementType::F16:
    return decodeBlock<F16Format, uint16_t>(data, first, n, out);
  case ElementType::BF16:
    return decodeBlock<BF16Format, uint16_t>(data, first, n, out);
  case ElementType::F8E4M3:
    return decodeBlock<F8E4M3Format, uint8_t>(data, first, n, out);
  case ElementType::F8E5M2:
    return decodeBlock<F8E5M2Format, uint8_t>(data, first, n, out);
  default:
    assert(false && "not a float type");
  }
}

template <typename Compute>
void storeFloats(ElementType type, std::byte *data, int64_t first, int64_t n,
                 const Compute *in) {
  switch (type) {
  case ElementType::F64:
    return storeAs<double>(data, first, n, in);
  case ElementType::F32:
    return storeAs<float>(data, first, n, in);
  case ElementType::F16:
    return encodeBlock<F16Format, uint16_t>(data, first, n, in);
  case ElementType::BF16:
    return encodeBlock<BF16Format, uint16_t>(data, first, n, in);
  case ElementType::F8E4M3:
    return encodeBlock<F8E4M3Format, uint8_t>(data, first, n, in);
  case ElementType::F8E5M2:
    return encodeBlock<F8E5M2Format, uint8_t>(data, first, n, in);
  default:
    assert(false && "not a float type");
  }
}

template <typename Compute>
void loadIntegers(ElementType type, const std::byte *data, int64_t first,
                  int64_t n, Compute *out) {
  withInteger(type,
              [&](auto zero) { loadAs<decltype(zero)>(data, first, n, out); });
}

template <typename Compute>
void storeIntegers(ElementType type, std::byte *data, int64_t first, int64_t n,
                   const Compute *in) {
  if (type == ElementType::Bool)
    return storeBools(data, first, n, in);
  withInteger(type,
              [&](auto zero) { storeAs<decltype(zero)>(data, first, n, in); });
}

} // namespace

void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          double *out) {
  loadFloats(type, data, first, n, out);
}

void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          float *out) {
  assert(type != ElementType::F64 && "f64 computes in double");
  loadFloats(type, data, first, n, out);
}

void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          int64_t *out) {
  loadIntegers(type, data, first, n, out);
}

void load(ElementType type, const std::byte *data, int64_t first, int64_t n,
          uint64_t *out) {
  loadIntegers(type, data, first, n, out);
}

void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const double *in) {
  storeFloats(type, data, first, n, in);
}

void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const float *in) {
  storeFloats(type, data, first, n, in);
}

void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const int64_t *in) {
  storeIntegers(type, data, first, n, in);
}

void store(ElementType type, std::byte *data, int64_t first, int64_t n,
           const uint64_t *in) {
  storeIntegers(type, data, first, n, in);
}

} // namespace ccn::runtime
