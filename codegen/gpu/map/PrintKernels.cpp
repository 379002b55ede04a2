//===- PrintKernels.cpp - Kernel plans as text ----------------------------===//
//
// For readers and tests: a line for each kernel, part and loop, with what is
// not as usual in words of the form name(value).
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/MapKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;
using llvm::StringRef;

namespace {

class Printer {
public:
  explicit Printer(llvm::raw_ostream &os) : os(os) {}

  /// What comes after the ranks.
  void print(const KernelPlan &kernel);

private:
  /// " name(value)", if the value is not 0.
  void number(StringRef name, int64_t value) {
    if (value != 0)
      os << ' ' << name << '(' << value << ')';
  }
  void word(StringRef name, bool holds) {
    if (holds)
      os << ' ' << name;
  }
  llvm::raw_ostream &line(size_t depth, StringRef what) {
    return os.indent(2 * static_cast<unsigned>(depth)) << what;
  }
  void print(const PartPlan &part, size_t depth);
  void print(const PipelinePlan &pipeline, size_t depth);
  void printContent(const PartPlan &part, size_t depth);
  void print(const RowsPlan &rows, size_t depth);
  void print(const ColumnsPlan &columns, size_t depth);
  void print(const ProductPlan &product, size_t depth);
  void print(const ExchangePlan &exchange);
  void print(Team team);
  void print(const Prefetch &prefetch, size_t depth);
  void printLoop(const LoopPlan &loop, const Loop &info, size_t depth);

