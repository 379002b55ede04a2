//===- Emit.cpp - Plans as IR ---------------------------------------------===//
//
// Writes a draft in the plan dialect, before any of its passes.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Draft.h"
#include "lib/Plan/Views.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace {

class Emitter {
public:
  Emitter(ModuleOp module, PlanDraft &draft, ProgramOp program)
      : draft(draft), program(program),
        builder(OpBuilder::atBlockEnd(module.getBody())) {}

  void run();

private:
  void emitBuffers();
  void emitLaunch(LaunchDraft &launch);
  void emitPart(PartDraft &part, Location loc);
  void emitRows(RowsDraft &rows, Location loc);
  void emitLoop(LoopDraft &loop, Location loc);
  /// As makeView.
  Value view(const Strided &strided, Location loc, size_t reduced = 0) {
    return views->view(loc, buffers[static_cast<size_t>(strided.buffer)],
                       strided, reduced);
  }
  MemRefType typeOf(const BufferDraft &buffer, ArrayRef<int64_t> sizes) {
    return MemRefType::get(
        sizes, buffer.element, MemRefLayoutAttrInterface(),
        MemoryAttr::get(builder.getContext(), buffer.memory));
  }

  PlanDraft &draft;
  ProgramOp program;
  OpBuilder builder;
  std::vector<Value> buffers;
  std::vector<Value> events;
  std::optional<ViewMaker> views;
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
    } else {
      // Of symmetric buffers what the rank with the most needs.
      int64_t count =
          buffer.memory == Memory::symmetric ? buffer.largest : buffer.count;
      buffers[i] = BufferOp::create(builder, draft.loc, typeOf(buffer, {count}),
                                    /*at=*/IntegerAttr());
    }
  }
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

/// Whether a loop does nothing.
static bool isEmpty(const LoopDraft &loop) {
  return countOf(loop.sizes().drop_back(loop.reduced)) == 0;
}

void Emitter::emitRows(RowsDraft &rows, Location loc) {
  if (llvm::all_of(rows.loops, isEmpty))
    return;
  auto op = RowsOp::create(builder, loc);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  for (LoopDraft &loop : rows.loops)
    if (!isEmpty(loop))
      emitLoop(loop, loop.body.getLoc());
}

void Emitter::emitPart(PartDraft &part, Location loc) {
  auto visit = [&](auto &p) {
    using T = std::decay_t<decltype(p)>;
    if constexpr (std::is_same_v<T, RowsDraft>)
      emitRows(p, loc);
    else if constexpr (std::is_same_v<T, CopyDraft>)
      CopyOp::create(builder, loc, view(p.from, loc), view(p.to, loc),
                     p.isStore);
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
                             EventType::get(builder.getContext()),
                             builder.getStringAttr(launch.name),
                             builder.getI64IntegerAttr(launch.stream),
                             builder.getI64IntegerAttr(launch.segment), waits);
  events.push_back(op.getDone());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  for (PartDraft &part : launch.parts)
    emitPart(part, launch.loc);
}

void Emitter::run() {
  auto op = PlanOp::create(builder, draft.loc, draft.name, draft.rank);
  builder.createBlock(&op.getBody());
  views.emplace(op);
  emitBuffers();
  for (LaunchDraft &launch : draft.launches)
    emitLaunch(launch);
}

} // namespace

void plan::emit(ModuleOp module, PlanDraft &draft, ProgramOp program) {
  Emitter(module, draft, program).run();
}
