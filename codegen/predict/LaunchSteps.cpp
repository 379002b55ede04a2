//===- LaunchSteps.cpp - Launches as steps of a simulation ----------------===//

#include "codegen/predict/LaunchSteps.h"

#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

double toDouble(int64_t number) { return static_cast<double>(number); }

/// The best of these is taken.
constexpr TileSize libraryTiles[] = {{128, 256}, {256, 128}, {128, 128},
                                     {64, 256},  {64, 128},  {64, 64}};
constexpr TileSize largeTile = {128, 128}, smallTile = {64, 64};

/// How many products of matrices a part is.
double batchesOf(const MatmulPart &part) {
  double batches = 1;
  for (int64_t size : part.batch)
    batches *= toDouble(size);
  return batches;
}

double tilesOf(TileSize tile, int64_t m, int64_t n, double batches) {
  return batches * toDouble(llvm::divideCeilSigned(m, tile.m)) *
         toDouble(llvm::divideCeilSigned(n, tile.n));
}

} // namespace

double LaunchSteps::productTflops(const View &view, bool isLibrary) const {
  const auto &tflops = isLibrary ? rates.libraryTflops : rates.kernelTflops;
  auto found = tflops.find(name(typeOf(view)));
  return found == tflops.end() ? tflops.find("f32")->second : found->second;
}

/// Of the best of some tiles, by waves: all cores compute a tile each at a
/// time. The last wave may leave some without. A small tile takes as long as
/// its operands take to arrive from the cache, a core's share of which is what
/// a core loads of memory at most.
double LaunchSteps::tilesUs(const MatmulPart &p, bool isLibrary,
                            llvm::ArrayRef<TileSize> tiles) const {
  double batches = batchesOf(p), best = 0;
  double each = productTflops(p.c, isLibrary) * 1e3 / toDouble(rates.cores);
  double size = sizeInBytes(typeOf(p.c));
  for (TileSize tile : tiles) {
    double waves =
        std::ceil(tilesOf(tile, p.m, p.n, batches) / toDouble(rates.cores));
    double lines =
        toDouble(std::min(tile.m, p.m)) + toDouble(std::min(tile.n, p.n));
    double us = waves * toDouble(p.k) *
                std::max(usOf(2 * toDouble(tile.m * tile.n), each),
                         usOf(lines * size, rates.coreGBps));
    best = best == 0 ? us : std::min(best, us);
  }
  return best;
}

/// Of a skeleton that keeps rows: each core has some of the left operand's, and
/// loads all of the right one.
double LaunchSteps::rowsUs(const MatmulPart &p, const WholeWork &work) const {
  double turns = std::ceil(batchesOf(p) *
                           toDouble(llvm::divideCeilSigned(p.m, work.rows)) /
                           toDouble(rates.cores));
  double each =
      productTflops(p.c, /*isLibrary=*/true) * 1e3 / toDouble(rates.cores);
  return work.part * turns * toDouble(p.n) * toDouble(p.k) *
         std::max(usOf(2 * toDouble(work.rows), each),
                  usOf(sizeInBytes(typeOf(p.c)), rates.coreGBps));
}

void LaunchSteps::addProduct(const MatmulPart &p, bool isLibrary, Step &step) {
  double batches = batchesOf(p), size = sizeInBytes(typeOf(p.c));
  double alone =
      usOf(2 * batches * toDouble(p.m) * toDouble(p.n) * toDouble(p.k),
           productTflops(p.c, /*isLibrary=*/false) * 1e3);
  if (!kernels)
    return compute(step, alone);
  if (!isLibrary) {
    bool isLarge =
        tilesOf(largeTile, p.m, p.n, batches) >= toDouble(rates.cores);
    return compute(step,
                   tilesUs(p, isLibrary, isLarge ? largeTile : smallTile));
  }
  double best = tilesUs(p, isLibrary, libraryTiles);
  // Rows that are not aligned are copied, or the library is as slow as we are.
  auto isAligned = [&](int64_t length) {
    constexpr int64_t alignment = 16;
    return length * static_cast<int64_t>(size) % alignment == 0;
  };
  if (p.m > 1 && !(isAligned(p.n) && isAligned(p.k) && isAligned(p.m))) {
    double elements = toDouble(p.m * p.k + p.k * p.n + p.m * p.n);
    best += usOf(batches * elements * size, rates.paddedGBps);
    best = std::min(best, alone);
  }
  compute(step, best);
}

