//===- Blocks.h - Reads operands of kernels by blocks -----------*- C++ -*-===//
//
// Reads operands that are host tensors by blocks (runtime/tensor/Blocks.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_BLOCKS_H
#define CCN_INTERPRETER_BLOCKS_H

#include "runtime/tensor/Blocks.h"
#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::blockSize;
using runtime::HostTensor;
using runtime::load;

/// An operand of an elementwise kernel: a tensor, or a scalar that stands for
/// any number of elements.
template <typename Compute> class OperandBlocks {
public:
  explicit OperandBlocks(const HostTensor &tensor) : tensor(tensor) {
    if (tensor.rank() == 0) {
      Compute scalar;
      load(tensor.type(), tensor.data(), 0, 1, &scalar);
      std::fill(values, values + blockSize, scalar);
    }
  }

  /// Elements [first, first + n), n <= blockSize; valid until the next call.
  const Compute *get(int64_t first, int64_t n) {
    if (tensor.rank() != 0)
      load(tensor.type(), tensor.data(), first, n, values);
    return values;
  }

private:
  const HostTensor &tensor;
  Compute values[blockSize];
};

} // namespace ccn::interp

#endif // CCN_INTERPRETER_BLOCKS_H
