//===- StructureOps.cpp - Mesh, program, update, return -------------------===//
//
// Constraints and accessors of the operations in StructureOps.td.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/ElementwiseKernels.h"
#include "dialect/ccn/Placement.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace ccn;

//===----------------------------------------------------------------------===//
// MeshOp
//===----------------------------------------------------------------------===//

/// mesh-axes ::= `[` (string `=` integer)* `]`
static ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &names,
                                 DenseI64ArrayAttr &sizes) {
  SmallVector<Attribute> nameAttrs;
  SmallVector<int64_t> sizeValues;
  auto parseAxis = [&]() -> ParseResult {
    std::string name;
    int64_t size;
    if (parser.parseString(&name) || parser.parseEqual() ||
        parser.parseInteger(size))
      return failure();
    nameAttrs.push_back(parser.getBuilder().getStringAttr(name));
    sizeValues.push_back(size);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameAttrs);
  sizes = parser.getBuilder().getDenseI64ArrayAttr(sizeValues);
  return success();
}

static void printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr names,
                          DenseI64ArrayAttr sizes) {
  printer << "[";
  llvm::interleaveComma(
      llvm::zip(names, sizes.asArrayRef()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  printer << "]";
}

#define GET_OP_CLASSES
#include "dialect/ccn/CcnOps.cpp.inc"

LogicalResult MeshOp::verify() {
  // mesh_c1
  if (getAxisNames().empty() || getAxisNames().size() != getAxisSizes().size())
    return emitOpError() << "expected at least one axis and a size for each, "
                            "found "
                         << getAxisNames().size() << " names and "
                         << getAxisSizes().size() << " sizes";
  // mesh_c2
  llvm::SmallDenseSet<StringAttr> seen;
  for (auto name : getAxisNames().getAsRange<StringAttr>()) {
    if (name.empty())
      return emitOpError() << "expected axis names that are not empty";
    if (!seen.insert(name).second)
      return emitOpError() << "axis '" << name.getValue() << "' is named twice";
  }
  // mesh_c3
  constexpr int64_t maxRanks = 65536;
  int64_t ranks = 1;
  for (int64_t size : getAxisSizes()) {
    if (size < 1)
      return emitOpError() << "expected axis sizes of at least 1, found "
                           << size;
    if (size > maxRanks || ranks * size > maxRanks)
      return emitOpError() << "expected at most " << maxRanks
                           << " ranks, found more";
    ranks *= size;
  }
  // mesh_c4
  if (getMesh(*this) != *this)
    return emitOpError() << "expected one mesh in a module, found another";
  return success();
}

LogicalResult AlgorithmOp::verify() {
  // algorithm_c1
  if (getRanks() < 1)
    return emitOpError() << "expected at least one rank, found " << getRanks();
  return success();
}

int64_t MeshOp::getNumRanks() {
  int64_t ranks = 1;
  for (int64_t size : getAxisSizes())
    ranks *= size;
  return ranks;
}

std::optional<unsigned> MeshOp::getAxisIndex(StringRef name) {
  for (auto [index, axis] :
       llvm::enumerate(getAxisNames().getAsRange<StringAttr>()))
    if (axis.getValue() == name)
      return index;
  return std::nullopt;
}

int64_t MeshOp::getAxisSize(StringRef name) {
  return getAxisSizes()[*getAxisIndex(name)];
}

SmallVector<int64_t> MeshOp::getCoordinates(int64_t rank) {
  SmallVector<int64_t> coordinates(getAxisSizes().size());
  for (size_t i = coordinates.size(); i-- > 0;) {
    coordinates[i] = rank % getAxisSizes()[i];
    rank /= getAxisSizes()[i];
  }
  return coordinates;
}

SmallVector<int64_t> MeshOp::getGroup(int64_t rank, ArrayRef<StringAttr> axes) {
  SmallVector<int64_t> group = {rank};
  ArrayRef<int64_t> sizes = getAxisSizes();
  for (StringAttr axis : axes) {
    unsigned index = *getAxisIndex(axis);
    int64_t stride = 1;
    for (int64_t size : sizes.drop_front(index + 1))
      stride *= size;
    SmallVector<int64_t> wider;
    for (int64_t member : group) {
      int64_t base = member - getCoordinates(member)[index] * stride;
      for (int64_t i = 0; i < sizes[index]; ++i)
        wider.push_back(base + i * stride);
    }
    group = std::move(wider);
  }
  return group;
}

//===----------------------------------------------------------------------===//
// ProgramOp
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state,
                      StringAttr name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), name);
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void ProgramOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

