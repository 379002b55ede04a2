//===- Common.h - Helpers of the synthesizer's tests ------------*- C++ -*-===//
//
// Builders that fail the test instead of returning errors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_SYNTH_COMMON_H
#define CCN_TEST_UNIT_SYNTH_COMMON_H

#include "synth/Schedule.h"

#include <gtest/gtest.h>

namespace ccn::synth {

inline Fabric fabricOf(const std::string &spec, double unit = 0) {
  Result<Topology> topology = buildTopology(spec);
  EXPECT_TRUE(bool(topology)) << topology.message();
  Result<Fabric> fabric = makeFabric(*topology, unit);
  EXPECT_TRUE(bool(fabric)) << fabric.message();
  return *fabric;
}

/// The first edge from one host to another; -1 if there is none.
inline int edgeBetween(const Fabric &fabric, int src, int dst) {
  for (int e : fabric.out[src])
    if (fabric.edges[e].dst == dst)
      return e;
  return -1;
}

inline Collective collectiveOf(const std::string &name, int ranks, int chunks,
                               int root = 0) {
  Result<Collective> result =
      makeCollective(*parseCollectiveKind(name), ranks, chunks, root);
  EXPECT_TRUE(bool(result)) << result.message();
  return *result;
}

/// The ring algorithm: chunk i walks once round, in P - 1 steps.
inline Schedule ringAllGather(int ranks) {
  Schedule s;
  s.collective = collectiveOf("all_gather", ranks, 1);
  s.hosts = ranks;
  for (int t = 0; t < ranks - 1; ++t) {
    Step step;
    for (int r = 0; r < ranks; ++r)
      step.sends.push_back(
          {(r - t + ranks) % ranks, r, (r + 1) % ranks, SendOp::Copy, -1, {}});
    s.steps.push_back(step);
  }
  return s;
}

} // namespace ccn::synth

#endif // CCN_TEST_UNIT_SYNTH_COMMON_H
