//===- CcnDialect.cpp - The ccn dialect -----------------------------------===//
//
// Registration, discardable attributes, and what collectives have in common.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace ccn;

#include "dialect/ccn/CcnDialect.cpp.inc"
#include "dialect/ccn/CcnInterfaces.cpp.inc"

void CcnDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/ccn/CcnOps.cpp.inc"
      >();
}

Operation *CcnDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto typed = dyn_cast<TypedAttr>(value);
  if (!tensor || tensor.getRank() != 0 || !typed ||
      typed.getType() != tensor.getElementType())
    return nullptr;
  return ConstantOp::create(builder, loc, typed);
}

std::string ccn::algorithmNames() {
  std::string names;
  for (uint32_t i = 0;
       std::optional<Algorithm> algorithm = symbolizeAlgorithm(i); ++i)
    names += (i ? ", '" : "'") + stringifyAlgorithm(*algorithm).str() + "'";
  return names;
}

/// Checks what says how a collective runs.
static LogicalResult verifyChoice(Operation *op, NamedAttribute attr) {
  StringRef name = attr.getName().getValue();
  if (!communicatesAlong(op))
    return op->emitOpError()
           << "expected '" << name << "' on what communicates only";
  auto expected = [&](const Twine &what) {
    return op->emitOpError() << "expected '" << name << "' to be " << what
                             << ", found " << attr.getValue();
  };
  if (name == kAlgorithmAttr) {
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr.getValue())) {
      auto module = op->getParentOfType<ModuleOp>();
      if (!module || !module.lookupSymbol<AlgorithmOp>(symbol.getValue()))
        return expected("an algorithm of the module");
      return success();
    }
    auto text = dyn_cast<StringAttr>(attr.getValue());
    if (!text || !symbolizeAlgorithm(text.getValue()))
      return expected("one of " + algorithmNames() + " or a symbol");
    return success();
  }
  if (name == kProtocolAttr) {
    auto text = dyn_cast<StringAttr>(attr.getValue());
    if (!text || !symbolizeProtocol(text.getValue()))
      return expected("'simple', 'll', 'lamport' or 'push'");
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(attr.getValue());
  int64_t least = name == kSmsAttr ? 1 : 0;
  int64_t most =
      name == kSmsAttr ? maxSms : std::numeric_limits<int32_t>::max();
  if (!number || !number.getType().isSignlessInteger(64) ||
      number.getInt() < least || number.getInt() > most)
    return expected("a 64-bit integer from " + Twine(least) + " to " +
                    Twine(most));
  return success();
}

LogicalResult CcnDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (llvm::is_contained<StringRef>(
          {kAlgorithmAttr, kProtocolAttr, kSmsAttr, kPriorityAttr},
          attr.getName().getValue()))
    return verifyChoice(op, attr);
  if (attr.getName() == kLetAttr || attr.getName() == kForAttr) {
    if (!isa<StringAttr>(attr.getValue()))
      return op->emitOpError() << "expected '" << attr.getName().getValue()
                               << "' to be a string, found " << attr.getValue();
    return success();
  }
  if (attr.getName() == kFoldedAttr) {
    auto reasons = dyn_cast<DictionaryAttr>(attr.getValue());
    if (!isa<ProgramOp>(op) || !reasons ||
        !llvm::all_of(reasons, [](NamedAttribute reason) {
          return isa<StringAttr>(reason.getValue());
        }))
      return op->emitOpError()
             << "expected '" << kFoldedAttr
             << "' to be a dictionary of strings on a program, found "
             << attr.getValue();
    return success();
  }
  if (attr.getName() == kTagsAttr) {
    auto tags = dyn_cast<ArrayAttr>(attr.getValue());
    if (!tags || !llvm::all_of(tags, llvm::IsaPred<StringAttr>))
      return op->emitOpError()
             << "expected '" << kTagsAttr << "' to be a list of strings, found "
             << attr.getValue();
    return success();
  }
  if (attr.getName() == kRankAttr) {
    // program_c5
    auto rank = dyn_cast<IntegerAttr>(attr.getValue());
    if (!isa<ProgramOp>(op) || !rank || !rank.getType().isSignlessInteger(64))
      return op->emitOpError()
             << "expected '" << kRankAttr
             << "' to be a 64-bit integer on a program, found "
             << attr.getValue();
    MeshOp mesh = getMesh(op);
    int64_t ranks = mesh ? mesh.getNumRanks() : 1;
    if (rank.getInt() < 0 || rank.getInt() >= ranks)
      return op->emitOpError()
             << "expected '" << kRankAttr << "' to be from 0 to " << ranks - 1
             << ", found " << rank.getInt();
    return success();
  }
  if (attr.getName() == kChunkedDimAttr) {
    auto dim = dyn_cast<IntegerAttr>(attr.getValue());
    if (!isa<ReshapeOp>(op) || !dim || !dim.getType().isSignlessInteger(64))
      return op->emitOpError()
             << "expected '" << kChunkedDimAttr
             << "' to be a 64-bit integer on a reshape, found "
             << attr.getValue();
    return success();
  }
  if (attr.getName() == kPhaseAttr) {
    if (!isa<ModuleOp>(op))
      return op->emitOpError() << "expected '" << attr.getName().getValue()
                               << "' on a module only";
    if (!isa<StringAttr>(attr.getValue()))
      return op->emitOpError() << "expected '" << attr.getName().getValue()
                               << "' to be a string, found " << attr.getValue();
    return success();
  }
  return op->emitOpError() << "has unknown attribute '"
                           << attr.getName().getValue() << "'";
}

