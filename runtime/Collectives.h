//===- Collectives.h - Collectives on the CPU -------------------*- C++ -*-===//
//
// The communication skeletons for ranks that are threads or processes of one
// host. They run the protocols that the GPU's kernels run (Protocols.h).
//
// A collective is made once, by all ranks of the heap in the same order with
// the same arguments (each with its own group along the same axes), and run any
// number of times: making it takes symmetric memory, running takes none. Each
// instance has its own flags and buffers. All failures fail the whole team.
//
// Reductions combine in the members' order, accumulate as runtime/Combine.h
// says, and give every member the same bits, which are the reference
// interpreter's. Buffers hold row-major elements, aligned for their type; input
// and output may be the same buffer.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_COLLECTIVES_H
#define CCN_RUNTIME_COLLECTIVES_H

#include "runtime/Box.h"
#include "runtime/Combine.h"
#include "runtime/RankMemory.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace ccn::runtime {

/// The ranks along axes of the mesh that communicate.
struct Group {
  /// In the order of their coordinates, row-major; the same list on each.
  std::vector<int> ranks;
  /// The axes' sizes, outermost first, whose product is the number of ranks; of
  /// one axis it may be left empty. Slices are cut by one axis after the other.
  std::vector<int64_t> axisSizes = {};
  /// Where other groups have tensors of other sizes (axes outside the group cut
  /// unevenly): the largest number of elements that the tensor has in any
  /// group, the same on all ranks; -1 if all have the same. Symmetric memory is
  /// sized by it.
  int64_t largestCount = -1;
};

/// A dimension that the group's ranks cut into slices.
struct Cut {
  int64_t dim = 0;
  /// The size of which each takes its share: where axes outside the group have
  /// cut the dimension already, the size of their full pieces, of which the
  /// group may hold less. -1 is the dimension's size.
  int64_t full = -1;
};

class Collective {
public:
  virtual ~Collective() = default;
  /// Takes part in one call. May be called by the rank that made it only.
  virtual Status run(const void *input, void *output) = 0;
};

using CollectivePtr = std::unique_ptr<Collective>;

enum class Protocol {
  LL,      ///< one-shot, twice the bytes, no barrier: the shortest messages
  Lamport, ///< one-shot; floats and bool only
  TwoShot, ///< reduce own slice, store it to all: the fewest bytes
};

/// Combines `count` elements of all members; all get the result.
///
/// Lamport's sentinel is the word of all ones, so that an input element of all
/// ones, which is a NaN, is replaced by another NaN. Integers have no value to
/// spare and are refused.
Result<CollectivePtr> makeAllReduce(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    int64_t count, Protocol protocol);

/// What a two-shot all_reduce does to sums before it sends them on: elements
/// [first, first + count) of the whole, in `sums`. What it stores to
/// outputs[i][0 .. count) is what all get as output i.
using Body =
    std::function<void(int64_t first, int64_t count, const std::byte *sums,
                       std::span<std::byte *const> outputs)>;

/// reduce_scatter -> body -> all_gather in one. Elements are `rows` rows of
/// `rowSize`; each member combines a slice of the rows and calls `body` for
/// blocks of whole rows in ascending order; what it stores is sent to all, as
/// `outputs`' element types say. run() gets the input; outputs go to
/// runOutputs().
class ReduceBodyGather {
public:
  virtual ~ReduceBodyGather() = default;
  /// `outputs` has an array of rows * rowSize elements for each output.
  virtual Status run(const void *input, std::span<void *const> outputs,
                     const Body &body) = 0;
};

Result<std::unique_ptr<ReduceBodyGather>>
makeReduceBodyGather(RankMemory &memory, const Group &group, ElementType type,
                     ReduceKind kind, int64_t rows, int64_t rowSize,
                     const std::vector<ElementType> &outputs);

/// Combines tensors of `shape`; each member gets its slice.
Result<CollectivePtr> makeReduceScatter(RankMemory &memory, const Group &group,
                                        ElementType type, ReduceKind kind,
                                        const std::vector<int64_t> &shape,
                                        Cut cut);

/// Combines tensors of `shape`; member `root` gets the result, the others their
/// own input.
Result<CollectivePtr> makeReduce(RankMemory &memory, const Group &group,
                                 ElementType type, ReduceKind kind,
                                 const std::vector<int64_t> &shape, int root);

/// From slices of a tensor of `shape` to the whole on each member.
Result<CollectivePtr> makeAllGather(RankMemory &memory, const Group &group,
                                    ElementType type,
                                    const std::vector<int64_t> &shape, Cut cut);

/// From slices of a tensor of `shape` along `from` to slices along `to`.
Result<CollectivePtr> makeAllToAll(RankMemory &memory, const Group &group,
                                   ElementType type,
                                   const std::vector<int64_t> &shape, Cut from,
                                   Cut to);

/// Each member i gives a tensor of `shape` to member i + shift, if there is
/// one; who gets none keeps its own.
Result<CollectivePtr> makeSend(RankMemory &memory, const Group &group,
                               ElementType type,
                               const std::vector<int64_t> &shape,
                               int64_t shift);

/// All get the tensor of member `root`.
Result<CollectivePtr> makeBroadcast(RankMemory &memory, const Group &group,
                                    ElementType type,
                                    const std::vector<int64_t> &shape,
                                    int root);

/// From slices to the whole on member `root`; the others get zeros.
Result<CollectivePtr> makeGather(RankMemory &memory, const Group &group,
                                 ElementType type,
                                 const std::vector<int64_t> &shape, Cut cut,
                                 int root);

/// From the whole on member `root` to slices on all.
Result<CollectivePtr> makeScatter(RankMemory &memory, const Group &group,
                                  ElementType type,
                                  const std::vector<int64_t> &shape, Cut cut,
                                  int root);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_COLLECTIVES_H
