//===- TunedVariantTest.cpp - What is kept of measurements ----------------===//
//
// The fastest variant is found again; what is no file of ours counts as
// nothing and is replaced.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/TunedVariant.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

TEST(TunedVariant, OnlyFilesAreEntries) {
  char name[] = "/tmp/ccn-tuned-XXXXXX";
  std::string folder = mkdtemp(name);
  setenv("CCN_CACHE_DIR", folder.c_str(), 1);
  Package package;
  package.hash = std::string(64, 'a');
  package.variants.resize(2);
  EXPECT_EQ(findTuned(package, "machine"), 0u);
  auto keep = [&] {
    Result<std::string> path = keepTuned(package, "machine", 2, {3, 2, 1});
    EXPECT_TRUE(path.ok()) << path.message();
    EXPECT_EQ(findTuned(package, "machine"), 2u);
    return path.ok() ? *path : "";
  };
  std::string path = keep();
  EXPECT_EQ(findTuned(package, "other machine"), 0u);
  // A pipe without a writer, of which reading would wait for ever.
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(findTuned(package, "machine"), 0u);
  keep();
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0);
  EXPECT_EQ(findTuned(package, "machine"), 0u);
  keep();
  std::filesystem::resize_file(path, uintmax_t(20) << 30);
  EXPECT_EQ(findTuned(package, "machine"), 0u);
  keep();
  std::ofstream(path) << "{\"hash\": \"" << package.hash
                      << "\", \"variant\": 1e999}";
  EXPECT_EQ(findTuned(package, "machine"), 0u);
  keep();
  unsetenv("CCN_CACHE_DIR");
  std::filesystem::remove_all(folder);
}
