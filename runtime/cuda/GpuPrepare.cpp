//===- GpuPrepare.cpp - Makes a plan ready for a GPU ----------------------===//
//
// Does everything that allocates memory, loads code or waits, so that runs need
// not.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuMemory.h"
#include "runtime/cuda/GpuState.h"
#include "runtime/plan/Arguments.h"
#include "runtime/plan/CheckGpuProgram.h"
#include "runtime/plan/CheckPlan.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <tuple>

namespace ccn::runtime {

namespace {

int64_t recordBytes(size_t launches) {
  return std::max({GpuTeam::recordBytes(), GpuMessages::recordBytes(),
                   memoryRecordBytes(),
                   static_cast<int64_t>(launches * sizeof(LaunchNeeds))});
}

} // namespace

int64_t gpuTransportBytes(const Plan &plan) {
  if (plan.ranks.empty())
    return 0;
  return HostExchange::bytes(static_cast<int>(plan.ranks.size()),
                             recordBytes(plan.ranks[0].launches.size()));
}

Status GpuExecutor::State::prepare(const Plan &whole,
                                   const GpuProgram &program) {
  if (Status status = checkPlan(whole); !status)
    return status;
  if (Status status = checkGpuProgram(whole, program); !status)
    return error("program for GPUs: ", status.message());
  if (static_cast<int>(whole.ranks.size()) != transport.ranks())
    return error("the plan is for ", whole.ranks.size(),
                 " ranks, the team has ", transport.ranks());
  plan = whole.ranks[static_cast<size_t>(rank)];
  failures = whole.failures;
  argumentCount = whole.arguments.size();
  isScattered = scatteredArguments(whole);
  for (size_t i = 0; i < argumentCount; ++i) {
    argumentNames.push_back(whole.arguments[i].name);
    argumentCounts.push_back(countOf(plan, i));
    elementSizes.push_back(sizeInBytes(whole.arguments[i].type));
  }
  arguments.resize(addressCount(whole, program));
  for (const Launch &launch : plan.launches)
    launchNames.push_back(launch.name);

  Result<std::unique_ptr<HostExchange>> made =
      HostExchange::create(transport, rank, options.timeLimit,
                           recordBytes(plan.launches.size()), "set-up of GPUs");
  if (!made)
    return made.status();
  exchange = *std::move(made);
  // What comes now waits for the device, and so for what other ranks run there:
  // all of that has been started when they are here.
  if (Status status = exchange->barrier("set-up of GPUs"); !status)
    return status;

  Result<std::unique_ptr<GpuDevice>> opened =
      options.device ? GpuDevice::open(*options.device)
                     : GpuDevice::openForRank(options.localRank.value_or(rank));
  if (!opened)
    return opened.status();
  device = *std::move(opened);
  CurrentContext current(device->driver, device->context);
  if (Status status = current.status(); !status)
    return status;
  int64_t flags = (program.symmetricBytes + 255) / 256 * 256;
  int64_t flagBytes =
      program.flags * CCN_MAX_BLOCKS * static_cast<int64_t>(sizeof(unsigned));
  int64_t end = placeShared(whole, program, flags + flagBytes);
  // What is known before the kernels are.
  MemoryNeeds needs;
  needs.add("symmetric memory", 1, GpuTeam::takenBytes(end));
  needs.add(ownNeeds());
  if (Status status = checkDeviceMemory(*device, *exchange, needs).status();
      !status)
    return status;
  Result<std::unique_ptr<GpuTeam>> joined = GpuTeam::create(
      *device, *exchange, rank, end, program.fills, options.transport);
  if (!joined)
    return joined.status();
  team = *std::move(joined);
  if (Status status = loadKernels(program); !status)
    return status;
  if (Status status = team->sendsMessages() ? prepareMessages(whole, program)
                                            : agreeOnStreams(program);
      !status)
    return status;

  launches = std::vector<PreparedGpuLaunch>(plan.launches.size());
  for (PreparedGpuLaunch &launch : launches)
    launch.context.flags = static_cast<unsigned long long>(flags);
  if (Status status = agreeOnBlocks(program); !status)
    return status;
  if (Status status = agreeOnLibrary(program); !status)
    return status;
  // What is left to take: grids are known now.
  Result<int64_t> spare =
      checkDeviceMemory(*device, *exchange, ownNeeds(program));
  if (!spare)
    return spare.status();
  if (Status status = prepareProducts(program, *spare); !status)
    return status;
  if (Status status = prepareMemory(program); !status)
    return status;
  if (Status status = prepareValues(whole); !status)
    return status;
  if (Status status = prepareScattered(whole, program); !status)
    return status;
  if (Status status = prepareShared(); !status)
    return status;
  if (Status status = prepareLaunches(whole, program); !status)
    return status;
  if (Status status = prepareStreams(); !status)
    return status;
  mayBeUsed = true;
  if (messages)
    if (Status status = messages->watch(); !status)
      return status;
  return exchange->barrier("set-up of GPUs");
}

Status GpuExecutor::State::prepareMessages(const Plan &whole,
                                           const GpuProgram &program) {
  GpuMessages::Options own;
  own.rank = rank;
  own.timeLimit = options.timeLimit;
  // Kernels on other streams leave that much room.
  int64_t used = options.runsAtOnce;
  for (int64_t streams : streamsAtOnce(plan))
    used = std::max(used, streams * options.runsAtOnce);
  if (used > 1)
    own.blocks = static_cast<int>(std::min<int64_t>(
        residentBlocks({kernels.multiprocessors(), 1, 1, used}), 32));
  own.trouble = [this] { return trouble(); };
  own.fail = [this](const Status &status) { return fail(explain(status)); };
  Result<std::unique_ptr<GpuMessages>> made =
      GpuMessages::create(*device, *exchange, whole, program, own);
  if (!made)
    return made.status();
  messages = *std::move(made);
  return Status();
}

/// Reserves places for the shared arguments in symmetric memory, from `offset`
/// on. Returns where they end.
int64_t GpuExecutor::State::placeShared(const Plan &whole,
                                        const GpuProgram &program,
                                        int64_t offset) {
  for (int number : program.sharedArguments) {
    auto index = static_cast<size_t>(number);
    const Argument &argument = whole.arguments[index];
    int64_t most = 0;
    for (const RankPlan &other : whole.ranks)
      most = std::max(most, countOf(other, index));
    SharedArgument &made = shared.emplace_back();
    made.number = index;
    made.size = sizeInBytes(argument.type);
    made.count = countOf(plan, index);
    made.isInput = argument.kind != ArgumentKind::Result;
    made.isOutput = argument.kind != ArgumentKind::Input;
    made.isScattered = argument.scattered;
    made.staged.addresses.assign(whole.ranks.size(),
                                 static_cast<CUdeviceptr>(offset));
    offset += (most * made.size + 255) / 256 * 256;
  }
  return offset;
}

/// Loads the kernels for how ranks get at each other's data, which is known
/// once they have met.
Status GpuExecutor::State::loadKernels(const GpuProgram &program) {
  Result<GpuKernels> loaded =
      GpuKernels::load(*device, program,
                       team->sendsMessages() ? KernelTransport::Messages
                                             : KernelTransport::Peers,
                       arguments.size());
  if (!loaded)
    return loaded.status();
  kernels = *std::move(loaded);
  return Status();
}

/// Finds those places, which are where the ranks' memory is.
Status GpuExecutor::State::prepareShared() {
  sentFrom.resize(shared.size());
  for (size_t i = 0; i < shared.size(); ++i) {
    SharedArgument &argument = shared[i];
    for (int other = 0; other < transport.ranks(); ++other) {
      CUdeviceptr &address =
          argument.staged.addresses[static_cast<size_t>(other)];
      if (messages && other != rank)
        address = messages->argument(i, other);
      else
        address += team->address(other);
      Piece whole{reinterpret_cast<void *>(address), argument.count};
      if (other == rank)
        argument.staged.own = {whole};
      if (!argument.isScattered)
        continue;
      // All ranks have as many elements.
      Result<CUdeviceptr> table = tableOf({&whole, 1});
      if (!table)
        return table.status();
      address = *table;
    }
  }
  stagedTables = tables.size();
  return Status();
}

/// Lets the plan run on as many streams as fit on the device of every rank: the
/// same on all, as launches of one stream are in one order on all ranks.
Status GpuExecutor::State::agreeOnStreams(const GpuProgram &program) {
  if (std::none_of(program.kernels.begin(), program.kernels.end(),
                   [](const GpuKernel &kernel) { return kernel.waits; }))
    return Status();
  SharedDevice shared;
  shared.multiprocessors = kernels.multiprocessors();
  shared.queues = device->driver.queues;
  shared.ranks = team->ranksOnDevice();
  shared.ranksOfProcess = team->ranksOfProcess();
  shared.runsAtOnce = options.runsAtOnce;
  Result<int> own = streamsThatFit(shared);
  if (!own)
    return error("GPU ", device->number, ": ", own.message());
  Result<std::vector<int>> all = exchange->gather(*own);
  if (!all)
    return all.status();
  shareStreams(plan, *std::min_element(all->begin(), all->end()));
  return Status();
}

/// Whether a launch prefers a kernel that runs on all ranks or on none.
static bool prefersOfAllRanks(const GpuProgram &program,
                              const GpuLaunch &launch) {
  return !launch.preferred.empty() &&
         program.kernels[static_cast<size_t>(launch.preferred.front().kernel)]
             .isOfAllRanks;
}

/// Decides the grid of each launch.
Status GpuExecutor::State::agreeOnBlocks(const GpuProgram &program) {
  const std::vector<GpuLaunch> &own =
      program.launches[static_cast<size_t>(rank)];
  DeviceShare share;
  share.multiprocessors = kernels.multiprocessors();
  share.ranks = team->ranksOnDevice();
  const std::vector<int64_t> streams = streamsAtOnce(plan);
  std::vector<LaunchNeeds> needs;
  for (size_t i = 0; i < own.size(); ++i) {
    const GpuLaunch &launch = own[i];
    if (launch.kernel < 0) {
      // Who does not run it has no say.
      constexpr int64_t any = CCN_MAX_BLOCKS;
      needs.push_back({1, 0, {any, any, any}});
      continue;
    }
    const GpuKernel &kernel =
        program.kernels[static_cast<size_t>(launch.kernel)];
    const GpuKernels::Kernel &made = kernels.kernel(launch.kernel);
    share.blocksEach = made.blocksEach;
    share.streams = streams[i] * options.runsAtOnce;
    needs.push_back({launch.blocks, kernel.waits ? residentBlocks(share) : 0,
                     residentClusters(made.clusters, share)});
    // Either kernel may run on each rank.
    const GpuKernels::Kernel *preferred = preferredKernel(launch);
    if (!preferred || !kernel.waits)
      continue;
    share.blocksEach = preferred->blocksEach;
    LaunchNeeds &both = needs.back();
    both.blocks = std::max(both.blocks, launch.preferred.front().blocks);
    both.resident = std::min(both.resident, residentBlocks(share));
    both.hasPreferred = prefersOfAllRanks(program, launch);
  }
  Result<std::vector<LaunchNeeds>> all =
      exchange->gatherAll(std::span<const LaunchNeeds>(needs));
  if (!all)
    return all.status();
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].kernel < 0)
      continue;
    const GpuKernel &kernel =
        program.kernels[static_cast<size_t>(own[i].kernel)];
    std::vector<LaunchNeeds> ofLaunch;
    for (size_t at = i; at < all->size(); at += own.size())
      ofLaunch.push_back((*all)[at]);
    if (prefersOfAllRanks(program, own[i]) &&
        !std::all_of(
            ofLaunch.begin(), ofLaunch.end(),
            [](const LaunchNeeds &needs) { return needs.hasPreferred; }))
      kernels.leaveOut(own[i].preferred.front().kernel);
    share.blocksEach = kernels.kernel(own[i].kernel).blocksEach;
    int &bits = launches[i].context.clusterBits;
    bits = clusterBitsOf(ofLaunch);
    int64_t blocks =
        kernel.waits ? waitingBlocks(ofLaunch, bits)
        : bits > 0
            ? std::max<int64_t>(own[i].blocks, 1) << bits
            : independentBlocks(own[i].blocks, kernel.blockBytes > 0, share);
    launches[i].blocks = static_cast<unsigned>(blocks);
  }
  return Status();
}

