//===- JoinLoops.cpp - Loops over the same rows ---------------------------===//
//
// Loops that one row after the other could go through become one part, whose
// intermediate results stay in the cache.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Passes.h"
#include "lib/Plan/Views.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace ccn::plan {
#define GEN_PASS_DEF_JOINLOOPS
#include "lib/Plan/Passes.h.inc"
} // namespace ccn::plan

namespace {

/// A loop as numbers, which can be changed and compared before the operation
/// is.
struct LoopForm {
  struct Operand {
    Operation *buffer;
    Strided view;
    AllAttr all;
    bool isWrite;

    RowExtent rows() const { return {view.offset, view.sizes, view.strides}; }
  };

  explicit LoopForm(LoopOp op) : op(op), reduced(op.getReduced()) {
    for (const Access &access : op.getAccesses())
      operands.push_back({bufferOf(access.getView()),
                          stridedOf(access.getView()), access.all,
                          access.isWrite});
    if (std::optional<ArrayAttr> list = op.getIndices())
      for (auto index : list->getAsRange<DenseI64ArrayAttr>())
        indices.push_back(Sizes(index.asArrayRef()));
  }

  ArrayRef<int64_t> sizes() const { return operands.front().view.sizes; }
  bool isEmpty() const { return countOf(sizes().drop_back(reduced)) == 0; }

