//===- SynthesizeTest.cpp - Tests of the schedules that programs get ------===//
//
// They are ones that programs can run: between ranks, over the ways that a
// machine takes from one to the other, and in few chunks.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/Synthesize.h"

#include "synth/interop/TopologyImport.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace ccn;
using namespace ccn::synth;

namespace {

class SynthesizeTest : public ::testing::Test {
protected:
  void SetUp() override { setenv("CCN_CACHE_DIR", "", 1); }
  void TearDown() override {
    unsetenv("CCN_CACHE_DIR");
    if (!file.empty())
      llvm::sys::fs::remove(file);
  }

  /// Writes the machine where requests find it.
  std::string fileOf(const Topology &topology) {
    int descriptor;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ccn-machine", "json",
                                                    descriptor, file));
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true)
        << writeTopology(topology);
    return file.str().str();
  }

  /// What a search of 20 seconds at most finds.
  static Schedule scheduleOf(CollectiveKind kind, int64_t ranks,
                             const std::string &topology,
                             const std::string &objective) {
    SynthRequest request;
    request.kind = kind;
    request.ranks = ranks;
    request.topology = topology;
    request.objective = objective;
    request.seconds = 20;
    Result<Synthesized> found = synthesize(request);
    EXPECT_TRUE(bool(found)) << found.message();
    if (!found)
      return {};
    Result<Schedule> schedule = parseSchedule(found->schedule, "found");
    EXPECT_TRUE(bool(schedule)) << schedule.message();
    if (!schedule)
      return {};
    EXPECT_EQ(check(*schedule), "");
    return *schedule;
  }

  llvm::SmallString<128> file;
};

bool passesCpu(const Schedule &schedule) {
  for (const Step &step : schedule.steps)
    for (const Send &send : step.sends)
      if (std::max(send.src, send.dst) >= schedule.collective.ranks)
        return true;
  return false;
}

/// GB/s of a whole buffer that is large, over the shortest ways.
double throughput(const Schedule &schedule, const std::string &topology) {
  Result<Topology> machine = loadTopology(topology);
  Result<Timing> timing = simulate(schedule, *makeFabric(*machine), 1e9);
  EXPECT_TRUE(bool(timing)) << timing.message();
  return timing ? 1e6 / timing->eventUs : 0;
}

TEST_F(SynthesizeTest, TreesTakeShortestWaysInFewChunks) {
  // Both have a DGX-1's NVLinks, where trees gather 171 GB/s, and PCIe beside
  // them. Packed trees on all of it are 1305 and 162 a rank, and take detours.
  for (const char *topology :
       {"byteps-nvlink", CCN_SYNTH_TEST_DATA "/topologies/dgx1.xml"}) {
    Schedule gather =
        scheduleOf(CollectiveKind::AllGather, 8, topology, "bandwidth");
    EXPECT_EQ(gather.collective.chunksPerNode, 24) << topology;
    EXPECT_FALSE(passesCpu(gather)) << topology;
    EXPECT_GT(throughput(gather, topology), 160) << topology;
    Schedule reduce =
        scheduleOf(CollectiveKind::AllReduce, 8, topology, "bandwidth");
    EXPECT_EQ(reduce.collective.chunksPerNode, 8 * 24) << topology;
    EXPECT_GT(throughput(reduce, topology), 80) << topology;
  }
  // Through NVSwitches all are one link from all.
  std::string topology = CCN_SYNTH_TEST_DATA "/topologies/hgx-h100.xml";
  Schedule gather =
      scheduleOf(CollectiveKind::AllGather, 8, topology, "bandwidth");
  EXPECT_EQ(gather.collective.chunksPerNode, 4);
  EXPECT_GT(throughput(gather, topology), 490);
}

TEST_F(SynthesizeTest, FlowsTakeShortestWays) {
  for (const char *topology :
       {"byteps-nvlink", CCN_SYNTH_TEST_DATA "/topologies/dgx1.xml"}) {
    Schedule all =
        scheduleOf(CollectiveKind::AllToAll, 8, topology, "bandwidth");
    EXPECT_FALSE(passesCpu(all)) << topology;
    // As much as its NVLinks alone.
    double named = throughput(
        scheduleOf(CollectiveKind::AllToAll, 8, "dgx1", "bandwidth"), "dgx1");
    EXPECT_GT(throughput(all, topology), named * 0.95) << topology;
  }
}

TEST_F(SynthesizeTest, CpusAreLeftOut) {
  // Each GPU is as far from all others over the CPU as over the switch.
  Topology machine;
  machine.name = "mixed";
  for (int rank = 0; rank < 4; ++rank)
    machine.addNode("gpu" + std::to_string(rank), NodeKind::Gpu);
  int hub = machine.addNode("switch0", NodeKind::Switch);
  int cpu = machine.addNode("cpu0", NodeKind::Cpu);
  for (int rank = 0; rank < 4; ++rank) {
    machine.addDuplex(rank, hub, 10, 0.5);
    machine.addDuplex(rank, cpu, 10, 0.5);
  }
  std::string topology = fileOf(machine);
  for (CollectiveKind kind :
       {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
        CollectiveKind::AllReduce, CollectiveKind::AllToAll})
    for (const char *objective : {"latency", "bandwidth"}) {
      Schedule schedule = scheduleOf(kind, 4, topology, objective);
      EXPECT_EQ(schedule.hosts, 4) << kindName(kind) << " " << objective;
      EXPECT_FALSE(passesCpu(schedule)) << kindName(kind) << " " << objective;
    }
}

TEST_F(SynthesizeTest, CpusJoinWhatNothingElseDoes) {
  Topology machine;
  machine.name = "apart";
  for (int rank = 0; rank < 2; ++rank)
    machine.addNode("gpu" + std::to_string(rank), NodeKind::Gpu);
  int cpu = machine.addNode("cpu0", NodeKind::Cpu);
  for (int rank = 0; rank < 2; ++rank)
    machine.addDuplex(rank, cpu, 10, 0.5);
  EXPECT_TRUE(passesCpu(
      scheduleOf(CollectiveKind::AllGather, 2, fileOf(machine), "bandwidth")));
}

// One group that is the whole machine is the question that no group is.
TEST_F(SynthesizeTest, OneWholeGroupIsTheMachine) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("ccn-cache", folder));
  setenv("CCN_CACHE_DIR", folder.c_str(), 1);
  auto countEntries = [&] {
    int count = 0;
    std::error_code wrong;
    for (llvm::sys::fs::directory_iterator it(folder, wrong), end;
         it != end && !wrong; it.increment(wrong))
      ++count;
    return count;
  };
  SynthRequest request;
  request.kind = CollectiveKind::AllGather;
  request.ranks = 2;
  request.topology = "ring(2)";
  request.objective = "latency";
  request.seconds = 20;
  for (const Groups &groups : {Groups{}, Groups{{0, 1}}}) {
    request.groups = groups;
    EXPECT_TRUE(bool(synthesize(request)));
    EXPECT_EQ(countEntries(), 1);
  }
  request.groups = {{1, 0}};
  EXPECT_TRUE(bool(synthesize(request)));
  EXPECT_EQ(countEntries(), 2);
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
