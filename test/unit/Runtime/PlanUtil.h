//===- PlanUtil.h - Plans made by hand --------------------------*- C++ -*-===//
//
// Builds plans of which all ranks have the same buffers and launches, and runs
// them on ranks that are threads, over each of the transports.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_RUNTIME_PLANUTIL_H
#define CCN_TEST_UNIT_RUNTIME_PLANUTIL_H

#include "TeamUtil.h"
#include "runtime/cpu/PlanExecutor.h"
#include "runtime/tensor/Strided.h"

#include <functional>

namespace ccn::runtime {

using Shape = std::vector<int64_t>;

inline Shape rowMajor(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

class PlanBuilder {
public:
  using CountOf = std::function<int64_t(int rank)>;
  using PartsOf = std::function<std::vector<Part>(int rank)>;

  explicit PlanBuilder(int ranks, int streams = 1) {
    plan.mesh = {{"x", ranks}};
    plan.groups = {{}};
    plan.ranks.resize(static_cast<size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      plan.groups[0].push_back(rank);
      at(rank).streams = streams;
    }
  }

  int ranks() const { return static_cast<int>(plan.ranks.size()); }
  RankPlan &at(int rank) { return plan.ranks[static_cast<size_t>(rank)]; }

  /// An argument of `count` elements on each rank; returns its buffer.
  int argument(ElementType type, const CountOf &count,
               ArgumentKind kind = ArgumentKind::InOut) {
    int64_t largest = 0;
    for (int rank = 0; rank < ranks(); ++rank)
      largest = std::max(largest, count(rank));
    auto index = static_cast<int64_t>(plan.arguments.size());
    plan.arguments.push_back({"a" + std::to_string(index),
                              kind,
                              type,
                              {ranks(), largest},
                              1,
                              false,
                              ""});
    for (int rank = 0; rank < ranks(); ++rank) {
      at(rank).placements.push_back({{rank, 0}, {1, count(rank)}});
      at(rank).buffers.push_back({Memory::Argument, type, count(rank), index});
    }
    return lastBuffer();
  }
  int argument(ElementType type, int64_t count,
               ArgumentKind kind = ArgumentKind::InOut) {
    return argument(type, [=](int) { return count; }, kind);
  }

  int buffer(Memory memory, ElementType type, int64_t count) {
    for (RankPlan &rank : plan.ranks) {
      int64_t &bytes =
          memory == Memory::Private ? rank.privateBytes : rank.symmetricBytes;
      rank.buffers.push_back({memory, type, count, bytes});
      bytes += (count * sizeInBytes(type) + 63) / 64 * 64;
    }
    return lastBuffer();
  }
  int symmetric(ElementType type, int64_t count) {
    return buffer(Memory::Symmetric, type, count);
  }

  int64_t flags(int64_t count) {
    int64_t first = plan.ranks[0].flags;
    for (RankPlan &rank : plan.ranks)
      rank.flags += count;
    return first;
  }
  BarrierPart barrier(int group = 0) {
    return {group, flags(static_cast<int64_t>(
                       plan.groups[static_cast<size_t>(group)].size()))};
  }

  int launch(const std::string &name, const PartsOf &parts, int stream = 0,
             const std::vector<int> &waits = {}) {
    for (int rank = 0; rank < ranks(); ++rank)
      at(rank).launches.push_back({name, stream, waits, parts(rank)});
    return static_cast<int>(plan.ranks[0].launches.size()) - 1;
  }

  Plan plan;

private:
  int lastBuffer() const {
    return static_cast<int>(plan.ranks[0].buffers.size()) - 1;
  }
};

/// A copy of a row-major box of a buffer to one of another.
inline CopyPart copyAll(int from, int to, int64_t count) {
  return {{count}, {from, 0, {1}, -1}, {to, 0, {1}, -1}};
}

/// A heap of exactly what the plan needs.
inline std::unique_ptr<SymmetricHeap> heapFor(const Plan &plan) {
  Result<int64_t> bytes = planSymmetricBytes(plan);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  auto heap = SymmetricHeap::create(static_cast<int>(plan.ranks.size()),
                                    bytes ? *bytes : 0);
  EXPECT_TRUE(heap.ok()) << heap.message();
  return *std::move(heap);
}

using ExecutorBody = std::function<Status(PlanExecutor &, int rank)>;

/// Makes an executor on each rank in a thread, with its transport, and calls
/// body.
inline std::vector<Status> runPlan(const Plan &plan, const ExecutorBody &body,
                                   const ExecutorOptions &options,
                                   const std::vector<Transport *> &transports) {
  return runTeam(transports, [&](RankMemory &memory) {
    Transport &transport = *transports[static_cast<size_t>(memory.rank())];
    auto executor =
        PlanExecutor::create(plan, memory.rank(), transport, options);
    return executor ? body(**executor, memory.rank()) : executor.status();
  });
}

enum class Over { Memory, Messages };

/// Likewise over shared memory or by messages.
inline std::vector<Status> runPlan(const Plan &plan, const ExecutorBody &body,
                                   const ExecutorOptions &options = {},
                                   Over over = Over::Memory) {
  if (over == Over::Memory) {
    std::unique_ptr<SymmetricHeap> heap = heapFor(plan);
    return runPlan(plan, body, options,
                   std::vector<Transport *>(plan.ranks.size(), heap.get()));
  }
  Result<int64_t> bytes = planSymmetricBytes(plan);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  auto ranks = static_cast<int>(plan.ranks.size());
  MessageTeam team(std::make_shared<FakeWires>(ranks, 1), bytes ? *bytes : 0,
                   ranks % 2 ? MessageOptions() : smallMessages());
  return runPlan(plan, body, options, team.transports);
}

/// Over shared memory, and then by messages; every rank must succeed.
inline void expectPlan(const Plan &plan, const ExecutorBody &body,
                       const ExecutorOptions &options = {}) {
  for (Over over : {Over::Memory, Over::Messages})
    for (const Status &status : runPlan(plan, body, options, over))
      EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace ccn::runtime

#endif // CCN_TEST_UNIT_RUNTIME_PLANUTIL_H
