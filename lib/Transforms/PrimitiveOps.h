//===- PrimitiveOps.h - What primitives of schedules share ------*- C++ -*-===//
//
// Each primitive is a transform operation whose `apply` is in the file of its
// rewrite. None consumes its handles: several handles may hold the same
// operation, or one in another's region. Operations that a primitive erases are
// removed from all handles. Errors are reported at the line of the schedule,
// with a note at the line of the program.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H
#define CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/Rewrites.h"
#include "lib/Transforms/ScheduleOps.h"

namespace ccn {

/// The operations that handles hold.
OpSet payload(mlir::transform::TransformState &state, mlir::Value handle);
llvm::SmallVector<OpSet> payloads(mlir::transform::TransformState &state,
                                  mlir::ValueRange handles);

/// The only number that a param holds; none, with an error reported, if it
/// holds anything else.
std::optional<int64_t> integerOf(mlir::transform::TransformState &state,
                                 mlir::Value param, mlir::Operation *op);

/// The only program that a handle holds; null, with an error reported, if it
/// holds anything else.
ProgramOp programOf(mlir::transform::TransformState &state, mlir::Value handle,
                    mlir::Operation *op);

/// Makes a remark about the traffic that a primitive saved, if it was applied
/// and remarks are enabled.
class Applied {
public:
  /// The primitive's operands must hold the program or operations of it.
  Applied(mlir::Operation *primitive, mlir::transform::TransformState &state);

  mlir::DiagnosedSilenceableFailure success();

private:
  mlir::Operation *primitive;
  ProgramOp program;
  Traffic before;
};

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_PRIMITIVEOPS_H
