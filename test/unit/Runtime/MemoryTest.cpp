//===- MemoryTest.cpp - How much memory may be taken ----------------------===//
//
// What the system says, from files that stand for its own, and who shares what.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/File.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/launch/RankNeeds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

/// A folder in which the system's files are those that a test writes.
class System {
public:
  System() {
    root = std::filesystem::temp_directory_path() /
           ("ccn-system-" + std::to_string(getpid()));
    write("/proc/meminfo", "MemTotal:  64000 kB\nMemAvailable:  32000 kB\n");
  }
  ~System() { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) const {
    std::filesystem::path file = root.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  FreeMemory free() const { return FreeMemory::now(root.string()); }
  int64_t all() const { return machineMemory(root.string()); }

private:
  std::filesystem::path root;
};

/// Without the part that is left to others.
int64_t reduced(int64_t bytes) { return bytes - bytes / 32; }

RankNeeds needsOf(int64_t symmetric, int64_t other, int64_t machine,
                  int64_t group = INT64_MAX) {
  RankNeeds needs{symmetric, other, {}};
  needs.free.machine = machine;
  needs.free.group = group;
  return needs;
}

} // namespace

TEST(FreeMemory, IsWhatTheMachineHasAvailable) {
  System system;
  EXPECT_EQ(system.free().machine, reduced(32000 * 1024));
  EXPECT_EQ(system.free().group, INT64_MAX);
  EXPECT_EQ(system.all(), 64000 * 1024);
}

TEST(FreeMemory, GroupsOfVersion2LimitIt) {
  System system;
  system.write("/proc/self/cgroup", "0::/jobs/one\n");
  system.write("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
  system.write("/sys/fs/cgroup/jobs/one/memory.current", "900\n");
  EXPECT_EQ(system.free().group, INT64_MAX);
  // That of a group above holds too; files' pages can be had.
  system.write("/sys/fs/cgroup/jobs/memory.max", "10000\n");
  system.write("/sys/fs/cgroup/jobs/memory.current", "5000\n");
  system.write("/sys/fs/cgroup/jobs/memory.stat",
               "anon 100\ninactive_file 600\nactive_file 400\n");
  FreeMemory outer = system.free();
  EXPECT_EQ(outer.group, reduced(6000));
  EXPECT_EQ(system.all(), 10000);
  // The closest counts.
  system.write("/sys/fs/cgroup/jobs/one/memory.max", "1000\n");
  EXPECT_EQ(system.free().group, reduced(100));
  EXPECT_NE(system.free().groupId, outer.groupId);
  // As a container sees it, whose group is the top.
  System container;
  container.write("/proc/self/cgroup", "0::/not/here\n");
  container.write("/sys/fs/cgroup/memory.max", "4096\n");
  container.write("/sys/fs/cgroup/memory.current", "8192\n");
  EXPECT_EQ(container.free().group, 0);
}

TEST(FreeMemory, GroupsOfVersion1LimitIt) {
  System system;
  system.write("/proc/self/cgroup",
               "9:cpu,cpuacct:/a\n4:memory:/jobs/one\n0::/\n");
  system.write("/sys/fs/cgroup/memory/memory.limit_in_bytes",
               "9223372036854771712\n");
  EXPECT_EQ(system.free().group, INT64_MAX);
  system.write("/sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes",
               "64000\n");
  system.write("/sys/fs/cgroup/memory/jobs/one/memory.usage_in_bytes",
               "36000\n");
  system.write("/sys/fs/cgroup/memory/jobs/one/memory.stat",
               "inactive_file 1\ntotal_inactive_file 4000\n");
  EXPECT_EQ(system.free().group, reduced(32000));
}

TEST(FreeMemory, TheProcessHasLimitsOfItsOwn) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit limit = before;
  limit.rlim_cur = rlim_t(1) << 50;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  int64_t left = FreeMemory::now().addresses;
  EXPECT_LT(left, int64_t(1) << 50);
  EXPECT_GT(left, int64_t(1) << 49);
  MemoryNeeds needs;
  needs.add("all of it", 2, int64_t(1) << 49);
  EXPECT_NE(checkMemory(needs).message().find("ulimit -v"), std::string::npos);
  setrlimit(RLIMIT_AS, &before);
}

TEST(FreeMemory, SharedMemoryIsNotData) {
  FreeMemory free;
  free.addresses = 1000;
  free.data = 100;
  MemoryNeeds needs;
  needs.addShared("this", 1, 800);
  needs.add("that", 1, 100);
  EXPECT_TRUE(checkMemory(needs, free).ok());
  MemoryNeeds more = needs;
  more.add("that", 1, 1);
  EXPECT_EQ(checkMemory(more, free).message(),
            "there is not enough memory: expected 901 bytes: 800 for this, 101 "
            "for that; found 100, which the limit of this process's data "
            "leaves (see 'ulimit -d')");
  more = needs;
  more.add(needs);
  EXPECT_NE(checkMemory(more, free).message().find("ulimit -v"),
            std::string::npos);
}