StringAttr ProgramOp::getArgName(unsigned index) {
  return getArgAttrOfType<StringAttr>(index, kNameAttr);
}
StringAttr ProgramOp::getResultName(unsigned index) {
  return getResultAttrOfType<StringAttr>(index, kNameAttr);
}
bool ProgramOp::isInout(unsigned index) {
  return getArgAttr(index, kInoutAttr) != nullptr;
}
bool ProgramOp::isScattered(unsigned index) {
  return getArgAttr(index, kScatteredAttr) != nullptr;
}

std::vector<UpdateOp> ProgramOp::getUpdates(unsigned index) {
  std::vector<UpdateOp> updates;
  for (Value held = getArgument(index);;) {
    auto next = llvm::find_if(held.getUses(), UpdateOp::isTarget);
    if (next == held.getUses().end())
      return updates;
    updates.push_back(cast<UpdateOp>(next->getOwner()));
    held = updates.back().getResult();
  }
}

Value ProgramOp::getFinalValue(unsigned index) {
  std::vector<UpdateOp> updates = getUpdates(index);
  if (updates.empty())
    return getArgument(index);
  return updates.back().getResult();
}

MeshOp ProgramOp::getMesh() { return ::ccn::getMesh(getOperation()); }

std::optional<int64_t> ProgramOp::getRank() {
  if (auto rank = (*this)->getAttrOfType<IntegerAttr>(kRankAttr))
    return rank.getInt();
  return std::nullopt;
}

/// What `ccn.global` says, or else the type itself.
static RankedTensorType globalType(Attribute global, Type type) {
  if (auto attr = dyn_cast_or_null<TypeAttr>(global))
    type = attr.getValue();
  return cast<RankedTensorType>(type);
}
RankedTensorType ProgramOp::getGlobalArgumentType(unsigned index) {
  return globalType(getArgAttr(index, kGlobalAttr), getArgumentTypes()[index]);
}
RankedTensorType ProgramOp::getGlobalResultType(unsigned index) {
  return globalType(getResultAttr(index, kGlobalAttr), getResultTypes()[index]);
}

/// Checks program_c4 of one type.
static LogicalResult checkLayout(Operation *op, Type type, MeshOp mesh) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return success();
  auto layout = dyn_cast<LayoutAttr>(tensor.getEncoding());
  if (!layout)
    return op->emitOpError()
           << "expected a ccn layout, found " << tensor.getEncoding();
  if (!mesh || layout.getMesh().getValue() != mesh.getSymName())
    return op->emitOpError() << "has a layout on mesh " << layout.getMesh()
                             << ", which the module does not have";
  for (StringAttr axis : Layout::of(tensor).getNamedAxes())
    if (!mesh.getAxisIndex(axis))
      return op->emitOpError()
             << "has a layout along axis '" << axis.getValue()
             << "', which mesh " << layout.getMesh() << " does not have";
  return success();
}

/// Checks program_c8 of one argument or result.
static LogicalResult checkGlobal(ProgramOp program, Attribute global, Type type,
                                 const Twine &what) {
  std::optional<int64_t> rank = program.getRank();
  if (rank.has_value() != bool(global))
    return program.emitOpError()
           << "expected " << what << (rank ? " with" : " without") << " '"
           << kGlobalAttr << "', as the program has " << (rank ? "a '" : "no '")
           << kRankAttr << "'";
  if (!rank)
    return success();
  auto whole = cast<RankedTensorType>(cast<TypeAttr>(global).getValue());
  if (failed(checkLayout(program, whole, program.getMesh())))
    return failure();
  RankedTensorType part = localType(whole, program.getMesh(), *rank);
  if (part == type)
    return success();
  return program.emitOpError()
         << "expected " << what << " to be of type " << part << ", which rank "
         << *rank << " holds of '" << typeName(whole) << "', found " << type;
}

