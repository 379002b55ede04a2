//===- SymmetricMemory.h - How symmetric memory is laid out -----*- C++ -*-===//
//
// What a plan and the team that executes it must agree about: limits, and the
// bytes of what lies there.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H
#define CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H

#include <cstdint>

namespace ccn::runtime {

/// The most ranks of a team.
inline constexpr int maxTeamRanks = 1024;
/// The most bytes of a rank.
inline constexpr int64_t maxSymmetricBytes = int64_t(1) << 46;
/// Allocations are aligned to this many bytes, a cache line.
inline constexpr int64_t symmetricAlignment = 64;

/// Rounded up to that alignment.
inline int64_t aligned(int64_t bytes) {
  constexpr int64_t unit = symmetricAlignment;
  return (bytes + unit - 1) / unit * unit;
}

/// The bytes of so many flags. A cache line each: flags of different ranks do
/// not disturb each other.
inline int64_t flagBytes(int64_t flags) { return flags * symmetricAlignment; }

/// The bytes of a one-shot exchange: in each of `buffers` buffers `words` words
/// of 8 bytes of each of `members` members.
inline int64_t exchangedBytes(uint32_t buffers, int members, int64_t words) {
  return buffers * members * words * 8;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H
