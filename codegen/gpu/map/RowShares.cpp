//===- RowShares.cpp - How the threads of a team share a row --------------===//

#include "codegen/gpu/map/RowShares.h"

#include "runtime/plan/GpuAbi.h"
#include "runtime/tensor/Strided.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using runtime::Access;
using runtime::Loop;
using runtime::LoopOperand;

/// The most bytes of scratch arrays that a thread keeps at a time, in a cluster
/// and otherwise. More would be spilled, or leave few threads on a
/// multiprocessor. In a cluster, the checks for turns that a block may not have
/// need registers too.
constexpr int64_t mostOwnOfCluster = 64, mostOwn = 128;

bool codegen::isRowMajor(const Loop &loop, const LoopOperand &operand,
                         size_t end) {
  return runtime::isRowMajor(
      std::span(loop.sizes).subspan(1, end - 1),
      std::span(operand.view.strides).subspan(1, end - 1));
}

/// Whether two operands may refer to the same memory.
static bool overlap(const PartPlaces &places, const LoopOperand &one,
                    const LoopOperand &other) {
  bool isScratch = one.access == Access::Scratch;
  if (isScratch != (other.access == Access::Scratch))
    return false;
  if (isScratch)
    return one.view.buffer == other.view.buffer;
  return places.overlap(one.view, other.view);
}

RowShares::RowShares(const PartPlaces &places, const runtime::RowsPart &rows,
                     Team team, std::vector<LoopPlan> &loops, Scratch &scratch)
    : places(places), rows(rows), team(team), loops(loops), scratch(scratch) {
  for (const Loop &loop : rows.loops)
    for (const LoopOperand &output : loop.outputs)
      if (output.access == Access::Scratch)
        arrays.insert(output.view.buffer);
  every.assign(loops.size(), false);
  widenLoops();
  for (size_t i = 0; i < loops.size(); ++i)
    every[i] = mayBeOfEvery(i);
  placeOwn();
  findWaits();
}

RowShares::Takers RowShares::takersOf(size_t i, const LoopOperand &operand,
                                      bool writes) const {
  const Loop &loop = rows.loops[i];
  const LoopPlan &writer = loops[i];
  size_t dims = loop.sizes.size(),
         keptDims = dims - static_cast<size_t>(loop.reducedDims);
  bool isReduced = loop.reducedDims > 0;
  if (writer.kept.empty() && (writes || !isReduced))
    return {every[i] ? Takers::Every : Takers::First};
  if (sumsParts(i) && !writes)
    return {};
  if (!isRowMajor(loop, operand, sumsParts(i) ? keptDims : dims))
    return {};
  if (sumsParts(i))
    return {Takers::Shared, product(writer.kept), 1};
  return {Takers::Shared, product(isReduced ? writer.reduced : writer.kept),
          writer.width};
}

std::vector<RowShares::Use> RowShares::usesOf(size_t i) const {
  std::vector<Use> uses;
  for (const auto *list : {&rows.loops[i].inputs, &rows.loops[i].outputs})
    for (const LoopOperand &operand : *list) {
      bool writes = list == &rows.loops[i].outputs;
      if (operand.access != Access::Index)
        uses.push_back({&operand, writes, takersOf(i, operand, writes)});
    }
  return uses;
}

/// Gives loops that pass each other arrays the same width.
void RowShares::widenLoops() {
  for (bool changes = true; changes;) {
    changes = false;
    for (int array : arrays) {
      // Loops that use the array, by their number of elements.
      std::map<int64_t, std::vector<LoopPlan *>> together;
      for (size_t i = 0; i < loops.size(); ++i)
        for (const Use &use : usesOf(i))
          if (use.operand->access == Access::Scratch &&
              use.operand->view.buffer == array &&
              use.by.kind == Takers::Shared && !sumsParts(i))
            together[use.by.count].push_back(&loops[i]);
      for (const auto &[count, sharing] : together) {
        int width = 1;
        for (const LoopPlan *loop : sharing)
          width = std::max(width, loop->width);
        bool all = llvm::all_of(sharing, [&](const LoopPlan *loop) {
          return loop->width == width || loop->takes(width);
        });
        for (LoopPlan *loop : sharing) {
          changes |= all && loop->width != width;
          loop->width = all ? width : loop->width;
        }
      }
    }
  }
}

