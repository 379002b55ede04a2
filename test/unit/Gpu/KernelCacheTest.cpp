//===- KernelCacheTest.cpp - Compiled kernels, kept on disk ---------------===//
//
// Entries are found, and those that are damaged are made anew.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/KernelCache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

const std::string source =
    "extern \"C\" __global__ void f(int *p) { *p = 1; }\n";

class Cache : public testing::Test {
protected:
  void SetUp() override {
    if (Result<std::string> version = compilerVersion(); !version)
      GTEST_SKIP() << version.message();
    char name[] = "/tmp/ccn-kernels-XXXXXX";
    folder = std::string(mkdtemp(name)) + "/made/when/needed";
  }
  void TearDown() override {
    if (!folder.empty())
      std::filesystem::remove_all(std::filesystem::path(folder)
                                      .parent_path()
                                      .parent_path()
                                      .parent_path());
  }
  /// From a cache that has used nothing yet.
  Result<CompiledKernels> get(const std::string &text = source,
                              const char *architecture = "sm_80") {
    return KernelCache(folder).get(text, architecture);
  }
  std::string path() { return *KernelCache(folder).pathOf(source, "sm_80"); }
  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  size_t entries() {
    auto all = std::filesystem::directory_iterator(folder);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  std::string folder;
};

} // namespace

TEST_F(Cache, EntriesAreKeptByWhatTheyWereMadeOf) {
  Result<CompiledKernels> first = get();
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_EQ(entries(), 1u);
  Result<CompiledKernels> again = get();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->cubin, first->cubin);
  // The log has the time that compiling took, so it is that of the first.
  EXPECT_EQ(again->log, first->log);
  EXPECT_EQ(kernelResources(*again).size(), 1u);
  ASSERT_TRUE(get(source, "sm_90a").ok());
  ASSERT_TRUE(get(source + "__device__ int more;\n").ok());
  EXPECT_EQ(entries(), 3u);
}

TEST_F(Cache, CommentsMakeNoOtherEntry) {
  Result<CompiledKernels> first = get("// x.ccn:3\n" + source);
  ASSERT_TRUE(first.ok()) << first.message();
  Result<CompiledKernels> again = get("// x.ccn:4\n\n" + source + "// end\n");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->log, first->log);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Cache, OnlyFilesAreEntries) {
  Result<CompiledKernels> first = get();
  ASSERT_TRUE(first.ok()) << first.message();
  for (bool pipe : {true, false}) {
    ASSERT_TRUE(std::filesystem::remove(path()));
    if (pipe)
      ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    else
      std::filesystem::create_symlink("/dev/zero", path());
    EXPECT_FALSE(KernelCache(folder).find(source, "sm_80")->has_value());
    EXPECT_EQ(get()->cubin, first->cubin);
    EXPECT_TRUE(KernelCache(folder).find(source, "sm_80")->has_value());
    EXPECT_FALSE(std::filesystem::is_symlink(path()));
  }
  std::filesystem::resize_file(path(), uintmax_t(20) << 30);
  EXPECT_FALSE(KernelCache(folder).find(source, "sm_80")->has_value());
}

TEST_F(Cache, WhatIsThereIsFound) {
  KernelCache cache(folder);
  EXPECT_FALSE(cache.find(source, "sm_80")->has_value());
  ASSERT_TRUE(get().ok());
  EXPECT_TRUE(cache.find(source, "sm_80")->has_value());
  EXPECT_FALSE(cache.find(source, "sm_90a")->has_value());
}

TEST_F(Cache, DamagedEntriesAreMadeAnew) {
  Result<CompiledKernels> first = get();
  ASSERT_TRUE(first.ok());
  std::string entry = read(path());
  std::string flipped = entry;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string &damaged :
       {std::string(), std::string("x"), entry.substr(0, 64),
        entry.substr(0, 65), entry.substr(0, entry.size() - 1), flipped,
        entry + "x"}) {
    std::ofstream(path(), std::ios::binary) << damaged;
    Result<CompiledKernels> again = get();
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->cubin, first->cubin);
    EXPECT_TRUE(KernelCache(folder).find(source, "sm_80")->has_value());
  }
}

TEST_F(Cache, MistakesAreNotKept) {
  EXPECT_FALSE(get("x").ok());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(Cache, WithoutAFolderNothingIsKept) {
  KernelCache cache("");
  ASSERT_TRUE(cache.get(source, "sm_80").ok());
  EXPECT_FALSE(cache.find(source, "sm_80")->has_value());
  // Nor where no folder can be made.
  KernelCache impossible("/dev/null/folder");
  ASSERT_TRUE(impossible.get(source, "sm_80").ok());
}

TEST_F(Cache, ThreadsCompileAtOnce) {
  KernelCache cache(folder);
  // Two of each want the same; what is wrong is so for both.
  std::vector<std::string> sources = {
      source, source + "__device__ int another;\n", "wrong"};
  std::vector<std::optional<Result<CompiledKernels>>> made(6);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < made.size(); ++i)
      threads.emplace_back(
          [&, i] { made[i] = cache.get(sources[i / 2], "sm_80"); });
  }
  for (size_t i : {0, 2}) {
    ASSERT_TRUE(made[i]->ok() && made[i + 1]->ok());
    EXPECT_EQ((**made[i]).cubin, (**made[i + 1]).cubin);
    EXPECT_EQ((**made[i]).cubin, get(sources[i / 2])->cubin);
  }
  EXPECT_FALSE(made[4]->ok() || made[5]->ok());
  EXPECT_EQ(entries(), 2u);
}

TEST_F(Cache, ProcessesShareAFolder) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0) {
      Result<CompiledKernels> kernels = get();
      _exit(kernels && !kernels->cubin.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries(), 1u);
  EXPECT_TRUE(KernelCache(folder).find(source, "sm_80")->has_value());
}
