//===- MapRows.cpp - Maps loops over rows ---------------------------------===//

#include "codegen/gpu/map/MapRows.h"

#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/map/RowShares.h"
#include "lib/Target/Target.h"
#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::LoopOperand;

namespace {

/// The most dynamic shared memory that a part takes of a block, if it may have
/// as much.
constexpr int64_t mostShared = 96 * 1024;

/// The team of rows in a launch's kernel.
Team teamIn(const LaunchMapper &launch, const runtime::RowsPart &rows) {
  const runtime::GpuKernel &properties = launch.kernel.properties;
  Team team = teamFor(rows, properties.threads, launch.facts.machine);
  if (team.kind == Team::Block && properties.clusters)
    team.kind = Team::Cluster;
  return team;
}

/// Whether a warp has several teams that all have equally many rows, so that
/// all its threads reach the points where some wait for each other.
bool fillsWarps(const runtime::RowsPart &rows, Team team) {
  return team.kind == Team::Lanes && team.lanes > 1 &&
         team.lanes < GpuArch::warpSize &&
         rows.rows % (GpuArch::warpSize / team.lanes) == 0;
}

class RowsMapper {
public:
  RowsMapper(LaunchMapper &launch, RowsPlan &plan)
      : launch(launch), plan(plan), rows(*plan.rows) {}

  void map();

private:
  void placeScratch();
  bool dependsOnEarlier(size_t loop) const;
  LoopPlan planOf(const runtime::Loop &loop, bool byRows) const {
    return {launch.kernel.places, loop, launch.facts.bodies.of(loop), byRows,
            plan.scratch};
  }
  void mapElements();
  void mapTeams();
  void mapFewSums(RowLoopPlan &loop, const runtime::Loop &sums);
  void mapGrid();