/// Adds what all cores compute in `us`. A GPU's are all there.
void LaunchSteps::compute(Step &step, double us) const {
  addDemand(step, CoresOf, rank, us, Bound::Tensor);
  if (kernels)
    return;
  double alone = us * toDouble(rates.cores) / cores;
  if (alone > step.leastUs) {
    step.leastUs = alone;
    step.leastBound = Bound::Tensor;
  }
}

/// Of loops over the rows of teams: threads of a team wait for each other
/// before they use what they have summed.
double LaunchSteps::rowsLatency(const RowsPart &rows) const {
  double us = 0;
  if (!kernels)
    return us;
  Team team = teamFor(rows, threads, *machine.gpu);
  bool hasClusters =
      kernels->kernels[static_cast<size_t>(rank)][launch].properties.clusters;
  for (const Loop &loop : rows.loops)
    if (loop.reducedDims > 0)
      us += hasClusters                ? rates.clusterUs
            : team.kind != Team::Lanes ? rates.blockUs
                                       : 0;
  return us;
}

/// If a thread has rows to itself that are shorter than the vectors that it
/// loads otherwise, it has so much less in flight.
void LaunchSteps::limitNarrowRows(const RowsPart &rows, const Cost &cost,
                                  Step &step) const {
  constexpr double vectorBytes = 16;
  if (isElementwise(rows) ||
      teamFor(rows, threads, *machine.gpu).kind != Team::Lanes)
    return;
  double bytes = vectorBytes;
  for (const Loop &loop : rows.loops)
    for (const LoopOperand &operand : loop.inputs)
      bytes = std::min(bytes,
                       toDouble(longestRow(rows) * sizeInBytes(operand.type)));
  double us = usOf(cost.memoryBytes() + cost.cacheBytes,
                   rates.coreGBps * cores * bytes / vectorBytes);
  if (us > step.leastUs) {
    step.leastUs = us;
    step.leastBound = Bound::Latency;
  }
}

/// The work of parts that run at once, after what `step` waits for.
void LaunchSteps::addWork(llvm::ArrayRef<Part> parts, Step &step) {
  Cost cost;
  CostCounter counter(plan, rank, bodies, cache);
  double latency = 0;
  // What the rank waits for that it loads of others.
  double linkUs = 0;
  for (const Part &each : parts) {
    const auto *rows = std::get_if<RowsPart>(&each);
    // All threads divide each loop, so no row stays with a team.
    bool isOfGrid = rows && kernels && !isElementwise(*rows) &&
                    teamFor(*rows, threads, *machine.gpu).kind == Team::Grid;
    Cost own = counter.of(each, numberOfPart(), isOfGrid);
    for (auto [from, bytes] : own.loadedBytes)
      linkUs = std::max(linkUs, flagUs(isFar(from)));
    cost += own;
    if (rows) {
      latency += rowsLatency(*rows);
      if (kernels)
        limitNarrowRows(*rows, own, step);
    }
  }
  total += cost;
  step.us += rates.memoryUs + latency + cost.chain * rates.operationUs + linkUs;
  demand(step, cost);
  for (const Part &each : parts)
    if (const auto *product = std::get_if<MatmulPart>(&each)) {
      addProduct(*product, /*isLibrary=*/false, step);
    } else if (std::holds_alternative<Conv2dPart>(each)) {
      compute(step, usOf(cost.flops, rates.convolutionTflops * 1e3));
    }
}

