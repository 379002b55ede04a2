//===- PlanBuilder.cpp - Makes the operations of a plan -------------------===//
//
// Turns numbers of buffers, and regions of them, into operations.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/PlanBuilder.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static OwningOpRef<PlanOp> makePlan(ProgramOp program) {
  OpBuilder builder(program.getContext());
  auto plan = PlanOp::create(builder, program.getLoc(), program.getSymName(),
                             static_cast<uint64_t>(*program.getRank()));
  builder.createBlock(&plan.getBody());
  return plan;
}

PlanBuilder::PlanBuilder(ProgramOp program)
    : program(program), plan(makePlan(program)), views(*plan) {}

OwningOpRef<PlanOp> PlanBuilder::take() {
  tidyViews(*plan);
  return std::move(plan);
}

MemRefType PlanBuilder::typeOf(Memory memory, Type element,
                               ArrayRef<int64_t> sizes) const {
  return MemRefType::get(sizes, element, MemRefLayoutAttrInterface(),
                         MemoryAttr::get(element.getContext(), memory));
}

int PlanBuilder::insert(llvm::function_ref<Value(OpBuilder &)> make) {
  OpBuilder builder = OpBuilder::atBlockBegin(&plan->getBody().front());
  if (!buffers.empty())
    builder.setInsertionPointAfterValue(buffers.back());
  buffers.push_back(make(builder));
  return static_cast<int>(buffers.size()) - 1;
}

int PlanBuilder::addArgument(ArgumentKind kind, StringAttr name,
                             RankedTensorType own, RankedTensorType global,
                             bool isScattered) {
  return insert([&](OpBuilder &builder) -> Value {
    return ArgumentOp::create(
        builder, program.getLoc(),
        typeOf(Memory::argument, own.getElementType(), own.getShape()), kind,
        name.getValue(), global, isScattered);
  });
}

int PlanBuilder::addArgument(BlockArgument argument) {
  unsigned number = argument.getArgNumber();
  return addArgument(
      program.isInout(number) ? ArgumentKind::inout : ArgumentKind::input,
      program.getArgName(number), cast<RankedTensorType>(argument.getType()),
      program.getGlobalArgumentType(number), program.isScattered(number));
}

int PlanBuilder::addResult(unsigned number) {
  return addArgument(ArgumentKind::result, program.getResultName(number),
                     cast<RankedTensorType>(program.getResultTypes()[number]),
                     program.getGlobalResultType(number), false);
}

int PlanBuilder::addBuffer(Memory memory, Type element, int64_t count) {
  return insert([&](OpBuilder &builder) -> Value {
    return BufferOp::create(builder, program.getLoc(),
                            typeOf(memory, element, {count}),
                            /*at=*/IntegerAttr());
  });
}

LaunchOp PlanBuilder::addLaunch(StringRef name, Location loc, int64_t segment) {
  OpBuilder builder = OpBuilder::atBlockEnd(&plan->getBody().front());
  auto launch = LaunchOp::create(
      builder, loc, EventType::get(builder.getContext()),
      builder.getStringAttr(name), builder.getI64IntegerAttr(0),
      builder.getI64IntegerAttr(segment), /*waits=*/ValueRange());
  builder.createBlock(&launch.getBody());
  return launch;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void PartBuilder::loop(const Loop &loop) {
  ++count;
  if (countOf(loop.sizes().drop_back(loop.reduced)) == 0)
    return;
  OpBuilder::InsertionGuard guard(builder);
  auto rows = RowsOp::create(builder, loc);
  builder.createBlock(&rows.getBody());
  func::FuncOp body = loop.body;
  SmallVector<Value> inputs, outputs;
  SmallVector<Attribute> takes, gives, reductions, indices;
  bool takesAll = false, givesAll = false;
  auto collect = [&](ArrayRef<Operand> operands, SmallVector<Value> &values,
                     SmallVector<Attribute> &alls, bool &any, size_t reduced) {
    for (const Operand &operand : operands) {
      values.push_back(plan.view(operand.view, body.getLoc(), reduced));
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
  LoopOp::create(builder, body.getLoc(), FlatSymbolRefAttr::get(body), inputs,
                 outputs,
                 builder.getI64IntegerAttr(static_cast<int64_t>(loop.reduced)),
                 list(reductions, loop.reduced),
                 loop.reduced ? builder.getDenseF64ArrayAttr(loop.divisors)
                              : DenseF64ArrayAttr(),
                 list(takes, takesAll), list(gives, givesAll),
                 list(indices, !indices.empty()));
}

void PartBuilder::copy(const Strided &from, const Strided &to, bool isStore) {
  add<CopyOp>(view(from), view(to), isStore);
}

void PartBuilder::gather(GroupAttr group, const MemberPieces &pieces) {
  SmallVector<int64_t> counts, members, reads, writes;
  for (const GridDim &dim : pieces.grid) {
    counts.push_back(dim.count);
    members.push_back(dim.member);
    reads.push_back(dim.from);
    writes.push_back(dim.to);
  }
  add<GatherPartOp>(view(pieces.from), view(pieces.to), group, pieces.member,
                    counts, members, reads, writes);
}

void PartBuilder::barrier(GroupAttr group, int64_t flags) {
  add<BarrierOp>(group, flags);
}

void PartBuilder::signal(int64_t rank, int64_t flag) {
  add<SignalOp>(rank, flag);
}

void PartBuilder::await(int64_t rank, int64_t flag) {
  add<AwaitOp>(rank, flag);
}

void PartBuilder::matmul(const Strided &a, const Strided &b, const Strided &c) {
  add<MatmulPartOp>(view(a), view(b), view(c));
}

void PartBuilder::conv2d(const Strided &x, const Strided &w, const Strided &y,
                         int64_t stride, int64_t padding) {
  add<Conv2dPartOp>(view(x), view(w), view(y), stride, padding);
}

void PartBuilder::gatherRows(const Strided &table, const Strided &indices,
                             const Strided &to) {
  add<GatherRowsPartOp>(view(table), view(indices), view(to));
}

void PartBuilder::scatterRows(const Strided &table, const Strided &indices,
                              const Strided &rows, const Strided &to) {
  add<ScatterRowsPartOp>(view(table), view(indices), view(rows), view(to));
}

void PartBuilder::exchange(Exchange exchange, ReduceKind kind, GroupAttr group,
                           int64_t largest, FlatSymbolRefAttr algorithm,
                           const Strided &from, const Strided &to) {
  add<ExchangeOp>(exchange, kind, group, largest, algorithm, view(from),
                  view(to));
}
