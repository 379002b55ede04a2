//===- WeakTeam.cpp - Kernels of a plan on weak memory --------------------===//

#include "test/unit/Cuda/WeakTeam.h"

#include "runtime/plan/GpuAbi.h"
#include "test/common/emulator/TensorMap.h"
#include "test/unit/Cuda/PlanBuilder.h"

#include <algorithm>
#include <cstring>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;
using emulator::WeakMachine;

GpuProgram test::programOf(const ProtocolCase &protocol) {
  GpuProgram program = emit(protocol.plan);
  program.source = program.textFor(KernelTransport::Peers);
  program.peerSource.clear();
  for (std::vector<GpuLaunch> &ofRank : program.launches)
    for (GpuLaunch &launch : ofRank)
      if (protocol.prefers && launch.preferred.size() == 1)
        launch = GpuLaunch(launch.preferred.front());
  if (protocol.adapt)
    protocol.adapt(program.source);
  return program;
}

Result<std::unique_ptr<WeakTeam>> WeakTeam::create(const ProtocolCase &protocol,
                                                   const GpuProgram &program,
                                                   const std::string &source) {
  std::unique_ptr<WeakTeam> team(new WeakTeam(protocol, program));
  Result<emulator::MemoryInstructions> instructions =
      emulator::readInstructions(source);
  if (!instructions)
    return instructions.status();
  team->instructions = *instructions;
  Result<std::string> object =
      emulator::compileKernels(source, /*isWatched=*/true);
  if (!object)
    return object.status();
  for (size_t launch = 0; launch < program.launches.front().size(); ++launch)
    team->mostBlocks = std::max(team->mostBlocks, team->blocksOf(launch));
  for (size_t rank = 0; rank < protocol.plan.ranks.size(); ++rank) {
    team->code.emplace_back();
    team->kernels.emplace_back();
    for (int block = 0; block < team->mostBlocks; ++block) {
      Result<std::unique_ptr<ObjectCode>> loaded = ObjectCode::load(*object);
      if (!loaded)
        return loaded.status();
      std::vector<emulator::Kernel> &found =
          team->kernels.back().emplace_back();
      for (const GpuKernel &kernel : program.kernels) {
        std::optional<emulator::Kernel> one =
            emulator::findKernel(**loaded, kernel.name);
        if (!one)
          return error("the source has no kernel '", kernel.name, "'");
        found.push_back(*one);
      }
      team->code.back().push_back(*std::move(loaded));
    }
  }
  team->place();
  return team;
}

/// As many on all ranks.
int WeakTeam::blocksOf(size_t launch) const {
  bool hasClusters = false;
  for (const std::vector<GpuLaunch> &rank : program.launches) {
    int kernel = rank[launch].kernel;
    hasClusters |=
        kernel >= 0 && program.kernels[static_cast<size_t>(kernel)].clusters;
  }
  return hasClusters ? protocol.blocks << protocol.clusterBits
                     : protocol.blocks;
}

int64_t WeakTeam::countOf(int rank, size_t argument) const {
  for (const Buffer &buffer :
       protocol.plan.ranks[static_cast<size_t>(rank)].buffers)
    if (buffer.memory == Memory::Argument &&
        buffer.offset == static_cast<int64_t>(argument))
      return buffer.count;
  return 0;
}

void WeakTeam::place() {
  auto take = [&](int64_t size) {
    size_t at = bytes;
    bytes += static_cast<size_t>(size + 255) / 256 * 256;
    return at;
  };
  for (size_t rank = 0; rank < program.launches.size(); ++rank) {
    Places own;
    own.symmetric =
        take(program.symmetricBytes + program.flags * CCN_MAX_BLOCKS * 4);
    own.own = take(protocol.plan.ranks[rank].privateBytes + 16);
    for (size_t i = 0; i < protocol.plan.arguments.size(); ++i)
      own.arguments.push_back(
          take(4 * countOf(static_cast<int>(rank), i) + 16));
    for (size_t launch = 0; launch < program.launches[rank].size(); ++launch) {
      const GpuLaunch &one = program.launches[rank][launch];
      own.controls.push_back(take(sizeof(CcnControl)));
      int64_t ofBlocks =
          one.kernel < 0
              ? 0
              : blocksOf(launch) *
                    program.kernels[static_cast<size_t>(one.kernel)].blockBytes;
      own.workspaces.push_back(take(one.workspaceBytes + ofBlocks + 16));
    }
    places.push_back(std::move(own));
  }
}

/// A block's parameters.
struct WeakTeam::Call {
  CcnContext context = {};
  CcnFault fault = {};
  unsigned stop = 0;
  std::vector<void *> addresses;
  std::vector<CcnTensorMap> maps;
  const void *parameters[4];
};

