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

#include "runtime/plan/ExchangeMemory.h"
#include "runtime/team/RankMemory.h"
#include "runtime/tensor/Combine.h"

#include <memory>
#include <vector>

namespace ccn::runtime {

class Collective {
public:
  virtual ~Collective() = default;
  /// Takes part in one call. May be called by the rank that made it only.
  virtual Status run(const void *input, void *output) = 0;
  /// The bytes that a call writes to the memory of others.
  virtual int64_t bytesSent() const = 0;
};

using CollectivePtr = std::unique_ptr<Collective>;

/// Combines `count` elements of all members; all get the result.
///
/// Lamport's sentinel is the word of all ones, so that an input element of all
/// ones, which is a NaN, is replaced by another NaN. Integers have no value to
/// spare and are refused.
Result<CollectivePtr> makeAllReduce(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    int64_t count, Protocol protocol);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVES_H
