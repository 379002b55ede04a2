//===- Emit.cpp - Plans as IR ---------------------------------------------===//
//
// Writes a draft in the plan dialect.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Finish.h"

#include <map>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace {

class Emitter {
public:
  Emitter(ModuleOp module, PlanDraft &draft, const Places &places,
          ProgramOp program)
      : draft(draft), places(places), program(program),
        builder(OpBuilder::atBlockEnd(module.getBody())) {}

  void run();

private:
  void emitBuffers();
  void emitLaunch(LaunchDraft &launch);
  void emitPart(PartDraft &part, Location loc);
  void emitRows(RowsDraft &rows, Location loc);
  void emitLoop(LoopDraft &loop, Location loc);
  /// A view for what is accessed; of what a loop writes, the last `reduced`
  /// dimensions are reduced.
  Value view(const Strided &strided, Location loc, size_t reduced = 0);
  BufferDraft &bufferAt(int number) {
    return draft.buffers[static_cast<size_t>(number)];
  }
  MemRefType typeOf(const BufferDraft &buffer, ArrayRef<int64_t> sizes) {
    return MemRefType::get(
        sizes, buffer.element, MemRefLayoutAttrInterface(),
        MemoryAttr::get(builder.getContext(), buffer.memory));
  }

  PlanDraft &draft;
  const Places &places;
  ProgramOp program;
  OpBuilder builder;
  std::vector<Value> buffers;
  std::vector<Value> events;
  /// Views stand before the launches, each once.
  Operation *firstLaunch = nullptr;
  std::map<std::tuple<int, int64_t, int64_t, std::vector<int64_t>,
                      std::vector<int64_t>>,
           Value>
      views;
};

void Emitter::emitBuffers() {
  buffers.resize(draft.buffers.size());
  for (auto [i, buffer] : llvm::enumerate(draft.buffers)) {
    if (buffer.memory == Memory::argument) {
      auto number = static_cast<unsigned>(buffer.argument);
      unsigned arguments = program.getNumArguments();
      bool isResult = number >= arguments;
      RankedTensorType own = cast<RankedTensorType>(
          isResult ? program.getResultTypes()[number - arguments]
                   : program.getArgumentTypes()[number]);
      ArgumentKind kind = isResult                  ? ArgumentKind::result
                          : program.isInout(number) ? ArgumentKind::inout
                                                    : ArgumentKind::input;
      StringAttr name = isResult ? program.getResultName(number - arguments)
                                 : program.getArgName(number);
      RankedTensorType global =
          isResult ? program.getGlobalResultType(number - arguments)
                   : program.getGlobalArgumentType(number);
      buffers[i] = ArgumentOp::create(
          builder, draft.loc, typeOf(buffer, own.getShape()), kind,
          name.getValue(), global, !isResult && program.isScattered(number));
    } else if (places[i] >= 0) {
      // Of symmetric buffers what the rank with the most needs.
      int64_t count =
          buffer.memory == Memory::symmetric ? buffer.largest : buffer.count;
      buffers[i] = BufferOp::create(builder, draft.loc, typeOf(buffer, {count}),
                                    builder.getI64IntegerAttr(places[i]));
    }
  }
}

Value Emitter::view(const Strided &strided, Location loc, size_t reduced) {
  ArrayRef<int64_t> kept = ArrayRef(strided.sizes).drop_back(reduced);
  Value buffer = buffers[static_cast<size_t>(strided.buffer)];
  auto whole = cast<MemRefType>(buffer.getType());
  // Strides of dimensions of size 1 do not matter; these print well.
  Sizes strides = strided.strides, natural = rowMajorStrides(strided.sizes);
  int64_t offset = strided.offset;
  bool isWritten = reduced && countOf(kept) > 0;
  if (strided.count() == 0 && !isWritten) {
    strides = natural;
    offset = 0;
  }
  for (size_t dim = 0; dim < strides.size(); ++dim)
    if (strided.sizes[dim] <= 1 && strided.count() > 0)
      strides[dim] = strided.isRowMajor() ? natural[dim] : 0;
  // What is made of nothing, or of one element, is written all the same.
  if (isWritten)
    std::fill(strides.end() - static_cast<long>(reduced), strides.end(), 0);
  MemRefLayoutAttrInterface layout;
  if (offset != 0 || strides != natural)
    layout = StridedLayoutAttr::get(builder.getContext(), offset, strides);
  auto type = MemRefType::get(strided.sizes, whole.getElementType(), layout,
                              whole.getMemorySpace());
  if (type == whole && !strided.rank)
    return buffer;
  auto key = std::tuple(
      strided.buffer, strided.rank.value_or(-1), offset,
      std::vector<int64_t>(strided.sizes.begin(), strided.sizes.end()),
      std::vector<int64_t>(strides.begin(), strides.end()));
  bool isScratch = bufferAt(strided.buffer).memory == Memory::scratch;
  if (!isScratch)
    if (auto it = views.find(key); it != views.end())
      return it->second;
  OpBuilder::InsertionGuard guard(builder);
  if (!isScratch)
    builder.setInsertionPoint(firstLaunch);
  IntegerAttr rank =
      strided.rank ? builder.getI64IntegerAttr(*strided.rank) : IntegerAttr();
  Value made = ViewOp::create(builder, loc, type, buffer, rank);
  if (!isScratch)
    views[key] = made;
  return made;
}

