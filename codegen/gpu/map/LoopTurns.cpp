//===- LoopTurns.cpp - The turns of a team in a row -----------------------===//

#include "codegen/gpu/map/LoopTurns.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn::codegen;

/// The most bytes of a loop that a thread holds in registers, of loaded values
/// and of its own scratch: two turns of the values of four ranks, and its own.
constexpr int64_t mostFetched = 160;
/// The same for loops without scratch of the thread, and for one step of loops
/// with many turns.
constexpr int64_t mostAtOnce = 128, mostOfStep = 64;

LoopTurns::LoopTurns(const LoopPlan &loop, Team team)
    : lanes(team.lanes),
      vectors(product(loop.isReduced() ? loop.reduced : loop.kept) /
              loop.width),
      turns(llvm::divideCeilSigned(vectors, lanes)) {
  int64_t fetched = loop.fetchedBytes();
  // Values of several ranks already are many loads at once; with more, fewer
  // threads would fit a multiprocessor.
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
