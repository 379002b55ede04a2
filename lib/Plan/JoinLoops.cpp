//===- JoinLoops.cpp - Loops over the same rows ---------------------------===//
//
// Loops that one row after the other could go through become one part, whose
// intermediate results stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Finish.h"

#include "llvm/ADT/SmallSet.h"

using namespace ccn;
using namespace ccn::plan;
using llvm::SmallVector;

namespace {

/// The last element of the first row; before the first one if there is none.
int64_t lastOfRow(const Strided &view) {
  int64_t last = view.offset;
  for (size_t dim = 1; dim < view.sizes.size(); ++dim)
    last += (view.sizes[dim] - 1) * view.strides[dim];
  return last;
}

/// The number of elements between the rows of a buffer as a loop sees it, if
/// every row stays within itself.
std::optional<int64_t> rowSizeOf(const Strided &view, int64_t count) {
  int64_t rows = view.sizes.front();
  if (rows == 0 || count % rows != 0)
    return std::nullopt;
  int64_t rowSize = count / rows;
  if ((rows > 1 && view.strides.front() != rowSize) ||
      lastOfRow(view) >= rowSize)
    return std::nullopt;
  return rowSize;
}

bool isEmpty(const LoopDraft &loop) {
  llvm::ArrayRef<int64_t> sizes = loop.sizes();
  return countOf(sizes.drop_back(loop.reduced)) == 0;
}

/// Joins dimensions of a loop, from `first` on, apart those that are reduced.
void collapseLoop(LoopDraft &loop, size_t first) {
  SmallVector<Strided> positions;
  SmallVector<Strided *> views;
  for (OperandDraft &operand : loop.inputs)
    views.push_back(&operand.view);
  for (OperandDraft &operand : loop.outputs)
    views.push_back(&operand.view);
  Sizes sizes(loop.sizes());
  for (Sizes &index : loop.indices)
    positions.push_back({-1, index.front(), sizes,
                         Sizes(llvm::ArrayRef<int64_t>(index).drop_front())});
  for (Strided &position : positions)
    views.push_back(&position);
  size_t dims = sizes.size();
  if (loop.reduced)
    loop.reduced = collapse(views, dims - loop.reduced, dims);
  dims = loop.sizes().size();
  if (first < dims - loop.reduced)
    collapse(views, first, dims - loop.reduced);
  for (auto [index, position] : llvm::zip_equal(loop.indices, positions)) {
    index = {position.offset};
    llvm::append_range(index, position.strides);
  }
}

class Joiner {
public:
  explicit Joiner(PlanDraft &draft) : draft(draft) {}

  void run();

private:
  int64_t countAt(const Strided &view) const {
    return draft.buffers[static_cast<size_t>(view.buffer)].count;
  }
  bool fits(const RowsDraft &rows, const LoopDraft &loop) const;
  void join(LaunchDraft &launch);
  void findScratch();
  void collapseRows(RowsDraft &rows) const;

  PlanDraft &draft;
};

/// Whether row i of one view meets no other row of another: rows are equally
/// far apart, and what both have of a row lies within one.
bool haveSameRows(const Strided &a, const Strided &b) {
  if (a.sizes.front() <= 1)
    return true;
  int64_t stride = a.strides.front();
  return stride == b.strides.front() &&
         std::max(lastOfRow(a), lastOfRow(b)) - std::min(a.offset, b.offset) <
             stride;
}

/// Whether what two loops share they share row by row.
bool Joiner::fits(const RowsDraft &rows, const LoopDraft &loop) const {
  auto accesses = [](const LoopDraft &l, auto visit) {
    for (const OperandDraft &input : l.inputs)
      visit(input, false);
    for (const OperandDraft &output : l.outputs)
      visit(output, true);
  };
  bool fit = true;
  for (const LoopDraft &other : rows.loops) {
    if (other.sizes().front() != loop.sizes().front())
      return false;
    accesses(other, [&](const OperandDraft &a, bool writesA) {
      accesses(loop, [&](const OperandDraft &b, bool writesB) {
        if (a.view.buffer != b.view.buffer || !(writesA || writesB))
          return;
        // What is stored in all memories is in the own one at once; what is
        // taken from all is not there yet, or may not be overwritten yet.
        bool takes = (a.all && !writesA) || (b.all && !writesB);
        fit &= haveSameRows(a.view, b.view) && !takes;
      });
    });
  }
  return fit;
}

void Joiner::join(LaunchDraft &launch) {
  std::vector<PartDraft> joined;
  for (PartDraft &part : launch.parts) {
    auto *rows = std::get_if<RowsDraft>(&part);
    if (!rows) {
      joined.push_back(std::move(part));
      continue;
    }
    for (LoopDraft &loop : rows->loops) {
      if (isEmpty(loop))
        continue;
      auto *before =
          joined.empty() ? nullptr : std::get_if<RowsDraft>(&joined.back());
      if (before && fits(*before, loop))
        before->loops.push_back(std::move(loop));
      else
        joined.push_back(RowsDraft{{std::move(loop)}, {}});
    }
  }
  launch.parts = std::move(joined);
}

void Joiner::findScratch() {
  // The one part that uses each private buffer; null if there are others.
  std::vector<PartDraft *> users(draft.buffers.size());
  llvm::SmallSet<int, 16> shared;
  for (LaunchDraft &launch : draft.launches)
    for (PartDraft &part : launch.parts)
      forEachAccess(part, [&](Strided &view, AllAttr, bool) {
        PartDraft *&user = users[static_cast<size_t>(view.buffer)];
        if (user && user != &part)
          shared.insert(view.buffer);
        user = &part;
      });
  for (auto [number, user] : llvm::enumerate(users)) {
    int buffer = static_cast<int>(number);
    auto *rows = user ? std::get_if<RowsDraft>(user) : nullptr;
    if (!rows || shared.contains(buffer) ||
        draft.buffers[number].memory != Memory::private_)
      continue;
    // A loop makes it whole before others read it, row by row.
    bool isRight = true, isMade = false;
    for (LoopDraft &loop : rows->loops) {
      for (OperandDraft &input : loop.inputs)
        isRight &= input.view.buffer != buffer ||
                   (isMade && rowSizeOf(input.view, countAt(input.view)));
      for (OperandDraft &output : loop.outputs)
        if (output.view.buffer == buffer) {
          isRight &= rowSizeOf(output.view, countAt(output.view)).has_value() &&
                     !output.all;
          isMade = true;
        }
    }
    if (isRight)
      rows->scratch.push_back(buffer);
  }
}

void Joiner::collapseRows(RowsDraft &rows) const {
  // All of it, if then all have the same rows still, and share what they share
  // row by row: of one row they may have shared any of its elements.
  RowsDraft flat;
  bool same = true;
  for (LoopDraft loop : rows.loops) {
    collapseLoop(loop, 0);
    same &= loop.reduced == 0 && loop.sizes().size() == 1 && fits(flat, loop);
    flat.loops.push_back(std::move(loop));
  }
  if (same || rows.loops.size() == 1) {
    rows.loops = std::move(flat.loops);
    return;
  }
  for (LoopDraft &loop : rows.loops)
    collapseLoop(loop, 1);
}

void Joiner::run() {
  for (LaunchDraft &launch : draft.launches)
    join(launch);
  findScratch();
  for (LaunchDraft &launch : draft.launches)
    for (PartDraft &part : launch.parts)
      if (auto *rows = std::get_if<RowsDraft>(&part))
        collapseRows(*rows);
}

} // namespace

void plan::joinLoops(PlanDraft &draft) { Joiner(draft).run(); }