/// Checks program_c6, program_c7 and communicate_c5 of a localized program.
static LogicalResult checkLocalized(ProgramOp program) {
  llvm::SmallDenseMap<int64_t, Operation *> channels;
  auto check = [&](Operation *op) -> LogicalResult {
    // program_c7
    if (isa<ReshardOp, CollectiveOpInterface>(op) && !isa<CommunicateOp>(op))
      return op->emitOpError()
             << "expected in global programs only, not in one "
                "with '"
             << kRankAttr << "'";
    // program_c6
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          tensor && tensor.getEncoding())
        return op->emitOpError() << "expected no encoding in a program with '"
                                 << kRankAttr << "', found " << type;
    // communicate_c5
    auto communicate = dyn_cast<CommunicateOp>(op);
    if (!communicate)
      return success();
    auto [it, inserted] = channels.insert({communicate.getChannel(), op});
    if (inserted)
      return success();
    return op->emitOpError("has the channel of another operation")
               .attachNote(it->second->getLoc())
           << "the other operation";
  };
  return failure(program.getBody()
                     .walk([&](Operation *op) {
                       return failed(check(op)) ? WalkResult::interrupt()
                                                : WalkResult::advance();
                     })
                     .wasInterrupted());
}

LogicalResult ProgramOp::verifyRegions() {
  llvm::SmallDenseSet<StringAttr> names;
  auto checkName = [&](StringAttr name, const Twine &what) -> LogicalResult {
    // program_c2
    if (!name)
      return emitOpError() << "expected a '" << kNameAttr << "' on " << what;
    if (!names.insert(name).second)
      return emitOpError() << "has '" << name.getValue() << "' twice";
    return success();
  };
  auto checkType = [&](Type type, const Twine &what) -> LogicalResult {
    // program_c1
    return checkTensor(type, [&]() { return emitOpError() << what << ": "; });
  };
  MeshOp mesh = getMesh();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    std::string what = "argument #" + std::to_string(index);
    if (failed(checkType(type, what)) ||
        failed(checkName(getArgName(index), what)) ||
        failed(checkLayout(*this, type, mesh)) ||
        failed(checkGlobal(*this, getArgAttr(index, kGlobalAttr), type, what)))
      return failure();
    // program_c3
    auto tensor = cast<RankedTensorType>(type);
    if (isScattered(index) &&
        (tensor.getRank() != 1 || Layout::of(tensor).isSliced(0)))
      return emitOpError() << "expected scattered argument '"
                           << getArgName(index).getValue()
                           << "' to have rank 1 and not to be sliced, found '"
                           << typeName(tensor) << "'";
  }
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    std::string what = "result #" + std::to_string(index);
    if (failed(checkType(type, what)) ||
        failed(checkName(getResultName(index), what)) ||
        failed(
            checkGlobal(*this, getResultAttr(index, kGlobalAttr), type, what)))
      return failure();
  }
  // program_c4
  WalkResult result = getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(checkLayout(op, type, mesh)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return success(!getRank() || succeeded(checkLocalized(*this)));
}

//===----------------------------------------------------------------------===//
// ReturnOp, UpdateOp
//===----------------------------------------------------------------------===//

LogicalResult ReturnOp::verify() {
  // return_c1
  auto program = cast<ProgramOp>((*this)->getParentOp());
  if (getOperandTypes() != TypeRange(program.getResultTypes())) {
    auto diagnostic = emitOpError();
    diagnostic << "expected the result types of the program, ("
               << program.getResultTypes() << "), found (" << getOperandTypes()
               << ")";
    return diagnostic;
  }
  return success();
}

bool UpdateOp::isTarget(OpOperand &use) {
  auto update = dyn_cast<UpdateOp>(use.getOwner());
  return update && &use == &update.getTargetMutable();
}

LogicalResult UpdateOp::verify() {
  // update_c1 is AllTypesMatch. update_c2
  if (auto argument = dyn_cast<BlockArgument>(getTarget())) {
    auto program = dyn_cast<ProgramOp>(argument.getOwner()->getParentOp());
    if (!program || !program.isInout(argument.getArgNumber()))
      return emitOpError() << "expected an inout argument as target";
  } else if (!getTarget().getDefiningOp<UpdateOp>()) {
    return emitOpError()
           << "expected an inout argument, or an update of one, as target";
  }
  // update_c3
  for (OpOperand &use : getTarget().getUses())
    if (auto other = dyn_cast<UpdateOp>(use.getOwner()))
      if (other != *this && other.getTarget() == getTarget() &&
          other->isBeforeInBlock(*this))
        return emitOpError("updates a target that is updated already")
                   .attachNote(other.getLoc())
               << "the other update";
  return success();
}
