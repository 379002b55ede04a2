//===- CudaTeam.cpp - Kernels of a plan executed on the CPU ---------------===//

#include "test/unit/Cuda/CudaTeam.h"

#include "codegen/gpu/EmitCuda.h"
#include "codegen/plan/ExportPlan.h"
#include "runtime/tensor/Strided.h"
#include "test/common/emulator/Blocks.h"
#include "test/common/emulator/TensorMap.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::test;

Result<std::unique_ptr<CudaTeam>> CudaTeam::create(mlir::ModuleOp plans,
                                                   llvm::StringRef name,
                                                   int64_t mostBlocks,
                                                   int clusterBits) {
  std::unique_ptr<CudaTeam> team(new CudaTeam);
  codegen::LoopLibrary library;
  team->plan = codegen::exportPlan(plans, name, library);
  team->mostBlocks = mostBlocks;
  team->clusterBits = clusterBits;
  llvm::Expected<GpuProgram> program =
      codegen::emitCuda(team->plan, library.kernels, Target::anyGpu(),
                        Machine::of(Target::anyGpu()));
  if (!program)
    return error(llvm::toString(program.takeError()));
  team->program = *std::move(program);
  if (Status status = team->compile(); !status)
    return status;
  Result<std::unique_ptr<RunMemory>> memory =
      RunMemory::create(team->plan, RunTask());
  if (!memory)
    return memory.status();
  team->memory = *std::move(memory);
  team->allocate();
  return team;
}

int CudaTeam::prefer(std::optional<int> only) {
  int count = 0;
  for (auto [rank, ofRank] : llvm::enumerate(program.launches))
    for (GpuLaunch &launch : ofRank)
      if (!launch.preferred.empty() &&
          only.value_or(static_cast<int>(rank)) == static_cast<int>(rank)) {
        launch = GpuLaunch(launch.preferred.front());
        ++count;
      }
  return count;
}

Status CudaTeam::replace(llvm::StringRef from, llvm::StringRef to) {
  int count = 0;
  for (std::string *text :
       {&program.source, &program.peerSource, &program.messageSource})
    for (size_t at = 0; (at = text->find(from, at)) != text->npos; ++count) {
      text->replace(at, from.size(), to);
      at += to.size();
    }
  return count == 1 ? compile()
                    : error("the text is there ", std::to_string(count),
                            " times: ", from.str());
}

Status CudaTeam::compile() {
  Result<std::string> object = emulator::compileKernels(program.textFor(
      sends ? KernelTransport::Messages : KernelTransport::Peers));
  if (!object)
    return object.status();
  Result<std::unique_ptr<ObjectCode>> loaded = ObjectCode::load(*object);
  if (!loaded)
    return loaded.status();
  kernels.clear();
  code = *std::move(loaded);
  for (const GpuKernel &kernel : program.kernels) {
    std::optional<emulator::Kernel> found =
        emulator::findKernel(*code, kernel.name);
    // What is preferred, and waits for other ranks, accesses their memory.
    if (!found && !(sends && kernel.waits))
      return error("the source has no kernel '", kernel.name, "'");
    kernels.push_back(found.value_or(emulator::Kernel()));
  }
  return Status();
}

void CudaTeam::allocate() {
  auto words = [](int64_t bytes) { return static_cast<size_t>(bytes / 8 + 8); };
  for (const RankPlan &rank : plan.ranks) {
    symmetric.emplace_back(
        words(program.symmetricBytes + program.flags * CCN_MAX_BLOCKS * 4));
    auto *bytes = reinterpret_cast<char *>(symmetric.back().data());
    for (const GpuFill &fill : program.fills)
      std::memset(bytes + fill.offset, fill.value,
                  static_cast<size_t>(fill.bytes));
    own.emplace_back(words(rank.privateBytes));
  }
  controls.resize(plan.ranks.front().launches.size());
  for (std::vector<CcnControl> &ofRanks : controls)
    ofRanks.resize(plan.ranks.size());
}

Status CudaTeam::sendMessages() {
  sends = true;
  int ranks = static_cast<int>(plan.ranks.size());
  for (int owner = 0; owner < ranks; ++owner)
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank == owner)
        continue;
      auto of = static_cast<size_t>(owner);
      copies[{owner, -1, rank}] = symmetric[of];
      for (auto [i, argument] : llvm::enumerate(program.sharedArguments)) {
        int64_t count = product(
            plan.ranks[of].placements[static_cast<size_t>(argument)].sizes);
        copies[{owner, static_cast<int>(i), rank}].resize(
            static_cast<size_t>(count + 8));
      }
    }
  return compile();
}

std::byte *CudaTeam::memoryOf(int owner, int argument, int rank) {
  if (sends && rank != owner)
    return reinterpret_cast<std::byte *>(
        copies.at({owner, argument, rank}).data());
  if (argument < 0)
    return reinterpret_cast<std::byte *>(
        symmetric[static_cast<size_t>(owner)].data());
  return static_cast<std::byte *>(memory->arguments(owner)[static_cast<size_t>(
      program.sharedArguments[static_cast<size_t>(argument)])]);
}

