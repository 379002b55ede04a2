//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// Everything of the plan dialect: attributes, types, operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_PLAN_PLAN_H
#define CCN_DIALECT_PLAN_PLAN_H

#include "dialect/ccn/Ccn.h"

namespace ccn::plan {

/// The texts of what the trailing i1 results of a body say, on a func.func.
inline constexpr llvm::StringLiteral kFailuresAttr = "plan.failures";

} // namespace ccn::plan

#include "dialect/plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/PlanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/plan/PlanTypes.h.inc"

#include "dialect/plan/PlanDialect.h.inc"

#define GET_OP_CLASSES
#include "dialect/plan/PlanOps.h.inc"

namespace ccn::plan {

/// The memory of a buffer or view of a verified plan.
Memory memoryOf(mlir::Value view);
/// Offset and strides of a view, in elements.
std::pair<int64_t, llvm::SmallVector<int64_t>> stridesOf(mlir::Value view);
/// The operation that makes the buffer that a view is of: an ArgumentOp or a
/// BufferOp.
mlir::Operation *bufferOf(mlir::Value view);
/// The rank in whose memory a view lies, if not in the own.
std::optional<int64_t> rankOf(mlir::Value view);
/// The signless scalar type that stands in bodies for an element type.
mlir::Type scalarOf(mlir::Type element);

/// Whether the input of an exchange, or its output, is a block for each member,
/// in their order, each as large as the largest; else it is all of it in one.
bool hasBlocks(Collective what, bool isInput);

/// Checks plan_c1 to plan_c5, which concern all plans of a module: those that
/// it has, of all ranks or of some.
mlir::LogicalResult verifyPlans(mlir::ModuleOp module);

} // namespace ccn::plan

#endif // CCN_DIALECT_PLAN_PLAN_H