/// Decides whether the library does products. All ranks decide alike, since
/// results that are the same on all ranks must have the same bits.
Status GpuExecutor::State::agreeOnLibrary(const GpuProgram &program) {
  bool hasProducts = false;
  for (const std::vector<GpuLaunch> &ofRank : program.launches)
    for (const GpuLaunch &launch : ofRank)
      hasProducts |= launch.product.has_value();
  usesLibrary = false;
  if (!hasProducts || options.products == ProductChoice::Kernels)
    return Status();
  bool isThere = BlasLt::get().ok();
  if (!isThere && options.products == ProductChoice::CublasLt)
    return BlasLt::get().status();
  Result<std::vector<int>> all = exchange->gather(static_cast<int>(isThere));
  if (!all)
    return all.status();
  usesLibrary = std::find(all->begin(), all->end(), 0) == all->end();
  return Status();
}

/// The products that the library does. Copies of matrices take at most `spare`
/// bytes.
Status GpuExecutor::State::prepareProducts(const GpuProgram &program,
                                           int64_t spare) {
  for (size_t i = 0; i < launches.size(); ++i) {
    const GpuLaunch &launch = program.launches[static_cast<size_t>(rank)][i];
    if (!mayBeLibrary(launch))
      continue;
    const MatmulPart &part = launch.product->part;
    ElementType type = plan.buffers[static_cast<size_t>(part.c.buffer)].type;
    Result<std::unique_ptr<LibraryProduct>> product =
        LibraryProduct::create(*device, part, type, spare);
    if (!product)
      return error("launch '", launchNames[i], "': ", product.message());
    launches[i].product = *std::move(product);
    launches[i].isProduct = launch.product->isAll;
    launches[i].a = part.a;
    launches[i].b = part.b;
    launches[i].c = part.c;
  }
  bool hasProducts = std::any_of(launches.begin(), launches.end(),
                                 [](const PreparedGpuLaunch &launch) {
                                   return launch.product != nullptr;
                                 });
  return hasProducts ? warmUpProducts(matrixBytes(program)) : Status();
}

