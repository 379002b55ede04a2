//===- ExportPlan.cpp - Plans for the runtime -----------------------------===//
//
// A walk over the plans of all ranks; what they share is numbered once.
//
//===----------------------------------------------------------------------===//

#include "codegen/plan/ExportPlan.h"

#include "dialect/ccn/Placement.h"
#include "lib/Plan/ChunkSchedules.h"
#include "runtime/plan/GpuAbi.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::codegen;

static_assert(plan::kMaxKernelRanks == CCN_MAX_RANKS);

namespace {

runtime::ReduceKind kindOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return runtime::ReduceKind::Sum;
  case ReduceKind::prod:
    return runtime::ReduceKind::Prod;
  case ReduceKind::max:
    return runtime::ReduceKind::Max;
  case ReduceKind::min:
    return runtime::ReduceKind::Min;
  }
  llvm_unreachable("all kinds are handled");
}

std::vector<int64_t> listOf(ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

MemRefType typeOf(Value view) { return cast<MemRefType>(view.getType()); }

class Exporter {
public:
  Exporter(ModuleOp module, LoopLibrary &library)
      : module(module), mesh(getMesh(module)), library(library) {}

  runtime::Plan run(StringRef program);

private:
  void exportArgument(plan::ArgumentOp op);
  void exportRank(plan::PlanOp op);
  runtime::Launch exportLaunch(plan::LaunchOp op);
  runtime::Part exportPart(Operation &op);
  runtime::RowsPart exportRows(plan::RowsOp op);
  runtime::Loop exportLoop(plan::LoopOp op);
  runtime::ExchangePart exportExchange(plan::ExchangeOp op);
  runtime::GatherPart exportGather(plan::GatherPartOp op);
  runtime::View viewOf(Value view);
  /// A contiguous view of any rank, as rows of so many elements.
  runtime::View rowsOf(Value view, int64_t rowSize);
  runtime::LoopOperand operandOf(Value view, plan::AllAttr all, bool isInput);
  const std::string &textOf(func::FuncOp body);
  std::string functionFor(plan::LoopOp op);
  /// The number of a rank in the result.
  int numberOf(int64_t rank) const {
    return numbers[static_cast<size_t>(rank)];
  }
  int groupOf(plan::GroupAttr group);
  int scheduleOf(plan::ExchangeOp op);

  ModuleOp module;
  MeshOp mesh;
  LoopLibrary &library;
  runtime::Plan result;
  std::vector<int> numbers;
  llvm::DenseMap<plan::GroupAttr, int> groups;
  std::map<std::string, int> schedules;
  /// What bodies compute, as text.
  llvm::DenseMap<Operation *, std::string> texts;
  // Of the rank at hand.
  llvm::DenseMap<Operation *, int> buffers, launches, scratch;
};

} // namespace

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void Exporter::exportArgument(plan::ArgumentOp op) {
  auto global = cast<RankedTensorType>(op.getGlobal());
  runtime::Argument argument;
  argument.name = op.getName().str();
  switch (op.getKind()) {
  case plan::ArgumentKind::input:
    argument.kind = runtime::ArgumentKind::Input;
    break;
  case plan::ArgumentKind::inout:
    argument.kind = runtime::ArgumentKind::InOut;
    break;
  case plan::ArgumentKind::result:
    argument.kind = runtime::ArgumentKind::Result;
    break;
  }
  argument.type = elementTypeOf(global.getElementType());
  argument.shape = listOf(externalShape(global, mesh));
  argument.leadingDims = static_cast<int64_t>(leadingAxes(global, mesh).size());
  argument.typeName = typeName(global);
  argument.scattered = op.getScattered();
  Layout layout = Layout::of(global);
  if (mesh)
    for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>())
      argument.replicated |=
          layout.getState(axis).kind == AxisState::Replicated &&
          mesh.getAxisSize(axis) > 1;
  result.arguments.push_back(std::move(argument));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

runtime::View Exporter::viewOf(Value view) {
  auto [offset, strides] = plan::stridesOf(view);
  Operation *buffer = plan::bufferOf(view);
  runtime::View result;
  result.buffer = plan::memoryOf(view) == plan::Memory::scratch
                      ? scratch.lookup(buffer)
                      : buffers.lookup(buffer);
  result.offset = offset;
  result.strides = listOf(strides);
  if (std::optional<int64_t> rank = plan::rankOf(view))
    result.rank = numberOf(*rank);
  return result;
}

runtime::View Exporter::rowsOf(Value view, int64_t rowSize) {
  runtime::View result = viewOf(view);
  result.strides = {rowSize, 1};
  return result;
}

