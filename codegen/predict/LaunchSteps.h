//===- LaunchSteps.h - Launches as steps of a simulation --------*- C++ -*-===//
//
// From the costs of a launch's parts, and the plan of its kernel, to the steps
// that a machine takes for them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PREDICT_LAUNCHSTEPS_H
#define CCN_CODEGEN_PREDICT_LAUNCHSTEPS_H

#include "codegen/gpu/map/LaunchPipelines.h"
#include "codegen/gpu/map/MapKernels.h"
#include "codegen/predict/PartCost.h"
#include "codegen/predict/PlannedRanks.h"
#include "codegen/predict/Simulation.h"

namespace ccn::codegen {

/// The tiles of results that products are divided into.
struct TileSize {
  int64_t m, n;
};

/// Microseconds of bytes at GB/s, and of operations at Gop/s.
inline double usOf(double amount, double perNanosecond) {
  return amount / perNanosecond / 1000;
}

/// What ranks have each for itself, or, if they share one memory, together.
enum Resource {
  MemoryOf,
  CacheOf,
  CoresOf,
  LinkOut,
  LinkIn,
  NetworkOut,
  NetworkIn,
  Resources
};

/// Numbers the events by which ranks wait for each other.
class Events {
public:
  Events(const runtime::Plan &plan, int64_t ranks);

  /// Signalled by one rank: its arrival at a barrier or exchange of a launch
  /// (by number), or its setting of a flag for another rank.
  int arrival(size_t launch, size_t number, int rank) {
    return numberOf({0, static_cast<int64_t>(launch),
                     static_cast<int64_t>(number), rank, 0});
  }
  /// Flags that planned ranks set, of which `to` is like one of these.
  int flag(int from, int to, int64_t flag) {
    return numberOf({1, from, to, flag, 0});
  }

  /// Whether a planned rank sets a flag of others.
  bool isSet(int from, int64_t flag) const {
    return set.contains({from, flag});
  }
  /// The position of a rank in a group; -1 if it is not in it.
  int positionIn(size_t group, int rank) const {
    return positions[group][static_cast<size_t>(rank)];
  }

private:
  int numberOf(const std::array<int64_t, 5> &key) {
    return numbers.try_emplace(key, static_cast<int>(numbers.size()))
        .first->second;
  }
  std::map<std::array<int64_t, 5>, int> numbers;
  std::set<std::pair<int, int64_t>> set;
  /// By group and rank.
  std::vector<std::vector<int>> positions;
};

/// Makes the steps of a rank's launches.
class LaunchSteps {
public:
  /// `kernels` are those of the plan; null if CPUs execute it.
  LaunchSteps(const runtime::Plan &plan, const PlannedRanks &ranks,
              const KernelPlans *kernels, const LoopKernels &bodies,
              const Machine &machine, const MachineRates &rates, int rank,
              Events &events)
      : plan(plan), ranks(ranks), kernels(kernels), bodies(bodies),
        machine(machine), rates(rates), rank(rank), events(events),
        cache(rates.cacheBytes) {}

  /// To be called for the launches in their order; once more for the first
  /// after the last, as the cache then holds what the run before has left.
  /// `cost` gets what the launch costs in all.
  std::vector<Step> of(size_t launch, Cost &cost);

private:
  void begin(const runtime::Launch &own);
  void addKernel(const KernelPlan &kernel);
  void addWhole(const KernelPlan &kernel, const WholeWork &work);
  void addLaunch(const runtime::Launch &own, const KernelPlan &kernel);
  void addFirstProduct(const runtime::GpuProduct &product);
  void addParts(llvm::ArrayRef<runtime::Part> parts, bool isAtEdge);
  void addExchange(const runtime::ExchangePart &exchange,
                   llvm::ArrayRef<runtime::Part> parts);
  void addPipeline(llvm::ArrayRef<runtime::Part> parts,
                   const runtime::BarrierPart &barrier,
                   const LaunchPipeline &pipeline);
  void addBarrier(const runtime::BarrierPart &part, bool isAtEdge);
  /// What this rank sends all members of a group, and what it waits for.
  Step signalTo(int group, double us);
  Step awaitOf(int group, double us);
  void addWork(llvm::ArrayRef<runtime::Part> parts, Step &step);
  void addProduct(const runtime::MatmulPart &part, bool isLibrary, Step &step);
  double tilesUs(const runtime::MatmulPart &part, bool isLibrary,
                 llvm::ArrayRef<TileSize> tiles) const;
  double rowsUs(const runtime::MatmulPart &part, const WholeWork &work) const;
  void compute(Step &step, double us) const;
  void limitNarrowRows(const runtime::RowsPart &rows, const Cost &cost,
                       Step &step) const;
  runtime::ElementType typeOf(const runtime::View &view) const {
    return plan.ranks[static_cast<size_t>(rank)]
        .buffers[static_cast<size_t>(view.buffer)]
        .type;
  }
  /// A number that no other part of the rank has.
  int64_t numberOfPart() {
    return (static_cast<int64_t>(launch) << 16) + part++;
  }
  double turnsOf(const runtime::RowsPart &rows) const;
  double rowsLatency(const runtime::RowsPart &rows) const;
  void demand(Step &step, const Cost &cost) const;
  void demandLinks(Step &step, const Cost &cost) const;
  /// Whether ranks are on different nodes, between which there is a network.
  bool isFar(int other) const {
    return rates.isFar(ranks.rankOf(rank), ranks.rankOf(other));
  }
  int64_t countFar(int group) const;
  /// How long a flag takes to another rank, or to the farthest one of a group.
  double flagUs(bool isOverNetwork) const {
    return isOverNetwork ? rates.node->networkUs : rates.linkUs;
  }
  std::vector<int> awaitedFlag(const runtime::AwaitPart &part) const;
  /// How long all blocks wait for each other: a single one does not, and few
  /// wait less.
  double gridUs() const { return rates.gridUs * (1 - 1 / blocks); }
  void wait(double us) {
    if (us > 0)
      steps.push_back({.us = us, .bound = Bound::Flags});
  }
  void addDemand(Step &step, Resource kind, int of, double us,
                 Bound bound) const;
  double productTflops(const runtime::View &view, bool isLibrary) const;

  const runtime::Plan &plan;
  const PlannedRanks &ranks;
  const KernelPlans *kernels;
  const LoopKernels &bodies;
  const Machine &machine;
  const MachineRates &rates;
  int rank;
  Events &events;
  CacheModel cache;

  // Of the launch whose steps are made.
  std::vector<Step> steps;
  Cost total;
  size_t launch = 0, meeting = 0, barriers = 0;
  int64_t part = 0;
  /// How many cores have something to do; how many threads a block has.
  double cores = 1, blocks = 1;
  int64_t threads = 512;
};

/// What a planned rank does in a launch.
struct RankLaunch {
  std::vector<Step> *steps;
  const Cost *cost;
};

/// For a launch of all planned ranks, if these stand for others.
void mirrorLinks(llvm::ArrayRef<RankLaunch> launch);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PREDICT_LAUNCHSTEPS_H