/// How many rows a team exchanges and computes one after the other, if each
/// core has one block or cluster of them.
double LaunchSteps::turnsOf(const RowsPart &rows) const {
  const KernelPlan &kernel =
      kernels->kernels[static_cast<size_t>(rank)][launch];
  double atOnce = 1;
  if (kernel.properties.clusters)
    atOnce = cores * threadsPerBlock / CCN_CLUSTER_THREADS;
  else
    atOnce = std::min(blocks, toDouble(rates.cores)) *
             std::max<double>(
                 1, toDouble(teamsOfBlock(teamFor(rows, threads, *machine.gpu),
                                          threads)));
  return std::max(1.0, std::ceil(toDouble(rows.rows) / atOnce));
}

/// What is sent arrives while the rest is sent.
void LaunchSteps::addExchange(const ExchangePart &exchange,
                              llvm::ArrayRef<Part> parts) {
  Step send = signalTo(exchange.group, rates.memoryUs);
  send.bound = Bound::Latency;
  steps.push_back(std::move(send));
  double hops = 1;
  if (exchange.exchange == Exchange::Schedule)
    hops = static_cast<double>(
        plan.schedules[static_cast<size_t>(exchange.schedule)].steps.size());
  if (plan.groups[static_cast<size_t>(exchange.group)].size() < 2)
    hops = 0;
  double hopUs = flagUs(countFar(exchange.group) > 0);
  steps.push_back(awaitOf(exchange.group, hops * hopUs));
  ++meeting;
  Step work;
  addWork(parts, work);
  // The first load was waited for before the exchange.
  work.us = std::max(0.0, work.us - rates.memoryUs);
  if (const auto *rows = std::get_if<RowsPart>(&parts.back()))
    work.us += (turnsOf(*rows) - 1) * (rates.memoryUs + hops * hopUs);
  steps.push_back(std::move(work));
}

/// How many chunks the blocks of a pipeline make of its phases, as Chunks of
/// device/barriers.cuh does.
static int64_t chunksOf(const LaunchPipeline &pipeline, int64_t blocks) {
  constexpr int64_t most = 32;
  int64_t chunks =
      std::min(most, llvm::divideCeilSigned(pipeline.units,
                                            pipeline.leastUnits * blocks));
  int64_t share = llvm::divideCeilSigned(pipeline.units,
                                         std::max<int64_t>(chunks, 1) * blocks);
  return std::max<int64_t>(
      llvm::divideCeilSigned(pipeline.units,
                             std::max<int64_t>(share, 1) * blocks),
      1);
}

/// In each of its steps, a pipeline executes those phases at once whose chunk
/// has come: not all of them in the first and last steps.
void LaunchSteps::addPipeline(llvm::ArrayRef<Part> parts,
                              const BarrierPart &barrier,
                              const LaunchPipeline &pipeline) {
  std::vector<Step> phases;
  while (true) {
    auto own = parts.take_until(isBarrier);
    addWork(own, phases.emplace_back());
    if (own.size() == parts.size())
      break;
    parts = parts.drop_front(own.size() + 1);
  }
  auto count = static_cast<int64_t>(phases.size());
  int64_t chunks =
      chunksOf(pipeline, std::min(static_cast<int64_t>(blocks), rates.cores));
  steps.push_back(signalTo(barrier.group, 0));
  steps.push_back(
      awaitOf(barrier.group, toDouble(count - 1) * rates.barrierUs));
  meeting += phases.size() - 1;
  for (int64_t i = 0; i < chunks + count - 1; ++i) {
    // Steps with all phases are alike.
    int64_t alike =
        i == count - 1 ? std::max<int64_t>(chunks - count + 1, 1) : 1;
    Step step;
    for (int64_t phase = 0; phase < count; ++phase) {
      if (i < phase || i - phase >= chunks)
        continue;
      const Step &whole = phases[static_cast<size_t>(phase)];
      double part = toDouble(alike) / toDouble(chunks);
      if (i == phase)
        step.us += whole.us;
      for (Demand demand : whole.demands) {
        demand.us *= part;
        step.demands.push_back(demand);
      }
      step.leastUs += whole.leastUs * part;
      step.leastBound = whole.leastBound;
    }
    steps.push_back(std::move(step));
    i += alike - 1;
  }
}

