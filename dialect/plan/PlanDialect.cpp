//===- PlanDialect.cpp - Operations of the plan dialect -------------------===//
//
// Each operation's own constraints; those of parts but loops are in
// PlanParts.cpp. What concerns a whole plan or all ranks' is in
// VerifyPlans.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Placement.h"
#include "dialect/plan/Plan.h"
#include "dialect/plan/ViewTypes.h"
#include "runtime/tensor/Strided.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

#include "dialect/plan/PlanDialect.cpp.inc"
#include "dialect/plan/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/PlanAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/plan/PlanTypes.cpp.inc"

#include "dialect/plan/PlanInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/plan/PlanOps.cpp.inc"

namespace {

/// Prints large groups once, under a name: each barrier of each rank has its
/// group, and the text would grow with the square of the number of ranks.
struct GroupNames : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    auto group = dyn_cast<GroupAttr>(attribute);
    if (!group || group.getRanks().size() <= kMaxKernelRanks)
      return AliasResult::NoAlias;
    os << "group";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void PlanDialect::initialize() {
  addInterfaces<GroupNames>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/plan/PlanAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/plan/PlanOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult
GroupAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                  ArrayRef<int64_t> ranks) {
  // group_c1
  llvm::SmallDenseSet<int64_t> seen;
  bool right = !ranks.empty();
  for (int64_t rank : ranks)
    right &= rank >= 0 && seen.insert(rank).second;
  if (!right)
    return emitError() << "expected at least one rank, none negative and none "
                          "twice";
  return success();
}

Attribute AllAttr::parse(AsmParser &parser, Type) {
  std::optional<ReduceKind> kind;
  GroupAttr group;
  if (parser.parseLess())
    return {};
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    kind = symbolizeReduceKind(keyword);
    if (!kind) {
      parser.emitError(parser.getCurrentLocation(),
                       "expected a kind of reduction, found '")
          << keyword << "'";
      return {};
    }
    if (parser.parseComma())
      return {};
  }
  int64_t slots = 0;
  if (parser.parseAttribute(group) ||
      (succeeded(parser.parseOptionalComma()) &&
       (parser.parseKeyword("slots") || parser.parseEqual() ||
        parser.parseInteger(slots))) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), kind, group, slots);
}

void AllAttr::print(AsmPrinter &printer) const {
  printer << "<";
  if (getKind())
    printer << stringifyReduceKind(*getKind()) << ", ";
  printer << getGroup();
  if (getSlots())
    printer << ", slots = " << getSlots();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<Memory> plan::findMemory(Value view) {
  auto memory = dyn_cast_or_null<MemoryAttr>(typeOf(view).getMemorySpace());
  return memory ? std::optional(memory.getValue()) : std::nullopt;
}

Memory plan::memoryOf(Value view) { return *findMemory(view); }

/// Strides and offset of a type of static shape. MLIR knows none of a row-major
/// memref without elements.
static LogicalResult findStrides(MemRefType type, SmallVector<int64_t> &strides,
                                 int64_t &offset) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return type.getStridesAndOffset(strides, offset);
  offset = 0;
  strides.assign(static_cast<size_t>(type.getRank()), 1);
  for (size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(type.getDimSize(i), 1);
  return success();
}

std::pair<int64_t, SmallVector<int64_t>> plan::stridesOf(Value view) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  LogicalResult status = findStrides(typeOf(view), strides, offset);
  assert(succeeded(status) && "views are strided");
  (void)status;
  return {offset, strides};
}

Operation *plan::bufferOf(Value view) {
  Operation *definer = view.getDefiningOp();
  if (auto op = dyn_cast<ViewOp>(definer))
    return op.getBuffer().getDefiningOp();
  return definer;
}

std::optional<int64_t> plan::rankOf(Value view) {
  auto op = view.getDefiningOp<ViewOp>();
  return op ? op.getRank() : std::nullopt;
}

Type plan::scalarOf(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

/// Whether it is row-major, without gaps, from the buffer's start on.
static bool isContiguous(MemRefType type) {
  return type.getLayout().isIdentity();
}

bool plan::isRowMajor(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(findStrides(type, strides, offset)))
    return false;
  return runtime::isRowMajor(type.getShape(), strides);
}

