//===- JoinLoops.cpp - Loops over the same rows ---------------------------===//
//
// Joins neighbouring loops that can all process one row before the next. They
// become one part, whose intermediate results stay in the cache.
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

/// A loop as numbers, which can be compared and changed before the operation is
/// changed.
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
  /// For each index that the body gets, an offset and then strides.
  SmallVector<Sizes> indices;
};

int64_t elementsOf(Operation *buffer) {
  return cast<MemRefType>(buffer->getResult(0).getType()).getNumElements();
}

/// Whether the buffer divides evenly into the loop's rows, and each row of the
/// operand lies within its own part.
bool hasOwnRows(const LoopForm::Operand &operand) {
  RowExtent extent = operand.rows();
  int64_t count = elementsOf(operand.buffer);
  if (extent.rows == 0 || count % extent.rows != 0)
    return false;
  int64_t rowSize = count / extent.rows;
  return (extent.rows <= 1 || extent.stride == rowSize) &&
         extent.last < rowSize;
}

/// Joins neighbouring dimensions of a loop, from `first` on, where possible.
/// Reduced dimensions are joined only with each other.
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

/// Whether a loop accesses buffers in common with the loops before it only row
/// by row: row i of one meets only row i of the other.
bool fits(ArrayRef<LoopForm> before, const LoopForm &loop) {
  for (const LoopForm &other : before) {
    if (other.sizes().front() != loop.sizes().front())
      return false;
    for (const LoopForm::Operand &a : other.operands)
      for (const LoopForm::Operand &b : loop.operands) {
        if (a.buffer != b.buffer || !(a.isWrite || b.isWrite))
          continue;
        // A value that is stored in the memory of all ranks is in this rank's
        // memory at once. Values read from the memory of all ranks may not have
        // arrived yet, and may not be overwritten yet.
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

/// Joins the loops of a part to those of the part right before it, if any. A
/// loop that does not fit begins a new part.
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
    // Loops of a part that already has scratch stay together.
    isBefore = rows != nullptr;
    if (!rows)
      continue;
    parts.push_back({rows, {}});
    for (auto loop : rows.getBody().getOps<LoopOp>())
      parts.back().loops.emplace_back(loop);
  }
}

/// Whether the part's loops write each row of a buffer before they read it.
bool Joiner::canBeScratch(const Rows &part, BufferOp buffer) const {
  bool isMade = false;
  for (const LoopForm &loop : part.loops) {
    // A loop's inputs come before its outputs.
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
  // The only part that uses each buffer; null if several parts use it.
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
  // Joins all dimensions if the loops then still have the same rows and access
  // common buffers row by row. (Before, loops could have any element of a row
  // in common.) Otherwise joins only dimensions within rows.
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

/// Rewrites the operations of a part from its loops.
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