void LaunchSteps::addParts(llvm::ArrayRef<Part> parts, bool isAtEdge) {
  const Part &first = parts.front();
  const auto *barrier = std::get_if<BarrierPart>(&first);
  if (barrier && parts.size() == 1)
    addBarrier(*barrier, isAtEdge);
  else if (const auto *signal = std::get_if<SignalPart>(&first))
    steps.push_back({.signals = {events.flag(rank, ranks.like(signal->rank),
                                             signal->flag)}});
  else if (const auto *await = std::get_if<AwaitPart>(&first))
    steps.push_back({.awaits = awaitedFlag(*await),
                     .us = flagUs(isFar(await->rank)),
                     .bound = Bound::Flags});
  else if (const auto *exchange = std::get_if<ExchangePart>(&first))
    addExchange(*exchange, parts);
  else if (const auto *found = llvm::find_if(parts, isBarrier);
           found != parts.end()) {
    // A kernel has few pipelines: the next one begins at the next barrier.
    for (const LaunchPipeline &pipeline :
         findPipelines(plan, launch, *machine.gpu))
      if (pipeline.firstPhase == barriers)
        addPipeline(parts, std::get<BarrierPart>(*found), pipeline);
    barriers += static_cast<size_t>(llvm::count_if(parts, isBarrier));
  } else {
    Step work;
    addWork(parts, work);
    steps.push_back(std::move(work));
  }
}

/// The product with which a launch begins, if a library may compute it: this
/// has a kernel of its own.
void LaunchSteps::addFirstProduct(const GpuProduct &product) {
  Step step{.us = rates.memoryUs};
  Cost cost =
      CostCounter(plan, rank, bodies, cache).of(product.part, numberOfPart());
  total += cost;
  // A library takes the types that it accumulates as the plan says.
  ElementType type = typeOf(product.part.c);
  bool isLibrary = type == ElementType::BF16 || type == ElementType::F16 ||
                   type == ElementType::F64;
  double own = std::exchange(cores, toDouble(rates.cores));
  demand(step, cost);
  cores = own;
  addProduct(product.part, isLibrary, step);
  steps.push_back(std::move(step));
  if (!product.isAll && isLibrary)
    steps.push_back({.us = rates.graphLaunchUs, .bound = Bound::Launch});
}

void LaunchSteps::addKernel(const KernelPlan &kernel) {
  threads = kernel.properties.threads;
  blocks = toDouble(kernel.launch.blocks);
  double all =
      blocks *
      toDouble(kernel.properties.clusters ? CCN_CLUSTER_THREADS : threads);
  cores =
      std::clamp(all / toDouble(threadsPerBlock), 1.0, toDouble(rates.cores));
  if (kernel.launch.product)
    addFirstProduct(*kernel.launch.product);
  for (size_t i = kernel.launch.product ? 1 : 0; i < kernel.parts.size(); ++i) {
    const PartPlan &each = kernel.parts[i];
    if (each.doesDeferredBefore || each.wait == Wait::Grid)
      wait(gridUs());
    if (each.wait == Wait::Cluster || each.opensCluster)
      wait(rates.clusterUs);
    if (each.wait == Wait::Block)
      wait(rates.blockUs);
    addParts(each.parts, i == 0 || i + 1 == kernel.parts.size());
  }
  if (kernel.doesDeferredAfter)
    wait(gridUs());
}