/// The library loads what it launches when it is first launched, which may wait
/// for the device and takes memory: not in runs.
Status GpuExecutor::State::warmUpProducts(int64_t bytes) {
  Result<DeviceMemory> memory = allocateMemory(
      *device, bytes + LibraryProduct::workspaceBytes, "trying products");
  Result<CUstream> stream = device->setupStream();
  if (!memory || !stream)
    return memory ? stream.status() : memory.status();
  auto *matrix = reinterpret_cast<void *>(memory->get());
  auto *workspace =
      reinterpret_cast<void *>(memory->get() + static_cast<CUdeviceptr>(bytes));
  Status status;
  for (const PreparedGpuLaunch &launch : launches)
    if (launch.product && status)
      status = launch.product->run(matrix, matrix, matrix, workspace, *stream);
  if (status)
    status = awaitStream(*device, *stream);
  if (!status)
    device->endSetup();
  return status;
}

Status GpuExecutor::State::prepareMemory(const GpuProgram &program) {
  auto take = [&](DeviceMemory &memory, int64_t bytes, const char *what) {
    Result<DeviceMemory> taken = allocateMemory(*device, bytes, what);
    if (!taken)
      return taken.status();
    memory = *std::move(taken);
    return zeroMemory(*device, memory, bytes);
  };
  if (Status status = take(privateMemory, plan.privateBytes, "private memory");
      !status)
    return status;
  if (Status status =
          take(controls, static_cast<int64_t>(launches.size()) * controlBytes,
               "the state of launches");
      !status)
    return status;

  const std::vector<int64_t> bytes = workspaceBytes(program);
  workspaces.resize(bytes.size());
  for (size_t stream = 0; stream < bytes.size(); ++stream)
    if (bytes[stream] > 0)
      if (Status status =
              take(workspaces[stream], bytes[stream], "a workspace");
          !status)
        return status;

  void *host = nullptr;
  if (Status status = device->check(
          device->driver.memHostAlloc(&host, sizeof(HostWords),
                                      CU_MEMHOSTALLOC_PORTABLE |
                                          CU_MEMHOSTALLOC_DEVICEMAP),
          "cuMemHostAlloc");
      !status)
    return status;
  hostMemory = DeviceObject<void *>(host, device->driver.memFreeHost);
  words = new (host) HostWords{};
  return device->check(
      device->driver.memHostGetDevicePointer(&deviceWords, host, 0),
      "cuMemHostGetDevicePointer");
}