  llvm::raw_ostream &os;
};

void Printer::print(Team team) {
  switch (team.kind) {
  case Team::Lanes:
    return number("lanes", team.lanes);
  case Team::Block:
    return number("block", team.lanes);
  case Team::Cluster:
    return word("cluster", true);
  case Team::Grid:
    return word("grid", true);
  }
}

void Printer::printLoop(const LoopPlan &loop, const Loop &info, size_t depth) {
  line(depth, info.function.empty() ? "copy" : "loop " + info.function);
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
  number("width", loop.width);
  if (loop.tile)
    os << llvm::formatv(" tile({0}x{1}{2})", loop.tile->rows,
                        loop.tile->columns,
                        loop.tile->hasVectors ? "" : ", no vectors");
  number("fetched", loop.fetchedBytes());
  word("combines", loop.combinesFetched());
}

void Printer::print(const RowsPlan &plan, size_t depth) {
  static const char *const kinds[] = {"elements", "teams", "grid"};
  os << kinds[plan.kind];
  if (plan.kind != RowsPlan::Elements)
    number("rows", plan.rows->rows);
  if (plan.kind == RowsPlan::Teams)
    print(plan.team);
  static const char *const places[] = {"", "workspace", "shared", "block"};
  if (plan.scratchIn != RowsPlan::None)
    os << llvm::formatv(" scratch({0} in {1})", plan.scratch.bytes,
                        places[plan.scratchIn]);
  number("own", plan.scratch.ownBytes);
  number("share", plan.share.tile);
  number("units", plan.share.units);
  word("waits_after", plan.waitsAfter);
  word("exchanges", plan.exchange.has_value());
  os << '\n';
  for (auto [of, info] : llvm::zip_equal(plan.loops, plan.rows->loops)) {
    printLoop(of.loop, info, depth + 1);
    if (of.turns) {
      number("turns", of.turns->turns);
      number("at_once",
             of.turns->areNumbered ? of.turns->atOnce : of.turns->ofStep);
    }
    word("of_every_thread", of.isOfEvery);
    word("waits_before", of.waitsBefore);
    word("fetched_before", of.isFetchedBefore);
    word("many_sums", of.shared == RowLoopPlan::ManySums);
    word("few_sums", of.shared == RowLoopPlan::FewSums);
    word("left_for_barrier", of.isLeft);
    os << '\n';
  }
}

void Printer::print(const ColumnsPlan &plan, size_t depth) {
  os << "columns";
  word("merges_after", plan.mergesAfter);
  os << '\n';
  for (auto [of, info] : llvm::zip_equal(plan.loops, plan.rows->loops)) {
    printLoop(of.loop, info, depth + 1);
    if (of.isReduced) {
      number("lanes", of.lanes);
      number("tiles", of.tiles);
      number("turns", of.turns);
      if (of.isShared())
        number("shares", of.mostShares);
    }
    word("waits_before", of.waitsBefore);
    word("merges_before", of.mergesBefore);
    os << '\n';
  }
}

void Printer::print(const ProductPlan &plan, size_t depth) {
  if (const auto *p = std::get_if<MatmulPart>(&plan.part)) {
    os << "matmul(";
    for (int64_t size : p->batch)
      os << size << 'x';
    os << llvm::formatv("{0}x{1}x{2})", p->m, p->n, p->k);
  } else if (std::holds_alternative<Conv2dPart>(plan.part)) {
    os << "conv2d";
  } else if (const auto *p = std::get_if<GatherRowsPart>(&plan.part)) {
    os << llvm::formatv("gather_rows({0}x{1})", p->count, p->rowSize);
  } else if (const auto *p = std::get_if<ScatterRowsPart>(&plan.part)) {
    os << llvm::formatv("scatter_rows({0}x{1})", p->count, p->rowSize);
  }
  os << '\n';
  for (const auto &copy : plan.before)
    print(*copy, (line(depth + 1, "before "), depth + 1));
  if (plan.table)
    print(*plan.table, (line(depth + 1, "table "), depth + 1));
  for (const auto &copy : plan.after)
    print(*copy, (line(depth + 1, "after "), depth + 1));
}

void Printer::print(const ExchangePlan &plan) {
  static const char *const names[] = {"ll", "lamport", "schedule"};
  os << "exchange " << names[static_cast<size_t>(plan.part->exchange)];
  if (plan.part->exchange != Exchange::Schedule) {
    number("packets", plan.packets);
    number("of_block", plan.ofBlock);
    number("batch", plan.batch);
  }
  word("kept", plan.kept.has_value());
  os << '\n';
}

void Printer::print(const Prefetch &prefetch, size_t depth) {
  line(depth, "prefetch");
  print(prefetch.team);
  number("rows", prefetch.rows);
  number("bytes", prefetch.bytes);
  os << '\n';
}

void Printer::printContent(const PartPlan &part, size_t depth) {
  if (const auto *rows = std::get_if<std::unique_ptr<RowsPlan>>(&part.plan))
    return print(**rows, depth);
  if (const auto *columns = std::get_if<ColumnsPlan>(&part.plan))
    return print(*columns, depth);
  if (const auto *product = std::get_if<ProductPlan>(&part.plan))
    return print(*product, depth);
  if (const auto *exchange = std::get_if<ExchangePlan>(&part.plan))
    return print(*exchange);
  if (isBarrier(*part.part))
    os << "barrier " << (part.isMeeting ? "of all blocks" : "at the edge");
  else if (std::holds_alternative<SignalPart>(*part.part))
    os << "signal";
  else if (std::holds_alternative<AwaitPart>(*part.part))
    os << "await";
  else
    os << "exchange of the rows that follow";
  os << '\n';
}

void Printer::print(const PartPlan &part, size_t depth) {
  for (const Prefetch &prefetch : part.prefetches)
    print(prefetch, depth);
  static const char *const waits[] = {"", "wait(block) ", "wait(cluster) ",
                                      "wait(grid) "};
  line(depth, part.finishesBefore ? "finish " : "");
  os << (part.opensCluster ? "open_cluster " : "")
     << (part.syncsBefore ? "wait(block) " : "")
     << waits[static_cast<size_t>(part.wait)];
  if (part.segment)
    os << "segment(" << *part.segment << ") ";
  os << (part.mayBeDone ? "unless_done " : "");
  printContent(part, depth);
}

void Printer::print(const PipelinePlan &plan, size_t depth) {
  line(depth, plan.finishesBefore ? "finish pipeline" : "pipeline");
  number("units", plan.pipeline.units);
  number("unit", plan.pipeline.unit);
  number("least", plan.pipeline.leastUnits);
  os << '\n';
  for (auto [i, phase] : llvm::enumerate(plan.phases)) {
    line(depth + 1, "phase ") << i << '\n';
    for (const PartPlan &part : phase)
      print(part, depth + 2);
  }
}

void Printer::print(const KernelPlan &kernel) {
  number("threads", kernel.properties.threads);
  number("blocks", kernel.launch.blocks);
  number("shared", kernel.properties.sharedBytes);
  number("block_memory", kernel.properties.blockBytes);
  number("workspace", kernel.launch.workspaceBytes);
  if (kernel.takesRegisters || kernel.takesFewRegisters)
    number("blocks_of_multiprocessor", kernel.takesRegisters ? 1 : 2);
  word("clusters", kernel.properties.clusters);
  word("blocks_wait", kernel.properties.waits);
  word("ranks_wait", kernel.usesEpoch);
  if (kernel.launch.product)
    os << (kernel.launch.product->isAll ? " library(all)" : " library(first)");
  os << '\n';
  for (const auto &any : kernel.parts) {
    if (const auto *pipeline = std::get_if<PipelinePlan>(&any))
      print(*pipeline, 2);
    else
      print(std::get<PartPlan>(any), 2);
  }
  if (kernel.finishesAfter)
    os << "    finish\n";
}

/// "0-3, 5"
std::string rangesOf(llvm::ArrayRef<size_t> numbers) {
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

} // namespace

std::string codegen::printKernels(const KernelPlans &plans) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [l, cut] : llvm::enumerate(plans.segments)) {
    os << llvm::formatv("launch {0} \"{1}\"", l, plans.kernels.front()[l].name);
    if (cut.segments().count > 1)
      os << llvm::formatv(" segments({0})", cut.segments().count);
    os << '\n';
    // Ranks whose kernels are alike, in the order of the first of each.
    std::vector<std::pair<std::string, std::vector<size_t>>> alike;
    for (auto [rank, kernels] : llvm::enumerate(plans.kernels)) {
      std::string own;
      llvm::raw_string_ostream ownOs(own);
      Printer(ownOs).print(kernels[l]);
      auto found = llvm::find_if(
          alike, [&](const auto &other) { return other.first == own; });
      if (found == alike.end())
        alike.push_back({own, {rank}});
      else
        found->second.push_back(rank);
    }
    for (const auto &[own, ranks] : alike)
      os << "  kernel ranks(" << rangesOf(ranks) << ')' << own;
  }
  return text;
}
