//===- NarrowSumsTest.cpp - Sums of 16- and 8-bit floats across ranks -----===//
//
// Whatever the algorithm, they are rounded once: by the interpreter, by ranks
// on the CPU and by kernels. The terms are such that who rounds each sum of
// some of them overflows, or loses what is added last, while in f32 every order
// is exact.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Retype.h"
#include "test/unit/Cuda/CompiledPlan.h"
#include "test/unit/Cuda/CudaTeam.h"

namespace ccn::test {

namespace {

using runtime::ElementType;
using runtime::HostTensor;

struct Narrow {
  const char *name;
  ElementType type;
  /// Of which two are beyond the type (of bf16, whose range f32 does not
  /// exceed, three have more bits than it), and by how much the last is
  /// smaller.
  double large, step;
  /// To which 1 is half of the least that can be added.
  double coarse;
};

constexpr Narrow types[] = {
    {"f16", ElementType::F16, 40960, 1024, 2048},
    {"bf16", ElementType::BF16, 256, 2, 256},
    {"f8e4m3", ElementType::F8E4M3, 384, 32, 16},
    {"f8e5m2", ElementType::F8E5M2, 49152, 8192, 8},
};

struct Case {
  Narrow narrow;
  int ranks;
  /// Of all_reduces and reduce_scatters, and of reduces: nothing, or the
  /// beginning of a directive's end.
  std::string algorithm, ofReduce;

  friend void PrintTo(const Case &c, std::ostream *os) {
    *os << c.narrow.name << " on " << c.ranks << " ranks, " << c.algorithm;
  }
};

/// What a rank has at an index.
double termOf(const Narrow &narrow, int ranks, int rank, int64_t index) {
  bool isLast = rank == ranks - 1;
  switch (index % 4) {
  case 0:
    // Half of them cancel the others.
    if (isLast)
      return ranks % 2 ? 1 : narrow.step - narrow.large;
    return rank < ranks / 2 ? narrow.large : -narrow.large;
  case 1:
    return rank == 0 ? narrow.coarse : 1;
  case 2:
    return isLast ? -narrow.coarse : rank == 0 ? narrow.coarse : 1;
  default:
    return static_cast<double>((rank * 5 + index) % 7 - 3);
  }
}

class NarrowSums : public testing::TestWithParam<Case> {
protected:
  /// So many elements of each rank's terms, one rank after the other.
  static HostTensor terms(int64_t count, int ranks = GetParam().ranks) {
    const Narrow &narrow = GetParam().narrow;
    std::vector<double> values;
    for (int rank = 0; rank < ranks; ++rank)
      for (int64_t i = 0; i < count; ++i)
        values.push_back(termOf(narrow, ranks, rank, i));
    return *HostTensor::fromDoubles(narrow.type, {ranks, count}, values);
  }
  /// Their sums, exact and rounded once.
  static HostTensor sums(int64_t count, int ranks = GetParam().ranks) {
    const Narrow &narrow = GetParam().narrow;
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (int rank = 0; rank < ranks; ++rank)
        sum += termOf(narrow, ranks, rank, i);
      values.push_back(sum);
    }
    return *HostTensor::fromDoubles(narrow.type, {count}, values);
  }

  /// Runs the text with schedule s and compares all it leaves.
  static void check(const std::string &text, const interp::NamedTensors &inputs,
                    const Outputs &expected) {
    PlanCompiler compiler;
    verify::Variant variant = {.phase = Phase::Plan, .schedule = "s"};
    std::string messages;
    auto scheduled =
        compiler.compileTo(Phase::Schedule, text, variant, messages);
    ASSERT_TRUE(scheduled) << messages << text;
    auto plans = compiler.compileTo(Phase::Plan, text, variant, messages);
    ASSERT_TRUE(plans) << messages;
    ProgramOp program = verify::onlyProgram(*scheduled);
    auto interpreted = interp::run(program, program.getMesh(), inputs, {});
    ASSERT_TRUE(mlir::succeeded(interpreted));
    EXPECT_TRUE(haveSameBits(expected, *interpreted)) << text;
    auto ranks = PlanTeam::create(*plans, "f");
    ASSERT_TRUE(ranks) << ranks.message();
    auto kernels = CudaTeam::create(*plans, "f", /*mostBlocks=*/2);
    ASSERT_TRUE(kernels) << kernels.message();
    for (bool sendsMessages : {false, true}) {
      if (sendsMessages)
        ASSERT_TRUE((*kernels)->sendMessages().ok());
      auto found = (*kernels)->run(inputs);
      ASSERT_TRUE(found) << found.message();
      EXPECT_TRUE(haveSameBits(expected, *found)) << text;
    }
    auto found = (*ranks)->run(inputs);
    ASSERT_TRUE(found) << found.message();
    EXPECT_TRUE(haveSameBits(expected, *found)) << text;
  }
};

constexpr int64_t count = 45;

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (const Narrow &narrow : types)
    for (int ranks : {2, 3, 4, 8}) {
      std::string n = std::to_string(ranks);
      cases.push_back({narrow, ranks, "ring", ""});
      if (ranks != 4)
        continue;
      cases.push_back({narrow, ranks, "two_shot", ""});
      for (const char *objective : {"latency", "bandwidth"}) {
        std::string found = "synth(\"ring(" + n + ")\", " + objective + ")";
        cases.push_back({narrow, ranks, found, found});
      }
    }
  return cases;
}

} // namespace

