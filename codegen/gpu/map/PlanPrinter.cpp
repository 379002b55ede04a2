//===- PlanPrinter.cpp - Kernel plans as text -----------------------------===//

#include "codegen/gpu/map/PlanPrinter.h"

#include "codegen/gpu/map/MapKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::StringRef;

void codegen::printTeam(llvm::raw_ostream &os, Team team) {
  switch (team.kind) {
  case Team::Lanes:
    return printNumber(os, "lanes", team.lanes);
  case Team::Block:
    return printNumber(os, "block", team.lanes);
  case Team::Cluster:
    return printWord(os, "cluster", true);
  case Team::Grid:
    return printWord(os, "grid", true);
  }
}

void codegen::printLoop(llvm::raw_ostream &os, const LoopPlan &loop,
                        const Loop &info, unsigned depth) {
  os.indent(2 * depth) << (info.function.empty() ? "copy"
                                                 : "loop " + info.function);
  auto sizes = [&](StringRef name, const LoopDims &dims) {
    if (dims.empty())
      return;
    os << ' ' << name << '(';
    llvm::interleave(
        dims, os, [&](const LoopDim &dim) { os << dim.size; }, "x");
    os << ')';
  };
  sizes("elements", loop.kept);
  sizes("summed", loop.reduced);
  printNumber(os, "width", loop.width);
  if (loop.tile)
    os << llvm::formatv(" tile({0}x{1}{2})", loop.tile->rows,
                        loop.tile->columns,
                        loop.tile->hasVectors ? "" : ", no vectors");
  printNumber(os, "fetched", loop.fetchedBytes());
  printWord(os, "combines", loop.combinesFetched());
}

void codegen::printRows(llvm::raw_ostream &os, const RowsPlan &plan,
                        unsigned depth) {
  static const char *const kinds[] = {"elements", "teams", "grid"};
  os << kinds[plan.kind];
  if (plan.kind != RowsPlan::Elements)
    printNumber(os, "rows", plan.rows->rows);
  if (plan.kind == RowsPlan::Teams)
    printTeam(os, plan.team);
  static const char *const places[] = {"", "workspace", "shared", "block"};
  if (plan.scratchIn != RowsPlan::None)
    os << llvm::formatv(" scratch({0} in {1})", plan.scratch.bytes,
                        places[plan.scratchIn]);
  printNumber(os, "own", plan.scratch.ownBytes);
  printNumber(os, "share", plan.share.tile);
  printNumber(os, "units", plan.share.units);
  printWord(os, "waits_after", plan.waitsAfter);
  printWord(os, "exchanges", plan.exchange.has_value());
  os << '\n';
  for (auto [of, info] : llvm::zip_equal(plan.loops, plan.rows->loops)) {
    printLoop(os, of.loop, info, depth + 1);
    if (of.turns) {
      printNumber(os, "turns", of.turns->turns);
      printNumber(os, "at_once",
                  of.turns->areNumbered ? of.turns->atOnce : of.turns->ofStep);
    }
    printWord(os, "of_every_thread", of.isOfEvery);
    printWord(os, "waits_before", of.waitsBefore);
    printWord(os, "fetched_before", of.isFetchedBefore);
    printWord(os, "many_sums", of.shared == RowLoopPlan::ManySums);
    printWord(os, "few_sums", of.shared == RowLoopPlan::FewSums);
    printWord(os, "deferred", of.isDeferred);
    os << '\n';
  }
}

static void printPrefetch(llvm::raw_ostream &os, const Prefetch &prefetch,
                          unsigned depth) {
  os.indent(2 * depth) << "prefetch";
  printTeam(os, prefetch.team);
  printNumber(os, "rows", prefetch.rows);
  printNumber(os, "bytes", prefetch.bytes);
  os << '\n';
}

void codegen::printPart(llvm::raw_ostream &os, const PartPlan &part,
                        unsigned depth) {
  for (const Prefetch &prefetch : part.prefetches)
    printPrefetch(os, prefetch, depth);
  static const char *const waits[] = {"", "wait(block) ", "wait(cluster) ",
                                      "wait(grid) "};
  os.indent(2 * depth) << (part.doesDeferredBefore ? "do_deferred " : "")
                       << (part.opensCluster ? "open_cluster " : "")
                       << waits[static_cast<size_t>(part.wait)];
  if (part.segment)
    os << "segment(" << *part.segment << ") ";
  part.plan->skeleton.print(os, *part.plan, depth);
}

void codegen::printKernel(llvm::raw_ostream &os, const KernelPlan &kernel) {
  printNumber(os, "threads", kernel.properties.threads);
  printNumber(os, "blocks", kernel.launch.blocks);
  printNumber(os, "shared", kernel.properties.sharedBytes);
  printNumber(os, "block_memory", kernel.properties.blockBytes);
  printNumber(os, "workspace", kernel.launch.workspaceBytes);
  if (kernel.takesRegisters || kernel.takesFewRegisters)
    printNumber(os, "blocks_of_multiprocessor", kernel.takesRegisters ? 1 : 2);
  printNumber(os, "tensor_maps",
              static_cast<int64_t>(kernel.launch.tensorMaps.size()));
  printWord(os, "clusters", kernel.properties.clusters);
  printWord(os, "blocks_wait", kernel.properties.waits);
  printWord(os, "ranks_wait", kernel.meetsRanks && !kernel.isByMessages());
  if (kernel.dependsOnTransport())
    os << " transport(" << (kernel.isByMessages() ? "messages" : "peers")
       << ')';
  if (kernel.launch.product)
    os << (kernel.launch.product->isAll ? " library(all)" : " library(first)");
  os << '\n';
  for (const PartPlan &part : kernel.parts)
    printPart(os, part, 2);
  if (kernel.doesDeferredAfter)
    os << "    do_deferred\n";
}

std::string codegen::rangesOf(llvm::ArrayRef<size_t> numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
      ++end;
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    if (end > i + 1)
      text += "-" + std::to_string(numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string codegen::printKernels(const KernelPlans &plans) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [l, cut] : llvm::enumerate(plans.segments)) {
    os << llvm::formatv("launch {0} \"{1}\"", l, plans.kernels.front()[l].name);
    if (cut.segments().count > 1)
      os << llvm::formatv(" segments({0})", cut.segments().count);
    os << '\n';
    // Groups of ranks with equal kernels, in the order of each group's first
    // rank; those of messages after the others.
    std::vector<std::pair<std::string, std::vector<size_t>>> alike;
    auto add = [&](size_t rank, const KernelPlan &kernel) {
      std::string own;
      llvm::raw_string_ostream ownOs(own);
      printKernel(ownOs, kernel);
      if (kernel.preferred)
        printKernel(ownOs << "  preferred", *kernel.preferred);
      auto found = llvm::find_if(
          alike, [&](const auto &other) { return other.first == own; });
      if (found == alike.end())
        alike.push_back({own, {rank}});
      else
        found->second.push_back(rank);
    };
    for (auto [rank, kernels] : llvm::enumerate(plans.kernels))
      add(rank, kernels[l]);
    for (auto [rank, kernels] : llvm::enumerate(plans.messageKernels))
      if (kernels[l])
        add(rank, *kernels[l]);
    for (const auto &[own, ranks] : alike)
      os << "  kernel ranks(" << rangesOf(ranks) << ')' << own;
  }
  return text;
}
