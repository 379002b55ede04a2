//===- Kernels.cpp - The computations of a rank ---------------------------===//
//
// The kernels on numbers: each calls the function of the same name.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Kernels.h"

#include "lib/Interpreter/Matmul.h"
#include "lib/Interpreter/Movement.h"

#include <limits>

namespace ccn::interp {

using runtime::isFloat;

namespace {

class NumericKernels : public Kernels {
public:
  ElementType storageOf(ElementType type) override { return type; }

  Result<HostTensor> real(ElementType type, double value) override {
    return HostTensor::splat(type, {}, value);
  }
  Result<HostTensor> integer(ElementType type, int64_t value) override {
    return HostTensor::splatInteger(type, {}, value);
  }
  Result<HostTensor> zeros(ElementType type, const Shape &shape) override {
    return HostTensor::zeros(type, shape);
  }
  Result<HostTensor> spoiled(ElementType type, const HostTensor &row,
                             const Shape &shape) override {
    if (!isFloat(type))
      return broadcastTo(row, shape);
    return HostTensor::splat(type, shape,
                             std::numeric_limits<double>::quiet_NaN());
  }

  Result<HostTensor>
  elementwise(const ElementwiseFunction &function, ElementType,
              std::span<const HostTensor> operands) override {
    return interp::elementwise(function, operands);
  }
  Result<HostTensor> compare(CompareOp op, ElementType, const HostTensor &a,
                             const HostTensor &b) override {
    return interp::compare(op, a, b);
  }
  Result<HostTensor> select(const HostTensor &condition, const HostTensor &a,
                            const HostTensor &b) override {
    return interp::select(condition, a, b);
  }
  Result<HostTensor> cast(ElementType, ElementType to,
                          const HostTensor &x) override {
    return interp::cast(x, to);
  }
  Result<HostTensor> dropout(const HostTensor &x, double rate,
                             const HostTensor &seed,
                             const GlobalPosition &position) override {
    return runtime::dropout(x, rate, static_cast<uint64_t>(seed.integerAt(0)),
                            position);
  }
  Result<HostTensor> iota(const Shape &shape, size_t dim,
                          int64_t first) override {
    Result<HostTensor> indices =
        HostTensor::uninitialized(ElementType::I64, shape);
    if (!indices)
      return indices;
    int64_t stride = runtime::rowMajorStrides(shape)[dim];
    auto *values = indices->mutableDataAs<int64_t>();
    for (int64_t i = 0; i < indices->count(); ++i)
      values[i] = first + i / stride % shape[dim];
    return indices;
  }

  Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b) override {
    return interp::matmul(a, b);
  }
  Result<HostTensor> conv2d(const HostTensor &x, const HostTensor &w,
                            const Conv2dOptions &options) override {
    return interp::conv2d(x, w, options);
  }
  Result<HostTensor> reduce(ReduceKind kind, ElementType, const HostTensor &x,
                            const std::vector<int64_t> &dims,
                            double meanDivisor) override {
    return interp::reduce(kind, x, dims, meanDivisor);
  }
  Result<HostTensor> combine(ReduceKind kind, ElementType,
                             const std::vector<HostTensor> &tensors) override {
    return interp::combine(kind, tensors);
  }
  Result<HostTensor> gatherRows(const HostTensor &table,
                                const HostTensor &indices) override {
    return interp::gatherRows(table, indices);
  }
  Result<HostTensor> scatterRows(const HostTensor &x, const HostTensor &indices,
                                 const HostTensor &rows) override {
    return interp::scatterRows(x, indices, rows);
  }
};

} // namespace

Kernels &numericKernels() {
  static NumericKernels kernels;
  return kernels;
}

} // namespace ccn::interp
