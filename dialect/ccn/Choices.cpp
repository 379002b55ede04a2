//===- Choices.cpp - How collectives are to run ---------------------------===//
//
// The operation's own attribute comes before its kernel's.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Choices.h"

using namespace mlir;
using namespace ccn;

Attribute ccn::choiceFor(Operation *op, StringRef name) {
  Attribute own = op->getAttr(name);
  auto kernel = dyn_cast<FusedOp>(op->getParentOp());
  return own || !kernel ? own : kernel->getAttr(name);
}
