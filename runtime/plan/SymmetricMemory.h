//===- SymmetricMemory.h - Limits and sizes of symmetric memory -*- C++ -*-===//
//
// A plan and the team that executes it must agree on these limits and sizes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H
#define CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H

#include <cstdint>

namespace ccn::runtime {

/// The most ranks of a team.
inline constexpr int maxTeamRanks = 1024;
/// The most bytes of symmetric memory of a rank.
inline constexpr int64_t maxSymmetricBytes = int64_t(1) << 46;
/// Allocations are aligned to this many bytes, a cache line.
inline constexpr int64_t symmetricAlignment = 64;

/// `bytes` rounded up to that alignment.
inline int64_t aligned(int64_t bytes) {
  constexpr int64_t unit = symmetricAlignment;
  return (bytes + unit - 1) / unit * unit;
}

/// The bytes of `flags` flags. Each has a cache line of its own, so that ranks
/// that set different flags do not slow each other down.
inline int64_t flagBytes(int64_t flags) { return flags * symmetricAlignment; }

/// The bytes of a one-shot exchange: each of `buffers` buffers holds `words`
/// words of 8 bytes for each of `members` members.
inline int64_t exchangedBytes(uint32_t buffers, int members, int64_t words) {
  return buffers * members * words * 8;
}

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SYMMETRICMEMORY_H
