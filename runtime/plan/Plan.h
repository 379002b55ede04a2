//===- Plan.h - What the ranks of a program execute -------------*- C++ -*-===//
//
// A plan as data, without MLIR: what the `plan` dialect says, for the executor.
// One RankPlan for each rank of the mesh. It consists of launches, each on a
// stream; the launches of a stream run in order, those of different streams at
// once but for what they wait for. A launch is one kernel: parts that are done
// one after the other.
//
// All ranks' plans have the same launches with the same barriers and exchanges
// in the same order, and the same symmetric buffers; all else may differ.
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
  Argument,  ///< what the caller passes for an argument or a result
  Private,   ///< the rank's own arena
  Symmetric, ///< the rank's part of the symmetric heap, at the same offset on
             ///< all
};

/// Row-major elements.
struct Buffer {
  Memory memory = Memory::Private;
  ElementType type = ElementType::F32;
  /// The number of elements.
  int64_t count = 0;
  /// Of arguments the index in Package::arguments; else bytes from the start of
  /// the arena, a multiple of 64. Buffers whose lifetimes do not meet overlap.
  int64_t offset = 0;
};

/// A strided part of a buffer; its sizes are those of what uses it.
struct View {
  /// An index into RankPlan::buffers.
  int buffer = 0;
  /// Where it begins, and the step of each dimension, in elements; a step of 0
  /// repeats.
  int64_t offset = 0;
  std::vector<int64_t> strides;
  /// The rank in whose memory it lies, which may be another only of symmetric
  /// buffers; -1 is the own.
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
  /// Reads the combination of the views of all members of a group, each in the
  /// own symmetric memory of the member, in the members' order.
  LoadReduced,
  /// Writes the view in the symmetric memory of all members of a group, this
  /// rank included.
  StoreAll,
  /// Memory of the loops of one part: one makes it, later ones use it, for the
  /// same rows. View::buffer is a number within the part; the strides are those
  /// of a row-major array of the loop's rows (0 where they repeat).
  Scratch,
  /// Not memory but the 64-bit signed number offset + sum of index * stride.
  Index,
};

struct LoopOperand {
  Access access = Access::Load;
  View view;
  ElementType type = ElementType::F32;
  /// For LoadReduced and StoreAll: an index into Package::groups.
  int group = -1;
  ReduceKind reduction = ReduceKind::Sum;
  /// For LoadReduced, if not 0: the members have put their values into this
  /// rank's memory, the first member's at the view, and each next one's `slots`
  /// elements after it.
  int64_t slots = 0;
};

/// A loop nest over a compiled body: for each index of `sizes` it reads its
/// inputs, computes and writes its outputs. The last `reducedDims` dimensions
/// are reduced: the outputs have stride 0 there.
///
/// A compiled function has the signature of LoopFunction.
struct Loop {
  /// The function's name in the package's object code; empty is a copy of the
  /// one input to the one output, of the same type.
  std::string function;
  std::vector<int64_t> sizes;
  int64_t reducedDims = 0;
  std::vector<LoopOperand> inputs, outputs;
};

/// Executes a loop nest. `sizes` has the size of each dimension, `data` an
/// address for each input and then each output, of the element at index 0 (of
/// Access::Index, of an int64_t that holds its value there), `strides` the
/// strides of one operand after the other, in elements. What cannot be computed
/// (such as a division by zero) sets *status to a nonzero number that the
/// package's `failures` explain: index + 1.
using LoopFunction = void (*)(const int64_t *sizes, void *const *data,
                              const int64_t *strides, int64_t *status);

//===----------------------------------------------------------------------===//
// Parts of a kernel
//===----------------------------------------------------------------------===//

/// Loops over the same `rows`, the size of the first dimension of each: rows
/// are taken in blocks, and each block goes through all loops before the next,
/// so that what is between them stays in the cache.
struct RowsPart {
  int64_t rows = 1;
  std::vector<Loop> loops;
};

/// Copies elements, from or to another rank's symmetric memory too.
struct CopyPart {
  std::vector<int64_t> sizes;
  View from, to;
};

/// Nobody goes on before all members of the group have come; what each did
/// before is visible to all.
struct BarrierPart {
  int group = 0;
  /// The first of as many flags as the group has members.
  int64_t flags = 0;
};

/// Tells `rank` that all that was done before is done, through its flag `flag`.
struct SignalPart {
  int rank = 0;
  int64_t flag = 0;
};
/// Waits for the own flag `flag`, which `rank` signals once in each run.
struct AwaitPart {
  int rank = 0;
  int64_t flag = 0;
};

