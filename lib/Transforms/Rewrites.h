//===- Rewrites.h - The rewrites of schedules -------------------*- C++ -*-===//
//
// The rewrites that both the schedule operations and the passes apply. Each
// checks its numbered conditions first, and changes nothing if one does not
// hold. So schedules are legal by construction.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_REWRITES_H
#define CCN_LIB_TRANSFORMS_REWRITES_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace ccn {

/// The operations that a name of a schedule stands for, in program order.
using OpSet = llvm::SmallVector<mlir::Operation *>;

/// Starts an error at the line of the schedule, or at the pass, that asked for
/// a rewrite.
using EmitRefusal = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Reports that a condition does not hold, with a note at the operation of the
/// program that shows it (may be null).
mlir::LogicalResult refuse(EmitRefusal emit, llvm::StringRef condition,
                           const llvm::Twine &message, mlir::Operation *at);

/// All names that operations of a program have.
llvm::StringSet<> namesIn(ProgramOp program);

/// The operations that a name stands for: those of the program's statement with
/// that name, or those to which a schedule gave the name.
OpSet findByName(ProgramOp program, llvm::StringRef name);
/// The same for all names that the program has.
using NamedOps = llvm::MapVector<llvm::StringRef, OpSet>;
NamedOps findAllNames(ProgramOp program);
/// The same for each of several names.
llvm::SmallVector<OpSet> findAllByName(ProgramOp program,
                                       llvm::ArrayRef<std::string> names);
/// Gives operations a name, in addition to the names that they have.
void addTag(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef name);

/// Gives an operation the names of another, in the program and in schedules.
void copyNames(mlir::Operation *from, mlir::Operation *to);

/// The only one of the operations that moves data between ranks: a collective,
/// or a region that contains one. Null if there is none, or several.
mlir::Operation *findCommunicating(llvm::ArrayRef<mlir::Operation *> value);

/// Replaces uses of a store's result by the stored value, except in the next
/// store. So reading an argument after a store reads the value; the rewrites
/// below expect this form.
void forwardStores(ProgramOp program);

enum class SplitForm { ReduceScatterAllGather, ReduceBroadcast, Hierarchical };

/// The form with the name `rs_ag`, `reduce_broadcast` or `hierarchical`; none
/// for other names.
std::optional<SplitForm> splitFormByName(llvm::StringRef name);

/// Replaces an all_reduce by reduce_scatter and all_gather (along dimension 0),
/// by reduce and broadcast (root 0), or by a reduce_scatter along the last
/// axis, an all_reduce along the other axes, and an all_gather along the last
/// axis. Sums and products of 16- and 8-bit floats stay in f32 between two
/// reductions: the first part begins with a cast, and the second ends with one.
///
/// - `split_c1`: the value holds one all_reduce.
/// - `split_c2`: to scatter, the tensor has a dimension.
/// - `split_c3`: `reduce_broadcast` goes along one axis.
/// - `split_c4`: `hierarchical` goes along two axes or more.
/// - `split_c5`: the all_reduce is not in a region.
/// - `split_c6`: `hierarchical` needs no other pending reduction on a sum or
///   product of 16- or 8-bit floats.
mlir::FailureOr<llvm::SmallVector<OpSet>>
split(mlir::RewriterBase &rewriter, llvm::ArrayRef<mlir::Operation *> value,
      SplitForm form, EmitRefusal emit);

/// The operations that a reorder has made.
struct Reordered {
  /// The computations, now on slices.
  OpSet computations;
  /// The gathers of values that are needed whole.
  OpSet gathers;
};

/// Moves an all_gather below computations, which then run on slices.
///
/// - `reorder_c1`: the first value holds one all_gather.
/// - `reorder_c2`: each value after it depends on it.
/// - `reorder_c3`: all operations between them can run on slices of that
///   dimension.
/// - `reorder_c4`: none of them is in a fused region.
mlir::FailureOr<Reordered> reorder(mlir::RewriterBase &rewriter,
                                   llvm::ArrayRef<mlir::Operation *> gather,
                                   llvm::ArrayRef<OpSet> after,
                                   EmitRefusal emit);
/// Checks whether that can be done.
mlir::LogicalResult checkReorder(mlir::RewriterBase &rewriter,
                                 llvm::ArrayRef<mlir::Operation *> gather,
                                 llvm::ArrayRef<OpSet> after, EmitRefusal emit);

/// Stores an inout argument in slices.
///
/// - `slice_state_c1`: it is an inout argument.
/// - `slice_state_c2`: it is stored to, and every store is a gather of slices
///   that are cut in the same way.
/// - `slice_state_c3`: every other use needs only its slice.
/// - `slice_state_c4`: it is not scattered.
mlir::LogicalResult sliceState(mlir::RewriterBase &rewriter, ProgramOp program,
                               unsigned argument, EmitRefusal emit);