Status GpuExecutor::State::prepareLaunches(const Plan &whole,
                                           const GpuProgram &program) {
  for (size_t i = 0; i < launches.size(); ++i) {
    PreparedGpuLaunch &made = launches[i];
    const Launch &planned = plan.launches[i];
    const GpuLaunch &launch = program.launches[static_cast<size_t>(rank)][i];
    made.stream = planned.stream;
    if (launch.kernel >= 0) {
      const GpuKernel &kernel =
          program.kernels[static_cast<size_t>(launch.kernel)];
      made.function = kernels.kernel(launch.kernel).function;
      made.threads = made.context.clusterBits > 0
                         ? CCN_CLUSTER_THREADS >> made.context.clusterBits
                         : static_cast<unsigned>(kernel.threads);
      made.sharedBytes = static_cast<unsigned>(kernel.sharedBytes);
    }
    made.numbers = launch.numbers;

    auto pointer = [](CUdeviceptr address) {
      return reinterpret_cast<unsigned char *>(address);
    };
    CcnContext &context = made.context;
    for (int other = 0; other < transport.ranks(); ++other)
      context.symmetric[other] =
          pointer(messages && other != rank ? messages->symmetric(other)
                                            : team->address(other));
    context.privateMemory = pointer(privateMemory.get());
    context.workspace =
        pointer(workspaces[static_cast<size_t>(planned.stream)].get());
    context.control = reinterpret_cast<CcnControl *>(
        controls.get() + static_cast<CUdeviceptr>(i) * controlBytes);
    context.fault =
        reinterpret_cast<CcnFault *>(deviceWords + offsetof(HostWords, fault));
    context.stop = reinterpret_cast<const volatile unsigned *>(
        deviceWords + offsetof(HostWords, stop));
    context.timeLimit = static_cast<unsigned long long>(
        std::clamp(options.timeLimit, 1e-3, 1e9) * 1e9);
    context.rank = rank;
    context.launch = static_cast<int>(i);
    context.segment = -1;
    made.segments = program.segments[i].count;

    for (int other : messages ? program.segments[i].waits : planned.waits) {
      PreparedGpuLaunch &awaited = launches[static_cast<size_t>(other)];
      if (awaited.stream == made.stream)
        continue;
      made.waits.push_back(other);
      if (awaited.done)
        continue;
      Result<Event> event = createEvent(*device, false);
      if (!event)
        return event.status();
      awaited.done = *std::move(event);
    }
    for (Event *event : {&made.begin, &made.end}) {
      if (!options.trace)
        continue;
      Result<Event> timed = createEvent(*device, true);
      if (!timed)
        return timed.status();
      *event = *std::move(timed);
    }
  }
  return prepareTensorMaps(whole, program);
}