static LogicalResult checkBuffer(Operation *op, MemRefType type,
                                 ArrayRef<Memory> memories) {
  auto memory = dyn_cast_or_null<MemoryAttr>(type.getMemorySpace());
  if (!type.hasStaticShape() || !isContiguous(type) || !memory ||
      !llvm::is_contained(memories, memory.getValue())) {
    std::string names;
    for (Memory m : memories)
      names += (names.empty() ? "'" : " or '") + stringifyMemory(m).str() + "'";
    return op->emitOpError()
           << "expected a contiguous buffer of static shape in the memory "
           << names << ", found " << type;
  }
  return success();
}

LogicalResult ArgumentOp::verify() {
  // argument_c1
  if (failed(checkBuffer(*this, getBuffer().getType(), {Memory::argument})))
    return failure();
  auto global = dyn_cast<RankedTensorType>(getGlobal());
  if (!global)
    return emitOpError() << "expected the type of a tensor, found "
                         << getGlobal();
  int64_t rank = (*this)->getParentOfType<PlanOp>().getRank();
  MeshOp mesh = getMesh(*this);
  if (mesh && (rank < 0 || rank >= mesh.getNumRanks()))
    return emitOpError() << "expected a rank of the mesh, found " << rank;
  RankedTensorType own = localType(global, mesh, rank);
  if (own.getShape() != getBuffer().getType().getShape() ||
      own.getElementType() != getBuffer().getType().getElementType())
    return emitOpError() << "expected the part that rank " << rank << " holds, "
                         << own << ", found " << getBuffer().getType();
  return success();
}

LogicalResult BufferOp::verify() {
  // buffer_c1
  bool inRows = isa<RowsOp>((*this)->getParentOp());
  SmallVector<Memory> memories = {Memory::private_, Memory::symmetric};
  if (inRows)
    memories = {Memory::scratch};
  if (failed(checkBuffer(*this, getBuffer().getType(), memories)))
    return failure();
  // buffer_c2
  if (std::optional<int64_t> at = getAt();
      at && (inRows || *at % 64 != 0 || *at < 0))
    return emitOpError() << "expected a place that is a multiple of 64, and "
                            "none of scratch, found "
                         << *at;
  return success();
}

/// Adds to `last` how far the last element of a view with elements is from its
/// first; whether that overflows.
static bool addExtent(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                      int64_t &last) {
  bool overflows = false;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
    int64_t length;
    overflows |= llvm::MulOverflow(size - 1, stride, length) ||
                 llvm::AddOverflow(last, length, last);
  }
  return overflows;
}

LogicalResult ViewOp::verify() {
  MemRefType whole = getBuffer().getType(), part = getView().getType();
  // view_c1
  if (!getBuffer().getDefiningOp<ArgumentOp>() &&
      !getBuffer().getDefiningOp<BufferOp>())
    return emitOpError() << "expected a view of a buffer";
  if (whole.getElementType() != part.getElementType() ||
      whole.getMemorySpace() != part.getMemorySpace())
    return emitOpError()
           << "expected the element type and memory of the buffer, found "
           << part;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!part.hasStaticShape() || failed(findStrides(part, strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, [](int64_t s) { return s < 0; }))
    return emitOpError() << "expected static sizes and strides, found " << part;
  // view_c2
  if (part.getNumElements() > 0) {
    int64_t last = offset;
    bool overflows = addExtent(part.getShape(), strides, last);
    if (offset < 0 || overflows || last >= whole.getNumElements())
      return emitOpError() << "expected a part of " << whole.getNumElements()
                           << " elements, found elements " << offset << " to "
                           << last;
  }
  // view_c3
  if (std::optional<int64_t> rank = getRank();
      rank && (*rank < 0 || findMemory(getView()) != Memory::symmetric))
    return emitOpError() << "expected symmetric memory of a rank, found "
                         << part << " of rank " << *rank;
  return success();
}

//===----------------------------------------------------------------------===//
// Launches and loops
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  // launch_c1
  if (auto stream = static_cast<int64_t>(getStream()); stream < 0)
    return emitOpError() << "expected a stream from 0 on, found " << stream;
  // launch_c2
  for (Operation &op : getBody().front())
    if (!isa<PartOpInterface>(op) || isa<LoopOp>(op))
      return emitOpError("expected parts of a kernel").attachNote(op.getLoc())
             << "found '" << op.getName() << "'";
  return success();
}