  LoopOp op;
  SmallVector<Operand> operands;
  size_t reduced;
  /// An offset and strides each.
  SmallVector<Sizes> indices;
};

int64_t elementsOf(Operation *buffer) {
  return cast<MemRefType>(buffer->getResult(0).getType()).getNumElements();
}

/// Whether every row of a buffer as a loop sees it, which has all rows of it,
/// stays within itself.
bool hasOwnRows(const LoopForm::Operand &operand) {
  RowExtent extent = operand.rows();
  int64_t count = elementsOf(operand.buffer);
  if (extent.rows == 0 || count % extent.rows != 0)
    return false;
  int64_t rowSize = count / extent.rows;
  return (extent.rows <= 1 || extent.stride == rowSize) &&
         extent.last < rowSize;
}

/// Joins neighbouring dimensions of a loop, from `first` on. Reduced dimensions
/// are joined only with each other.
void collapseLoop(LoopForm &loop, size_t first) {
  SmallVector<Strided> positions;
  SmallVector<Strided *> views;
  for (LoopForm::Operand &operand : loop.operands)
    views.push_back(&operand.view);
  Sizes sizes(loop.sizes());
  for (Sizes &index : loop.indices)
    positions.push_back({-1, index.front(), sizes,
                         Sizes(ArrayRef<int64_t>(index).drop_front())});
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

/// Whether what a loop shares with others, which are before it, it shares row
/// by row.
bool fits(ArrayRef<LoopForm> before, const LoopForm &loop) {
  for (const LoopForm &other : before) {
    if (other.sizes().front() != loop.sizes().front())
      return false;
    for (const LoopForm::Operand &a : other.operands)
      for (const LoopForm::Operand &b : loop.operands) {
        if (a.buffer != b.buffer || !(a.isWrite || b.isWrite))
          continue;
        // A value that is stored in all memories is in the own memory at once.
        // Values taken from all memories may not have arrived yet, and may not
        // be overwritten yet.
        bool takes = (a.all && !a.isWrite) || (b.all && !b.isWrite);
        if (takes || !a.rows().meetsOnlySameRowOf(b.rows()))
          return false;
      }
  }
  return true;
}

class Joiner {
public:
  explicit Joiner(PlanOp plan) : plan(plan), views(plan) {}

  void run();

private:
  struct Rows {
    RowsOp op;
    std::vector<LoopForm> loops;
    /// Private buffers that become scratch.
    SmallVector<BufferOp> scratch = {};
  };

  void join(LaunchOp launch);
  void joinLoops(RowsOp op, bool &isBefore);
  void findScratch();
  bool canBeScratch(const Rows &part, BufferOp buffer) const;
  void write(const Rows &part);

  PlanOp plan;
  ViewMaker views;
  std::vector<Rows> parts;
};

/// Joins the loops of a part to those of the last part, if that comes right
/// before; each that does not fit begins a part of its own.
void Joiner::joinLoops(RowsOp op, bool &isBefore) {
  Block &block = op.getBody().front();
  for (auto loop : llvm::make_early_inc_range(block.getOps<LoopOp>())) {
    LoopForm form(loop);
    if (form.isEmpty()) {
      loop.erase();
      continue;
    }
    if (isBefore && fits(parts.back().loops, form)) {
      Block &joined = parts.back().op.getBody().front();
      loop->moveBefore(&joined, joined.end());
    } else if (llvm::hasSingleElement(block)) {
      parts.push_back({op, {}});
    } else {
      OpBuilder builder(op);
      parts.push_back({RowsOp::create(builder, op.getLoc()), {}});
      Block *own = builder.createBlock(&parts.back().op.getBody());
      loop->moveBefore(own, own->end());
    }
    isBefore = true;
    parts.back().loops.push_back(std::move(form));
  }
  if (block.empty())
    op.erase();
}

void Joiner::join(LaunchOp launch) {
  bool isBefore = false;
  for (Operation &part : llvm::make_early_inc_range(launch.getBody().front())) {
    auto rows = dyn_cast<RowsOp>(part);
    if (rows && llvm::all_of(rows.getBody().front(), llvm::IsaPred<LoopOp>)) {
      joinLoops(rows, isBefore);
      continue;
    }
    // Loops with scratch of their own stay together.
    isBefore = rows != nullptr;
    if (!rows)
      continue;
    parts.push_back({rows, {}});
    for (auto loop : rows.getBody().getOps<LoopOp>())
      parts.back().loops.emplace_back(loop);
  }
}

/// Whether a loop makes all of a buffer before others read it, row by row.
bool Joiner::canBeScratch(const Rows &part, BufferOp buffer) const {
  bool isMade = false;
  for (const LoopForm &loop : part.loops) {
    // Inputs come before outputs.
    for (const LoopForm::Operand &operand : loop.operands) {
      if (operand.buffer != buffer.getOperation())
        continue;
      if (!hasOwnRows(operand) ||
          (operand.isWrite ? bool(operand.all) : !isMade))
        return false;
      isMade |= operand.isWrite;
    }
  }
  return true;
}

void Joiner::findScratch() {
  // The one part that uses each buffer; null if several do.
  llvm::DenseMap<Operation *, Operation *> users;
  for (auto launch : plan.getBody().getOps<LaunchOp>())
    for (auto part : launch.getBody().getOps<PartOpInterface>())
      for (const Access &access : part.getAccesses()) {
        auto [it, isNew] = users.try_emplace(bufferOf(access.getView()), part);
        if (it->second != part.getOperation())
          it->second = nullptr;
      }
  llvm::DenseMap<Operation *, Rows *> rows;
  for (Rows &part : parts)
    rows[part.op] = &part;
  for (auto buffer : plan.getBody().getOps<BufferOp>())
    if (Rows *part = rows.lookup(users.lookup(buffer));
        part && memoryOf(buffer.getBuffer()) == Memory::private_ &&
        canBeScratch(*part, buffer))
      part->scratch.push_back(buffer);
}

void collapseRows(std::vector<LoopForm> &loops) {
  // All of it, if then all have the same rows still, and share what they share
  // row by row: of one row they may have shared any of its elements.
  std::vector<LoopForm> flat;
  bool same = true;
  for (LoopForm loop : loops) {
    collapseLoop(loop, 0);
    same &= loop.reduced == 0 && loop.sizes().size() == 1 && fits(flat, loop);
    flat.push_back(std::move(loop));
  }
  if (same || loops.size() == 1) {
    loops = std::move(flat);
    return;
  }
  for (LoopForm &loop : loops)
    collapseLoop(loop, 1);
}

/// Makes the operations of a part what its loops are.
void Joiner::write(const Rows &part) {
  auto op = part.op;
  OpBuilder builder = OpBuilder::atBlockBegin(&op.getBody().front());
  llvm::DenseMap<Operation *, Value> scratch;
  for (auto buffer : op.getBody().getOps<BufferOp>())
    scratch[buffer] = buffer;
  for (BufferOp buffer : part.scratch) {
    MemRefType type = buffer.getBuffer().getType();
    auto own = MemRefType::get(
        type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(),
        MemoryAttr::get(builder.getContext(), Memory::scratch));
    scratch[buffer] =
        BufferOp::create(builder, op.getLoc(), own, IntegerAttr());
  }
  for (const LoopForm &form : part.loops) {
    LoopOp loop = form.op;
    builder.setInsertionPoint(loop);
    for (auto [i, access] : llvm::enumerate(loop.getAccesses())) {
      const LoopForm::Operand &operand = form.operands[i];
      size_t reduced = access.isWrite ? form.reduced : 0;
      Value own = scratch.lookup(operand.buffer);
      access.operand->set(
          own ? makeView(builder, loop.getLoc(), own, operand.view, reduced)
              : views.view(loop.getLoc(), operand.buffer->getResult(0),
                           operand.view, reduced));
    }
    loop.setReduced(form.reduced);
    if (!form.indices.empty())
      loop.setIndicesAttr(builder.getArrayAttr(
          llvm::map_to_vector(form.indices, [&](const Sizes &index) {
            return Attribute(builder.getDenseI64ArrayAttr(index));
          })));
  }
  for (auto view : llvm::make_early_inc_range(op.getBody().getOps<ViewOp>()))
    if (view.use_empty())
      view.erase();
}

void Joiner::run() {
  for (auto launch : plan.getBody().getOps<LaunchOp>())
    join(launch);
  findScratch();
  for (Rows &part : parts) {
    collapseRows(part.loops);
    write(part);
  }
  tidyViews(plan);
  for (const Rows &part : parts)
    for (BufferOp buffer : part.scratch)
      buffer.erase();
}

struct JoinLoopsPass : plan::impl::JoinLoopsBase<JoinLoopsPass> {
  void runOnOperation() override { Joiner(getOperation()).run(); }
};

} // namespace