std::function<void()> WeakTeam::threadOf(WeakMachine &machine, int rank,
                                         size_t launch, int block) {
  auto call = std::make_shared<Call>();
  auto at = [view = machine.view(rank, block)](size_t offset) {
    return reinterpret_cast<unsigned char *>(view + offset);
  };
  const Places &own = places[static_cast<size_t>(rank)];
  const GpuLaunch &what = program.launches[static_cast<size_t>(rank)][launch];
  CcnContext &context = call->context;
  for (size_t other = 0; other < places.size(); ++other)
    context.symmetric[other] = at(places[other].symmetric);
  context.flags = static_cast<unsigned long long>(program.symmetricBytes);
  context.privateMemory = at(own.own);
  context.workspace = at(own.workspaces[launch]);
  context.control = reinterpret_cast<CcnControl *>(at(own.controls[launch]));
  context.fault = &call->fault;
  context.stop = &call->stop;
  context.timeLimit = 1;
  context.rank = rank;
  context.launch = static_cast<int>(launch);
  auto kernel = static_cast<size_t>(what.kernel);
  context.clusterBits =
      program.kernels[kernel].clusters ? protocol.clusterBits : 0;
  context.segment = -1;
  for (size_t argument : own.arguments)
    call->addresses.push_back(at(argument));
  for (int argument : program.sharedArguments)
    for (const Places &other : places)
      call->addresses.push_back(
          at(other.arguments[static_cast<size_t>(argument)]));
  call->parameters[0] = &context;
  call->parameters[1] = call->addresses.data();
  call->parameters[2] = what.numbers.data();
  call->maps = emulator::encodeAll(protocol.plan, program, what, context,
                                   call->addresses);
  call->parameters[3] = call->maps.data();
  auto function =
      kernels[static_cast<size_t>(rank)][static_cast<size_t>(block)][kernel]
          .call;
  return [call, function] { function(call->parameters); };
}

static bool isHalf(const Plan &plan, int argument) {
  for (const Buffer &buffer : plan.ranks.front().buffers)
    if (buffer.memory == Memory::Argument && buffer.offset == argument)
      return buffer.type == ElementType::F16;
  return false;
}

void WeakTeam::setInputs(WeakMachine &machine, int rank, int run) const {
  for (size_t a = 0; a < protocol.plan.arguments.size(); ++a) {
    bool half = isHalf(protocol.plan, static_cast<int>(a));
    for (int64_t i = 0; i < countOf(rank, a); ++i) {
      auto value = protocol.input({rank, run, static_cast<int>(a), i});
      if (!value)
        continue;
      size_t size = half ? 2 : 4;
      auto narrow = static_cast<_Float16>(*value);
      machine.write(places[static_cast<size_t>(rank)].arguments[a] +
                        static_cast<size_t>(i) * size,
                    half ? static_cast<const void *>(&narrow) : &*value, size);
    }
  }
}

void WeakTeam::check(WeakMachine &machine, int rank, int run) {
  for (size_t a = 0; a < protocol.plan.arguments.size(); ++a) {
    bool half = isHalf(protocol.plan, static_cast<int>(a));
    for (int64_t i = 0; i < countOf(rank, a) && problem.empty(); ++i) {
      auto expected = protocol.expected({rank, run, static_cast<int>(a), i});
      if (!expected)
        continue;
      size_t size = half ? 2 : 4;
      const std::byte *at = machine.memory() +
                            places[static_cast<size_t>(rank)].arguments[a] +
                            static_cast<size_t>(i) * size;
      float found;
      _Float16 narrow;
      std::memcpy(half ? static_cast<void *>(&narrow) : &found, at, size);
      if (half)
        found = narrow;
      if (found != *expected)
        problem = "rank " + std::to_string(rank) + ", run " +
                  std::to_string(run) + ": expected " +
                  std::to_string(*expected) + " at " + std::to_string(i) +
                  " of argument " + std::to_string(a) + ", found " +
                  std::to_string(found);
    }
  }
}

void WeakTeam::begin(WeakMachine &machine) const {
  for (const Places &own : places) {
    for (const GpuFill &fill : program.fills)
      std::memset(machine.memory() + own.symmetric + fill.offset, fill.value,
                  static_cast<size_t>(fill.bytes));
    // Garbage to begin with.
    for (size_t i = 0; i < own.workspaces.size(); ++i)
      std::memset(machine.memory() + own.workspaces[i], 0xff, 16);
  }
  machine.write(0, machine.memory(), 1);
}

void WeakTeam::submit(WeakMachine &machine, int rank, int run, size_t launch) {
  const std::vector<GpuLaunch> &all =
      program.launches[static_cast<size_t>(rank)];
  emulator::WeakLaunch one;
  one.before = [&machine, this, rank, run, launch] {
    if (launch == 0)
      setInputs(machine, rank, run);
  };
  one.after = [&machine, this, rank, run, isLast = launch + 1 == all.size()] {
    if (!isLast)
      return;
    check(machine, rank, run);
    if (!problem.empty())
      machine.giveUp();
  };
  int kernel = all[launch].kernel;
  one.blocks = kernel < 0 ? 0 : blocksOf(launch);
  if (kernel >= 0) {
    const GpuKernel &what = program.kernels[static_cast<size_t>(kernel)];
    one.threads = protocol.threads > 0 ? protocol.threads
                  : what.clusters ? CCN_CLUSTER_THREADS >> protocol.clusterBits
                                  : static_cast<int>(what.threads);
    one.clusterBlocks = what.clusters ? 1 << protocol.clusterBits : 1;
    one.kernel = [&machine, this, rank, launch](int block) {
      return threadOf(machine, rank, launch, block);
    };
  }
  machine.submit(rank, std::move(one));
}

std::string WeakTeam::run(unsigned seed) {
  auto ranks = static_cast<int>(program.launches.size());
  WeakMachine machine(ranks, mostBlocks, bytes, instructions, seed);
  problem.clear();
  begin(machine);
  for (int rank = 0; rank < ranks; ++rank)
    for (int run = 0; run < protocol.runs; ++run)
      for (size_t launch = 0;
           launch < program.launches[static_cast<size_t>(rank)].size();
           ++launch)
        submit(machine, rank, run, launch);
  std::string stuck = machine.run();
  return problem.empty() ? stuck : problem;
}
