//===- Collectives.h - Collectives on the CPU -------------------*- C++ -*-===//
//
// The collectives with protocols of their own, for ranks that are threads or
// processes of one host; all others are parts of plans (Plan.h). They run the
// protocols that the GPU's kernels run (Protocols.h).
//
// A collective is made once, by all ranks of the heap in the same order with
// the same arguments (each with its own group along the same axes), and run any
// number of times: making it takes symmetric memory, running takes none. Each
// instance has its own flags and buffers. All failures fail the whole team.
//
// Reductions combine in the members' order, accumulate as
// runtime/tensor/Combine.h says, and give every member the same bits, which are
// the reference interpreter's. Buffers hold row-major elements, aligned for
// their type; input and output may be the same buffer.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_COLLECTIVES_H
#define CCN_RUNTIME_CPU_COLLECTIVES_H

#include "runtime/team/RankMemory.h"
#include "runtime/tensor/Combine.h"

#include <memory>
#include <vector>

namespace ccn::runtime {

/// The ranks along axes of the mesh that communicate.
struct Group {
  /// In the order of their coordinates, row-major; the same list on each.
  std::vector<int> ranks;
  /// Where other groups have tensors of other sizes (axes outside the group cut
  /// unevenly): the largest number of elements that the tensor has in any
  /// group, the same on all ranks; -1 if all have the same. Symmetric memory is
  /// sized by it.
  int64_t largestCount = -1;
};

class Collective {
public:
  virtual ~Collective() = default;
  /// Takes part in one call. May be called by the rank that made it only.
  virtual Status run(const void *input, void *output) = 0;
  /// The bytes that a call writes to the memory of others.
  virtual int64_t bytesSent() const = 0;
};

using CollectivePtr = std::unique_ptr<Collective>;

/// The protocols of the one-shot all_reduce.
enum class Protocol {
  LL,      ///< twice the bytes, no barrier: the shortest messages
  Lamport, ///< floats and bool only
};

/// Combines `count` elements of all members; all get the result.
///
/// Lamport's sentinel is the word of all ones, so that an input element of all
/// ones, which is a NaN, is replaced by another NaN. Integers have no value to
/// spare and are refused.
Result<CollectivePtr> makeAllReduce(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    int64_t count, Protocol protocol);

/// The symmetric memory per rank that makeAllReduce allocates.
Result<int64_t> allReduceBytes(const Group &group, ElementType type,
                               int64_t count, Protocol protocol);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVES_H