runtime::LoopOperand Exporter::operandOf(Value view, plan::AllAttr all,
                                         bool isInput) {
  using runtime::Access;
  runtime::LoopOperand operand;
  operand.view = viewOf(view);
  operand.type = elementTypeOf(typeOf(view).getElementType());
  if (plan::memoryOf(view) == plan::Memory::scratch) {
    operand.access = Access::Scratch;
  } else if (all) {
    operand.access = isInput ? Access::LoadReduced : Access::StoreAll;
    operand.group = groupOf(all.getGroup());
    operand.slots = all.getSlots();
    if (all.getKind())
      operand.reduction = kindOf(*all.getKind());
  } else {
    operand.access = isInput ? Access::Load : Access::Store;
  }
  return operand;
}

/// Whether a loop stores its one input as it is. A body does not say whether an
/// integer is signed, so the types in memory may still differ.
static bool isCopy(plan::LoopOp op, func::FuncOp body) {
  Operation *end = body.getBody().front().getTerminator();
  return op.getInputs().size() == 1 && body.getNumArguments() == 1 &&
         end->getNumOperands() == 1 &&
         end->getOperand(0) == body.getArgument(0) && !op.getReduced() &&
         typeOf(op.getInputs().front()).getElementType() ==
             typeOf(op.getOutputs().front()).getElementType();
}

const std::string &Exporter::textOf(func::FuncOp body) {
  std::string &text = texts[body];
  if (text.empty()) {
    llvm::raw_string_ostream os(text);
    os << body.getFunctionType() << body->getDiscardableAttrDictionary();
    // By itself: else all of the module would be numbered for each.
    AsmState state(body, OpPrintingFlags().useLocalScope().assumeVerified());
    body.getBody().front().print(os, state);
  }
  return text;
}

std::string Exporter::functionFor(plan::LoopOp op) {
  auto body = module.lookupSymbol<func::FuncOp>(op.getBody());
  if (isCopy(op, body))
    return "";
  LoopKernel kernel;
  kernel.body = body;
  kernel.dims = static_cast<int64_t>(op.getSizes().size());
  kernel.reducedDims = static_cast<int64_t>(op.getReduced());
  if (std::optional<ArrayAttr> indices = op.getIndices())
    kernel.positions = static_cast<int64_t>(indices->size());
  const std::string &text = textOf(body);
  std::string key =
      (text + "/" + Twine(kernel.dims) + "/" + Twine(kernel.reducedDims)).str();
  // Bodies are shared between integers of both kinds, which differ in how they
  // are reduced.
  auto addType = [&](Type type) {
    llvm::raw_string_ostream(key) << "/" << type;
  };
  /// What is known of an operand's strides.
  auto innerStep = [&](Value view, bool isBlock) -> int64_t {
    int64_t step = plan::stridesOf(view).second.back();
    // What is combined lies in memory of its own, without gaps.
    if (isBlock && step != 0)
      return 1;
    return step == 0 || step == 1 ? step : -1;
  };
  for (auto [i, view] : llvm::enumerate(op.getInputs())) {
    bool isBlock = op.getTaken(static_cast<unsigned>(i)) != nullptr;
    bool isUniform =
        !isBlock && llvm::all_of(plan::stridesOf(view).second,
                                 [](int64_t stride) { return stride == 0; });
    kernel.inputs.push_back(
        {typeOf(view).getElementType(), innerStep(view, isBlock), isUniform});
    addType(kernel.inputs.back().element);
    key += "/" + std::to_string(kernel.inputs.back().innerStep) +
           (isUniform ? "u" : "");
  }
  for (auto [i, view] : llvm::enumerate(op.getOutputs())) {
    LoopOutput output;
    output.element = typeOf(view).getElementType();
    output.innerStep = innerStep(view, false);
    addType(output.element);
    key += "/" + std::to_string(output.innerStep);
    if (op.getReduced()) {
      output.reduction =
          cast<ReductionKindAttr>((*op.getReductions())[i]).getValue();
      output.divisor = (*op.getDivisors())[i];
      key += ":" + stringifyReductionKind(*output.reduction).str() +
             std::to_string(output.divisor);
    }
    kernel.outputs.push_back(output);
  }
  auto [it, isNew] = library.names.try_emplace(key);
  if (!isNew)
    return it->second;
  it->second = "loop" + std::to_string(library.names.size() - 1);
  kernel.name = it->second;
  auto [first, isFirst] = library.firstFailures.try_emplace(
      text, static_cast<int64_t>(library.failures.size()));
  kernel.firstFailure = first->second;
  if (auto list = body->getAttrOfType<ArrayAttr>(plan::kFailuresAttr);
      list && isFirst)
    for (auto failure : list.getAsRange<StringAttr>())
      library.failures.push_back(failure.str());
  kernel.isRare = library.addsRare;
  library.kernels.push_back(std::move(kernel));
  return it->second;
}

