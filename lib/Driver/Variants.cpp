//===- Variants.cpp - Other ways to run scheduled programs ----------------===//
//
// The best protocol depends only on the size. So limits on sizes decide it for
// all collectives of a program together, and only few limits make a difference.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Variants.h"

#include "lib/Transforms/Algorithms.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <set>

using namespace mlir;
using namespace ccn;

namespace {

// Limits of the search, in bytes, for any machine.

/// Above these sizes, sending everything to all ranks is never faster.
constexpr int64_t maxByLl = 4 << 20, maxByLamport = 256 << 20;

/// Below this size, the additional meeting of a push costs more than it saves.
constexpr int64_t minByPush = 4 << 20;

/// Up to this size, packets with flags are always best.
constexpr int64_t alwaysByLl = 1 << 10;

/// Whether the size of an all_reduce or reduce_scatter decides how it runs, and
/// it belongs to `program` (any program if that is empty).
bool isOpen(CommunicateOp op, StringRef program) {
  if (!program.empty() &&
      op->getParentOfType<ProgramOp>().getSymName() != program)
    return false;
  return (op.getCollective() == Collective::all_reduce ||
          op.getCollective() == Collective::reduce_scatter) &&
         !choiceFor(op, kAlgorithmAttr) && !choiceFor(op, kProtocolAttr);
}

/// The sizes of the collectives that are open: of all all_reduces, of those in
/// kernels, and of collectives that may push.
struct Sizes {
  std::set<int64_t> all, inKernels, pushed;
};

Sizes sizesOf(ModuleOp localized, StringRef program) {
  Sizes sizes;
  MeshOp mesh = getMesh(localized);
  localized.walk([&](CommunicateOp op) {
    if (!isOpen(op, program))
      return;
    int64_t bytes = largestBytes(op.getSourceType(), mesh);
    if (bytes >= minByPush && mayPush(op))
      sizes.pushed.insert(bytes);
    if (op.getCollective() != Collective::all_reduce)
      return;
    sizes.all.insert(bytes);
    if (isa<FusedOp>(op->getParentOp()))
      sizes.inKernels.insert(bytes);
  });
  return sizes;
}

/// How each collective that is open in `localized` runs in `selected`.
std::vector<std::string> describe(ModuleOp localized, ModuleOp selected,
                                  StringRef program) {
  SmallVector<CommunicateOp> before, after;
  localized.walk([&](CommunicateOp op) { before.push_back(op); });
  selected.walk([&](CommunicateOp op) { after.push_back(op); });
  std::vector<std::string> texts;
  for (auto [open, chosen] : llvm::zip_equal(before, after)) {
    if (!isOpen(open, program))
      continue;
    auto name = chosen->getAttrOfType<StringAttr>(kLetAttr);
    auto protocol = chosen->getAttrOfType<StringAttr>(kProtocolAttr);
    // Only all_reduces and pushes are worth mentioning.
    if (chosen.getCollective() != Collective::all_reduce &&
        protocol.getValue() != stringifyProtocol(Protocol::push))
      continue;
    std::string &text = texts.emplace_back(
        (name ? name.getValue() : stringifyCollective(chosen.getCollective()))
            .str());
    if (auto algorithm = chosen->getAttrOfType<StringAttr>(kAlgorithmAttr))
      text += " " + algorithm.getValue().str();
    else
      text += " by a schedule";
    if (protocol && protocol.getValue() != stringifyProtocol(Protocol::simple))
      text += " " + protocol.getValue().str();
  }
  return texts;
}

/// A short text for people, such as "avg one_shot ll, total two_shot".
std::string shorten(const std::vector<std::string> &texts) {
  constexpr size_t shown = 6;
  std::string text = llvm::join(
      ArrayRef(texts).take_front(std::min(texts.size(), shown)), ", ");
  if (texts.size() > shown)
    text += ", and " + std::to_string(texts.size() - shown) + " more";
  return text;
}

/// `least`, and the larger ones of `sizes` up to `most`.
SmallVector<int64_t> limitsUpTo(int64_t most, const std::set<int64_t> &sizes,
                                int64_t least = 0) {
  SmallVector<int64_t> limits = {least};
  for (int64_t size : sizes)
    if (size > least && size <= most)
      limits.push_back(size);
  return limits;
}

/// The first and the last of a sorted list, then the one in the middle, then
/// those in the middle of the halves, and so on.
SmallVector<int64_t> fromExtremes(const SmallVector<int64_t> &sorted) {
  SmallVector<int64_t> limits = {sorted.front()};
  if (sorted.size() > 1)
    limits.push_back(sorted.back());
  std::queue<std::pair<size_t, size_t>> gaps;
  gaps.emplace(0, sorted.size() - 1);
  for (; !gaps.empty(); gaps.pop()) {
    auto [first, last] = gaps.front();
    if (last - first < 2)
      continue;
    size_t middle = (first + last) / 2;
    limits.push_back(sorted[middle]);
    gaps.emplace(first, middle);
    gaps.emplace(middle, last);
  }
  return limits;
}

} // namespace

