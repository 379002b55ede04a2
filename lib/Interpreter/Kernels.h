//===- Kernels.h - The computations of a rank -------------------*- C++ -*-===//
//
// An interface to all computations of a program's operations, as opposed to
// where tensors lie and how they move. With it, the same executor works on
// numbers and on other values that tensors can hold, such as expressions.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_KERNELS_H
#define CCN_INTERPRETER_KERNELS_H

#include "lib/Interpreter/Conv.h"
#include "lib/Interpreter/Elementwise.h"
#include "lib/Interpreter/Reduce.h"
#include "runtime/tensor/Random.h"

namespace ccn::interp {

using runtime::ElementType;
using runtime::GlobalPosition;
using runtime::HostTensor;
using runtime::Shape;

/// Each method does what the function of the same name does on numbers, for the
/// same shapes of operands. `type` is the operands' element type in the
/// program; the tensors themselves have the type storageOf(type).
class Kernels {
public:
  virtual ~Kernels() = default;

  /// The element type of the tensors that represent tensors of `type`.
  virtual ElementType storageOf(ElementType type) = 0;

  /// A scalar of a float type.
  virtual Result<HostTensor> real(ElementType type, double value) = 0;
  /// A scalar of an integer type or bool. For u64, `value` has the same bits.
  virtual Result<HostTensor> integer(ElementType type, int64_t value) = 0;
  virtual Result<HostTensor> zeros(ElementType type, const Shape &shape) = 0;
  /// A tensor of elements that no operation may use, and that cause no new
  /// failures: NaN or, for types without NaN, copies of `row`, which is
  /// broadcast to `shape`.
  virtual Result<HostTensor> spoiled(ElementType type, const HostTensor &row,
                                     const Shape &shape) = 0;

  virtual Result<HostTensor>
  elementwise(const ElementwiseFunction &function, ElementType type,
              std::span<const HostTensor> operands) = 0;
  virtual Result<HostTensor> compare(CompareOp op, ElementType type,
                                     const HostTensor &a,
                                     const HostTensor &b) = 0;
  virtual Result<HostTensor> select(const HostTensor &condition,
                                    const HostTensor &a,
                                    const HostTensor &b) = 0;
  virtual Result<HostTensor> cast(ElementType from, ElementType to,
                                  const HostTensor &x) = 0;
  /// `seed` is an integer scalar; its 64 bits in two's complement are the seed.
  virtual Result<HostTensor> dropout(const HostTensor &x, double rate,
                                     const HostTensor &seed,
                                     const GlobalPosition &position) = 0;
  /// Of i64s: each element's index along a dimension, from `first` on.
  virtual Result<HostTensor> iota(const Shape &shape, size_t dim,
                                  int64_t first) = 0;

  virtual Result<HostTensor> matmul(const HostTensor &a,
                                    const HostTensor &b) = 0;
  virtual Result<HostTensor> conv2d(const HostTensor &x, const HostTensor &w,
                                    const Conv2dOptions &options) = 0;
  virtual Result<HostTensor> reduce(ReduceKind kind, ElementType type,
                                    const HostTensor &x,
                                    const std::vector<int64_t> &dims,
                                    double meanDivisor) = 0;
  virtual Result<HostTensor>
  combine(ReduceKind kind, ElementType type,
          const std::vector<HostTensor> &tensors) = 0;
  virtual Result<HostTensor> gatherRows(const HostTensor &table,
                                        const HostTensor &indices) = 0;
  virtual Result<HostTensor> scatterRows(const HostTensor &x,
                                         const HostTensor &indices,
                                         const HostTensor &rows) = 0;
};

/// The kernels on numbers. They have no state, so threads may share them.
Kernels &numericKernels();

} // namespace ccn::interp

#endif // CCN_INTERPRETER_KERNELS_H