void Emitter::emitLoop(LoopDraft &loop, Location loc) {
  SmallVector<Value> inputs, outputs;
  SmallVector<Attribute> takes, gives, reductions, indices;
  bool takesAll = false, givesAll = false;
  auto collect = [&](ArrayRef<OperandDraft> operands,
                     SmallVector<Value> &values, SmallVector<Attribute> &alls,
                     bool &any, size_t reduced) {
    for (const OperandDraft &operand : operands) {
      values.push_back(view(operand.view, loc, reduced));
      alls.push_back(operand.all ? Attribute(operand.all)
                                 : builder.getUnitAttr());
      any |= bool(operand.all);
    }
  };
  collect(loop.inputs, inputs, takes, takesAll, 0);
  collect(loop.outputs, outputs, gives, givesAll, loop.reduced);
  for (ReductionKind kind : loop.reductions)
    reductions.push_back(ReductionKindAttr::get(builder.getContext(), kind));
  for (const Sizes &index : loop.indices)
    indices.push_back(builder.getDenseI64ArrayAttr(index));
  auto list = [&](ArrayRef<Attribute> attrs, bool exists) {
    return exists ? builder.getArrayAttr(attrs) : ArrayAttr();
  };
  LoopOp::create(
      builder, loc, FlatSymbolRefAttr::get(loop.body), inputs, outputs,
      builder.getI64IntegerAttr(static_cast<int64_t>(loop.reduced)),
      list(reductions, loop.reduced),
      loop.reduced ? DenseF64ArrayAttr::get(builder.getContext(), loop.divisors)
                   : DenseF64ArrayAttr(),
      list(takes, takesAll), list(gives, givesAll),
      list(indices, !indices.empty()));
}

void Emitter::emitRows(RowsDraft &rows, Location loc) {
  auto op = RowsOp::create(builder, loc);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  for (int number : rows.scratch) {
    BufferDraft &buffer = bufferAt(number);
    buffer.memory = Memory::scratch;
    buffers[static_cast<size_t>(number)] = BufferOp::create(
        builder, loc, typeOf(buffer, {buffer.count}), IntegerAttr());
  }
  for (LoopDraft &loop : rows.loops)
    emitLoop(loop, loop.body.getLoc());
}

void Emitter::emitPart(PartDraft &part, Location loc) {
  auto visit = [&](auto &p) {
    using T = std::decay_t<decltype(p)>;
    if constexpr (std::is_same_v<T, RowsDraft>)
      emitRows(p, loc);
    else if constexpr (std::is_same_v<T, CopyDraft>)
      CopyOp::create(builder, loc, view(p.from, loc), view(p.to, loc));
    else if constexpr (std::is_same_v<T, BarrierDraft>)
      BarrierOp::create(builder, loc, p.group, p.flags);
    else if constexpr (std::is_same_v<T, SignalDraft>)
      SignalOp::create(builder, loc, p.rank, p.flag);
    else if constexpr (std::is_same_v<T, AwaitDraft>)
      AwaitOp::create(builder, loc, p.rank, p.flag);
    else if constexpr (std::is_same_v<T, MatmulDraft>)
      MatmulPartOp::create(builder, loc, view(p.a, loc), view(p.b, loc),
                           view(p.c, loc));
    else if constexpr (std::is_same_v<T, Conv2dDraft>)
      Conv2dPartOp::create(builder, loc, view(p.x, loc), view(p.w, loc),
                           view(p.y, loc), p.stride, p.padding);
    else if constexpr (std::is_same_v<T, GatherRowsDraft>)
      GatherRowsPartOp::create(builder, loc, view(p.table, loc),
                               view(p.indices, loc), view(p.to, loc));
    else if constexpr (std::is_same_v<T, ScatterRowsDraft>)
      ScatterRowsPartOp::create(builder, loc, view(p.table, loc),
                                view(p.indices, loc), view(p.rows, loc),
                                view(p.to, loc));
    else if constexpr (std::is_same_v<T, ExchangeDraft>)
      ExchangeOp::create(builder, loc, p.exchange, p.kind, p.group, p.largest,
                         p.algorithm, view(p.from, loc), view(p.to, loc));
  };
  std::visit(visit, part);
}

void Emitter::emitLaunch(LaunchDraft &launch) {
  SmallVector<Value> waits;
  for (int wait : launch.waits)
    waits.push_back(events[static_cast<size_t>(wait)]);
  auto op = LaunchOp::create(builder, launch.loc,
                             EventType::get(builder.getContext()), launch.name,
                             launch.stream, waits);
  firstLaunch = firstLaunch ? firstLaunch : op;
  events.push_back(op.getDone());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  for (PartDraft &part : launch.parts)
    emitPart(part, launch.loc);
}

void Emitter::run() {
  auto op = PlanOp::create(builder, draft.loc, draft.name, draft.rank);
  builder.createBlock(&op.getBody());
  emitBuffers();
  for (LaunchDraft &launch : draft.launches)
    emitLaunch(launch);
}

} // namespace

void plan::emit(ModuleOp module, PlanDraft &draft, const Places &places,
                ProgramOp program) {
  Emitter(module, draft, places, program).run();
}
