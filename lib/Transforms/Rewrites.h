//===- Rewrites.h - What schedules do to programs ---------------*- C++ -*-===//
//
// The rewrites behind both the schedule operations and the passes. Each checks
// its numbered conditions first and changes nothing if one does not hold, so a
// schedule is legal by construction.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_REWRITES_H
#define CCN_LIB_TRANSFORMS_REWRITES_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringSet.h"

namespace ccn {

/// The operations that a name of a schedule stands for, in program order.
using OpSet = llvm::SmallVector<mlir::Operation *>;

/// Starts an error at the line of the schedule (or pass) that asked.
using EmitRefusal = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Reports that a condition does not hold, with a note at the operation of the
/// program that shows it (may be null).
mlir::LogicalResult refuse(EmitRefusal emit, llvm::StringRef condition,
                           const llvm::Twine &message, mlir::Operation *at);

/// All names that operations of a program have.
llvm::StringSet<> namesIn(ProgramOp program);

/// The operations that a name stands for: those that the program's statement of
/// that name made, or those that a schedule gave the name.
OpSet findByName(ProgramOp program, llvm::StringRef name);
/// The same for each of several names.
llvm::SmallVector<OpSet> findAllByName(ProgramOp program,
                                       llvm::ArrayRef<std::string> names);
/// Gives operations a name, beside those that they have.
void addTag(llvm::ArrayRef<mlir::Operation *> ops, llvm::StringRef name);

/// Gives an operation the names of another, in the program and in schedules.
void copyNames(mlir::Operation *from, mlir::Operation *to);

/// The one operation among those of a name that moves data between ranks: a
/// collective, or a region that holds some. Null if there is none, or several.
mlir::Operation *findCommunicating(llvm::ArrayRef<mlir::Operation *> value);

/// Leaves in the results of stores only what the next store needs; the rewrites
/// below expect that. Reading an argument after a store then reads the value.
void forwardStores(ProgramOp program);

enum class SplitForm { ReduceScatterAllGather, ReduceBroadcast, Hierarchical };

/// `rs_ag`, `reduce_broadcast`, `hierarchical`; none for other names.
std::optional<SplitForm> splitFormByName(llvm::StringRef name);

/// all_reduce → reduce_scatter, all_gather (along dimension 0) | reduce,
/// broadcast (root 0) | reduce_scatter along the last axis, all_reduce along
/// the others, all_gather along the last. Sums and products of 16- and 8-bit
/// floats stay in f32 between the two reductions: the first part begins with a
/// cast, and the second ends with one.
///
/// - `split_c1`: the value holds one all_reduce.
/// - `split_c2`: to scatter, the tensor has a dimension.
/// - `split_c3`: `reduce_broadcast` goes along one axis.
/// - `split_c4`: `hierarchical` goes along two axes or more.
/// - `split_c5`: the all_reduce is in no region.
mlir::FailureOr<llvm::SmallVector<OpSet>>
split(mlir::RewriterBase &rewriter, llvm::ArrayRef<mlir::Operation *> value,
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
/// - `choose_c3`: NCCL is to run none of them.
mlir::FailureOr<FusedOp> fuse(mlir::RewriterBase &rewriter,
                              llvm::ArrayRef<mlir::Operation *> ops,
                              EmitRefusal emit);

/// The chunks of an overlap that does not say how many: enough to hide all but
/// a quarter of the shorter side.
inline constexpr int64_t defaultChunks = 4;

/// Runs a chain of producers and consumers at once, in chunks along one
/// dimension.
///
/// - `overlap_c1`: there are two values at least, none in a region; a fused
///   kernel is one.
/// - `overlap_c2`: each value is made from the one before it.
/// - `overlap_c3`: no path of the program leaves them and comes back.
/// - `overlap_c4`: at least one communicates.
/// - `overlap_c5`: there is a dimension along which all can be made in chunks.
/// - `overlap_c6`: there are from 1 to 65536 chunks.
mlir::FailureOr<OverlappedOp> overlap(mlir::RewriterBase &rewriter,
                                      llvm::ArrayRef<OpSet> values,
                                      int64_t chunks, EmitRefusal emit);

/// Makes several collectives few: each bucket is one launch of at most `size`
/// bytes of the tensors as ranks hold them, and a tensor larger than that is
/// cut into pieces along its first dimension that is not sliced. Gives the
/// buckets in order; one with a single collective is that collective.
///
/// - `bucket_c1`: each value holds one collective that is in no region.
/// - `bucket_c2`: all are the same operation, with the same attributes, element
///   type and axes.
/// - `bucket_c3`: none is made from another.
/// - `choose_c3`: NCCL is to run none of several.
mlir::FailureOr<OpSet> bucket(mlir::RewriterBase &rewriter,
                              llvm::ArrayRef<OpSet> values, int64_t size,
                              EmitRefusal emit);

/// Makes collectives leave in the order given, and gives them priorities, 0
/// first.
///
/// - `order_c1`: each value holds one collective, or one kernel that
///   communicates; none is named twice.
/// - `order_c2`: none is made from one that is named after it.
mlir::LogicalResult order(mlir::RewriterBase &rewriter,
                          llvm::ArrayRef<OpSet> values, EmitRefusal emit);

/// Chooses how a collective or a kernel that communicates runs: its `algorithm`
/// (a string: a name or the path of a schedule), `protocol` (a string) or `sms`
/// (an integer).
///
/// - `choose_c1`: the value holds one collective, or one kernel that
///   communicates.
/// - `choose_c2`: the algorithm implements that collective; in a kernel, all. A
///   schedule in a file is for those in the kernel that it implements.
/// - `choose_c3`: NCCL runs a collective that is not in a kernel.
/// - `choose_c4`: a schedule's file can be read and is right.
/// - `choose_c5`: it is for the same collective on as many ranks.
/// - `choose_c6`: `lamport` marks what has not arrived by a value of its own,
///   so that elements are f64, f32, f16 or bf16.
/// - `choose_c7`: NCCL chooses its own protocols.
/// - `choose_c8`: there are from 1 to 1024 SMs.
/// - `choose_c9`: the synthesizer finds a schedule for the topology, which has
///   as many GPUs, in time.
/// - `choose_c10`: a schedule forms a sum or product of floats in the same
///   order for all ranks that get it.
/// - `choose_c11`: a protocol goes with the algorithm, as they are chosen
///   for a collective or for the kernel that it is in.
mlir::LogicalResult choose(llvm::StringRef what,
                           llvm::ArrayRef<mlir::Operation *> value,
                           mlir::Attribute choice, EmitRefusal emit);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_REWRITES_H