TEST_P(NarrowSums, AreRoundedOnce) {
  const Case &c = GetParam();
  std::string n = std::to_string(c.ranks), type(c.narrow.name);
  auto choose = [&](const char *name, const std::string &algorithm) {
    return algorithm.empty()
               ? ""
               : std::string("  algorithm ") + name + " = " + algorithm + "\n";
  };
  // The last slice of b is short.
  check("mesh m (dp = " + n + ")\nparam N = " + std::to_string(count) +
            "\nprogram f(x: " + type + "[N] local, y: " + type +
            "[N] local, z: " + type + "[N]) {\n" +
            "  let a = all_reduce(sum, x)\n"
            "  let b = reduce_scatter(sum, x, 0)\n"
            "  let c = broadcast(reduce(sum, x, " +
            std::to_string(c.ranks - 1) + "), " + std::to_string(c.ranks - 1) +
            ")\n"
            "  let d = all_reduce(sum, y)\n"
            "  let e = d + z\n"
            "  return a, b, c, e\n}\nschedule s for f {\n"
            "  fuse d, e\n" +
            choose("a", c.algorithm) + choose("b", c.algorithm) +
            choose("d", c.algorithm) + "}\n",
        {{"x", terms(count)},
         {"y", terms(count)},
         {"z", *HostTensor::zeros(c.narrow.type, {count})}},
        {{"a", sums(count)},
         {"b", sums(count)},
         {"c", sums(count)},
         {"e", sums(count)}});
  if (c.ofReduce.empty())
    return;
  check("mesh m (dp = " + n + ")\nparam N = " + std::to_string(count) +
            "\nprogram f(x: " + type + "[N] local) {\n" +
            "  let a = reduce(sum, x, 1)\n"
            "  let b = broadcast(a, 1)\n"
            "  return b\n}\nschedule s for f {\n" +
            choose("a", c.ofReduce) + "}\n",
        {{"x", terms(count)}}, {{"b", sums(count)}});
}

// In two stages, and each of them by a ring.
TEST_P(NarrowSums, AreRoundedOnceInStages) {
  const Case &c = GetParam();
  if (c.ranks % 2 || c.algorithm != "ring")
    GTEST_SKIP() << "of one axis";
  std::string inner = std::to_string(c.ranks / 2), type(c.narrow.name);
  for (const char *more : {"  fuse rs, ar, ag\n",
                           "  algorithm rs = ring\n  algorithm ar = ring\n"}) {
    HostTensor x = *terms(count).reshaped({2, c.ranks / 2, count});
    check("mesh m (p = 2, q = " + inner +
              ")\nparam N = " + std::to_string(count) +
              "\nprogram f(x: " + type + "[N] local(p) local(q), y: " + type +
              "[N] partial(sum, p) partial(sum, q)) {\n"
              "  let a = all_reduce(sum, x, p, q)\n"
              "  let b = all_reduce(sum, y, p, q)\n"
              "  let c = reshard(y, sliced(0, q))\n"
              "  return a, b, c\n}\nschedule s for f {\n"
              "  let (rs, ar, ag) = split a as hierarchical\n"
              "  let (rs2, ar2, ag2) = split b as hierarchical\n" +
              more + "}\n",
          {{"x", x}, {"y", x}},
          {{"a", sums(count)}, {"b", sums(count)}, {"c", sums(count)}});
  }
}

// A reduction that is cut into parts: each rank has two rows.
TEST_P(NarrowSums, AreRoundedOnceOfSlices) {
  const Case &c = GetParam();
  if (c.algorithm != "ring")
    GTEST_SKIP() << "by any algorithm alike";
  check("mesh m (dp = " + std::to_string(c.ranks) + ")\nparam N = " +
            std::to_string(count) + "\nprogram f(x: " + c.narrow.name +
            "[2 * dp, N] sliced(0)) {\n"
            "  let whole = all_gather(x)\n"
            "  let a = sum(whole, 0)\n"
            "  return a\n}\nschedule s for f {\n"
            "  let (part, ag) = reorder whole after a\n"
            "  fuse part\n}\n",
        {{"x", terms(count, 2 * c.ranks)}}, {{"a", sums(count, 2 * c.ranks)}});
}

INSTANTIATE_TEST_SUITE_P(Cases, NarrowSums, testing::ValuesIn(allCases()));

} // namespace ccn::test