void LaunchOp::setWaits(ArrayRef<Value> events) {
  SmallVector<Value> waits(events);
  llvm::sort(waits, [](Value a, Value b) {
    return a != b && a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  waits.erase(llvm::unique(waits), waits.end());
  getWaitsMutable().assign(waits);
}

void LaunchOp::waitFor(LaunchOp launch) {
  SmallVector<Value> waits(getWaits());
  waits.push_back(launch.getDone());
  setWaits(waits);
}

RowExtent::RowExtent(int64_t offset, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> strides)
    : rows(sizes.front()), stride(strides.front()), first(offset),
      last(offset) {
  for (size_t dim = 1; dim < strides.size(); ++dim)
    last += (sizes[dim] - 1) * strides[dim];
}

RowExtent::RowExtent(Value view)
    : RowExtent(stridesOf(view).first, typeOf(view).getShape(),
                stridesOf(view).second) {}

bool RowExtent::meetsOnlySameRowOf(const RowExtent &other) const {
  return rows <= 1 ||
         (stride == other.stride &&
          std::max(last, other.last) - std::min(first, other.first) < stride);
}

SmallVector<Access> RowsOp::getAccesses() {
  SmallVector<Access> accesses;
  for (auto loop : getBody().getOps<LoopOp>())
    llvm::append_range(accesses, loop.getAccesses());
  return accesses;
}

LogicalResult RowsOp::verifyRegions() {
  std::optional<int64_t> rows;
  llvm::DenseMap<Operation *, SmallVector<RowExtent>> written;
  for (Operation &op : getBody().front()) {
    if (isa<BufferOp, ViewOp>(op))
      continue;
    // rows_c1
    auto loop = dyn_cast<LoopOp>(op);
    if (!loop)
      return emitOpError("expected loops and scratch").attachNote(op.getLoc())
             << "found '" << op.getName() << "'";
    if (loop.getInputs().empty() && loop.getOutputs().empty())
      continue; // loop_c1 says so.
    // rows_c2
    int64_t size = loop.getSizes().front();
    if (rows.value_or(size) != size)
      return loop.emitOpError()
             << "expected " << *rows << " rows, found " << size;
    rows = size;
    // rows_c3
    for (auto [i, input] : llvm::enumerate(loop.getInputs())) {
      auto it = written.find(bufferOf(input));
      if (it == written.end() || loop.getTaken(i))
        continue;
      RowExtent read(input);
      if (!llvm::all_of(it->second, [&](const RowExtent &write) {
            return read.meetsOnlySameRowOf(write);
          }))
        return loop.emitOpError()
               << "expected to read in the same rows what an earlier loop "
                  "wrote, found input "
               << i << " of type " << input.getType();
    }
    for (Value output : loop.getOutputs())
      written[bufferOf(output)].push_back(RowExtent(output));
  }
  // rows_c1
  if (!rows)
    return emitOpError() << "expected at least one loop";
  return success();
}

ArrayRef<int64_t> LoopOp::getSizes() {
  Value first =
      getInputs().empty() ? getOutputs().front() : getInputs().front();
  return typeOf(first).getShape();
}

static AllAttr allAt(std::optional<ArrayAttr> list, unsigned i) {
  return list && i < list->size() ? dyn_cast<AllAttr>((*list)[i]) : AllAttr();
}
AllAttr LoopOp::getTaken(unsigned i) { return allAt(getTakes(), i); }
AllAttr LoopOp::getGiven(unsigned i) { return allAt(getGives(), i); }

SmallVector<Access> LoopOp::getAccesses() {
  SmallVector<Access> accesses;
  for (auto [i, input] : llvm::enumerate(getInputsMutable()))
    accesses.push_back({&input, false, getTaken(static_cast<unsigned>(i))});
  for (auto [i, output] : llvm::enumerate(getOutputsMutable()))
    accesses.push_back(
        {&output, true, getGiven(static_cast<unsigned>(i)), getReduced()});
  return accesses;
}

/// Whether the slots that `all` says of a view, if any, lie in its buffer.
static bool hasSlots(Value view, AllAttr all, bool isInput) {
  int64_t slots = all.getSlots();
  if (slots == 0)
    return true;
  MemRefType type = typeOf(view);
  int64_t last, others = static_cast<int64_t>(all.getGroup().getRanks().size());
  auto [offset, strides] = stridesOf(view);
  bool overflows = llvm::MulOverflow(others - 1, slots, last) ||
                   llvm::AddOverflow(last, offset, last);
  overflows |= addExtent(type.getShape(), strides, last);
  bool isIn = !overflows &&
              last < typeOf(bufferOf(view)->getResult(0)).getNumElements();
  return isInput && slots > 0 && (type.getNumElements() == 0 || isIn);
}

/// Checks loop_c4 of inputs or outputs.
static LogicalResult checkAll(LoopOp op, std::optional<ArrayAttr> list,
                              OperandRange views, bool areInputs) {
  if (!list)
    return success();
  StringRef what = areInputs ? "inputs" : "outputs";
  if (list->size() != views.size())
    return op.emitOpError() << "expected as many memories as " << what
                            << ", found " << list->size();
  int64_t rank = op->getParentOfType<PlanOp>().getRank();
  for (auto [attr, view] : llvm::zip_equal(*list, views)) {
    if (isa<UnitAttr>(attr))
      continue;
    auto all = dyn_cast<AllAttr>(attr);
    if (!all || all.getKind().has_value() != areInputs ||
        findMemory(view) != Memory::symmetric || rankOf(view) ||
        !all.getGroup().contains(rank) || !hasSlots(view, all, areInputs))
      return op.emitOpError()
             << "expected symmetric memory of a group that rank " << rank
             << " is in, " << (areInputs ? "with" : "without")
             << " a kind of reduction, found " << attr << " of "
             << view.getType();
  }
  return success();
}

/// Checks loop_c3.
static LogicalResult checkBody(LoopOp op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto body = module.lookupSymbol<func::FuncOp>(op.getBody());
  if (!body)
    return op.emitOpError()
           << "expected a function of the module, found " << op.getBodyAttr();
  SmallVector<Type> takes, gives;
  for (Value input : op.getInputs())
    takes.push_back(scalarOf(typeOf(input).getElementType()));
  for (Value output : op.getOutputs())
    gives.push_back(scalarOf(typeOf(output).getElementType()));
  Builder builder(op.getContext());
  if (op.getIndices())
    takes.append(op.getIndices()->size(), builder.getI64Type());
  if (auto failures = body->getAttrOfType<ArrayAttr>(kFailuresAttr))
    gives.append(failures.size(), builder.getI1Type());
  auto expected = FunctionType::get(op.getContext(), takes, gives);
  if (body.getFunctionType() != expected)
    return op.emitOpError() << "expected a body of type " << expected
                            << ", found " << body.getFunctionType();
  return success();
}

LogicalResult LoopOp::verify() {
  // loop_c1
  if (getInputs().empty() && getOutputs().empty())
    return emitOpError() << "expected inputs or outputs";
  ArrayRef<int64_t> sizes = getSizes();
  auto dims = static_cast<int64_t>(sizes.size());
  auto reduced = static_cast<int64_t>(getReduced());
  for (Value view : getOperands())
    if (typeOf(view).getShape() != sizes || sizes.empty() || !findMemory(view))
      return emitOpError() << "expected views of one shape, of one dimension "
                              "at least, found "
                           << getOperand(0).getType() << " and "
                           << view.getType();
  // loop_c2
  if (reduced < 0 || reduced >= dims)
    return emitOpError() << "expected to reduce from 0 to " << dims - 1
                         << " dimensions, found " << reduced;
  // loop_c1
  for (Value output : getOutputs())
    for (auto [dim, stride] : llvm::enumerate(stridesOf(output).second))
      if (sizes[dim] > 1 &&
          (stride == 0) != (static_cast<int64_t>(dim) >= dims - reduced))
        return emitOpError()
               << "expected an output whose strides are 0 where it is reduced "
                  "and only there, found "
               << output.getType();
  // loop_c4
  if (failed(checkAll(*this, getTakes(), getInputs(), true)) ||
      failed(checkAll(*this, getGives(), getOutputs(), false)))
    return failure();
  // loop_c5
  size_t reductions = getReductions() ? getReductions()->size() : 0;
  size_t divisors = getDivisors() ? getDivisors()->size() : 0;
  size_t expected = reduced ? getOutputs().size() : 0;
  if (reductions != expected || divisors != expected ||
      (reductions &&
       !llvm::all_of(*getReductions(), llvm::IsaPred<ReductionKindAttr>)))
    return emitOpError() << "expected " << expected
                         << " reductions with divisors, found " << reductions
                         << " and " << divisors;
  // loop_c6
  if (std::optional<ArrayAttr> list = getIndices())
    for (Attribute attr : *list)
      if (auto index = dyn_cast<DenseI64ArrayAttr>(attr);
          !index || index.size() != dims + 1)
        return emitOpError() << "expected an offset and " << dims
                             << " strides, found " << attr;
  // loop_c3
  return checkBody(*this);
}
