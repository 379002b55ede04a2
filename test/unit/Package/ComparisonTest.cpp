//===- ComparisonTest.cpp - Which differences rounding explains -----------===//
//
// Elements at, just within and just above their limits, and what no limit has.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Comparison.h"
#include "tools/ccrun/Report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

using namespace ccn::runtime;

namespace {

constexpr double infinity = INFINITY;

HostTensor tensorOf(ElementType type, const std::vector<double> &values) {
  auto tensor = HostTensor::fromDoubles(
      type, {static_cast<int64_t>(values.size())}, values);
  EXPECT_TRUE(tensor.ok());
  return *tensor;
}

ElementComparison::Verdict judge(double found, double expected, double bound) {
  HostTensor bounds = tensorOf(ElementType::F64, {bound});
  return compareElement(tensorOf(ElementType::F64, {found}),
                        tensorOf(ElementType::F64, {expected}), &bounds, 0)
      .verdict;
}

TEST(Comparison, JustAboveTheLimit) {
  double limit = boundFactor * 0.25;
  EXPECT_EQ(judge(8, 8, 0.25), ElementComparison::Same);
  EXPECT_EQ(judge(8 + limit, 8, 0.25), ElementComparison::Within);
  EXPECT_EQ(judge(8 - limit, 8, 0.25), ElementComparison::Within);
  EXPECT_EQ(judge(std::nextafter(8 + limit, 9.5), 8, 0.25),
            ElementComparison::Apart);
  EXPECT_EQ(judge(std::nextafter(8 - limit, 6.5), 8, 0.25),
            ElementComparison::Apart);
}

TEST(Comparison, WhatIsNoNumber) {
  EXPECT_EQ(judge(NAN, NAN, 0), ElementComparison::Same);
  EXPECT_EQ(judge(0.0, -0.0, 0), ElementComparison::Same);
  EXPECT_EQ(judge(infinity, infinity, 0), ElementComparison::Same);
  EXPECT_EQ(judge(NAN, 1, 100), ElementComparison::Apart);
  EXPECT_EQ(judge(1, NAN, 100), ElementComparison::Apart);
  EXPECT_EQ(judge(infinity, 1, 100), ElementComparison::Apart);
  EXPECT_EQ(judge(infinity, -infinity, 100), ElementComparison::Apart);
  EXPECT_EQ(judge(NAN, 1, infinity), ElementComparison::Unknown);
  EXPECT_EQ(judge(2, 1, NAN), ElementComparison::Unknown);
  EXPECT_EQ(judge(1, 1, infinity), ElementComparison::Same);
}

TEST(Comparison, IntegersAreExact) {
  HostTensor large = *HostTensor::fromIntegers(ElementType::I64, {1},
                                               {(int64_t(1) << 60) + 1});
  HostTensor other =
      *HostTensor::fromIntegers(ElementType::I64, {1}, {int64_t(1) << 60});
  HostTensor bound = tensorOf(ElementType::F64, {100});
  for (const HostTensor *given : {static_cast<HostTensor *>(nullptr), &bound}) {
    ElementComparison result = compareElement(large, other, given, 0);
    EXPECT_EQ(result.verdict, ElementComparison::Apart);
    EXPECT_EQ(result.difference, 1);
  }
  // A floor of a sum, say.
  bound = tensorOf(ElementType::F64, {infinity});
  EXPECT_EQ(compareElement(large, other, &bound, 0).verdict,
            ElementComparison::Unknown);
}

/// What is printed of two arrays, and whether they agree.
std::pair<std::string, bool> print(const std::vector<double> &found,
                                   const std::vector<double> &expected,
                                   const std::vector<double> &bound) {
  std::ostringstream os;
  HostTensor bounds = tensorOf(ElementType::F64, bound);
  bool agrees = ccn::printComparison(os, "y", tensorOf(ElementType::F32, found),
                                     tensorOf(ElementType::F32, expected),
                                     bound.empty() ? nullptr : &bounds);
  return {os.str(), agrees};
}

TEST(Comparison, SaysWhichElementIsClosest) {
  using Printed = std::pair<std::string, bool>;
  EXPECT_EQ(print({1, 2}, {1, 2}, {}), Printed("check y: same bits\n", true));
  // The smaller difference is closer to its limit.
  EXPECT_EQ(print({10, 2.5}, {8, 2}, {10, 0.25}),
            Printed("check y: off by 0.5 at [1], 2.5 instead of 2, within 1\n",
                    true));
  EXPECT_EQ(print({10, 2.5, 3}, {8, 2, 4}, {10, 0.0625, 0.125}),
            Printed("check y: off by 0.5 at [1], 2.5 instead of 2, expected at "
                    "most 0.25, and 1 other\n",
                    false));
  EXPECT_EQ(print({1, NAN}, {1, 2}, {1, 1}),
            Printed("check y: off by nan at [1], nan instead of 2, expected at "
                    "most 4\n",
                    false));
  EXPECT_EQ(print({1, 3}, {2, 2}, {infinity, 1}),
            Printed("check y: off by 1 at [1], 3 instead of 2, within 4; 1 "
                    "element differs where no bound is known, by 1 at most, "
                    "expected at most 0.000976562\n",
                    false));
  EXPECT_EQ(print({1, 3}, {2, 2}, {infinity, infinity}),
            Printed("check y: 2 elements differ where no bound is known, by 1 "
                    "at most, expected at most 0.000976562\n",
                    false));
  EXPECT_EQ(print({1, 2.0005}, {1, 2}, {infinity, infinity}),
            Printed("check y: 1 element differs where no bound is known, by "
                    "0.000499964 at most, within 0.000976562\n",
                    true));
  // Infinities and NaN are far from all else.
  for (double wrong : {infinity, double(NAN)})
    EXPECT_EQ(print({1, wrong}, {1, 2}, {infinity, infinity}),
              Printed("check y: 1 element differs where no bound is known, by "
                      "inf at most, expected at most 0.000976562\n",
                      false));
  EXPECT_EQ(print({0.0}, {-0.0}, {}),
            Printed("check y: equal but for the signs of zeros\n", true));
  EXPECT_EQ(
      print({1}, {2}, {}),
      Printed("check y: off by 1 at [0], 1 instead of 2, expected at most "
              "0\n",
              false));
}

} // namespace
