//===- LoopTurns.cpp - In what turns a team takes a row -------------------===//

#include "codegen/gpu/map/LoopTurns.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn::codegen;

/// The most bytes that a thread has in registers of what it has fetched for a
/// loop and of what it has of its own there: of two turns what four ranks have,
/// and one's own.
constexpr int64_t mostFetched = 160;
/// Of loops without its own, and of each step of those with many turns.
constexpr int64_t mostAtOnce = 128, mostOfStep = 64;

LoopTurns::LoopTurns(const LoopPlan &loop, Team team)
    : lanes(team.lanes),
      vectors(product(loop.isReduced() ? loop.reduced : loop.kept) /
              loop.width),
      turns(llvm::divideCeilSigned(vectors, lanes)) {
  int64_t fetched = loop.fetchedBytes();
  // What several ranks have is much at once already: of more a multiprocessor
  // would have fewer threads.
  areNumbered = loop.takesParts() || (fetched > 0 && !loop.combinesRanks() &&
                                      turns * fetched <= mostAtOnce);
  if (fetched == 0)
    return;
  ofStep = std::max<int64_t>(mostOfStep / fetched, 1);
  if (areNumbered)
    atOnce =
        std::clamp<int64_t>((mostFetched - turns * loop.ownBytes()) / fetched,
                            1, std::max<int64_t>(turns, 1));
}
