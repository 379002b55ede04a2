//===- Random.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Random numbers that depend only on a seed and an element's GLOBAL index, so
// that every mesh, layout and schedule draws the same bits. They serve dropout
// and the values of program inputs that the user did not give.
//
// The generator is Philox4x32-10 of J. Salmon, M. Moraes, R. Dror, D. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_RANDOM_H
#define CCN_RUNTIME_TENSOR_RANDOM_H

#include "runtime/tensor/HostTensor.h"

#include <array>
#include <string_view>

namespace ccn::runtime {

/// The Philox4x32-10 bijection: 128 random bits for a counter and a key.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// Where a slice lies in the whole tensor: the whole tensor's shape and, for
/// each dimension, the index at which the slice begins.
struct GlobalPosition {
  Shape shape;
  Shape offsets;
};

/// Sets elements of `x` to 0 with probability `p` and multiplies the others by
/// 1 / (1 - p).
///
/// The element of global row-major index i draws 32 bits: lane i % 4 of Philox
/// with key (low, high half of seed) and counter (low, high half of i / 4, 0,
/// 0). The element is kept if u = (bits >> 8) * 2^-24 >= p, compared exactly.
/// The factor 1 / (1 - p) is computed in f64 and rounded to the compute type
/// (f64 for f64, else f32); the product is rounded once to the type. `x` is a
/// float tensor, 0 <= p <= 1.
Result<HostTensor> dropout(const HostTensor &x, double p, uint64_t seed,
                           const GlobalPosition &position);

/// The factor for the random floats of an argument that the user did not give:
/// a power of two, which is 1 for scalars, vectors and small matrices. `shape`
/// is the argument's global shape.
///
/// For larger shapes, about 8 / n, where n is the number of products in each
/// sum if the argument is the second factor of a product: the length of a
/// column, or the size of a filter. So chains of products stay far from
/// overflow in 16 bits. The factor is at least 8 times the type's smallest
/// normal number, since smaller ones would leave too few bits.
double drawScale(ElementType type, const Shape &shape);

/// The random values of an input that the user did not give: the slice of
/// `shape` at `position`.
///
/// The element of global row-major index i draws 32 bits: lane i % 4 of Philox
/// with key (low, high half of seed) and counter (low, high half of i / 4, low,
/// high half of fnv1a(stream)). Floats are ((bits >> 8) + 1) * 2^-24, uniform
/// in (0, 1], times `scale`, a power of two, rounded to the type (an 8-bit
/// float may be 0); integers are bits >> 30, in 0 .. 3; bools are bits >> 31.
Result<HostTensor> randomFill(ElementType type, const Shape &shape,
                              const GlobalPosition &position, uint64_t seed,
                              std::string_view stream, double scale = 1);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_RANDOM_H