  LaunchMapper &launch;
  RowsPlan &plan;
  const runtime::RowsPart &rows;
};

void RowsMapper::placeScratch() {
  struct Array {
    int64_t rowBytes = 0, firstBytes = 0;
  };
  std::map<int, Array> arrays;
  for (const runtime::Loop &loop : rows.loops)
    for (const auto *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &operand : *list) {
        if (operand.access != Access::Scratch ||
            plan.scratch.places.count(operand.view.buffer) > 0)
          continue;
        Array &array = arrays[operand.view.buffer];
        int64_t size = runtime::sizeInBytes(operand.type);
        int64_t last = operand.view.offset;
        for (size_t dim = 1; dim < loop.sizes.size(); ++dim)
          last += std::max<int64_t>(loop.sizes[dim] - 1, 0) *
                  operand.view.strides[dim];
        array.firstBytes = std::max(array.firstBytes, (last + 1) * size);
        array.rowBytes =
            std::max(array.rowBytes, operand.view.strides[0] * size);
      }
  for (const auto &[number, array] : arrays) {
    bool all = plan.team.kind == Team::Grid;
    plan.scratch.places[number] = {.offset = plan.scratch.bytes,
                                   .rowBytes = all ? array.rowBytes : 0};
    int64_t bytes =
        array.firstBytes + (all ? (rows.rows - 1) * array.rowBytes : 0);
    plan.scratch.bytes += llvm::alignTo(bytes, 16);
  }
  if (plan.scratch.bytes == 0)
    return;
  runtime::GpuKernel &properties = launch.kernel.properties;
  constexpr int64_t alignment = 64;
  if (plan.team.kind == Team::Grid) {
    plan.scratchIn = RowsPlan::Workspace;
    plan.scratchOffset =
        launch.takeWorkspace(llvm::alignTo(plan.scratch.bytes, alignment));
    return;
  }
  int64_t bytes = llvm::alignTo(teamsOfBlock(plan.team, properties.threads) *
                                    plan.scratch.bytes,
                                alignment);
  // Parts of a kernel take the same shared memory, one after the other.
  if (bytes <= std::min(mostShared, launch.facts.arch.sharedBytes)) {
    plan.scratchIn = RowsPlan::Shared;
    launch.needShared(bytes);
    return;
  }
  plan.scratchIn = RowsPlan::Block;
  properties.blockBytes = std::max(properties.blockBytes, bytes);
}

/// Whether a loop reads memory, other than scratch, that an earlier loop
/// writes.
bool RowsMapper::dependsOnEarlier(size_t loop) const {
  for (const LoopOperand &input : rows.loops[loop].inputs) {
    if (input.access != Access::Load && input.access != Access::LoadReduced)
      continue;
    for (size_t earlier = 0; earlier < loop; ++earlier)
      for (const LoopOperand &output : rows.loops[earlier].outputs)
        if (output.access != Access::Scratch &&
            output.view.buffer == input.view.buffer)
          return true;
  }
  return false;
}

void RowsMapper::mapElements() {
  plan.kind = RowsPlan::Elements;
  LoopPlan &loop =
      plan.loops.emplace_back(RowLoopPlan{planOf(rows.loops.front(), false)})
          .loop;
  const BlockShare &share = plan.share;
  // No tiles if other parts rely on which block computes which elements, or if
  // blocks belong to clusters, as these have fewer threads than tiles need.
  if (share.units == 0 && share.tile == 0 && !launch.kernel.properties.clusters)
    loop.chooseTile();
  launch.settle(loop);
  int64_t blocks = llvm::divideCeilSigned(
      product(loop.kept),
      share.tile ? share.tile : threadsPerBlock * loop.width);
  if (loop.tile) {
    plan.tiles = shareTiles(loop);
    launch.partsOfFewRegisters += loop.tile->takesFewRegisters;
    blocks = product(plan.tiles->blocks);
  }
  launch.needBlocks(blocks);
}

void RowsMapper::mapTeams() {
  plan.kind = RowsPlan::Teams;
  std::vector<LoopPlan> loops;
  for (const runtime::Loop &loop : rows.loops)
    loops.push_back(planOf(loop, true));
  RowShares shares(launch.kernel.places, rows, plan.team, loops, plan.scratch);
  placeScratch();
  if (plan.exchange)
    plan.given = loops.front().give(plan.exchange->part->to.buffer);
  for (LoopPlan &loop : loops)
    launch.settle(loop);
  // In a step of a pipeline the teams of a warp may have unequal numbers of
  // rows.
  plan.areWarps = plan.share.units == 0 && fillsWarps(rows, plan.team);
  for (auto [i, loop] : llvm::enumerate(loops)) {
    LoopTurns turns(loop, plan.team);
    // With one block on a multiprocessor there are registers to load everything
    // at once.
    bool isFetchedBefore = launch.kernel.takesRegisters && i > 0 &&
                           turns.canFetch(loop) && shares.fetchesConstants(i);
    plan.loops.push_back({std::move(loop), shares.isOfEvery(i),
                          shares.waitsBefore(i), isFetchedBefore,
                          dependsOnEarlier(i), turns});
  }
  plan.waitsAfter = shares.waitsAfter();
  launch.needBlocks(llvm::divideCeilSigned(
      rows.rows, teamsOfBlock(plan.team, launch.kernel.properties.threads)));
}

/// Each block computes a partial sum of each result; then the partial sums are
/// added.
void RowsMapper::mapFewSums(RowLoopPlan &loop, const runtime::Loop &sums) {
  loop.shared = RowLoopPlan::FewSums;
  // For the loads in flight.
  launch.kernel.takesRegisters = true;
  int64_t sumBytes = 8 * static_cast<int64_t>(sums.outputs.size());
  loop.partials = launch.takeWorkspace(std::max<int64_t>(rows.rows, 1) *
                                       CCN_MAX_BLOCKS * sumBytes);
  if (rows.rows != 1) {
    launch.gridBarrier();
    return;
  }
  // Deferred to the next barrier, so that no additional barrier is needed.
  loop.isDeferred = true;
  loop.isDeferredAfterOthers = std::exchange(launch.hasDeferred, true);
  for (const LoopOperand &output : sums.outputs)
    launch.deferredWrites.push_back(output.view);
}

/// All blocks work together on each loop, one loop after the other.
void RowsMapper::mapGrid() {
  plan.kind = RowsPlan::Grid;
  placeScratch();
  for (const runtime::Loop &loop : rows.loops)
    plan.loops.push_back({planOf(loop, true)});
  for (RowLoopPlan &loop : plan.loops)
    launch.settle(loop.loop);
  for (auto [i, of] : llvm::enumerate(plan.loops)) {
    const LoopPlan &loop = of.loop;
    if (i > 0)
      launch.gridBarrier();
    if (!loop.isReduced()) {
      launch.needBlocks(llvm::divideCeilSigned(product(loop.kept),
                                               threadsPerBlock * loop.width));
      continue;
    }
    launch.needBlocks(llvm::divideCeilSigned(
        product(loop.kept) * product(loop.reduced),
        plan.share.tile ? plan.share.tile : threadsPerBlock * loop.width * 4));
    if (loop.kept.empty())
      mapFewSums(of, rows.loops[i]);
    else
      of.shared = RowLoopPlan::ManySums;
  }
}

void RowsMapper::map() {
  if (isElementwise(rows))
    mapElements();
  else if (plan.team.kind == Team::Grid)
    mapGrid();
  else
    mapTeams();
}

} // namespace

/// Calls body(loops, shares) of what clusters do of rows, as it will be
/// mapped; false if they never do it.
static bool ofClusters(
    const PartPlaces &places, const LoopKernels &bodies,
    const runtime::RowsPart &rows, const Machine::Gpu &machine,
    llvm::function_ref<bool(std::vector<LoopPlan> &, const RowShares &)> body) {
  // Of more rows each is for a block: with two blocks each they keep a GPU
  // busy.
  int64_t mostRows = machine.multiprocessors / 2;
  if (teamFor(rows, threadsPerBlock, machine).kind != Team::Block ||
      rows.rows > mostRows)
    return false;
  Scratch scratch;
  std::vector<LoopPlan> loops;
  for (const runtime::Loop &loop : rows.loops)
    loops.emplace_back(places, loop, bodies.of(loop), true, scratch);
  RowShares shares(places, rows, {Team::Cluster, threadsPerBlock}, loops,
                   scratch);
  return body(loops, shares);
}