TEST(FreeMemory, OfDataTheSystemCountsWhatIsNotShared) {
  // The system itself, so that the limit is held against the right memory.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit limit = before;
  constexpr size_t size = size_t(1) << 32;
  limit.rlim_cur = size;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  auto map = [&](int flags) {
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED)
      munmap(memory, size);
    return memory != MAP_FAILED;
  };
  EXPECT_FALSE(map(MAP_PRIVATE));
  EXPECT_TRUE(map(MAP_SHARED));
  EXPECT_LT(FreeMemory::now().data, static_cast<int64_t>(size));
  setrlimit(RLIMIT_DATA, &before);
}

TEST(FreeMemory, RefusesWithAllSizes) {
  FreeMemory free;
  free.machine = 1000;
  free.group = 800;
  MemoryNeeds needs;
  needs.add("this", 2, 300);
  needs.add("that", 1, 100);
  needs.add("this", 1, 50);
  needs.add("nothing", 0, 50);
  EXPECT_TRUE(checkMemory(needs, free).ok());
  needs.add("that", 1, 100);
  EXPECT_EQ(checkMemory(needs, free).message(),
            "there is not enough memory: expected 850 bytes: 650 for this, 200 "
            "for that; found 800, which the limit of this process's control "
            "group leaves");
  free.group = INT64_MAX;
  EXPECT_TRUE(checkMemory(needs, free).ok());
  // What no number counts is more than there is.
  needs.add("too much", int64_t(1) << 40, int64_t(1) << 40);
  EXPECT_EQ(checkMemory(needs, free).message(),
            "there is not enough memory: expected at least 9223372036854775807 "
            "bytes: 650 for this, 200 for that, at least 9223372036854775807 "
            "for too much; found 1000, which this machine has available");
}

TEST(FreeMemory, FilesAreReadUpToALimit) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("ccn-text-" + std::to_string(getpid()));
  std::ofstream(path) << "12345";
  auto read = [&](const std::string &file, int64_t most) {
    Result<std::optional<std::string>> text = readText(file, most);
    return !text ? text.message() : *text ? **text : "too much";
  };
  EXPECT_EQ(read(path, 5), "12345");
  EXPECT_EQ(read(path, 4), "too much");
  EXPECT_EQ(read("/dev/null", 4), "");
  EXPECT_EQ(read("/dev/zero", 1 << 22), "too much");
  std::filesystem::resize_file(path, uint64_t(1) << 40);
  EXPECT_EQ(read(path, 1 << 22), "too much");
  std::filesystem::remove(path);
  EXPECT_EQ(read(path, 5), "No such file or directory");
}

TEST(RankNeeds, RanksOfAMachineShareIt) {
  std::vector<RankNeeds> ranks = {needsOf(100, 50, 400), needsOf(100, 50, 350)};
  EXPECT_TRUE(checkNeeds(ranks, true).ok());
  ranks[1].free.machine = 299;
  EXPECT_EQ(checkNeeds(ranks, true).message(),
            "there is not enough memory for ranks 0 and 1: expected 300 bytes: "
            "200 for symmetric memory, 100 for arguments, results and private "
            "memory; found 299, which their machine has available");
  // On two machines each has its own.
  ranks[1].free.machineId = 1;
  EXPECT_TRUE(checkNeeds(ranks, false).ok());
  ranks[1].free.machine = 149;
  EXPECT_NE(checkNeeds(ranks, false)
                .message()
                .find("memory for rank 1: "
                      "expected 150 bytes"),
            std::string::npos);
}

TEST(RankNeeds, RanksOfAGroupShareItsLimit) {
  std::vector<RankNeeds> ranks = {needsOf(100, 50, 1000, 299),
                                  needsOf(100, 50, 1000, 299)};
  EXPECT_NE(
      checkNeeds(ranks, true)
          .message()
          .find("found 299, which the limit of their control group leaves"),
      std::string::npos);
  ranks[1].free.groupId = 1;
  EXPECT_TRUE(checkNeeds(ranks, true).ok());
}

TEST(RankNeeds, EachProcessMapsAllThatIsShared) {
  std::vector<RankNeeds> ranks = {needsOf(100, 50, 1000),
                                  needsOf(100, 50, 1000)};
  ranks[1].free.addresses = 249;
  EXPECT_NE(checkNeeds(ranks, true)
                .message()
                .find("memory for rank 1: expected 250 bytes"),
            std::string::npos);
  EXPECT_TRUE(checkNeeds(ranks, false).ok());
  ranks[1].free.addresses = INT64_MAX;
  ranks[1].free.data = 50;
  EXPECT_TRUE(checkNeeds(ranks, true).ok());
  EXPECT_NE(checkNeeds(ranks, false).message().find("ulimit -d"),
            std::string::npos);
  ranks[1].free.data = 49;
  EXPECT_NE(checkNeeds(ranks, true)
                .message()
                .find("memory for rank 1: expected 50 bytes"),
            std::string::npos);
  ranks[1].free.data = INT64_MAX;
  // Rank 0 makes the file.
  ranks[1].free.file = 0;
  EXPECT_TRUE(checkNeeds(ranks, true).ok());
  ranks[0].free.file = 199;
  EXPECT_NE(checkNeeds(ranks, true).message().find("ulimit -f"),
            std::string::npos);
}
