//===- Elementwise.h - The interpreter's functions by name ------*- C++ -*-===//
//
// Short ways to compute an elementwise function on host tensors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_ELEMENTWISE_H
#define CCN_TEST_COMMON_ELEMENTWISE_H

#include "dialect/ccn/Ccn.h"
#include "lib/Interpreter/Elementwise.h"

namespace ccn::test {

/// The function of the dialect's operation of the name.
inline const ElementwiseFunction &named(llvm::StringRef name) {
  const ElementwiseFunction *function = findElementwise(name);
  assert(function && "no elementwise operation has the name");
  return *function;
}

inline Result<runtime::HostTensor> unary(llvm::StringRef name,
                                         const runtime::HostTensor &x) {
  return interp::elementwise(named(name), {&x, 1});
}

inline Result<runtime::HostTensor> binary(llvm::StringRef name,
                                          const runtime::HostTensor &x,
                                          const runtime::HostTensor &y) {
  const runtime::HostTensor operands[] = {x, y};
  return interp::elementwise(named(name), operands);
}

} // namespace ccn::test

#endif // CCN_TEST_COMMON_ELEMENTWISE_H
