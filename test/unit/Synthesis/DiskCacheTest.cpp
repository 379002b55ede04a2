//===- DiskCacheTest.cpp - Tests of what is kept on disk ------------------===//
//
// Entries come back as they were kept, damaged ones do not, and many threads
// may keep and find the same entry at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/DiskCache.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <atomic>
#include <thread>

using namespace ccn;

namespace {

class DiskCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ccn-cache", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::vector<std::string> files() {
    std::vector<std::string> found;
    std::error_code failure;
    for (llvm::sys::fs::directory_iterator it(folder, failure), end;
         it != end && !failure; it.increment(failure))
      found.push_back(it->path());
    return found;
  }

  llvm::SmallString<128> folder;
};

TEST_F(DiskCacheTest, KeepsByContent) {
  DiskCache cache(folder.str().str());
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.keep("a", "first\nsecond");
  cache.keep("b", "");
  EXPECT_EQ(cache.find("a"), "first\nsecond");
  EXPECT_EQ(cache.find("b"), "");
  EXPECT_EQ(cache.find("afirst"), std::nullopt);
  cache.keep("a", "other");
  EXPECT_EQ(cache.find("a"), "other");
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(DiskCacheTest, EveryDamageIsSeen) {
  DiskCache cache(folder.str().str());
  cache.keep("question", "answer");
  std::string path = files().front();
  for (uint64_t size = 0; size < 40; ++size) {
    int descriptor;
    ASSERT_FALSE(llvm::sys::fs::openFileForReadWrite(
        path, descriptor, llvm::sys::fs::CD_OpenExisting,
        llvm::sys::fs::OF_None));
    ASSERT_FALSE(llvm::sys::fs::resize_file(descriptor, size));
    llvm::sys::fs::file_t file =
        llvm::sys::fs::convertFDToNativeFile(descriptor);
    ASSERT_FALSE(llvm::sys::fs::closeFile(file));
    EXPECT_EQ(cache.find("question"), std::nullopt) << size;
    cache.keep("question", "answer");
  }
  EXPECT_EQ(cache.find("question"), "answer");
}

TEST_F(DiskCacheTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      DiskCache cache(folder.str().str());
      std::string answer(10'000, 'x');
      for (int i = 0; i < 100; ++i) {
        cache.keep("same", answer);
        std::optional<std::string> found = cache.find("same");
        wrong += !found || *found != answer;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskCacheTest, NoFolder) {
  DiskCache none{std::string()};
  none.keep("a", "b");
  EXPECT_EQ(none.find("a"), std::nullopt);
  DiskCache impossible("/proc/none/here");
  impossible.keep("a", "b");
  EXPECT_EQ(impossible.find("a"), std::nullopt);
}

} // namespace
