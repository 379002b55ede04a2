//===- LaunchPipelines.cpp - Phases of a kernel in chunks -----------------===//
//
// Compares the accesses of all parts of all phases on all ranks. If two parts
// access the same elements and one writes them, the elements must belong to the
// same unit in both. Then the same block accesses them in the same chunk, on
// every rank.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/LaunchPipelines.h"

#include "codegen/gpu/map/LaunchBarriers.h"
#include "codegen/gpu/map/RowTeams.h"
#include "runtime/plan/PartAccesses.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// Independent elements in a unit; vectors begin where units begin.
constexpr int64_t elementsOfUnit = 64;
/// The most elements of a vector.
constexpr int64_t widest = 8;

/// Bytes that a part accesses.
struct Region {
  AccessedBytes bytes;
  bool writes;
  /// The bytes from row to row or from element to element; 0 if they are not in
  /// order.
  int64_t step;
};

struct PhasePart {
  std::vector<Region> regions;
  /// The number of independent elements, or of rows.
  int64_t count = 0;
  bool isByRows = false;
  /// The elements of a row.
  int64_t row = 0;
  /// The element size of what is stored in other ranks' memory; 0 if nothing
  /// is.
  int64_t sent = 0;
};

class Finder {
public:
  Finder(const Plan &plan, size_t launch, const Machine::Gpu &machine);
  std::vector<LaunchPipeline> find() const;

private:
  void addRank(int rank, const Launch &launch);
  bool addPart(int rank, const Part &part, PhasePart &added) const;
  bool isPossible(size_t first, size_t phases) const;
  std::optional<LaunchPipeline>
  pipelineOf(size_t first, size_t phases,
             const std::optional<LaunchPipeline> &shorter) const;
  bool isInStep(const LaunchPipeline &pipeline, size_t checked) const;

  struct Phase {
    std::vector<PhasePart> parts;
    bool isPossible = true;
    /// The group of the barrier after the phase; -1 if there is none.
    int group = -1;
  };

  const Plan &plan;
  const Machine::Gpu &machine;
  /// By rank.
  std::vector<std::vector<Phase>> ranks;
};

} // namespace

Finder::Finder(const Plan &plan, size_t launch, const Machine::Gpu &machine)
    : plan(plan), machine(machine) {
  for (auto [rank, own] : llvm::enumerate(plan.ranks))
    addRank(static_cast<int>(rank), own.launches[launch]);
}

void Finder::addRank(int rank, const Launch &launch) {
  std::vector<Phase> &phases = ranks.emplace_back(1);
  for (const Part &part : launch.parts) {
    if (const auto *barrier = std::get_if<BarrierPart>(&part)) {
      phases.back().group = barrier->group;
      phases.emplace_back();
      continue;
    }
    PhasePart added;
    if (addPart(rank, part, added))
      phases.back().parts.push_back(std::move(added));
    else
      phases.back().isPossible = false;
  }
}

/// Sets what a part accesses; false if it cannot be divided into units.
bool Finder::addPart(int rank, const Part &part, PhasePart &added) const {
  const std::vector<int64_t> *sizes = nullptr;
  if (const auto *rows = std::get_if<RowsPart>(&part)) {
    added.isByRows = !isElementwise(*rows);
    if (added.isByRows && rowsOfBlock(*rows, machine) == 0)
      return false;
    for (const Loop &loop : rows->loops)
      added.row =
          std::max(added.row, product(llvm::ArrayRef(loop.sizes).drop_front()));
    if (added.isByRows)
      added.count = rows->rows;
    else
      sizes = &rows->loops.front().sizes;
  } else if (const auto *copy = std::get_if<CopyPart>(&part)) {
    sizes = &copy->sizes;
  } else {
    return false;
  }
  if (sizes)
    added.count = product(*sizes);
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    if (access.extent == 0)
      return;
    const View &view = access.view;
    Region region{bytesOf(plan, rank, access), access.writes, 0};
    int64_t size = region.bytes.elementSize;
    if (sizes) {
      // The bytes from element to element; a unit has several.
      if (isRowMajor(*sizes, view.strides))
        region.step = size;
    } else {
      int64_t row = view.strides.front();
      if (access.extent - (added.count - 1) * row <= row)
        region.step = row * size;
    }
    if (access.writes && region.bytes.owner != rank)
      added.sent = std::max(added.sent, size);
    added.regions.push_back(region);
  });
  return true;
}

