//===- Kernels.h - What a rank computes with its parts ----------*- C++ -*-===//
//
// Everything that operations of a program compute, as opposed to where tensors
// lie and how they move: an interface, so that the one executor of a rank
// serves numbers as well as other values that tensors can hold, such as
// expressions.
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

/// Each method computes what the function of its name does with numbers, for
/// operands of the shapes that it takes. `type` is the operands' element type
/// in the program; the tensors themselves have storageOf(type).
class Kernels {
public:
  virtual ~Kernels() = default;

  /// The element type of the tensors that stand for those of `type`.
  virtual ElementType storageOf(ElementType type) = 0;

  /// A scalar of a float type.
  virtual Result<HostTensor> real(ElementType type, double value) = 0;
  /// A scalar of an integer type or bool; of u64, in two's complement.
  virtual Result<HostTensor> integer(ElementType type, int64_t value) = 0;
  virtual Result<HostTensor> zeros(ElementType type, const Shape &shape) = 0;
  /// A tensor of elements that none may use, and that cause no new failures:
  /// NaN, or of a type without, copies of `row`, which repeats to `shape`.
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
  /// `seed` is a scalar; a negative one stands for its pattern in two's
  /// complement of 64 bits.
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

/// The kernels on numbers. Without state, so threads may share them.
Kernels &numericKernels();

} // namespace ccn::interp

#endif // CCN_INTERPRETER_KERNELS_H