bool codegen::suitClusters(const PartPlaces &places, const LoopKernels &bodies,
                           const runtime::RowsPart &rows,
                           const Machine::Gpu &machine) {
  return ofClusters(places, bodies, rows, machine,
                    [](std::vector<LoopPlan> &, const RowShares &shares) {
                      return shares.suitClusters();
                    });
}

bool codegen::suitExchange(const PartPlaces &places, const LoopKernels &bodies,
                           const runtime::RowsPart &rows,
                           const runtime::ExchangePart &exchange,
                           const Machine::Gpu &machine) {
  const runtime::Loop &first = rows.loops.front();
  // With more ranks, or more bytes, not enough registers would be left.
  constexpr size_t mostMembers = 4;
  constexpr int64_t mostBytes = exchangedByThread / 2;
  if (rows.rows == 0 || places.members(exchange.group).size() > mostMembers ||
      first.reducedDims > 0 || exchange.inputCount % rows.rows != 0 ||
      exchange.inputCount != exchange.outputCount)
    return false;
  int64_t columns = exchange.inputCount / rows.rows;
  // The loops must not overwrite what is sent.
  for (const runtime::Loop &loop : rows.loops)
    for (const LoopOperand &output : loop.outputs)
      if (output.access != Access::Scratch &&
          places.overlap(output.view, exchange.from))
        return false;
  return ofClusters(
      places, bodies, rows, machine,
      [&](std::vector<LoopPlan> &loops, const RowShares &) {
        LoopPlan &loop = loops.front();
        int64_t size = runtime::sizeInBytes(places.type(exchange.to)),
                bytes = loop.width * size;
        for (const LoopOperand &input : first.inputs)
          if (input.access == Access::Load &&
              input.view.buffer == exchange.to.buffer &&
              (input.view.offset != exchange.to.offset ||
               (rows.rows > 1 && input.view.strides.front() != columns) ||
               !isRowMajor(first, input, first.sizes.size())))
            return false;
        LoopTurns turns(loop, {Team::Cluster, threadsPerBlock});
        return product(loop.kept) == columns &&
               bytes % payloadOf(exchange.exchange) == 0 &&
               turns.turns * bytes <= mostBytes && loop.takesParts() &&
               !loop.give(exchange.to.buffer).empty();
      });
}

std::unique_ptr<RowsPlan> codegen::mapRows(LaunchMapper &launch,
                                           const runtime::RowsPart &rows,
                                           const BlockShare &share,
                                           const RowExchange *exchange) {
  auto plan = std::make_unique<RowsPlan>();
  plan->rows = std::make_unique<const runtime::RowsPart>(rows);
  plan->share = share;
  plan->team = teamIn(launch, rows);
  if (exchange)
    plan->exchange = *exchange;
  RowsMapper(launch, *plan).map();
  return plan;
}

std::unique_ptr<RowsPlan> codegen::mapCopy(LaunchMapper &launch,
                                           const runtime::CopyPart &copy,
                                           const BlockShare &share) {
  runtime::Loop loop;
  loop.sizes = copy.sizes.empty() ? std::vector<int64_t>{1} : copy.sizes;
  runtime::ElementType type = launch.kernel.places.type(copy.from);
  loop.inputs = {{Access::Load, copy.from, type}};
  loop.outputs = {{Access::Store, copy.to, type}};
  for (LoopOperand *operand : {&loop.inputs[0], &loop.outputs[0]})
    operand->view.strides.resize(loop.sizes.size());
  return mapRows(launch, {loop.sizes.front(), {loop}}, share);
}

std::vector<Prefetch> codegen::prefetchesOf(const LaunchMapper &launch,
                                            const runtime::RowsPart &rows,
                                            int awaited) {
  const KernelPlan &kernel = launch.kernel;
  Team team = teamIn(launch, rows);
  // Short rows of a thread are few bytes of a line.
  if (team.kind == Team::Grid || team.lanes == 1)
    return {};
  std::vector<Prefetch> found;
  std::set<std::pair<int, int64_t>> begun;
  for (const runtime::Loop &loop : rows.loops)
    for (const LoopOperand &input : loop.inputs) {
      const runtime::View &view = input.view;
      bool isOwn = view.rank < 0 || view.rank == kernel.places.rank;
      if (input.access != Access::Load || !isOwn || view.buffer == awaited ||
          kernel.places.isScattered(view) ||
          !isRowMajor(loop, input, loop.sizes.size()) ||
          !begun.emplace(view.buffer, view.offset).second)
        continue;
      int64_t bytes = runtime::sizeInBytes(input.type),
              step = view.strides.front() * bytes;
      for (int64_t size : llvm::drop_begin(loop.sizes))
        bytes *= size;
      found.push_back({team, rows.rows, view, step, bytes});
    }
  return found;
}
