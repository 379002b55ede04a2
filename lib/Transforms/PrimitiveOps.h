//===- PrimitiveOps.h - What primitives of schedules share ------*- C++ -*-===//
//
// Each primitive is a transform operation whose `apply` stands beside its
// rewrite. None consumes its handles: several may hold one operation, or one
// that is in another's region. What a primitive erases leaves all handles.
// Errors are reported at the schedule's line, with a note at the program's.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H
#define CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/Rewrites.h"
#include "lib/Transforms/ScheduleOps.h"

namespace ccn {

/// What handles hold.
OpSet payload(mlir::transform::TransformState &state, mlir::Value handle);
llvm::SmallVector<OpSet> payloads(mlir::transform::TransformState &state,
                                  mlir::ValueRange handles);

/// The one number that a param holds; reports anything else.
std::optional<int64_t> integerOf(mlir::transform::TransformState &state,
                                 mlir::Value param, mlir::Operation *op);

/// The one program that a handle holds; reports anything else.
ProgramOp programOf(mlir::transform::TransformState &state, mlir::Value handle,
                    mlir::Operation *op);

/// Remarks what a primitive saved, if it was applied and remarks are asked for.
class Applied {
public:
  /// The primitive's operands hold the program, or operations of it.
  Applied(mlir::Operation *primitive, mlir::transform::TransformState &state);

  mlir::DiagnosedSilenceableFailure success();

private:
  mlir::Operation *primitive;
  ProgramOp program;
  Traffic before;
};

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H
