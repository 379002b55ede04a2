//===- Matmul.cpp - Matrix products ---------------------------------------===//
//
// Checks the shapes and calls the runtime's kernel for one batch after the
// other.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Matmul.h"

#include "runtime/tensor/MatrixProduct.h"

namespace ccn::interp {

using runtime::elementCount;
using runtime::ElementType;
using runtime::Shape;
using runtime::sizeInBytes;

Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b) {
  auto refuse = [&](const char *expected) {
    return error("matmul expects ", expected, ", found ", a.describe(), " and ",
                 b.describe());
  };
  if (a.type() != b.type())
    return refuse("operands of one element type");
  if (a.type() == ElementType::Bool)
    return refuse("numbers");
  if (a.rank() < 2 || b.rank() < 2)
    return refuse("operands of rank at least 2");
  Shape batchA(a.shape().begin(), a.shape().end() - 2);
  Shape batchB(b.shape().begin(), b.shape().end() - 2);
  if (!batchA.empty() && !batchB.empty() && batchA != batchB)
    return refuse("equal batch dimensions or an operand of rank 2");
  runtime::MatrixSizes sizes = {a.size(a.rank() - 2), b.size(b.rank() - 1),
                                a.size(a.rank() - 1)};
  if (sizes.k != b.size(b.rank() - 2))
    return refuse("as many columns on the left as rows on the right");

  Shape shape = batchA.empty() ? batchB : batchA;
  int64_t batches = *elementCount(shape);
  shape.push_back(sizes.m);
  shape.push_back(sizes.n);
  Result<HostTensor> result = HostTensor::uninitialized(a.type(), shape);
  if (!result || result->count() == 0)
    return result;
  int64_t aStep = batchA.empty() ? 0 : sizes.m * sizes.k;
  int64_t bStep = batchB.empty() ? 0 : sizes.k * sizes.n;
  int64_t size = sizeInBytes(a.type());
  std::byte *out = result->mutableData();
  // Small products are many; the memory is larger than their matrices.
  thread_local runtime::Workspace workspace;
  for (int64_t i = 0; i < batches; ++i)
    if (Status status = runtime::multiplyMatrices(
            a.type(), sizes, {a.data() + i * aStep * size, sizes.k, 1},
            {b.data() + i * bStep * size, sizes.n, 1},
            out + i * sizes.m * sizes.n * size, sizes.n, 1, workspace);
        !status)
      return status;
  return result;
}

} // namespace ccn::interp
