//===- ScheduleOps.h - Schedules as transform operations --------*- C++ -*-===//
//
// The generated operations of dialect/schedule/ScheduleOps.td, and their
// registration.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_SCHEDULEOPS_H
#define CCN_LIB_TRANSFORMS_SCHEDULEOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

namespace mlir::transform {

/// Adds the memory effects, which are the same for every primitive.
void primitiveEffects(
    Operation *op,
    llvm::SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

} // namespace mlir::transform

#define GET_OP_CLASSES
#include "dialect/schedule/ScheduleOps.h.inc"

namespace ccn {

/// Adds ccn's schedule operations to the transform dialect.
void registerScheduleOps(mlir::DialectRegistry &registry);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_SCHEDULEOPS_H