/// c[i, j] = sum over k of a[i, k] * b[k, j], for each index of `batch`.
/// Strides of views: the batch dimensions, then the matrix's two. f32 and f64
/// accumulate in f64, narrower floats in f32, in the order of k, and are
/// rounded once; integers wrap. This is the reference interpreter's order.
struct MatmulPart {
  std::vector<int64_t> batch;
  int64_t m = 0, n = 0, k = 0;
  View a, b, c;
};

/// y[b, o, i, j] = sum over c, u, v of x[b, c, i * stride + u - padding, j *
/// stride + v - padding] * w[o, c, u, v]; row-major, the views have offsets
/// only.
struct Conv2dPart {
  std::vector<int64_t> xShape, wShape, yShape;
  int64_t stride = 1, padding = 0;
  View x, w, y;
};

/// to[i, ...] = table[indices[i], ...]; all row-major. An index outside of the
/// table fails the run.
struct GatherRowsPart {
  int64_t tableRows = 0, rowSize = 0, count = 0;
  View table, indices, to;
};

/// to = table, with rows[i] added to row indices[i], for i in order; all
/// row-major.
struct ScatterRowsPart {
  int64_t tableRows = 0, rowSize = 0, count = 0;
  View table, indices, rows, to;
};

enum class Exchange : uint8_t { LL, Lamport, Schedule };

/// A collective with a protocol of its own. Buffers are contiguous.
struct ExchangePart {
  Exchange exchange = Exchange::LL;
  int group = 0;
  ReduceKind reduction = ReduceKind::Sum;
  /// Elements of input and output.
  int64_t inputCount = 0, outputCount = 0;
  /// The largest number of elements that any group has; symmetric memory is
  /// sized by it.
  int64_t largestCount = 0;
  View from, to;
  /// For a schedule: an index into Package::schedules.
  int schedule = -1;
};

using Part = std::variant<RowsPart, CopyPart, BarrierPart, SignalPart,
                          AwaitPart, MatmulPart, Conv2dPart, GatherRowsPart,
                          ScatterRowsPart, ExchangePart>;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// One kernel.
struct Launch {
  /// For traces and messages: what it is, by the program's names.
  std::string name;
  int stream = 0;
  /// Launches, earlier in the list and on other streams, that must be done.
  std::vector<int> waits;
  std::vector<Part> parts;
  /// The lines of the program's file, from 1 on and in their order, that say
  /// what it computes. Packages leave them out.
  std::vector<int> lines = {};
};

/// Which part of an argument or result a rank holds: of its external form
/// (Argument below), where it begins and how large it is in each dimension;
/// leading dimensions have size 1.
struct Placement {
  std::vector<int64_t> offsets, sizes;
};

struct RankPlan {
  std::vector<Buffer> buffers;
  int64_t privateBytes = 0, symmetricBytes = 0;
  /// The number of flags, which are the same on all ranks.
  int64_t flags = 0;
  int streams = 1;
  std::vector<Launch> launches;
  /// Of each of the program's arguments and results.
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
  /// The external form, in which arrays travel: the global shape, after a
  /// leading dimension for each mesh axis along which it is local or partial.
  std::vector<int64_t> shape;
  int64_t leadingDims = 0;
  /// Whether it is the same on some ranks, which have the same placement.
  bool replicated = false;
  /// As the language writes its type: "f32[8, 4] sliced(0, tp)".
  std::string typeName;
  /// Whether it comes from a list of buffers, and goes to one.
  bool scattered = false;
};

/// Whether callers may pass it by value: a scalar that is only read.
inline bool isValue(const Argument &argument) {
  return argument.kind == ArgumentKind::Input &&
         argument.leadingDims == static_cast<int64_t>(argument.shape.size());
}

struct Plan {
  /// The rank is the row-major index of its coordinates. No axes is one rank.
  std::vector<MeshAxis> mesh;
  std::vector<Argument> arguments;
  /// Ranks that take part in something, in the order in which reductions
  /// combine them; every rank is in at most one of the groups of one part.
  std::vector<std::vector<int>> groups;
  std::vector<ChunkSchedule> schedules;
  /// What loops report through their status: "division by zero at
  /// adam.ccn:7:3".
  std::vector<std::string> failures;
  /// One for each rank.
  std::vector<RankPlan> ranks;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_PLAN_H
