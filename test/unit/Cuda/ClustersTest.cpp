//===- ClustersTest.cpp - Kernels of clusters, executed on the CPU --------===//
//
// Rows that the blocks of a cluster share, against the interpreter: in which
// order they sum, what they take of what others of the cluster have exchanged,
// and how they end.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/EmulatedKernels.h"

#include <cmath>
#include <set>

namespace ccn::test {

// All blocks of a cluster, and all ranks, have the same sum of a row: each
// element of `y` is that sum. What is summed rounds in each order to another.
TEST_F(EmulatedKernels, BlocksOfAClusterSumInOneOrder) {
  constexpr int64_t rows = 3, columns = 1031, ranks = 2;
  auto tensor = [&](std::vector<int64_t> shape, auto value) {
    auto made = runtime::HostTensor::uninitialized(runtime::ElementType::F64,
                                                   std::move(shape));
    EXPECT_TRUE(made) << made.message();
    auto *to = reinterpret_cast<double *>(made->mutableData());
    for (int64_t i = 0; i < made->count(); ++i)
      to[i] = value(i);
    return *made;
  };
  interp::NamedTensors inputs = {
      {"x", tensor({ranks, rows, columns},
                   [](int64_t i) {
                     return (i % 2 ? 0x1p20 : 1) *
                            std::sin(static_cast<double>(i));
                   })},
      {"zero", tensor({ranks, rows, columns}, [](int64_t) { return 0.; })}};
  PlanCompiler compiler;
  std::string messages;
  auto plans = compiler.compileTo(
      Phase::Plan,
      "mesh m (d = 2)\n"
      "program f(x: f64[3, 1031] local, zero: f64[3, 1031] local) {\n"
      "  let total = all_reduce(sum, x)\n"
      "  let top = max(total, [1])\n"
      "  let mid = total - broadcast_to(reshape(top, [3, 1]), [3, 1031])\n"
      "  let s = sum(mid * mid, 1)\n"
      "  let t = sum(mid, 1)\n"
      "  let y = zero + broadcast_to(reshape(s + t, [3, 1]), [3, 1031])\n"
      "  return y\n"
      "}\n"
      "schedule fused for f {\n"
      "  fuse total, top, mid, s, t, y\n"
      "  protocol total = ll\n"
      "}\n",
      {.phase = Phase::Plan, .schedule = "fused"}, messages);
  ASSERT_TRUE(plans) << messages;
  std::set<double> sums;
  for (int bits : {0, 1, 2, 3}) {
    auto team = CudaTeam::create(*plans, "f", 2, bits);
    ASSERT_TRUE(team) << team.message();
    ASSERT_TRUE((*team)->kernelsOf()[0].clusters);
    auto found = (*team)->run(inputs);
    ASSERT_TRUE(found) << found.message();
    const auto *y =
        reinterpret_cast<const double *>(found->front().tensor.data());
    for (int64_t i = 0; i < ranks * rows * columns; ++i)
      ASSERT_EQ(y[i], y[i / columns % rows * columns])
          << "of " << (1 << bits) << " blocks, element " << i;
    sums.insert(y[columns]);
  }
  // So it matters.
  EXPECT_GT(sums.size(), 1u);
}

// What blocks take of the rows others of their cluster have exchanged.
TEST_F(EmulatedKernels, ClustersTakePartsOfWhatTheyExchange) {
  for (int bits : {1, 3})
    check("mesh m (d = 2)\n"
          "program f(x: f32[3, 2062] local) {\n"
          "  let total = all_reduce(sum, x)\n"
          "  let half = slice(total, 1, 1031, 2062)\n"
          "  let top = max(half, [1])\n"
          "  let y = half - broadcast_to(reshape(top, [3, 1]), [3, 1031])\n"
          "  return y\n"
          "}\n"
          "schedule fused for f {\n"
          "  fuse total, half, top, y\n"
          "  protocol total = ll\n}\n",
          "open_cluster wait\\(cluster\\)", 2, std::nullopt, bits);
}

// Blocks of clusters have fewer threads than others.
TEST_F(EmulatedKernels, TransposeInClusters) {
  for (int bits : {1, 2, 3})
    check("mesh m (d = 1)\n"
          "program f(x: f32[2, 8192], b: f32[64, 96], s: f32) {\n"
          "  let u = s * 2\n"
          "  let z = x * u\n"
          "  let top = max(z, [1])\n"
          "  let y = z - broadcast_to(reshape(top, [2, 1]), [2, 8192])\n"
          "  let w = transpose(b, [1, 0]) * u\n"
          "  return y, w\n"
          "}\n"
          "schedule fused for f {\n  fuse u, z, top, y, w\n}\n",
          "teams rows\\(2\\) cluster", 2, std::nullopt, bits);
}

// Who waits in vain says so and ends, of a cluster not before the others have
// shown what they have.
TEST_F(EmulatedKernels, EndWhereARankIsLost) {
  PlanCompiler compiler;
  for (const char *protocol : {"ll", "lamport"})
    for (int bits : {0, 3}) {
      std::string messages;
      auto plans = compiler.compileTo(
          Phase::Plan,
          fusedNorm("2", "1", "3969",
                    std::string("  protocol total = ") + protocol + "\n"),
          {.phase = Phase::Plan, .schedule = "fused"}, messages);
      ASSERT_TRUE(plans) << messages;
      auto team = CudaTeam::create(*plans, "f", 1, bits);
      ASSERT_TRUE(team) << team.message();
      ASSERT_TRUE((*team)->kernelsOf()[0].clusters);
      EXPECT_EQ((*team)->runAlone(1).message(), "launch 0: fault 1 of rank 0");
    }
}

// Threads exchange what they take of the rows, where these are whole packets.
TEST_F(EmulatedKernels, ThreadsExchangeWhatTheyTake) {
  for (const Case &c : {Case{1, 8192, 2, "bf16", "ll", 1, ofThread, 3},
                        Case{1, 8192, 4, "f16", "lamport", 1, ofThread, 2},
                        Case{5, 4096, 3, "f32", "lamport", 2, ofThread, 1},
                        Case{5, 4100, 2, "f32", "ll", 2, ofCluster, 3},
                        Case{3, 2048, 2, "f64", "ll", 2, ofThread, 3},
                        Case{3, 8200, 1, "bf16", "ll", 2, ofBlock, 2},
                        Case{2, 8192, 2, "bf16", "lamport", 1, ofThread}}) {
    std::string element = c.element, wide = element == "f64" ? "f64" : "f32";
    check(meshOf(c.ranks, {{"T", c.rows}, {"H", c.columns}}) +
              "program f(x: " + element + "[T, H] local, r: " + element +
              "[T, H]) {\n"
              "  let total = all_reduce(sum, x)\n"
              "  let res = cast(total, " +
              wide + ") + cast(r, " + wide +
              ")\n"
              "  let top = max(res, [1])\n"
              "  let y = res - broadcast_to(reshape(top, [T, 1]), [T, H])\n"
              "  return y\n"
              "}\n"
              "schedule fused for f {\n"
              "  fuse total, res, top, y\n"
              "  protocol total = " +
              std::string(c.choice) + "\n}\n",
          c.waits, c.blocks, std::nullopt, c.clusterBits);
  }
}

} // namespace ccn::test