/// Whether these phases exist, can be divided, and are separated by barriers of
/// one group.
bool Finder::isPossible(size_t first, size_t phases) const {
  bool hasParts = llvm::any_of(ranks, [&](const std::vector<Phase> &own) {
    return first + phases <= own.size() &&
           !own[first + phases - 1].parts.empty();
  });
  return hasParts && llvm::all_of(ranks, [&](const std::vector<Phase> &own) {
           if (first + phases > own.size())
             return false;
           for (size_t i = first; i < first + phases; ++i)
             if (!own[i].isPossible ||
                 (i + 1 < first + phases && own[i].group != own[first].group))
               return false;
           return true;
         });
}

/// Whether only blocks of the same number access the same elements. This is
/// known for the first `checked` phases.
bool Finder::isInStep(const LaunchPipeline &pipeline, size_t checked) const {
  auto stepOf = [&](const PhasePart &part, const Region &region) {
    return region.step * (part.isByRows ? 1 : pipeline.unit);
  };
  auto fits = [&](const PhasePart &a, const PhasePart &b) {
    for (const Region &x : a.regions)
      for (const Region &y : b.regions) {
        if ((!x.writes && !y.writes) || !x.bytes.meets(y.bytes))
          continue;
        int64_t step = stepOf(a, x);
        if (step == 0 || step != stepOf(b, y) ||
            (x.bytes.begin - y.bytes.begin) % (step * pipeline.units) != 0)
          return false;
      }
    return true;
  };
  size_t end = pipeline.firstPhase + pipeline.phases;
  for (const auto &[rank, own] : llvm::enumerate(ranks))
    for (const auto &[otherRank, other] : llvm::enumerate(ranks))
      for (size_t i = pipeline.firstPhase; i < end; ++i)
        // Different ranks execute the same phase in no order, so compare phase
        // i of one rank with later phases of others, and with parts of its own.
        for (size_t j = std::max(rank == otherRank ? i : i + 1,
                                 pipeline.firstPhase + checked);
             j < end; ++j)
          for (const auto &[x, a] : llvm::enumerate(own[i].parts))
            for (const auto &[y, b] : llvm::enumerate(other[j].parts))
              if ((i != j || x < y) && !fits(a, b))
                return false;
  return true;
}

/// The pipeline of `phases` phases from `first` on, if there is one. `shorter`
/// is the pipeline of one phase less, if that is known.
std::optional<LaunchPipeline>
Finder::pipelineOf(size_t first, size_t phases,
                   const std::optional<LaunchPipeline> &shorter) const {
  if (!isPossible(first, phases))
    return std::nullopt;
  LaunchPipeline pipeline{first, phases};
  auto forEachPart = [&](size_t begin, size_t end, auto visit) {
    for (const std::vector<Phase> &own : ranks)
      for (size_t i = begin; i < end; ++i)
        for (const PhasePart &part : own[i].parts)
          visit(part);
  };
  forEachPart(first, first + phases, [&](const PhasePart &part) {
    if (part.isByRows)
      pipeline.unit = std::max(pipeline.unit, part.row);
  });
  // With fewer rows of each rank than multiprocessors not all would send.
  int64_t fewest = pipeline.unit > 0 ? machine.multiprocessors : 1;
  if (pipeline.unit == 0)
    pipeline.unit = elementsOfUnit;
  // A vector must not belong to two units.
  if (pipeline.unit % widest != 0)
    return std::nullopt;
  int64_t sent = 0;
  forEachPart(first, first + 1, [&](const PhasePart &part) {
    sent = std::max(sent, part.sent);
    pipeline.units = std::max(
        pipeline.units,
        part.isByRows ? part.count
                      : llvm::divideCeilSigned(part.count, pipeline.unit));
  });
  size_t checked =
      shorter && shorter->unit == pipeline.unit ? shorter->phases : 0;
  if (sent == 0 || pipeline.units < fewest || !isInStep(pipeline, checked))
    return std::nullopt;
  // What a block sends a rank in a step takes longer than it takes to tell it
  // so. Then the last phase of the last chunk, with which nothing runs at once,
  // is as short as it can be.
  pipeline.leastUnits =
      std::max<int64_t>(machine.pipelineBytes / (pipeline.unit * sent), 1);
  return pipeline;
}

std::vector<LaunchPipeline> Finder::find() const {
  std::vector<LaunchPipeline> found;
  size_t most = ranks.front().size();
  for (size_t first = 0; first < most;) {
    std::optional<LaunchPipeline> longest;
    for (size_t phases = 2; auto longer = pipelineOf(first, phases, longest);
         ++phases)
      longest = longer;
    if (longest)
      found.push_back(*longest);
    first += longest ? longest->phases : 1;
  }
  return found;
}

std::vector<LaunchPipeline>
codegen::findPipelines(const Plan &plan, size_t launch,
                       const Machine::Gpu &machine) {
  return Finder(plan, launch, machine).find();
}
