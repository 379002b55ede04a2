//===- DiskCacheTest.cpp - Tests of what is kept on disk ------------------===//
//
// Entries come back as they were kept, damaged ones do not, and many threads
// may keep and find the same entry at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/DiskCache.h"
#include "lib/Synthesis/Synthesize.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

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

TEST_F(DiskCacheTest, OnlyFilesAreEntries) {
  DiskCache cache(folder.str().str());
  cache.keep("question", "answer");
  std::string path = files().front();
  auto expectReplaced = [&](const char *what) {
    EXPECT_EQ(cache.find("question"), std::nullopt) << what;
    cache.keep("question", "answer");
    EXPECT_EQ(cache.find("question"), "answer") << what;
    struct stat info;
    ASSERT_EQ(lstat(path.c_str(), &info), 0);
    EXPECT_TRUE(S_ISREG(info.st_mode)) << what;
  };
  // A pipe without a writer, of which reading would wait for ever.
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expectReplaced("pipe");
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("/dev/zero", path.c_str()), 0);
  expectReplaced("endless file");
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("nowhere", path.c_str()), 0);
  expectReplaced("broken link");
  // 20 GB of which the disk has nothing.
  ASSERT_EQ(truncate(path.c_str(), off_t(20) << 30), 0);
  expectReplaced("large file");
  // A folder stays, and costs nothing but the entry.
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  cache.keep("question", "answer");
  EXPECT_EQ(cache.find("question"), std::nullopt);
}

TEST_F(DiskCacheTest, WrongAnswersAreNoAnswers) {
  setenv("CCN_CACHE_DIR", folder.c_str(), 1);
  SynthRequest request;
  request.kind = synth::CollectiveKind::AllGather;
  request.ranks = 4;
  request.topology = "ring(4)";
  request.objective = "latency";
  Result<Synthesized> first = synthesize(request);
  ASSERT_TRUE(bool(first)) << first.message();
  ASSERT_EQ(files().size(), 1u);
  std::string path = files().front();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(buffer));
  std::string body = (*buffer)->getBuffer().split('\n').second.str();
  auto [size, rest] = llvm::StringRef(body).split('\n');
  size_t length = 0;
  ASSERT_FALSE(size.getAsInteger(10, length));
  std::string question = rest.take_front(length).str();
  request.ranks = 5;
  request.topology = "ring(5)";
  std::string otherRanks = synthesize(request)->schedule;
  request.ranks = 4;
  request.topology = "ring(4)";
  DiskCache cache;
  std::string lost = first->schedule;
  lost.replace(lost.find("\"chunk\": 1"), 10, "\"chunk\": 2");
  for (const std::string &wrong :
       {std::string(), std::string("\n"), std::string("\n{}"),
        std::string("\n{\"ccn_schedule\": 1e999}"), "\n" + otherRanks,
        "\n" + lost}) {
    cache.keep(question, wrong);
    Result<Synthesized> again = synthesize(request);
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(again->schedule, first->schedule) << wrong;
    EXPECT_EQ(cache.find(question), "\n" + first->schedule) << wrong;
  }
  unsetenv("CCN_CACHE_DIR");
}

TEST_F(DiskCacheTest, ThreadsShareIt) {
  constexpr int writers = 4;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  std::barrier together(writers);
  for (int t = 0; t < writers; ++t)
    threads.emplace_back([&, t] {
      DiskCache cache(folder.str().str());
      std::string answer(10'000, 'x');
      // New questions, as the first to keep one finds nothing in its place. The
      // others come a little later, each time by a little more.
      for (int i = 0; i < 100; ++i) {
        std::string same = "same " + std::to_string(i);
        together.arrive_and_wait();
        std::this_thread::sleep_for(std::chrono::microseconds(t * i));
        cache.keep(same, answer);
        std::optional<std::string> found = cache.find(same);
        wrong += !found || *found != answer;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(files().size(), 100u);
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