/// Makes operations one kernel.
///
/// - `fuse_c1`: there are at least two operations, none in a fused region.
/// - `fuse_c2`: they are connected by values that they compute and use, unless
///   all are collectives of one kind.
/// - `fuse_c3`: no path of the program leaves the set and comes back.
/// - `fuse_c4`: one skeleton fits.
/// - `choose_c3`: NCCL is not to run one of them.
mlir::FailureOr<FusedOp> fuse(mlir::RewriterBase &rewriter,
                              llvm::ArrayRef<mlir::Operation *> ops,
                              EmitRefusal emit);
/// Checks whether that can be done.
mlir::LogicalResult checkFuse(llvm::ArrayRef<mlir::Operation *> ops,
                              EmitRefusal emit);

/// Computes a value again for some values that use it. Gives the operations
/// that do so. ScheduleRecomputeOp has the conditions.
mlir::FailureOr<OpSet> recompute(mlir::RewriterBase &rewriter,
                                 llvm::ArrayRef<mlir::Operation *> value,
                                 llvm::ArrayRef<OpSet> users, EmitRefusal emit);

/// The number of chunks of an overlap that does not specify it: enough to hide
/// all but a quarter of the shorter side.
inline constexpr int64_t defaultChunks = 4;

/// Runs a chain of producers and consumers at the same time, in chunks along
/// one dimension.
///
/// - `overlap_c1`: there are at least two values, none in a region; a fused
///   kernel counts as one.
/// - `overlap_c2`: each value is computed from the one before it.
/// - `overlap_c3`: no path of the program leaves them and comes back.
/// - `overlap_c4`: at least one communicates.
/// - `overlap_c5`: there is a dimension along which all can be computed in
///   chunks.
/// - `overlap_c6`: there are from 1 to 65536 chunks.
mlir::FailureOr<OverlappedOp> overlap(mlir::RewriterBase &rewriter,
                                      llvm::ArrayRef<OpSet> values,
                                      int64_t chunks, EmitRefusal emit);

/// Distributes collectives over few launches. Each bucket is one launch with at
/// most `size` bytes of the ranks' parts of the tensors. A larger tensor is cut
/// into pieces along its first dimension that is not sliced. Returns the
/// buckets in order; a bucket with a single collective is that collective.
///
/// - `bucket_c1`: each value holds one collective that is not in a region.
/// - `bucket_c2`: all are the same operation, with the same attributes, element
///   type and axes.
/// - `bucket_c3`: none depends on another.
/// - `choose_c3`: NCCL is not to run one of several.
mlir::FailureOr<OpSet> bucket(mlir::RewriterBase &rewriter,
                              llvm::ArrayRef<OpSet> values, int64_t size,
                              EmitRefusal emit);

/// Makes collectives start in the given order, and gives them priorities; 0 is
/// the most urgent.
///
/// - `order_c1`: each value holds one collective, or one kernel that
///   communicates; none is named twice.
/// - `order_c2`: none depends on one that is named after it.
mlir::LogicalResult order(mlir::RewriterBase &rewriter,
                          llvm::ArrayRef<OpSet> values, EmitRefusal emit);

/// Chooses how a collective or a kernel that communicates runs: its `algorithm`
/// (a string: a name or the path of a schedule), `protocol` (a string) or `sms`
/// (an integer).
///
/// - `choose_c1`: the value holds one collective, or one kernel that
///   communicates.
/// - `choose_c2`: the algorithm implements that collective; in a kernel, all
///   collectives. A schedule in a file applies to the collectives of the kernel
///   that it implements.
/// - `choose_c3`: NCCL runs only a collective that is not in a kernel.
/// - `choose_c4`: a schedule's file can be read and is right.
/// - `choose_c5`: it is for the same collective on as many ranks.
/// - `choose_c6`: the elements are f64, f32, f16 or bf16 for `lamport`, which
///   marks elements that have not arrived by a special value.
/// - `choose_c7`: no protocol is chosen for NCCL, which chooses its own.
/// - `choose_c8`: there are from 1 to 1024 SMs.
/// - `choose_c9`: the synthesizer finds a schedule in time for the topology,
///   which has as many GPUs.
/// - `choose_c10`: a schedule forms a sum or product of floats in the same
///   order for all ranks that get it.
/// - `choose_c11`: the protocol works with the algorithm, as they are chosen
///   for a collective or for the kernel that it is in.
mlir::LogicalResult choose(llvm::StringRef what,
                           llvm::ArrayRef<mlir::Operation *> value,
                           mlir::Attribute choice, EmitRefusal emit);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_REWRITES_H
