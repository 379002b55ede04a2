//===- Plan.h - The plan that ranks execute ---------------------*- C++ -*-===//
//
// A plan as data, without MLIR: executors run what the `plan` dialect
// describes. A plan has one RankPlan for each rank of the mesh. A RankPlan
// consists of launches, each on a stream. The launches of one stream run in
// order; launches of different streams run concurrently unless one waits for
// the other. A launch is one kernel: a list of parts that run one after the
// other.
//
// All ranks have the same launches, with the same barriers and exchanges in the
// same order, and equally large symmetric memory. Everything else may differ
// between ranks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_PLAN_H
#define CCN_RUNTIME_PLAN_PLAN_H

#include "runtime/base/ChunkSchedule.h"
#include "runtime/tensor/Combine.h"
#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ccn::runtime {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

enum class Memory : uint8_t {
  Argument,  ///< the caller's memory, of an argument or a result
  Private,   ///< the rank's own arena
  Symmetric, ///< the rank's block of symmetric memory, at the same offset on
             ///< all
};

/// A region of memory that holds row-major elements.
struct Buffer {
  Memory memory = Memory::Private;
  ElementType type = ElementType::F32;
  /// The number of elements.
  int64_t count = 0;
  /// For Memory::Argument, an index into Plan::arguments; else the byte offset
  /// in that memory, a multiple of 64. Buffers that are never in use at the
  /// same time may overlap.
  int64_t offset = 0;
};