void CudaTeam::move(const GpuMessage &message) {
  // Of whose memory it is.
  int owner = message.isWrite ? message.to : message.from;
  std::byte *from = memoryOf(owner, message.argument, message.from),
            *to = memoryOf(owner, message.argument, message.to);
  std::vector<int64_t> index(message.counts.size());
  for (;;) {
    int64_t offset = message.offset;
    for (size_t dim = 0; dim < index.size(); ++dim)
      offset += index[dim] * message.strides[dim];
    std::memcpy(to + offset, from + offset, static_cast<size_t>(message.bytes));
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == message.counts[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

std::vector<void *> CudaTeam::addresses(int rank) {
  std::vector<void *> places = memory->arguments(rank);
  for (size_t i = 0; i < program.sharedArguments.size(); ++i)
    for (size_t other = 0; other < plan.ranks.size(); ++other)
      places.push_back(
          memoryOf(static_cast<int>(other), static_cast<int>(i), rank));
  return places;
}

Status CudaTeam::launch(size_t number) {
  if (!sends)
    return launch(number, -1);
  const GpuSegments &segments = program.segments[number];
  for (int segment = 0; segment < segments.count; ++segment) {
    auto before = 2 * static_cast<size_t>(segment);
    for (const GpuMessage &message : segments.messages[before])
      move(message);
    if (Status status = launch(number, segment); !status)
      return status;
    for (const GpuMessage &message : segments.messages[before + 1])
      move(message);
  }
  return Status();
}

Status CudaTeam::launch(size_t number, int segment, std::optional<int> only) {
  size_t ranks = plan.ranks.size();
  int64_t wanted = 1;
  int bits = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const GpuLaunch &launch = program.launches[rank][number];
    wanted = std::max(wanted, launch.blocks);
    if (launch.kernel >= 0 &&
        program.kernels[static_cast<size_t>(launch.kernel)].clusters)
      bits = clusterBits;
  }
  int clusters = static_cast<int>(std::min(wanted, mostBlocks)),
      blocks = clusters << bits;
  const unsigned seed = nextSeed;
  nextSeed += 1000;
  std::vector<std::vector<void *>> places;
  std::vector<std::vector<uint64_t>> workspaces;
  std::vector<CcnFault> faults(ranks);
  unsigned stop = 0;
  std::vector<CcnContext> contexts(ranks);
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const GpuLaunch &launch = program.launches[rank][number];
    places.push_back(addresses(static_cast<int>(rank)));
    if (launch.kernel < 0) {
      workspaces.emplace_back();
      continue;
    }
    const GpuKernel &kernel =
        program.kernels[static_cast<size_t>(launch.kernel)];
    // Garbage to begin with.
    workspaces.emplace_back(
        static_cast<size_t>(
            (launch.workspaceBytes + blocks * kernel.blockBytes) / 8 + 8),
        ~uint64_t(0));
    CcnContext &context = contexts[rank];
    for (size_t other = 0; other < ranks; ++other)
      context.symmetric[other] = reinterpret_cast<unsigned char *>(
          memoryOf(static_cast<int>(other), -1, static_cast<int>(rank)));
    context.flags = static_cast<unsigned long long>(program.symmetricBytes);
    context.privateMemory = reinterpret_cast<unsigned char *>(own[rank].data());
    context.workspace =
        reinterpret_cast<unsigned char *>(workspaces.back().data());
    context.control = &controls[number][rank];
    context.fault = &faults[rank];
    context.stop = &stop;
    context.timeLimit = only ? 100'000'000 : 60'000'000'000;
    context.rank = static_cast<int>(rank);
    context.launch = static_cast<int>(number);
    context.clusterBits = bits;
    context.segment = segment;
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    const GpuLaunch &launch = program.launches[rank][number];
    if (launch.kernel < 0 || (only && *only != static_cast<int>(rank)))
      continue;
    auto kernel = static_cast<size_t>(launch.kernel);
    int each = bits > 0 ? CCN_CLUSTER_THREADS >> bits
                        : static_cast<int>(program.kernels[kernel].threads);
    threads.emplace_back([&, rank, kernel, each] {
      emulator::flagDelay = static_cast<int>(rank) == lateRank ? 200 : 0;
      const GpuLaunch &launch = program.launches[rank][number];
      std::vector<CcnTensorMap> maps = emulator::encodeAll(
          plan, program, launch, contexts[rank], places[rank]);
      const void *parameters[] = {&contexts[rank], places[rank].data(),
                                  launch.numbers.data(), maps.data()};
      kernels[kernel].run({.blocks = blocks,
                           .threads = each,
                           .clusterBlocks = 1 << bits,
                           .seed = seed},
                          parameters);
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  for (const CcnFault &fault : faults)
    if (fault.kind != CCN_NO_FAULT)
      return error("launch ", std::to_string(number), ": fault ",
                   std::to_string(fault.kind), " of rank ",
                   std::to_string(fault.peer));
  return Status();
}

Result<CudaTeam::Outputs> CudaTeam::run(const interp::NamedTensors &inputs) {
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    if (plan.arguments[i].kind != ArgumentKind::Result)
      memory->distribute(i, inputs.find(plan.arguments[i].name)->second);
  return runAgain();
}

Status CudaTeam::runAlone(int rank) {
  Status status;
  for (size_t i = 0; status && i < plan.ranks.front().launches.size(); ++i)
    status = launch(i, -1, rank);
  return status;
}

Result<CudaTeam::Outputs> CudaTeam::runAgain() {
  for (size_t i = 0; i < plan.ranks.front().launches.size(); ++i)
    if (Status status = launch(i); !status)
      return status;
  Outputs outputs;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    if (plan.arguments[i].kind == ArgumentKind::Input)
      continue;
    Result<HostTensor> tensor = memory->collect(i);
    if (!tensor)
      return tensor.status();
    outputs.push_back({plan.arguments[i].name, *std::move(tensor)});
  }
  return outputs;
}