std::vector<PlanVariant> ccn::planVariants(ModuleOp scheduled,
                                           StringRef program,
                                           const CompileOptions &options,
                                           size_t most) {
  std::vector<PlanVariant> variants;
  // Uses the module of rank 0, since all ranks choose alike.
  CompileOptions ofFirst = options;
  ofFirst.rank = 0;
  ofFirst.explain = false;
  OwningOpRef<ModuleOp> localized =
      runPhases(Phase::Localize, scheduled, ofFirst);
  if (!localized)
    return {};
  std::set<std::vector<std::string>> seen;
  // Adds the variant for some limits if it differs from earlier ones; returns
  // false on failure.
  auto add = [&](const SelectLimits &limits) {
    ofFirst.limits = limits;
    OwningOpRef<ModuleOp> selected =
        runPhases(Phase::Select, *localized, ofFirst);
    if (!selected)
      return false;
    auto [choices, isNew] =
        seen.insert(describe(*localized, *selected, program));
    if (!isNew)
      return true;
    CompileOptions chosen = options;
    chosen.limits = limits;
    OwningOpRef<ModuleOp> plans = planScheduled(scheduled, chosen);
    if (!plans)
      return false;
    variants.push_back({shorten(*choices), std::move(plans)});
    return true;
  };
  if (!add({}))
    return {};
  // Other variants may fail, as the default is there.
  Sizes sizes = sizesOf(*localized, program);
  std::set<int64_t> pushed = sizes.pushed;
  pushed.insert(std::numeric_limits<int64_t>::max());
  std::array<SmallVector<int64_t>, 4> limits = {
      fromExtremes(limitsUpTo(maxByLl, sizes.all, alwaysByLl)),
      fromExtremes(limitsUpTo(maxByLamport, sizes.all)),
      fromExtremes(limitsUpTo(maxByLamport, sizes.inKernels)),
      // These start with the largest limit, with which nothing is pushed.
      fromExtremes(SmallVector<int64_t>(pushed.rbegin(), pushed.rend()))};
  // All four limits move from the extremes inwards together. So even among few
  // variants there are some that run everything in the same way.
  std::array<size_t, 4> at{};
  auto tryAll = [&](auto &self, size_t kind, size_t steps) -> void {
    if (kind == limits.size()) {
      int64_t ll = limits[0][at[0]], lamport = limits[1][at[1]];
      // A limit of lamport that is not above the limit of ll is the same as
      // none.
      if (steps == 0 && (lamport == 0 || lamport > ll))
        (void)add({ll, lamport, limits[2][at[2]], limits[3][at[3]]});
      return;
    }
    size_t last = std::min(steps, limits[kind].size() - 1);
    for (at[kind] = 0; at[kind] <= last && variants.size() < most; ++at[kind])
      self(self, kind + 1, steps - at[kind]);
  };
  size_t mostSteps = 0;
  for (const SmallVector<int64_t> &ofKind : limits)
    mostSteps += ofKind.size() - 1;
  for (size_t steps = 0; steps <= mostSteps; ++steps)
    tryAll(tryAll, 0, steps);
  return variants;
}
