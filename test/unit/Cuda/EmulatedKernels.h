//===- EmulatedKernels.h - Kernels of whole programs on the CPU -*- C++ -*-===//
//
// Runs what is emitted for a program on emulated ranks, and holds it against
// the interpreter; and patterns of how threads wait in a printed kernel.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_EMULATEDKERNELS_H
#define CCN_TEST_UNIT_CUDA_EMULATEDKERNELS_H

#include "test/unit/Cuda/ComparedTeam.h"
#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/PlanBuilder.h"
#include "test/unit/Cuda/PrintedPlan.h"
#include "test/unit/Plan/PlanUtil.h"

#include <optional>
#include <regex>

namespace ccn::test {

struct Case {
  int rows, columns, ranks;
  const char *element;
  /// Of the all_reduce, a directive of a schedule.
  const char *choice;
  int blocks;
  /// How blocks wait between the exchange and the rows.
  const char *waits;
  /// There are so many clusters then, of 2 to the power of it blocks each.
  int clusterBits = 0;

  friend void PrintTo(const Case &c, std::ostream *os) {
    *os << c.rows << " x " << c.columns << " " << c.element << " on " << c.ranks
        << " ranks, " << c.choice << ", " << c.blocks << " x "
        << (1 << c.clusterBits) << " blocks";
  }
};

/// How blocks wait between an exchange and what comes after it.
inline constexpr const char
    *ofBlock = "exchange \\w+ .*\n(?: *prefetch.*\n)* *wait\\(block\\)",
    *ofCluster = "exchange \\w+ .*\n(?: *prefetch.*\n)* *open_cluster "
                 "wait\\(block\\) ",
    // Nobody waits: threads have what they exchange.
        *ofThread = "exchange of the rows that follow",
    *ofGrid = "exchange \\w+.*\n(?: *prefetch.*\n)* *wait\\(grid\\)";

/// What texts begin with.
inline std::string
meshOf(int ranks,
       std::initializer_list<std::pair<const char *, int>> parameters) {
  std::string text = "mesh m (d = " + std::to_string(ranks) + ")\n";
  for (auto [name, value] : parameters)
    text += std::string("param ") + name + " = " + std::to_string(value) + "\n";
  return text;
}

/// Runs kernels of whole programs, and compares with the interpreter. Printed
/// kernels must match `waits`.
class EmulatedKernels : public testing::Test {
protected:
  /// Runs four times, as buffers of packets take turns, with a rank that is
  /// late from the second time on, if there is to be one; and once where ranks
  /// do not access each other's memory.
  static void check(const std::string &text, const std::string &waits,
                    int blocks, std::optional<int> lateRank = std::nullopt,
                    int clusterBits = 0) {
    ComparedTeam compared;
    ASSERT_TRUE(compared.create(text, "fused", blocks, clusterBits));
    CudaTeam &team = compared.team();
    std::string kernels = printedKernels(compared.plans());
    EXPECT_TRUE(std::regex_search(kernels, std::regex(waits))) << waits << "\n"
                                                               << kernels;
    for (uint64_t seed : {1, 2, 3, 4, 5}) {
      if (seed == 5)
        ASSERT_TRUE(team.sendMessages().ok());
      ASSERT_TRUE(compared.run(seed));
      if (lateRank)
        team.makeLate(*lateRank);
    }
  }
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_EMULATEDKERNELS_H
