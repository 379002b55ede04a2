//===- Elementwise.cpp - The list of elementwise operations ---------------===//
//
// Finds elementwise operations and their functions.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

using namespace mlir;
using namespace ccn;

bool ccn::isElementwise(Operation *op) {
  return isa<ElementwiseOpInterface>(op);
}

const ElementwiseFunction *ccn::functionOf(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  return elementwise ? elementwise.getFunction() : nullptr;
}

namespace {

template <typename Op>
void addFunction(SmallVectorImpl<const ElementwiseFunction *> &functions) {
  if constexpr (Op::template hasTrait<ElementwiseOpInterface::Trait>())
    if (const ElementwiseFunction *function = Op::getFunction())
      functions.push_back(function);
}

template <typename... Ops>
SmallVector<const ElementwiseFunction *> functionsOf() {
  SmallVector<const ElementwiseFunction *> functions;
  (addFunction<Ops>(functions), ...);
  return functions;
}

} // namespace

ArrayRef<const ElementwiseFunction *> ccn::elementwiseFunctions() {
  static const auto functions = functionsOf<
#define GET_OP_LIST
#include "dialect/ccn/CcnOps.cpp.inc"
      >();
  return functions;
}

const ElementwiseFunction *ccn::findElementwise(StringRef name) {
  for (const ElementwiseFunction *function : elementwiseFunctions())
    if (name == StringRef(function->name))
      return function;
  return nullptr;
}
