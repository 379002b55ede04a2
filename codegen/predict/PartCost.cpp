//===- PartCost.cpp - What the parts of a launch move and compute ---------===//

#include "codegen/predict/PartCost.h"

#include "runtime/plan/PartAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <set>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

Cost &Cost::operator+=(const Cost &other) {
  readBytes += other.readBytes;
  writeBytes += other.writeBytes;
  cacheBytes += other.cacheBytes;
  for (auto [rank, bytes] : other.storedBytes)
    storedBytes[rank] += bytes;
  for (auto [rank, bytes] : other.loadedBytes)
    loadedBytes[rank] += bytes;
  operations += other.operations;
  f64Operations += other.f64Operations;
  chain = std::max(chain, other.chain);
  flops += other.flops;
  return *this;
}

double CacheModel::touch(std::tuple<int, int64_t, int> key, int64_t begin,
                         int64_t end, double touched) {
  constexpr int64_t pageBytes = 1 << 20;
  auto length = static_cast<double>(end - begin);
  if (end <= begin)
    return 0;
  // Nothing of what is so long is left when it is touched again.
  if (length > 2 * bytes) {
    all += touched;
    return 0;
  }
  double held = 0;
  auto [memory, argument, owner] = key;
  int64_t first = begin / pageBytes, last = (end - 1) / pageBytes;
  double each = touched / static_cast<double>(last - first + 1);
  for (int64_t page = first; page <= last; ++page) {
    auto [found, isNew] =
        pages.try_emplace({memory, argument, owner, page}, 0.0);
    if (!isNew) {
      double since = all - found->second;
      held += each * std::clamp(1.5 - since / bytes, 0.0, 1.0);
    }
    if (canTakeBack)
      before.emplace_back(found, isNew ? -1 : found->second);
    all += each;
    found->second = all;
  }
  return held;
}

void CacheModel::begin() {
  canTakeBack = true;
  allBefore = all;
}

void CacheModel::keep() {
  canTakeBack = false;
  before.clear();
}

void CacheModel::takeBack() {
  for (auto [page, had] : llvm::reverse(before))
    if (had < 0)
      pages.erase(page);
    else
      page->second = had;
  all = allBefore;
  keep();
}

/// How many instructions a scalar operation of a body takes, about.
static double weightOf(mlir::Operation &op) {
  using namespace mlir;
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<arith::ConstantOp, func::ReturnOp, arith::BitcastOp>(
          [](auto) { return 0; })
      .Case<arith::DivFOp, math::SqrtOp>([](auto) { return 10; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::RemFOp>([](auto) { return 20; })
      .Case<math::ExpOp>([](auto) { return 5; })
      .Case<math::LogOp, math::TanhOp, math::ErfOp, math::ErfcOp>(
          [](auto) { return 10; })
      .Case<math::PowFOp>([](auto) { return 60; })
      .Default([](Operation *other) {
        // Several elements share what depends on their position: four use one
        // draw of random numbers, and all of a vector one address.
        return isa<FloatType>(other->getResult(0).getType()) ? 1 : 0.2;
      });
}

void CostCounter::addLoop(const Loop &loop, Cost &cost) {
  double elements = 1;
  for (int64_t size : loop.sizes)
    elements *= static_cast<double>(size);
  // A load or store of each operand, of several elements at once.
  constexpr double perOperand = 0.25;
  double operations = perOperand * static_cast<double>(loop.inputs.size() +
                                                       loop.outputs.size());
  if (const LoopKernel *kernel = bodies.of(loop)) {
    auto [found, isNew] = counted.try_emplace(kernel->name);
    mlir::func::FuncOp body = kernel->body;
    if (isNew)
      body.walk([&](mlir::Operation *op) {
        double weight = op->getNumResults() == 0 ? 0 : weightOf(*op);
        if (weight == 0)
          return;
        mlir::Type type = op->getResult(0).getType();
        found->second[type.isF64() ? 1 : 0] += weight;
        found->second[2] +=
            mlir::isa<mlir::FloatType>(type) &&
            !mlir::isa<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(op);
      });
    operations += found->second[0];
    cost.f64Operations += elements * found->second[1];
    cost.flops += elements * found->second[2];
    cost.chain += found->second[0] + found->second[1];
  }
  if (loop.reducedDims > 0) {
    ++operations;
    cost.flops += elements;
  }
  // What ranks have is combined.
  for (const LoopOperand &input : loop.inputs)
    if (input.access == Access::LoadReduced) {
      auto members = static_cast<double>(
          plan.groups[static_cast<size_t>(input.group)].size());
      operations += members - 1;
      cost.flops += elements * (members - 1);
    }
  cost.operations += elements * operations;
}

void CostCounter::add(Cost &cost, const Buffer &buffer, int owner,
                      int64_t first, int64_t extent, double touched,
                      bool writes) {
  AccessedBytes place = bytesOf(buffer, owner, first, extent);
  touched *= static_cast<double>(place.elementSize);
  double held =
      cache.touch({static_cast<int>(place.memory), place.argument, owner},
                  place.begin, place.end, touched);
  cost.cacheBytes += held;
  (writes ? cost.writeBytes : cost.readBytes) += touched - held;
  if (owner != rank)
    (writes ? cost.storedBytes : cost.loadedBytes)[owner] += touched;
}

void CostCounter::addAccesses(const Part &part, bool loadsAnew, Cost &cost) {
  // Loops over the same rows load what they share once, and need not load what
  // they have just written.
  std::set<std::tuple<int, int, int64_t, std::vector<int64_t>, bool>> seen;
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    int owner = access.ownerFor(rank);
    // Other strides are another order, such as a transposed one.
    std::tuple<int, int, int64_t, std::vector<int64_t>, bool> key(
        access.view.buffer, owner, access.view.offset, access.view.strides,
        access.writes);
    if (access.extent == 0 || kept.contains(access.view.buffer) ||
        (!seen.insert(key).second && !loadsAnew))
      return;
    std::get<bool>(key) = true;
    if (!access.writes && !loadsAnew && seen.contains(key))
      return;
    auto touched = static_cast<double>(access.extent);
    if (!access.sizes.empty()) {
      touched = 1;
      for (size_t dim = 0; dim < access.sizes.size(); ++dim)
        if (dim < access.view.strides.size() && access.view.strides[dim] != 0)
          touched *= static_cast<double>(access.sizes[dim]);
      touched = std::min(touched, static_cast<double>(access.extent));
    }
    add(cost, bufferOf(access.view), owner, access.view.offset, access.extent,
        touched, access.writes);
  });
}