Status GpuExecutor::State::prepareStreams() {
  auto make = [&](Event &event, bool isTimed) {
    Result<Event> made = createEvent(*device, isTimed);
    if (!made)
      return made.status();
    event = *std::move(made);
    return Status();
  };
  streams.resize(static_cast<size_t>(plan.streams));
  joins.resize(streams.size());
  ownStreams = options.runsAtOnce == 1
                   ? OwnStreams::ofRank(transport, rank, *device)
                   : std::make_shared<OwnStreams>(*device);
  for (const PreparedGpuLaunch &launch : launches) {
    auto index = static_cast<size_t>(launch.stream);
    if (index == 0 || streams[index])
      continue;
    Result<CUstream> stream = ownStreams->get(index);
    if (!stream)
      return stream.status();
    streams[index] = *stream;
    if (Status status = make(joins[index], false); !status)
      return status;
  }
  if (Status status = make(fork, false); !status)
    return status;
  if (team->ranksOfProcess() * options.runsAtOnce > 1)
    paces.resize(streams.size());
  for (StreamPace &pace : paces)
    for (Event *event : {&pace.last, &pace.before})
      if (Status status = make(*event, false); !status)
        return status;
  if (Status status = make(last, false); !status || !options.trace)
    return status;

  // The time by both clocks.
  if (Status status = make(traceZero, true); !status)
    return status;
  Result<CUstream> stream = device->setupStream();
  if (!stream)
    return stream.status();
  Status status = device->check(
      device->driver.eventRecord(traceZero.get(), *stream), "cuEventRecord");
  if (status)
    status = awaitStream(*device, *stream);
  traceZeroTime = std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count();
  return status;
}

} // namespace ccn::runtime
