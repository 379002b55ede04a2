//===- HostListTest.cpp - Lists of hosts as Slurm writes them -------------===//
//
// What expands to what, and that any text at all ends in a list or an error.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/HostList.h"

#include <gtest/gtest.h>

#include <random>

using namespace ccn;
using namespace ccn::runtime;

using Hosts = std::vector<std::string>;

static Hosts expand(std::string_view text) {
  Result<Hosts> hosts = expandHostList(text);
  EXPECT_TRUE(hosts.ok()) << text << ": " << hosts.message();
  return hosts ? *hosts : Hosts();
}

static std::string mistake(std::string_view text) {
  Result<Hosts> hosts = expandHostList(text);
  EXPECT_FALSE(hosts.ok()) << text;
  return hosts.message();
}

TEST(HostList, NamesAndRanges) {
  EXPECT_EQ(expand("node"), Hosts({"node"}));
  EXPECT_EQ(expand("a,b.example.org,c-1"),
            Hosts({"a", "b.example.org", "c-1"}));
  EXPECT_EQ(expand("node[01-04,7]"),
            Hosts({"node01", "node02", "node03", "node04", "node7"}));
  EXPECT_EQ(expand("n[8-11]"), Hosts({"n8", "n9", "n10", "n11"}));
  EXPECT_EQ(expand("n[098-101]"), Hosts({"n098", "n099", "n100", "n101"}));
  EXPECT_EQ(expand("[3,1]"), Hosts({"3", "1"}));
  EXPECT_EQ(expand("gpu[1-2]-ib0,login,cpu[5]"),
            Hosts({"gpu1-ib0", "gpu2-ib0", "login", "cpu5"}));
  EXPECT_EQ(expand("r[1-2]n[01-02]"),
            Hosts({"r1n01", "r1n02", "r2n01", "r2n02"}));
  EXPECT_EQ(expand("n[0-65535]").back(), "n65535");
  EXPECT_EQ(expand("n[999999999999999999]"), Hosts({"n999999999999999999"}));
}

TEST(HostList, MistakesAreNamed) {
  EXPECT_EQ(mistake(""), "expected a host at its end");
  EXPECT_EQ(mistake("a,"), "expected a host at its end");
  EXPECT_EQ(mistake(",a"), "expected a host at character 1, found ','");
  EXPECT_EQ(mistake("a,,b"), "expected a host at character 3, found ','");
  EXPECT_EQ(mistake("a b"), "expected a host's name at character 2, found ' '");
  EXPECT_EQ(mistake("a]"), "expected a host's name at character 2, found ']'");
  EXPECT_EQ(mistake("n[1-2"), "expected ',', '-' or ']' at its end");
  EXPECT_EQ(mistake("n["), "expected a number at its end");
  EXPECT_EQ(mistake("n[]"), "expected a number at character 3, found ']'");
  EXPECT_EQ(mistake("n[1,]"), "expected a number at character 5, found ']'");
  EXPECT_EQ(mistake("n[1-]"), "expected a number at character 5, found ']'");
  EXPECT_EQ(mistake("n[-1]"), "expected a number at character 3, found '-'");
  EXPECT_EQ(mistake("n[1-2-3]"),
            "expected ',', '-' or ']' at character 6, found '-'");
  EXPECT_EQ(mistake("n[[1]]"), "expected a number at character 3, found '['");
  EXPECT_EQ(mistake("n[a]"), "expected a number at character 3, found 'a'");
  EXPECT_EQ(mistake("n[4-2]"), "expected a range that does not go down, found "
                               "'4-2' at character 3");
  EXPECT_EQ(mistake("n[1234567890123456789]"),
            "expected at most 18 digits in the number at character 3");
}

TEST(HostList, NoListIsTooLong) {
  const char *most = "expected at most 65536 hosts";
  EXPECT_EQ(mistake("n[1-999999999999999999]"), most);
  EXPECT_EQ(mistake("n[0-65536]"), most);
  EXPECT_EQ(mistake("n[0-65535,1]"), most);
  EXPECT_EQ(mistake("n[0-65535],m"), most);
  EXPECT_EQ(mistake("n[0-999]x[0-999]"), most);
  EXPECT_EQ(mistake("n[0-99]x[0-99]y[0-99]z[0-99]"), most);
}

TEST(HostList, AnyTextEnds) {
  std::mt19937 random(1);
  const std::string letters = "n0129-,[]. \n";
  size_t lists = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t length = random() % 12; length > 0; --length)
      text += letters[random() % letters.size()];
    Result<Hosts> hosts = expandHostList(text);
    EXPECT_EQ(hosts.ok(), hosts.message().empty());
    if (!hosts)
      continue;
    ++lists;
    EXPECT_FALSE(hosts->empty());
    for (const std::string &host : *hosts)
      EXPECT_EQ(host.find_first_of(",[] \n"), std::string::npos) << text;
  }
  EXPECT_GT(lists, 500u);
}
