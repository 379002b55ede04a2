//===- Collectives.h - Collectives on the CPU -------------------*- C++ -*-===//
//
// The collectives that plans name as an exchange (Plan.h); plans compose all
// other collectives of other kinds of parts. They run the protocols that the
// GPU kernels run (Protocols.h).
//
// All ranks of a team make their collectives in the same order with the same
// arguments (each rank with its own group along the same axes). A collective is
// made once and run any number of times: only making it allocates symmetric
// memory. Each instance has its own flags and buffers. Every failure fails the
// whole team.
//
// Reductions combine in the members' order and accumulate as
// runtime/tensor/Combine.h says. Every member gets the same bits, which the
// reference interpreter gives too. Buffers hold row-major elements, aligned for
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
  /// Takes part in one call. Only the rank that made the collective may call
  /// it.
  virtual Status run(const void *input, void *output) = 0;
  /// The bytes that a call writes to the memory of other ranks.
  virtual int64_t bytesSent() const = 0;
};

using CollectivePtr = std::unique_ptr<Collective>;

/// Combines `count` elements of every member; every member gets the result.
///
/// The sentinel of the Lamport protocol is the word of all ones. So a float
/// element of all ones, which is a NaN, is sent as another NaN. Integers have
/// no value to spare and are refused.
Result<CollectivePtr> makeAllReduce(RankMemory &memory, const Group &group,
                                    ElementType type, ReduceKind kind,
                                    int64_t count, Protocol protocol);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_COLLECTIVES_H