bool RowShares::sumsParts(size_t loop) const {
  return rows.loops[loop].reducedDims > 0 && !loops[loop].kept.empty();
}
bool RowShares::sumsRow(size_t loop) const {
  return rows.loops[loop].reducedDims > 0 && loops[loop].kept.empty();
}

/// Whether an input is loaded from memory that no loop writes.
bool RowShares::isConstant(const LoopOperand &input) const {
  return input.access == Access::Load &&
         llvm::none_of(rows.loops, [&](const Loop &other) {
           return llvm::any_of(other.outputs, [&](const LoopOperand &output) {
             return overlap(places, input, output);
           });
         });
}

/// Whether threads keep a scratch array in memory of their own.
bool RowShares::isOwn(const LoopOperand &operand) const {
  auto place = scratch.places.find(operand.view.buffer);
  return operand.access == Access::Scratch && place != scratch.places.end() &&
         place->second.isOwn;
}

/// Whether a loop's results are scalars that only the loops use, and its inputs
/// are not changed by any loop.
bool RowShares::mayBeOfEvery(size_t i) const {
  const Loop &loop = rows.loops[i];
  if (!loops[i].kept.empty())
    return false;
  bool isScratch = llvm::all_of(loop.outputs, [](const LoopOperand &output) {
    return output.access == Access::Scratch;
  });
  if (!isScratch || loop.reducedDims > 0)
    return isScratch;
  return llvm::all_of(loop.inputs, [&](const LoopOperand &input) {
    return input.access == Access::Scratch || input.access == Access::Index ||
           isConstant(input);
  });
}

bool RowShares::fetchesConstants(size_t i) const {
  return llvm::all_of(rows.loops[i].inputs, [&](const LoopOperand &input) {
    return input.access == Access::Index || isOwn(input) || isConstant(input);
  });
}

/// Whether an array has a single element for each row, which every thread
/// computes.
bool RowShares::isScalar(int array) const {
  for (size_t i = 0; i < loops.size(); ++i)
    for (const Use &use : usesOf(i)) {
      const LoopOperand &operand = *use.operand;
      if (operand.access != Access::Scratch || operand.view.buffer != array)
        continue;
      if (use.writes && use.by.kind != Takers::Every)
        return false;
      for (size_t dim = 1; dim < rows.loops[i].sizes.size(); ++dim)
        if (rows.loops[i].sizes[dim] != 1 && operand.view.strides[dim] != 0)
          return false;
      if (operand.view.offset != 0)
        return false;
    }
  return true;
}

/// If each thread uses only its own share of an array: the bytes of the share;
/// else -1.
int64_t RowShares::partOf(int array) const {
  std::optional<Takers> all;
  int64_t size = 0;
  for (size_t i = 0; i < loops.size(); ++i)
    for (const Use &use : usesOf(i)) {
      const LoopOperand &operand = *use.operand;
      if (operand.access != Access::Scratch || operand.view.buffer != array)
        continue;
      if (use.by.kind != Takers::Shared || sumsParts(i) ||
          operand.view.offset != 0 || (all && *all != use.by))
        return -1;
      all = use.by;
      size = runtime::sizeInBytes(operand.type);
    }
  return llvm::divideCeilSigned(all->count, all->width * team.lanes) *
         all->width * size;
}

/// The first and the last loop that use an array.
std::pair<size_t, size_t> RowShares::usedIn(int array) const {
  size_t first = loops.size(), last = 0;
  for (size_t i = 0; i < loops.size(); ++i)
    for (const auto *list : {&rows.loops[i].inputs, &rows.loops[i].outputs})
      for (const LoopOperand &operand : *list)
        if (operand.access == Access::Scratch && operand.view.buffer == array) {
          first = std::min(first, i);
          last = i;
        }
  return {first, last};
}