void CostCounter::addExchange(const ExchangePart &part, int64_t number,
                              Cost &cost) {
  const std::vector<int> &members =
      plan.groups[static_cast<size_t>(part.group)];
  auto size = static_cast<double>(sizeInBytes(bufferOf(part.from).type));
  double bytes = static_cast<double>(part.inputCount) * size;
  if (part.exchange == Exchange::Schedule) {
    const ChunkSchedule &schedule =
        plan.schedules[static_cast<size_t>(part.schedule)];
    auto own = std::find(members.begin(), members.end(), rank);
    for (const std::vector<Transfer> &step : schedule.steps)
      for (const Transfer &transfer : step)
        if (transfer.source == own - members.begin())
          cost.storedBytes[members[static_cast<size_t>(
              transfer.destination)]] +=
              size *
              static_cast<double>(
                  schedule.chunks[static_cast<size_t>(transfer.chunk)].count);
    cost.cacheBytes += 2 * cost.linkStores();
    return;
  }
  // Each member sends all its packets to each other one, into slots of which
  // there are several generations.
  double packets = bytes * (part.exchange == Exchange::LL ? 2 : 1);
  auto count = static_cast<double>(members.size());
  for (int member : members)
    if (member != rank)
      cost.storedBytes[member] += packets;
  double slots = count * packets;
  // Read when they have come; Lamport's are cleared, too.
  double touched = slots * (part.exchange == Exchange::LL ? 2 : 3);
  double held = cache.touch({-1, number, rank}, 0,
                            static_cast<int64_t>(3 * slots), touched);
  cost.cacheBytes += held;
  cost.readBytes += (touched - held) / 2;
  cost.writeBytes += (touched - held) / 2;
  double elements = static_cast<double>(part.inputCount);
  cost.flops += elements * (count - 1);
  cost.operations += elements * count;
}

Cost CostCounter::of(const Part &part, int64_t number, bool loadsAnew) {
  Cost cost;
  auto rowsOf = [&](const auto &table, const View &view, bool isTable) {
    // Of a table only the rows that are asked for.
    int64_t rows =
        isTable ? std::min(table.tableRows, table.count) : table.count;
    add(cost, bufferOf(view), rank, view.offset,
        (isTable ? table.tableRows : table.count) * table.rowSize,
        static_cast<double>(rows * table.rowSize), /*writes=*/false);
  };
  if (const auto *gather = std::get_if<GatherRowsPart>(&part)) {
    rowsOf(*gather, gather->table, /*isTable=*/true);
    add(cost, bufferOf(gather->indices), rank, gather->indices.offset,
        gather->count, static_cast<double>(gather->count), /*writes=*/false);
    add(cost, bufferOf(gather->to), rank, gather->to.offset,
        gather->count * gather->rowSize,
        static_cast<double>(gather->count * gather->rowSize), /*writes=*/true);
    return cost;
  }
  addAccesses(part, loadsAnew, cost);
  if (const auto *rows = std::get_if<RowsPart>(&part)) {
    for (const Loop &loop : rows->loops)
      addLoop(loop, cost);
  } else if (const auto *product = std::get_if<MatmulPart>(&part)) {
    double batches = 1;
    for (int64_t size : product->batch)
      batches *= static_cast<double>(size);
    cost.flops += 2 * batches * static_cast<double>(product->m) *
                  static_cast<double>(product->n) *
                  static_cast<double>(product->k);
  } else if (const auto *conv = std::get_if<Conv2dPart>(&part)) {
    cost.flops += 2;
    for (int64_t size : conv->yShape)
      cost.flops *= static_cast<double>(size);
    for (size_t dim = 1; dim < conv->wShape.size(); ++dim)
      cost.flops *= static_cast<double>(conv->wShape[dim]);
  } else if (const auto *scatter = std::get_if<ScatterRowsPart>(&part)) {
    // Rows of the result are read and written again for each row added.
    double bytes = static_cast<double>(scatter->count * scatter->rowSize) *
                   sizeInBytes(bufferOf(scatter->rows).type);
    cost.readBytes += bytes;
    cost.writeBytes += bytes;
  } else if (const auto *exchange = std::get_if<ExchangePart>(&part)) {
    addExchange(*exchange, number, cost);
  }
  return cost;
}