/// A strided region of a buffer; the part that uses the view has its sizes.
struct View {
  /// An index into RankPlan::buffers.
  int buffer = 0;
  /// Where the view begins, and the stride of each dimension, in elements. A
  /// stride of 0 repeats the same elements.
  int64_t offset = 0;
  std::vector<int64_t> strides;
  /// The rank whose memory holds the view; -1 is this rank. It may be another
  /// rank only for symmetric buffers.
  int rank = -1;
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

enum class Access : uint8_t {
  /// Reads the view.
  Load,
  /// Writes the view.
  Store,
  /// Reads the view in the symmetric memory of each member of a group, and
  /// combines these values in the members' order.
  LoadReduced,
  /// Writes the view in the symmetric memory of all members of a group, this
  /// rank included.
  StoreAll,
  /// Scratch memory within one part: one loop writes it, later loops read it
  /// for the same rows. View::buffer is a number within the part; the strides
  /// are those of a row-major array of the loop's rows (0 where elements
  /// repeat).
  Scratch,
  /// Not memory but a 64-bit signed number: offset + sum of index * stride.
  Index,
};

struct LoopOperand {
  Access access = Access::Load;
  View view;
  ElementType type = ElementType::F32;
  /// For LoadReduced and StoreAll: an index into Plan::groups.
  int group = -1;
  ReduceKind reduction = ReduceKind::Sum;
  /// For LoadReduced, if not 0: the members have put their values into slots in
  /// this rank's memory. The first member's slot is at the view, and each next
  /// slot is `slots` elements further.
  int64_t slots = 0;
};

/// A loop nest over a compiled body. For each index of `sizes` the loop reads
/// its inputs, computes and writes its outputs. The last `reducedDims`
/// dimensions are reduced: the outputs have stride 0 there.
///
/// A compiled function has the signature of LoopFunction.
struct Loop {
  /// The function's name in the package's object code. If it is empty, the loop
  /// copies its one input to its one output, which has the same type.
  std::string function;
  std::vector<int64_t> sizes;
  int64_t reducedDims = 0;
  std::vector<LoopOperand> inputs, outputs;
};

/// Executes a loop nest. `sizes` has the size of each dimension. `data` has the
/// address of the element at index 0 for each input, then for each output (for
/// Access::Index, the address of an int64_t with the value at index 0).
/// `strides` has all strides of the first operand, then of the second, and so
/// on, in elements. If something cannot be computed (such as a division by
/// zero), the function sets *status to 1 + an index into Plan::failures.
using LoopFunction = void (*)(const int64_t *sizes, void *const *data,
                              const int64_t *strides, int64_t *status);

//===----------------------------------------------------------------------===//
// Parts of a kernel
//===----------------------------------------------------------------------===//

/// Loops whose first dimension has the size `rows`. Rows are divided into
/// blocks, and all loops run on one block before the next, so that values
/// between loops stay in the cache.
struct RowsPart {
  int64_t rows = 1;
  std::vector<Loop> loops;
};

/// Copies elements. Both views may be in another rank's symmetric memory.
struct CopyPart {
  std::vector<int64_t> sizes;
  View from, to;
};

/// A dimension of the grid of pieces of a GatherPart: how many pieces it has,
/// and how far each is from the one before, in the group and, in elements, in
/// the views.
struct PieceDim {
  int64_t count = 1;
  int64_t memberStep = 1, fromStep = 0, toStep = 0;
};

/// Copies pieces of one size from members of a group, this rank included. The
/// piece at index i of `grid` is read in the symmetric memory of member
/// `firstMember` + sum of i * memberStep, where `from` is moved by the sum of i
/// * fromStep, and is written where `to` is moved by the sum of i * toStep. The
/// pieces do not overlap, and may be copied in any order.
struct GatherPart {
  int group = 0;
  int64_t firstMember = 0;
  std::vector<PieceDim> grid;
  /// The sizes of a piece.
  std::vector<int64_t> sizes;
  View from, to;
};

/// A barrier: no member of the group continues before all members have arrived.
/// What each member did before is visible to all afterwards.
struct BarrierPart {
  int group = 0;
  /// The first of the barrier's flags; it has one for each member.
  int64_t flags = 0;
};

/// Sets flag `flag` of `rank`, to tell it that all earlier parts of this launch
/// and stream are done.
struct SignalPart {
  int rank = 0;
  int64_t flag = 0;
};
/// Waits for this rank's flag `flag`, which `rank` sets once in each run.
struct AwaitPart {
  int rank = 0;
  int64_t flag = 0;
};

/// c[i, j] = sum over k of a[i, k] * b[k, j], for each index of `batch`. The
/// strides of a view are those of the batch dimensions, then the matrix's two.
/// f32 and f64 accumulate in f64, narrower floats in f32, in the order of k,
/// and are rounded once; integers wrap. This is the reference interpreter's
/// order.
struct MatmulPart {
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  View a, b, c;
};

/// y[b, o, i, j] = sum over c, u, v of x[b, c, i * stride + u - padding, j *
/// stride + v - padding] * w[o, c, u, v]; all arrays are row-major, and the
/// views have no strides.
struct Conv2dPart {
  std::vector<int64_t> xShape, wShape, yShape;
  int64_t stride = 1, padding = 0;
  View x, w, y;
};

/// to[i, ...] = table[indices[i], ...]; all arrays are row-major. An index
/// outside of the table fails the run.
struct GatherRowsPart {
  int64_t tableRows = 0, rowSize = 0, count = 0;
  View table, indices, to;
};

/// to = table with rows[i] added to row indices[i], for each i in order; all
/// arrays are row-major.
struct ScatterRowsPart {
  int64_t tableRows = 0, rowSize = 0, count = 0;
  View table, indices, rows, to;
};

enum class Exchange : uint8_t { LL, Lamport, Schedule };

/// A collective with a protocol of its own. Its buffers are contiguous.
struct ExchangePart {
  Exchange exchange = Exchange::LL;
  int group = 0;
  ReduceKind reduction = ReduceKind::Sum;
  /// The number of elements of the input and of the output.
  int64_t inputCount = 0, outputCount = 0;
  /// The largest number of elements in any group, which determines the size of
  /// symmetric memory.
  int64_t largestCount = 0;
  View from, to;
  /// For Exchange::Schedule: an index into Plan::schedules.
  int schedule = -1;
};

using Part = std::variant<RowsPart, CopyPart, BarrierPart, SignalPart,
                          AwaitPart, MatmulPart, Conv2dPart, GatherRowsPart,
                          ScatterRowsPart, ExchangePart, GatherPart>;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// One kernel.
struct Launch {
  /// For traces and error messages: the names of the program's values that this
  /// launch computes.
  std::string name;
  int stream = 0;
  /// Earlier launches on other streams that must be done before this one
  /// begins.
  std::vector<int> waits;
  std::vector<Part> parts;
  /// The lines of the program's file, counted from 1 and in ascending order,
  /// that this launch computes. Packages leave them out.
  std::vector<int> lines = {};
};

/// The shard of an argument or result that a rank holds: in each dimension of
/// the external form (Argument below), where the shard begins and how large it
/// is. Leading dimensions have size 1.
struct Placement {
  std::vector<int64_t> offsets, sizes;
};

struct RankPlan {
  std::vector<Buffer> buffers;
  int64_t privateBytes = 0, symmetricBytes = 0;
  /// The number of flags, the same on all ranks.
  int64_t flags = 0;
  int streams = 1;
  std::vector<Launch> launches;
  /// One for each of the program's arguments and results.
  std::vector<Placement> placements;
};

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

enum class ArgumentKind : uint8_t { Input, InOut, Result };

/// An argument or a result of the program.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::Input;
  ElementType type = ElementType::F32;
  /// The shape of the external form, in which arrays are passed: a leading
  /// dimension for each mesh axis along which the argument is local or partial,
  /// then the global shape.
  std::vector<int64_t> shape;
  int64_t leadingDims = 0;
  /// Whether several ranks hold the same values; those ranks have the same
  /// placement.
  bool replicated = false;
  /// The type as the language writes it: "f32[8, 4] sliced(0, tp)".
  std::string typeName;
  /// Whether callers pass a list of buffers for it.
  bool scattered = false;
};

/// Whether callers may pass the argument by value: it is a scalar that is only
/// read.
inline bool isValue(const Argument &argument) {
  return argument.kind == ArgumentKind::Input &&
         argument.leadingDims == static_cast<int64_t>(argument.shape.size());
}

struct Plan {
  /// A rank is the row-major index of its mesh coordinates. A mesh without axes
  /// has one rank.
  std::vector<MeshAxis> mesh;
  std::vector<Argument> arguments;
  /// Lists of ranks that communicate, in the order in which reductions combine
  /// them. For one part, every rank is in at most one group.
  std::vector<std::vector<int>> groups;
  std::vector<ChunkSchedule> schedules;
  /// The errors that loops report through their status: "division by zero at
  /// adam.ccn:7:3".
  std::vector<std::string> failures;
  /// One for each rank.
  std::vector<RankPlan> ranks;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PLAN_H