void RowShares::placeOwn() {
  // Every thread computes a loop's scalars only if all results of the loop are
  // scalars.
  std::set<int> scalars;
  for (bool changes = true; changes;) {
    changes = false;
    scalars.clear();
    for (int array : arrays)
      if (isScalar(array))
        scalars.insert(array);
    for (size_t i = 0; i < loops.size(); ++i) {
      bool areScalars =
          llvm::all_of(rows.loops[i].outputs, [&](const LoopOperand &output) {
            return scalars.count(output.view.buffer) > 0;
          });
      changes |= every[i] && !areScalars;
      every[i] = every[i] && areScalars;
    }
  }
  // A value that a loop makes can take the registers of one that the loop uses
  // for the last time, turn by turn.
  int64_t most = team.kind == Team::Cluster ? mostOwnOfCluster : mostOwn;
  std::vector<int64_t> kept(loops.size());
  for (int array : arrays) {
    bool isPart = scalars.count(array) == 0;
    int64_t bytes = isPart ? partOf(array) : 8;
    if (bytes < 0)
      continue;
    auto [first, last] = usedIn(array);
    auto after = llvm::MutableArrayRef(kept).slice(first, last - first);
    if (isPart && llvm::any_of(after, [&](int64_t other) {
          return other + bytes > most;
        }))
      continue;
    for (int64_t &other : after)
      other += isPart ? bytes : 0;
    ScratchPlace &place = scratch.places[array];
    place.isOwn = true;
    place.isPart = isPart;
    place.offset = scratch.ownBytes;
    scratch.ownBytes += llvm::alignTo(bytes, 16);
  }
}

/// Whether a thread may begin `after` only when the other threads have done
/// `before`.
bool RowShares::mustWait(const std::vector<Use> &before,
                         const std::vector<Use> &after) const {
  auto isPlain = [](const LoopOperand &operand) {
    return operand.access != Access::LoadReduced &&
           operand.access != Access::StoreAll;
  };
  for (const Use &x : before)
    for (const Use &y : after) {
      const LoopOperand &one = *x.operand, &other = *y.operand;
      if ((!x.writes && !y.writes) || !overlap(places, one, other) ||
          isOwn(one))
        continue;
      bool isSameThread =
          x.by == y.by &&
          (x.by.kind == Takers::First ||
           (x.by.kind == Takers::Shared && isPlain(one) && isPlain(other) &&
            one.view.buffer == other.view.buffer &&
            one.view.offset == other.view.offset &&
            one.view.strides.front() == other.view.strides.front()));
      if (!isSameThread)
        return true;
    }
  return false;
}

void RowShares::findWaits() {
  waits.assign(loops.size() + 1, false);
  if (team.lanes == 1)
    return;
  // The accesses since the threads last waited for each other.
  std::vector<Use> before;
  auto isWrite = [](const Use &use) { return use.writes; };
  // The threads of a block wait for each other within a sum, before they store
  // results.
  auto waitsWithin = [&](size_t i) {
    return (team.kind == Team::Block || team.kind == Team::Cluster) &&
           sumsRow(i);
  };
  for (size_t i = 0; i < loops.size(); ++i) {
    std::vector<Use> uses = usesOf(i), results;
    if (waitsWithin(i))
      llvm::copy_if(uses, std::back_inserter(results), isWrite);
    llvm::erase_if(
        uses, [&](const Use &use) { return waitsWithin(i) && isWrite(use); });
    waits[i] = mustWait(before, uses);
    if (waits[i])
      before.clear();
    llvm::append_range(before, uses);
    if (waitsWithin(i))
      before = results;
  }
  // The next row uses the same scratch; all other memory differs.
  llvm::erase_if(before, [](const Use &use) {
    return use.operand->access != Access::Scratch;
  });
  for (size_t i = 0; i < loops.size() && rows.rows > 1 && !waits[i]; ++i) {
    std::vector<Use> uses = usesOf(i);
    if (waitsWithin(i))
      llvm::erase_if(uses, isWrite);
    waits.back() = waits.back() || mustWait(before, uses);
    if (waitsWithin(i))
      break;
  }
}

bool RowShares::suitClusters() const {
  if (llvm::is_contained(waits, true) || llvm::any_of(arrays, [&](int array) {
        return scratch.places.count(array) == 0;
      }))
    return false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const LoopDims &dims = sumsRow(i) ? loops[i].reduced : loops[i].kept;
    if (sumsParts(i) ||
        (!dims.empty() && product(dims) / loops[i].width < CCN_CLUSTER_THREADS))
      return false;
  }
  return true;
}
