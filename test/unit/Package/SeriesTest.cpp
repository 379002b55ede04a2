//===- SeriesTest.cpp - Lists whose entries differ in numbers only --------===//

#include "runtime/plan/Series.h"

#include "gtest/gtest.h"
#include <nlohmann/json.hpp>

#include <random>

using namespace ccn;
using namespace ccn::runtime;

namespace {

using Json = nlohmann::json;

constexpr int64_t enough = 1 << 20;

/// The list once packed and unpacked.
Json throughSeries(const Json &list) {
  Json packed = packSeries(list);
  int64_t left = enough;
  Status status = unpackSeries(packed, left);
  EXPECT_TRUE(status) << status.message();
  return packed;
}

TEST(Series, OfNumbers) {
  Json list = Json::array();
  for (int i = 0; i < 1000; ++i)
    list.push_back(7 - 3 * i);
  EXPECT_EQ(packSeries(list).dump(),
            R"([{"entries":[7],"steps":[-3],"times":1000}])");
  EXPECT_EQ(throughSeries(list), list);
}

TEST(Series, OfSeveralEntriesTogether) {
  Json list = Json::array();
  list.push_back("what comes before");
  for (int i = 0; i < 64; ++i) {
    list.push_back({{"name", "a"}, {"sizes", {4, 8 * i}}});
    list.push_back({{"name", "b"}, {"rank", -1}, {"inner", {{"x", i}}}});
    list.push_back(nullptr);
  }
  list.push_back({{"name", "a"}, {"sizes", {4, 0}}});
  Json packed = packSeries(list);
  ASSERT_EQ(packed.size(), 3u) << packed.dump(2);
  EXPECT_EQ(packed[1]["entries"].size(), 3u);
  EXPECT_EQ(packed[1]["steps"].dump(), "[0,8,1,0]");
  EXPECT_EQ(throughSeries(list), list);
}

TEST(Series, NotOfFew) {
  Json list = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(packSeries(list), list);
  list.push_back(16);
  EXPECT_EQ(packSeries(list).size(), 1u);
  EXPECT_EQ(throughSeries(list), list);
  EXPECT_EQ(packSeries(Json::array()), Json::array());
}

TEST(Series, OfTheLargestNumbers) {
  Json list = Json::array();
  for (int i = 0; i < 40; ++i)
    list.push_back(i % 2 ? INT64_MAX : INT64_MIN);
  EXPECT_EQ(throughSeries(list), list);
  list = Json::array();
  for (int i = 0; i < 40; ++i)
    list.push_back(UINT64_MAX - 40 + uint64_t(i));
  EXPECT_EQ(packSeries(list), list);
  EXPECT_EQ(throughSeries(list), list);
  list = Json::array();
  for (int i = 0; i < 40; ++i)
    list.push_back(INT64_MAX - 39 + i);
  EXPECT_EQ(packSeries(list).size(), 1u);
  EXPECT_EQ(throughSeries(list), list);
}

TEST(Series, OfAnyLists) {
  std::mt19937 random(3);
  auto draw = [&](int most) {
    return static_cast<int>(random() % unsigned(most));
  };
  for (int time = 0; time < 500; ++time) {
    Json list = Json::array();
    for (int piece = draw(6); piece >= 0; --piece) {
      int together = 1 + draw(4), times = draw(40), integers = draw(3);
      int64_t steps[3];
      for (int64_t &step : steps)
        step = draw(5) - 2;
      for (int k = 0; k < times; ++k)
        for (int j = 0; j < together; ++j) {
          Json entry = Json::array({j, draw(9) ? "x" : "y", 1.5});
          for (int i = 0; i < integers; ++i)
            entry.push_back(j + k * steps[i] + (draw(50) ? 0 : 1));
          list.push_back(entry);
        }
    }
    ASSERT_EQ(throughSeries(list), list);
  }
}

TEST(Series, WrongOnesAreRefused) {
  auto refused = [](const char *text, int64_t left = enough) {
    Json list = Json::parse(text);
    return unpackSeries(list, left).message();
  };
  for (const char *text : {
           R"([{"times": 2}])",
           R"([{"times": 2, "entries": [1]}])",
           R"([{"times": 2, "entries": [1], "steps": [1, 2]}])",
           R"([{"times": 2, "entries": [1], "steps": []}])",
           R"([{"times": 2, "entries": [], "steps": []}])",
           R"([{"times": 0, "entries": [1], "steps": [1]}])",
           R"([{"times": "2", "entries": [1], "steps": [1]}])",
           R"([{"times": 2, "entries": 1, "steps": [1]}])",
           R"([{"times": 2, "entries": [1], "steps": ["a"]}])",
           R"([{"times": 2, "entries": [1], "steps": [1], "more": 1}])",
           R"([{"times": 3, "entries": [1], "steps": [9223372036854775807]}])",
           R"([{"times": 18446744073709551615, "entries": [1], "steps": [1]}])",
           R"([{"times": 2, "entries": [18446744073709551615], "steps": [1]}])",
       })
    EXPECT_NE(refused(text).find("expected a series"), std::string::npos)
        << text << ": " << refused(text);
  EXPECT_NE(
      refused(R"([{"times": 1000000000000, "entries": [1], "steps": [1]}])")
          .find("expected fewer values"),
      std::string::npos);
  EXPECT_NE(
      refused(R"([{"times": 10, "entries": [[1, 2]], "steps": [0, 0]}])", 29)
          .find("expected fewer values"),
      std::string::npos);
  // Depth cannot end the stack.
  std::string deep = R"([{"times": 2, "entries": [)" +
                     std::string(100000, '[') + std::string(100000, ']') +
                     R"(], "steps": []}])";
  EXPECT_NE(refused(deep.c_str()).find("expected a series"), std::string::npos);
  // What is no list is the reader's to refuse.
  Json text = "text";
  int64_t left = enough;
  EXPECT_TRUE(unpackSeries(text, left));
}

} // namespace
