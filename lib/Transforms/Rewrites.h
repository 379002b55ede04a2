//===- Rewrites.h - What schedules do to programs ---------------*- C++ -*-===//
//
// The rewrites behind both the schedule operations and the passes. Each checks
// its numbered conditions first and changes nothing if one does not hold, so a
// schedule is legal by construction.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_REWRITES_H
#define CCN_LIB_TRANSFORMS_REWRITES_H

#include "dialect/Ccn.h"

#include "mlir/IR/PatternMatch.h"

namespace ccn {

/// The operations that a name of a schedule stands for, in program order.
using OpSet = llvm::SmallVector<mlir::Operation *>;

/// Starts an error at the line of the schedule (or pass) that asked.
using EmitRefusal = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Reports that a condition does not hold, with a note at the operation of the
/// program that shows it (may be null).
mlir::LogicalResult refuse(EmitRefusal emit, llvm::StringRef condition,
                           const llvm::Twine &message, mlir::Operation *at);

/// The operations that a name stands for: those that the program's statement of
/// that name made, or those that a schedule gave the name.
OpSet findByName(ProgramOp program, llvm::StringRef name);
/// Gives operations a name, beside those that they have.
void addTag(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef name);

/// Leaves in the results of stores only what the next store needs; the rewrites
/// below expect that. Reading an argument after a store then reads the value.
void forwardStores(ProgramOp program);

enum class SplitForm { ReduceScatterAllGather, ReduceBroadcast, Hierarchical };

/// `rs_ag`, `reduce_broadcast`, `hierarchical`; none for other names.
std::optional<SplitForm> splitFormByName(llvm::StringRef name);

/// all_reduce → reduce_scatter, all_gather (along dimension 0) | reduce,
/// broadcast (root 0) | reduce_scatter along the last axis, all_reduce along
/// the others, all_gather along the last.
///
/// - `split_c1`: the value holds one all_reduce.
/// - `split_c2`: to scatter, the tensor has a dimension.
/// - `split_c3`: `reduce_broadcast` goes along one axis.
/// - `split_c4`: `hierarchical` goes along two axes or more.
mlir::FailureOr<OpSet> split(mlir::RewriterBase &rewriter,
                             llvm::ArrayRef<mlir::Operation *> value,
                             SplitForm form, EmitRefusal emit);

struct Reordered {
  /// The computations, now on slices.
  OpSet computations;
  /// The gathers of what is needed whole.
  OpSet gathers;
};

/// Moves an all_gather below computations, which then run on slices.
///
/// - `reorder_c1`: the first value holds one all_gather.
/// - `reorder_c2`: each value after it depends on it.
/// - `reorder_c3`: all operations between can run on slices of that dimension.
/// - `reorder_c4`: none of them is in a fused region.
mlir::FailureOr<Reordered> reorder(mlir::RewriterBase &rewriter,
                                   llvm::ArrayRef<mlir::Operation *> gather,
                                   llvm::ArrayRef<OpSet> after,
                                   EmitRefusal emit);

/// Stores an inout argument in slices.
///
/// - `slice_state_c1`: it is an inout argument.
/// - `slice_state_c2`: it is stored to, and every store is a gather of slices
/// that
///   are cut in the same way.
/// - `slice_state_c3`: every other use needs its slice only.
mlir::LogicalResult sliceState(mlir::RewriterBase &rewriter, ProgramOp program,
                               unsigned argument, EmitRefusal emit);

/// Makes operations one kernel.
///
/// - `fuse_c1`: there are two operations at least, none in a fused region.
/// - `fuse_c2`: they are connected by the values that they make and use, unless
///   all are collectives of one kind.
/// - `fuse_c3`: no path of the program leaves the set and comes back.
/// - `fuse_c4`: one skeleton fits.
mlir::FailureOr<FusedOp> fuse(mlir::RewriterBase &rewriter,
                              llvm::ArrayRef<mlir::Operation *> ops,
                              EmitRefusal emit);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_REWRITES_H
