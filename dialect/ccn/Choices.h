//===- Choices.h - How collectives are to run -------------------*- C++ -*-===//
//
// What schedules say of a collective by its attributes, or by those of the
// kernel that it is in.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_CHOICES_H
#define CCN_DIALECT_CCN_CHOICES_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// How a schedule says that a collective is to run, by kAlgorithmAttr or
/// kProtocolAttr: for itself, or for the kernel that it is in. Null if it does
/// not.
mlir::Attribute choiceFor(mlir::Operation *op, llvm::StringRef name);

} // namespace ccn

#endif // CCN_DIALECT_CCN_CHOICES_H
