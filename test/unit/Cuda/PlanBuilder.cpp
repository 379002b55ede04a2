//===- PlanBuilder.cpp - Plans made by hand in tests ----------------------===//

#include "test/unit/Cuda/PlanBuilder.h"

#include "codegen/gpu/EmitCuda.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <regex>

namespace ccn::test {

using namespace runtime;

PlanBuilder::PlanBuilder(int ranks) {
  plan.mesh = {{"d", ranks}};
  plan.ranks.resize(static_cast<size_t>(ranks));
  plan.groups.emplace_back();
  for (int rank = 0; rank < ranks; ++rank)
    plan.groups[0].push_back(rank);
  launch();
}

int PlanBuilder::add(Memory memory, std::vector<int64_t> counts) {
  counts.resize(plan.ranks.size(), counts.back());
  // Symmetric ones are at the same place on all ranks.
  int64_t largest = *std::max_element(counts.begin(), counts.end());
  auto number = static_cast<int64_t>(plan.arguments.size());
  for (size_t rank = 0; rank < counts.size(); ++rank) {
    RankPlan &own = plan.ranks[rank];
    Buffer buffer{memory, ElementType::F32, counts[rank], number};
    if (memory == Memory::Argument) {
      own.placements.emplace_back();
    } else {
      int64_t &bytes =
          memory == Memory::Private ? own.privateBytes : own.symmetricBytes;
      buffer.offset = bytes;
      bytes += (largest * 4 + 63) / 64 * 64;
    }
    own.buffers.push_back(buffer);
  }
  if (memory == Memory::Argument) {
    plan.arguments.emplace_back();
    plan.arguments.back().name = "a" + std::to_string(number);
  }
  return static_cast<int>(plan.ranks[0].buffers.size()) - 1;
}

void PlanBuilder::add(int rank, Part part) {
  plan.ranks[static_cast<size_t>(rank)].launches.back().parts.push_back(
      std::move(part));
}

void PlanBuilder::barrier() {
  for (RankPlan &rank : plan.ranks)
    rank.launches.back().parts.push_back(BarrierPart{0, flags});
  flags += static_cast<int64_t>(plan.ranks.size());
  for (RankPlan &rank : plan.ranks)
    rank.flags = flags;
}

void PlanBuilder::launch() {
  for (RankPlan &rank : plan.ranks) {
    rank.launches.emplace_back();
    rank.launches.back().name = "launch";
  }
}

View view(int buffer, int64_t offset, int rank) {
  return {buffer, offset, {1}, rank};
}

CopyPart copy(int64_t count, View from, View to) {
  return {{count}, std::move(from), std::move(to)};
}

RowsPart loop(int64_t count, LoopOperand from, LoopOperand to) {
  Loop loop;
  loop.sizes = {count};
  loop.inputs = {std::move(from)};
  loop.outputs = {std::move(to)};
  return {count, {loop}};
}

RowsPart throughScratch(int64_t rows, int64_t columns, View from, View to) {
  View scratch{0, 0, {columns, 1}, -1};
  Loop first, second;
  first.sizes = second.sizes = {rows, columns};
  first.inputs = {{Access::Load, std::move(from), ElementType::F32}};
  first.outputs = {{Access::Scratch, scratch, ElementType::F32}};
  second.inputs = {{Access::Scratch, scratch, ElementType::F32}};
  second.outputs = {{Access::Store, std::move(to), ElementType::F32}};
  return {rows, {first, second}};
}

int copies(const Plan &plan) {
  int count = 0;
  for (const RankPlan &rank : plan.ranks)
    for (const Launch &launch : rank.launches)
      for (const Part &part : launch.parts)
        count += std::holds_alternative<CopyPart>(part);
  return count;
}

ReducedRows reduceRows(PlanBuilder &plan, int64_t rows, int64_t columns,
                       int64_t more) {
  const int64_t half = rows / 2 * columns;
  int in = plan.argument({2 * half}), slots = plan.symmetric({2 * half + more}),
      result = plan.symmetric({2 * half + more}),
      out = plan.argument({2 * half});
  plan.barrier();
  for (int rank : {0, 1})
    for (int to : {1 - rank, rank})
      plan.add(rank, copy(half, view(in, to * half),
                          view(slots, rank * half, to == rank ? -1 : to)));
  plan.barrier();
  for (int rank : {0, 1}) {
    LoopOperand from{Access::LoadReduced, view(slots), ElementType::F32, 0},
        to{Access::StoreAll, view(result, rank * half), ElementType::F32, 0};
    from.slots = half;
    plan.add(rank, loop(half, from, to));
  }
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, throughScratch(rows, columns, {result, 0, {columns, 1}},
                                  {out, 0, {columns, 1}}));
  return {in, slots, result, out};
}

GpuProgram emit(const Plan &plan) {
  llvm::Expected<GpuProgram> program = codegen::emitCuda(
      plan, {}, Target::anyGpu(), Machine::of(Target::anyGpu()));
  if (!program) {
    ADD_FAILURE() << llvm::toString(program.takeError());
    return {};
  }
  return *std::move(program);
}

std::string errorOf(const Plan &plan) {
  llvm::Expected<GpuProgram> program = codegen::emitCuda(
      plan, {}, Target::anyGpu(), Machine::of(Target::anyGpu()));
  if (program)
    return "no error";
  return llvm::toString(program.takeError());
}

std::string unindented(const std::string &text) {
  static const std::regex indentation("\n +");
  return std::regex_replace(text, indentation, "\n");
}

std::string bodyOf(const GpuProgram &program, size_t kernel,
                   KernelTransport transport) {
  if (kernel >= program.kernels.size()) {
    ADD_FAILURE() << "no kernel " << kernel;
    return "";
  }
  const std::string source = program.textFor(transport);
  size_t begin = source.find(" " + program.kernels[kernel].name + "(const");
  size_t end = source.find("\nusing A_", begin);
  if (begin == source.npos) {
    ADD_FAILURE() << "kernel " << kernel << " has no text";
    return "";
  }
  return unindented(source.substr(begin, end - begin));
}

} // namespace ccn::test