runtime::Loop Exporter::exportLoop(plan::LoopOp op) {
  runtime::Loop loop;
  loop.function = functionFor(op);
  loop.sizes = listOf(op.getSizes());
  loop.reducedDims = static_cast<int64_t>(op.getReduced());
  for (auto [i, view] : llvm::enumerate(op.getInputs()))
    loop.inputs.push_back(
        operandOf(view, op.getTaken(static_cast<unsigned>(i)), true));
  if (std::optional<ArrayAttr> indices = op.getIndices())
    for (auto index : indices->getAsRange<DenseI64ArrayAttr>()) {
      runtime::LoopOperand operand;
      operand.access = runtime::Access::Index;
      operand.type = runtime::ElementType::I64;
      operand.view.offset = index.asArrayRef().front();
      operand.view.strides = listOf(index.asArrayRef().drop_front());
      loop.inputs.push_back(operand);
    }
  for (auto [i, view] : llvm::enumerate(op.getOutputs()))
    loop.outputs.push_back(
        operandOf(view, op.getGiven(static_cast<unsigned>(i)), false));
  return loop;
}

runtime::RowsPart Exporter::exportRows(plan::RowsOp op) {
  runtime::RowsPart rows;
  scratch.clear();
  for (auto buffer : op.getBody().getOps<plan::BufferOp>()) {
    auto number = static_cast<int>(scratch.size());
    scratch[buffer] = number;
  }
  for (auto loop : op.getBody().getOps<plan::LoopOp>()) {
    rows.rows = loop.getSizes().front();
    rows.loops.push_back(exportLoop(loop));
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

int Exporter::groupOf(plan::GroupAttr group) {
  auto [it, isNew] = groups.try_emplace(group, static_cast<int>(groups.size()));
  if (isNew) {
    std::vector<int> ranks;
    for (int64_t rank : group.getRanks())
      ranks.push_back(numberOf(rank));
    result.groups.push_back(std::move(ranks));
  }
  return it->second;
}

int Exporter::scheduleOf(plan::ExchangeOp op) {
  auto algorithm = module.lookupSymbol<AlgorithmOp>(*op.getAlgorithm());
  int64_t inputs = typeOf(op.getFrom()).getNumElements(),
          outputs = typeOf(op.getTo()).getNumElements();
  std::string key =
      (algorithm.getSymName() + "/" + Twine(inputs) + "/" + Twine(outputs))
          .str();
  auto [it, isNew] =
      schedules.try_emplace(key, static_cast<int>(schedules.size()));
  if (isNew)
    result.schedules.push_back(chunkSchedule(algorithm, inputs, outputs));
  return it->second;
}

runtime::ExchangePart Exporter::exportExchange(plan::ExchangeOp op) {
  runtime::ExchangePart part;
  switch (op.getExchange()) {
  case plan::Exchange::ll:
    part.exchange = runtime::Exchange::LL;
    break;
  case plan::Exchange::lamport:
    part.exchange = runtime::Exchange::Lamport;
    break;
  case plan::Exchange::schedule:
    part.exchange = runtime::Exchange::Schedule;
    part.schedule = scheduleOf(op);
    break;
  }
  part.group = groupOf(op.getGroup());
  part.reduction = kindOf(op.getKind());
  part.inputCount = typeOf(op.getFrom()).getNumElements();
  part.outputCount = typeOf(op.getTo()).getNumElements();
  part.largestCount = static_cast<int64_t>(op.getLargest());
  part.from = viewOf(op.getFrom());
  part.to = viewOf(op.getTo());
  return part;
}

runtime::GatherPart Exporter::exportGather(plan::GatherPartOp op) {
  runtime::GatherPart part;
  part.group = groupOf(op.getGroup());
  part.firstMember = static_cast<int64_t>(op.getFirst());
  for (auto [count, member, read, write] : llvm::zip_equal(
           op.getCounts(), op.getMembers(), op.getReads(), op.getWrites()))
    part.grid.push_back({count, member, read, write});
  part.sizes = listOf(typeOf(op.getFrom()).getShape());
  part.from = viewOf(op.getFrom());
  part.to = viewOf(op.getTo());
  return part;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

runtime::Part Exporter::exportPart(Operation &op) {
  using runtime::Part;
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return llvm::TypeSwitch<Operation *, Part>(&op)
      .Case([&](plan::RowsOp op) -> Part { return exportRows(op); })
      .Case([&](plan::CopyOp op) -> Part {
        return runtime::CopyPart{listOf(typeOf(op.getFrom()).getShape()),
                                 viewOf(op.getFrom()), viewOf(op.getTo())};
      })
      .Case([&](plan::GatherPartOp op) -> Part { return exportGather(op); })
      .Case([&](plan::BarrierOp op) -> Part {
        return runtime::BarrierPart{groupOf(op.getGroup()),
                                    number(op.getFlags())};
      })
      .Case([&](plan::SignalOp op) -> Part {
        return runtime::SignalPart{numberOf(number(op.getRank())),
                                   number(op.getFlag())};
      })
      .Case([&](plan::AwaitOp op) -> Part {
        return runtime::AwaitPart{numberOf(number(op.getRank())),
                                  number(op.getFlag())};
      })
      .Case([&](plan::MatmulPartOp op) -> Part {
        ArrayRef<int64_t> a = typeOf(op.getA()).getShape();
        runtime::MatmulPart part;
        part.batch = listOf(a.drop_back(2));
        part.m = a[a.size() - 2];
        part.k = a.back();
        part.n = typeOf(op.getB()).getShape().back();
        part.a = viewOf(op.getA());
        part.b = viewOf(op.getB());
        part.c = viewOf(op.getC());
        return part;
      })
      .Case([&](plan::Conv2dPartOp op) -> Part {
        runtime::Conv2dPart part;
        part.xShape = listOf(typeOf(op.getX()).getShape());
        part.wShape = listOf(typeOf(op.getW()).getShape());
        part.yShape = listOf(typeOf(op.getY()).getShape());
        part.stride = number(op.getStride());
        part.padding = number(op.getPadding());
        part.x = viewOf(op.getX());
        part.w = viewOf(op.getW());
        part.y = viewOf(op.getY());
        return part;
      })
      .Case([&](plan::GatherRowsPartOp op) -> Part {
        ArrayRef<int64_t> table = typeOf(op.getTable()).getShape();
        runtime::GatherRowsPart part;
        part.tableRows = table.front();
        part.rowSize = ShapedType::getNumElements(table.drop_front());
        part.count = typeOf(op.getIndices()).getNumElements();
        part.table = rowsOf(op.getTable(), part.rowSize);
        part.indices = viewOf(op.getIndices());
        part.to = rowsOf(op.getTo(), part.rowSize);
        return part;
      })
      .Case([&](plan::ScatterRowsPartOp op) -> Part {
        ArrayRef<int64_t> table = typeOf(op.getTable()).getShape();
        runtime::ScatterRowsPart part;
        part.tableRows = table.front();
        part.rowSize = ShapedType::getNumElements(table.drop_front());
        part.count = typeOf(op.getIndices()).getNumElements();
        part.table = rowsOf(op.getTable(), part.rowSize);
        part.indices = viewOf(op.getIndices());
        part.rows = rowsOf(op.getRows(), part.rowSize);
        part.to = rowsOf(op.getTo(), part.rowSize);
        return part;
      })
      .Case([&](plan::ExchangeOp op) -> Part { return exportExchange(op); })
      .Default([](Operation *) -> Part { llvm_unreachable("not a part"); });
}

/// The lines of a file that a location names.
static std::vector<int> linesOf(Location location, StringRef file) {
  std::set<int> lines;
  location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (place && place.getFilename() == file)
      lines.insert(static_cast<int>(place.getLine()));
    return WalkResult::advance();
  });
  return {lines.begin(), lines.end()};
}

runtime::Launch Exporter::exportLaunch(plan::LaunchOp op) {
  runtime::Launch launch;
  launch.name = op.getName().str();
  launch.stream = static_cast<int>(op.getStream());
  launch.lines = linesOf(op.getLoc(), library.file);
  for (Value event : op.getWaits())
    launch.waits.push_back(launches.lookup(event.getDefiningOp()));
  for (Operation &part : op.getBody().front())
    launch.parts.push_back(exportPart(part));
  return launch;
}

void Exporter::exportRank(plan::PlanOp op) {
  runtime::RankPlan rank;
  buffers.clear();
  launches.clear();
  int64_t arguments = 0;
  auto addBuffer = [&](Operation *op, Value value, runtime::Memory memory,
                       int64_t offset) {
    runtime::Buffer buffer;
    buffer.memory = memory;
    buffer.type = elementTypeOf(typeOf(value).getElementType());
    buffer.count = typeOf(value).getNumElements();
    buffer.offset = offset;
    buffers[op] = static_cast<int>(rank.buffers.size());
    rank.buffers.push_back(buffer);
    return offset + buffer.count * runtime::sizeInBytes(buffer.type);
  };
  constexpr int64_t alignment = 64;
  for (Operation &inner : op.getBody().front()) {
    if (auto argument = dyn_cast<plan::ArgumentOp>(inner)) {
      addBuffer(argument, argument.getBuffer(), runtime::Memory::Argument,
                arguments++);
      runtime::Placement placement;
      for (SliceBounds bounds :
           externalPart(cast<RankedTensorType>(argument.getGlobal()), mesh,
                        static_cast<int64_t>(op.getRank()))) {
        placement.offsets.push_back(bounds.offset);
        placement.sizes.push_back(bounds.size);
      }
      rank.placements.push_back(std::move(placement));
    } else if (auto buffer = dyn_cast<plan::BufferOp>(inner)) {
      bool isSymmetric =
          plan::memoryOf(buffer.getBuffer()) == plan::Memory::symmetric;
      int64_t end = addBuffer(buffer, buffer.getBuffer(),
                              isSymmetric ? runtime::Memory::Symmetric
                                          : runtime::Memory::Private,
                              static_cast<int64_t>(buffer.getAt().value_or(0)));
      int64_t &bytes = isSymmetric ? rank.symmetricBytes : rank.privateBytes;
      bytes = std::max<int64_t>(bytes, llvm::alignTo(end, alignment));
    }
  }
  op.walk([&](Operation *part) {
    if (auto barrier = dyn_cast<plan::BarrierOp>(part))
      rank.flags = std::max<int64_t>(
          rank.flags,
          static_cast<int64_t>(barrier.getFlags()) +
              static_cast<int64_t>(barrier.getGroup().getRanks().size()));
    else if (auto await = dyn_cast<plan::AwaitOp>(part))
      rank.flags =
          std::max(rank.flags, static_cast<int64_t>(await.getFlag()) + 1);
    else if (auto signal = dyn_cast<plan::SignalOp>(part))
      rank.flags =
          std::max(rank.flags, static_cast<int64_t>(signal.getFlag()) + 1);
  });
  for (auto launch : op.getBody().getOps<plan::LaunchOp>()) {
    rank.streams =
        std::max(rank.streams, static_cast<int>(launch.getStream()) + 1);
    auto number = static_cast<int>(launches.size());
    rank.launches.push_back(exportLaunch(launch));
    launches[launch] = number;
  }
  result.ranks.push_back(std::move(rank));
}

/// By rank.
static std::map<int64_t, plan::PlanOp> plansOf(ModuleOp module,
                                               StringRef program) {
  std::map<int64_t, plan::PlanOp> ranks;
  for (auto op : module.getOps<plan::PlanOp>())
    if (op.getName() == program)
      ranks[static_cast<int64_t>(op.getRank())] = op;
  return ranks;
}

std::vector<int64_t> codegen::exportedRanks(ModuleOp module,
                                            StringRef program) {
  std::map<int64_t, plan::PlanOp> plans = plansOf(module, program);
  std::vector<int64_t> ranks, others;
  MeshOp mesh = getMesh(module);
  for (int64_t rank = 0, count = mesh ? mesh.getNumRanks() : 1; rank < count;
       ++rank)
    (plans.contains(rank) ? ranks : others).push_back(rank);
  llvm::append_range(ranks, others);
  return ranks;
}

runtime::Plan Exporter::run(StringRef program) {
  if (mesh)
    for (auto axis : mesh.getAxisNames().getAsRange<StringAttr>())
      result.mesh.push_back({axis.getValue().str(), mesh.getAxisSize(axis)});
  std::map<int64_t, plan::PlanOp> ranks = plansOf(module, program);
  std::vector<int64_t> exported = exportedRanks(module, program);
  numbers.resize(exported.size());
  for (auto [number, rank] : llvm::enumerate(exported))
    numbers[static_cast<size_t>(rank)] = static_cast<int>(number);
  for (auto op : ranks.begin()->second.getBody().getOps<plan::ArgumentOp>())
    exportArgument(op);
  for (auto &[number, op] : ranks)
    exportRank(op);
  return std::move(result);
}

runtime::Plan codegen::exportPlan(ModuleOp module, StringRef program,
                                  LoopLibrary &library) {
  return Exporter(module, library).run(program);
}