static LogicalResult verifyNameOr(Operation *op, NamedAttribute attr,
                                  ArrayRef<StringRef> units) {
  if (attr.getName() == kNameAttr) {
    auto name = dyn_cast<StringAttr>(attr.getValue());
    if (!name || name.empty())
      return op->emitOpError()
             << "expected '" << kNameAttr
             << "' to be a string that is not empty, found " << attr.getValue();
    return success();
  }
  if (attr.getName() == kGlobalAttr) {
    auto type = dyn_cast<TypeAttr>(attr.getValue());
    if (!type)
      return op->emitOpError() << "expected '" << kGlobalAttr
                               << "' to be a type, found " << attr.getValue();
    return checkTensor(type.getValue(), [&] {
      return op->emitOpError() << "'" << kGlobalAttr << "': ";
    });
  }
  if (llvm::is_contained(units, attr.getName().getValue())) {
    if (!isa<UnitAttr>(attr.getValue()))
      return op->emitOpError()
             << "expected '" << attr.getName().getValue()
             << "' without a value, found " << attr.getValue();
    return success();
  }
  return op->emitOpError() << "has unknown attribute '"
                           << attr.getName().getValue() << "'";
}

LogicalResult CcnDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned,
                                                   NamedAttribute attr) {
  return verifyNameOr(op, attr, {kInoutAttr, kScatteredAttr});
}

LogicalResult CcnDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned,
                                                      NamedAttribute attr) {
  return verifyNameOr(op, attr, {});
}

MeshOp ccn::getMesh(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module)
    return {};
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return {};
  // What asks may be verified before the mesh is.
  MeshOp mesh = *meshes.begin();
  ArrayAttr names = mesh.getProperties().getAxisNames();
  DenseI64ArrayAttr sizes = mesh.getProperties().getAxisSizes();
  if (!mesh.getSymNameAttr() || !names || !sizes ||
      names.size() != static_cast<size_t>(sizes.size()) ||
      !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return {};
  return mesh;
}

LogicalResult ccn::verifyCollective(Operation *operation) {
  auto op = cast<CollectiveOpInterface>(operation);
  AxesAttr axes = op.getMeshAxes();
  MeshOp mesh = getMesh(op);
  // collective_c1
  if (!mesh || mesh.getSymName() != axes.getMesh().getValue())
    return op->emitOpError() << "names mesh " << axes.getMesh()
                             << ", which the module does not have";
  // collective_c2
  for (StringAttr axis : axes.getNames())
    if (!mesh.getAxisIndex(axis))
      return op->emitOpError()
             << "names axis '" << axis.getValue() << "', which mesh "
             << axes.getMesh() << " does not have";
  StringAttr first = axes.getNames().front();
  int64_t size = mesh.getAxisSize(first);
  // collective_c3
  if (std::optional<int64_t> root = op.getRootPosition())
    if (*root < 0 || *root >= size)
      return op->emitOpError()
             << "expected a root from 0 to " << size - 1 << " on axis '"
             << first.getValue() << "', found " << *root;
  // send_c3: what is written for several ranks may be tried on one.
  if (std::optional<int64_t> shift = op.getShiftBy())
    if (*shift == 0 || (size > 1 && (*shift <= -size || *shift >= size)))
      return op->emitOpError()
             << "expected a shift that is not 0, from " << 1 - size << " to "
             << size - 1 << ", as axis '" << first.getValue() << "' has "
             << size << " ranks, found " << *shift;
  return success();
}
