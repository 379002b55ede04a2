//===- ProtocolsTest.cpp - Kernels' protocols on weak memory --------------===//
//
// The protocols of codegen/gpu/device are right on memory that is seen late and
// out of order, with ranks as far apart as they let each other be, and CUDA's
// compiler leaves of them what they need. Each edit of Mutations.h is found. A
// few are tried here, and all by the target `nightly`.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "test/unit/Cuda/Mutations.h"
#include "test/unit/Cuda/ProtocolCases.h"
#include "test/unit/Cuda/PtxReader.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cctype>

using namespace ccn;
using namespace ccn::test;

namespace {

constexpr const char *architecture = "sm_90a";

bool hasCompiler() { return bool(runtime::compilerVersion()); }

std::string identifier(std::string name) {
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

/// Runs with seeds from 1 on until something is wrong; returns that.
std::string problemOf(const ProtocolCase &protocol,
                      const runtime::GpuProgram &program,
                      const std::string &source, unsigned seeds) {
  auto team = WeakTeam::create(protocol, program, source);
  if (!team)
    return "not run: " + team.message();
  for (unsigned seed = 1; seed <= seeds; ++seed)
    if (std::string problem = (*team)->run(seed); !problem.empty())
      return "seed " + std::to_string(seed) + ": " + problem;
  return "";
}

std::vector<PtxKernel> ptxOf(const std::string &source) {
  Result<std::string> ptx = runtime::compileToPtx(source, architecture);
  if (!ptx) {
    ADD_FAILURE() << ptx.message();
    return {};
  }
  return readPtx(*ptx);
}

class Protocols : public testing::TestWithParam<std::string> {};

} // namespace

TEST_P(Protocols, AreRightOnWeakMemory) {
  const ProtocolCase &protocol = protocolCase(GetParam());
  runtime::GpuProgram program = programOf(protocol);
  EXPECT_EQ(problemOf(protocol, program, program.source, protocol.seeds), "");
}

TEST_P(Protocols, AreWhatTheCompilerLeaves) {
  if (!hasCompiler())
    GTEST_SKIP() << "no compiler";
  const std::string &name = GetParam();
  PtxKernel all;
  for (const PtxKernel &kernel : ptxOf(programOf(protocolCase(name)).source)) {
    for (const std::string &fault : kernel.faults)
      ADD_FAILURE() << fault;
    all.flagStores += kernel.flagStores;
    all.flagLoads += kernel.flagLoads;
    all.packetStores += kernel.packetStores;
    all.packetLoads += kernel.packetLoads;
    all.counts += kernel.counts;
    all.copies += kernel.copies;
    all.copyWaits += kernel.copyWaits;
    all.clusterBarriers += kernel.clusterBarriers;
  }
  // It has what its name says, so that something was read.
  auto isOf = [&](const char *what) {
    return name.find(what) != std::string::npos;
  };
  bool hasPackets = isOf("ll") || isOf("lamport");
  bool isAlone = isOf("grid") || isOf("cluster");
  EXPECT_EQ(all.packetStores > 0 && all.packetLoads > 0, hasPackets);
  EXPECT_EQ(all.flagStores > 0 && all.flagLoads > 0, !hasPackets && !isAlone);
  EXPECT_EQ(all.counts > 0, isOf("group") || isOf("grid") || isOf("signals") ||
                                isOf("barriers-of") || isOf("pipeline-of-2") ||
                                isOf("copies"));
  EXPECT_EQ(all.copies > 0 && all.copyWaits > 0, isOf("copies"));
  EXPECT_EQ(all.clusterBarriers > 0, isOf("cluster"));
}

INSTANTIATE_TEST_SUITE_P(All, Protocols, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const ProtocolCase &one : protocolCases())
                             names.push_back(one.name);
                           return names;
                         }()),
                         [](const auto &info) {
                           return identifier(info.param);
                         });

namespace {

class Mutated : public testing::TestWithParam<Mutation> {};

std::vector<Mutation> select(bool areSamples) {
  std::vector<Mutation> found;
  for (const Mutation &mutation : mutations())
    if (mutation.isSample == areSamples)
      found.push_back(mutation);
  return found;
}
std::string nameOf(const testing::TestParamInfo<Mutation> &info) {
  return identifier(info.param.name);
}

} // namespace

TEST_P(Mutated, IsFound) {
  const Mutation &mutation = GetParam();
  const ProtocolCase &protocol = protocolCase(mutation.protocol);
  runtime::GpuProgram program = programOf(protocol);
  std::string source = program.source;
  size_t at = source.find(mutation.from);
  ASSERT_NE(at, source.npos) << "the text has changed: it has no\n"
                             << mutation.from;
  ASSERT_EQ(source.find(mutation.from, at + 1), source.npos)
      << "the text has changed: it has more than one\n"
      << mutation.from;
  source.replace(at, mutation.from.size(), mutation.to);
  if (mutation.foundBy != FoundBy::Reading) {
    std::string problem = problemOf(protocol, program, source, 100);
    EXPECT_NE(problem, "") << "running it finds nothing";
    EXPECT_EQ(problem.find("not run"), problem.npos) << problem;
    std::printf("%s\n", problem.c_str());
  }
  if (mutation.foundBy != FoundBy::Running && hasCompiler()) {
    std::string faults;
    for (const PtxKernel &kernel : ptxOf(source))
      for (const std::string &fault : kernel.faults)
        faults += fault + "\n";
    EXPECT_NE(faults, "") << "reading it finds nothing";
    std::printf("%s", faults.substr(0, 200).c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Sample, Mutated, testing::ValuesIn(select(true)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Nightly, Mutated, testing::ValuesIn(select(false)),
                         nameOf);
