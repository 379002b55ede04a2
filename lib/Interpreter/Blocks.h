//===- Blocks.h - Operands of kernels, block by block -----------*- C++ -*-===//
//
// The runtime's blocks under the interpreter's names, and operands that are
// host tensors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_BLOCKS_H
#define CCN_INTERPRETER_BLOCKS_H

#include "lib/Interpreter/HostTensor.h"
#include "runtime/tensor/Blocks.h"

namespace ccn::interp {

using runtime::addWrapping;
using runtime::blockSize;
using runtime::forEachBlock;
using runtime::load;
using runtime::maximum;
using runtime::minimum;
using runtime::multiplyWrapping;
using runtime::store;
using runtime::subtractWrapping;
using runtime::withAccumulator;
using runtime::withBits;
using runtime::withCompute;

/// An operand of an elementwise kernel, read block by block: a tensor, or a
/// scalar that stands for any number of elements.
template <typename Compute> class OperandBlocks {
public:
  explicit OperandBlocks(const HostTensor &tensor) : tensor(tensor) {
    if (tensor.rank() == 0) {
      Compute scalar;
      load(tensor.type(), tensor.data(), 0, 1, &scalar);
      std::fill(values, values + blockSize, scalar);
    }
  }

  /// Elements [first, first + n); valid until the next call.
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