/// A whole skeleton's kernel: everything goes on at once. What it waits for at
/// the beginning takes little of the time, and what comes first needs none of
/// it.
void LaunchSteps::addWhole(const KernelPlan &kernel, const WholeWork &work) {
  cores = toDouble(rates.cores);
  CostCounter counter(plan, rank, bodies, cache);
  counter.keep(work.kept);
  Step step{.us = rates.memoryUs};
  std::vector<int> awaits;
  bool isOverNetwork = false;
  std::optional<MatmulPart> product;
  const BarrierPart *end = nullptr;
  Cost cost;
  // Between the products of a skeleton that keeps rows, elements are compared,
  // and their powers summed, whatever loops that is elsewhere.
  constexpr double operationsBetween = 4;
  double rowUs = 0;
  int products = 0;
  for (const Part &each : kernel.parts.front().parts) {
    if (const auto *barrier = std::get_if<BarrierPart>(&each)) {
      if (product)
        end = barrier;
      else
        addBarrier(*barrier, /*isAtEdge=*/true);
    } else if (std::holds_alternative<SignalPart>(each)) {
      addParts(each, /*isAtEdge=*/true);
    } else if (const auto *await = std::get_if<AwaitPart>(&each)) {
      llvm::append_range(awaits, awaitedFlag(*await));
      isOverNetwork |= isFar(await->rank);
    } else {
      Cost ofPart = counter.of(each, numberOfPart());
      const auto *own = std::get_if<MatmulPart>(&each);
      products += own != nullptr;
      if (work.keepsRows && products == 1) {
        ofPart.operations = own ? operationsBetween * work.part *
                                      batchesOf(*own) *
                                      toDouble(own->m * own->n)
                                : 0;
        ofPart.f64Operations = ofPart.chain = 0;
      }
      cost += ofPart;
      if (!own)
        continue;
      // Tiles are of one product of several, but they all take turns.
      if (work.keepsRows)
        rowUs += rowsUs(*own, work);
      else if (product)
        product->m = llvm::alignTo(product->m, work.rows) + own->m;
      else
        product = *own;
    }
  }
  if (!awaits.empty())
    steps.push_back({.awaits = std::move(awaits),
                     .us = flagUs(isOverNetwork),
                     .bound = Bound::Flags});
  // As much as this rank would load of another one, that one stores here.
  if (work.isScattered)
    for (auto [other, bytes] : std::exchange(cost.loadedBytes, {}))
      cost.storedBytes[other] += bytes;
  total += cost;
  compute(step, product ? tilesUs(*product, /*isLibrary=*/true,
                                  TileSize{work.rows, work.columns})
                        : rowUs);
  demand(step, cost);
  steps.push_back(std::move(step));
  if (end)
    addBarrier(*end, /*isAtEdge=*/true);
}

/// How long steps take that share nothing with others.
static double aloneUs(llvm::ArrayRef<Step> steps) {
  double us = 0;
  for (const Step &step : steps) {
    double longest = step.leastUs;
    for (const Demand &demand : step.demands)
      longest = std::max(longest, demand.us);
    us += step.us + longest;
  }
  return us;
}

void LaunchSteps::begin(const Launch &own) {
  meeting = barriers = 0;
  part = 0;
  total = {};
  steps = {{.us = rates.graphLaunchUs + (own.waits.empty() ? 0 : rates.eventUs),
            .bound = Bound::Launch}};
}

/// Where there are two kernels for a launch, a measurement chooses the faster.
void LaunchSteps::addLaunch(const Launch &own, const KernelPlan &kernel) {
  begin(own);
  std::optional<WholeWork> work;
  if (kernel.preferred && kernel.preferred->parts.size() == 1)
    work = kernel.preferred->parts.front().plan->wholeWork();
  if (!work)
    return addKernel(kernel);
  cache.begin();
  addKernel(kernel);
  double us = aloneUs(steps);
  cache.takeBack();
  begin(own);
  cache.begin();
  addWhole(*kernel.preferred, *work);
  if (aloneUs(steps) <= us)
    return cache.keep();
  cache.takeBack();
  begin(own);
  addKernel(kernel);
}

std::vector<Step> LaunchSteps::of(size_t number, Cost &cost) {
  launch = number;
  const Launch &own = plan.ranks[static_cast<size_t>(rank)].launches[number];
  if (kernels) {
    addLaunch(own, kernels->kernels[static_cast<size_t>(rank)][number]);
  } else {
    begin(own);
    // A thread executes all launches of a stream.
    cores = 1;
    for (const Part &each : own.parts)
      addParts(each, /*isAtEdge=*/true);
  }
  cost = total;
  return steps;
}
