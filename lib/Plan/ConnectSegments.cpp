//===- ConnectSegments.cpp - Segments follow each other -------------------===//
//
// Adds waits for events, so that a segment begins when the one before has
// ended.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Passes.h"

#include <map>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace ccn::plan {
#define GEN_PASS_DEF_CONNECTSEGMENTS
#include "lib/Plan/Passes.h.inc"
} // namespace ccn::plan

namespace {

struct ConnectSegmentsPass
    : plan::impl::ConnectSegmentsBase<ConnectSegmentsPass> {
  void runOnOperation() override;
};

} // namespace

void ConnectSegmentsPass::runOnOperation() {
  // The last launch on each stream, of the segment before and of this one.
  std::map<uint64_t, LaunchOp> before, current;
  std::optional<uint64_t> at;
  for (auto launch : getOperation().getBody().getOps<LaunchOp>()) {
    if (at != launch.getSegment()) {
      if (!current.empty())
        before = std::move(current);
      current.clear();
      at = launch.getSegment();
    }
    if (!current.contains(launch.getStream())) {
      SmallVector<Value> waits(launch.getWaits());
      for (auto [stream, last] : before)
        if (stream != launch.getStream())
          waits.push_back(last.getDone());
      launch.setWaits(waits);
    }
    current[launch.getStream()] = launch;
  }
}
