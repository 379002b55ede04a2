//===- CollectiveTimeTest.cpp - Predicted times of built-in algorithms ----===//
//
// Where every pair of ranks has a link, they can be written down.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CollectiveTime.h"

#include <gtest/gtest.h>

using namespace ccn;

namespace {

/// Links of 25 GB/s and 0.7 us between all of four GPUs: b bytes take b / 25000
/// us more.
class CollectiveTime : public testing::Test {
protected:
  static synth::Fabric fabricOf(const char *name) {
    auto topology = synth::buildTopology(name);
    EXPECT_TRUE(bool(topology));
    auto fabric = synth::makeFabric(*topology);
    EXPECT_TRUE(bool(fabric));
    return *fabric;
  }
  void expect(Algorithm algorithm, Protocol protocol, Collective collective,
              double time) {
    auto predicted = predictBuiltin(algorithm, protocol, collective, /*root=*/1,
                                    full, {{0, 1, 2, 3}}, /*bytes=*/1e6);
    ASSERT_TRUE(bool(predicted));
    EXPECT_NEAR(*predicted, time, 1e-6)
        << stringifyAlgorithm(algorithm).str() << " "
        << stringifyCollective(collective).str();
  }

  synth::Fabric full = fabricOf("full(4)");
};

TEST_F(CollectiveTime, BetweenAllPairs) {
  double whole = 0.7 + 40, part = 0.7 + 10, meetings = 2 * 0.7;
  expect(Algorithm::one_shot, Protocol::ll, Collective::all_reduce, whole);
  expect(Algorithm::one_shot, Protocol::simple, Collective::all_reduce,
         whole + meetings);
  expect(Algorithm::two_shot, Protocol::simple, Collective::all_reduce,
         2 * part + meetings);
  for (Collective collective :
       {Collective::reduce_scatter, Collective::all_gather,
        Collective::all_to_all, Collective::gather, Collective::scatter})
    expect(Algorithm::direct, Protocol::simple, collective, part + meetings);
  for (Collective collective : {Collective::broadcast, Collective::reduce})
    expect(Algorithm::direct, Protocol::simple, collective, whole + meetings);
}

// All of a line's messages from left to right pass its middle.
TEST_F(CollectiveTime, ThroughOthers) {
  auto predicted =
      predictBuiltin(Algorithm::one_shot, Protocol::ll, Collective::all_reduce,
                     /*root=*/0, fabricOf("line(4)"), {{0, 1, 2, 3}},
                     /*bytes=*/1e6);
  ASSERT_TRUE(bool(predicted));
  EXPECT_GE(*predicted, 4 * 40);
}

// Groups beside each other do not meet; those that cross share the links.
TEST_F(CollectiveTime, InGroups) {
  auto timeOf = [&](const synth::Groups &groups) {
    auto predicted =
        predictBuiltin(Algorithm::direct, Protocol::ll, Collective::broadcast,
                       /*root=*/1, fabricOf("line(4)"), groups, 1e6);
    EXPECT_TRUE(bool(predicted));
    return predicted ? *predicted : 0;
  };
  EXPECT_NEAR(timeOf({{0, 1}, {2, 3}}), 40.7, 1e-6);
  EXPECT_GE(timeOf({{0, 2}, {1, 3}}), 80);
}

} // namespace
