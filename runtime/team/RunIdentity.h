//===- RunIdentity.h - Checks that ranks agree on their run -----*- C++ -*-===//
//
// What a rank tells the others about its run when it joins its team. Ranks that
// differ in this would wait for each other in vain or compute nonsense, so the
// team compares it before anything runs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TEAM_RUNIDENTITY_H
#define CCN_RUNTIME_TEAM_RUNIDENTITY_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace ccn::runtime {

/// Copies as much of the text as fits, and fills the rest, at least one byte,
/// with zeros.
template <size_t size>
void setText(char (&place)[size], const std::string &text) {
  size_t count = std::min(text.size(), size - 1);
  std::memcpy(place, text.data(), count);
  std::memset(place + count, 0, size - count);
}

/// Plain bytes, which can lie in shared memory and travel in messages.
struct RunIdentity {
  static constexpr int maxContent = 255;

  int32_t ranks = 0;
  /// TransportChoice, of Environment.h.
  int32_t transport = 0;
  int64_t bytesPerRank = 0;
  /// What is run, such as the hash of a package, with a final 0.
  char content[maxContent + 1] = {};

  /// An error if `content` is too long.
  static Result<RunIdentity> make(int ranks, int64_t bytesPerRank,
                                  const std::string &content);
};

/// The identity that rank `rank` sent.
struct RankIdentity {
  int rank = 0;
  RunIdentity identity;
};

/// "rank 3", "ranks 0, 1 and 4", or the first few of many.
std::string rankList(const std::vector<int> &ranks);

/// An error that says which ranks differ, and in what.
Status compareIdentities(const std::vector<RankIdentity> &all);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TEAM_RUNIDENTITY_H
