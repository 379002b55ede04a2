//===- Select.cpp - How every collective runs -----------------------------===//
//
// What a schedule left open is decided by the sizes.
//
//===----------------------------------------------------------------------===//

#include "dialect/Placement.h"
#include "lib/Transforms/Passes.h"
#include "synth/Schedule.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SELECT
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

constexpr int64_t kibibyte = 1024;

/// The bytes of the largest part of what a collective takes on any rank.
int64_t largestBytes(CommunicateOp op, MeshOp mesh) {
  RankedTensorType type = op.getSourceType();
  return largestPart(type, mesh) * elementBytes(type.getElementType());
}

class Selector {
public:
  explicit Selector(ModuleOp module)
      : module(module), mesh(getMesh(module)), builder(module.getContext()) {}

  void select(CommunicateOp op);

private:
  /// How many ranks take part.
  int64_t countRanks(CommunicateOp op);
  Attribute algorithmFor(CommunicateOp op, bool inKernel, StringRef protocol);
  FlatSymbolRefAttr ringFor(CommunicateOp op);

  ModuleOp module;
  MeshOp mesh;
  Builder builder;
};

} // namespace

/// Whether a value of the type can say that nothing has arrived yet, which the
/// protocol lamport needs.
static bool hasSentinel(CommunicateOp op) {
  Type element = op.getSourceType().getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() >= 16;
}

int64_t Selector::countRanks(CommunicateOp op) {
  int64_t ranks = 1;
  for (StringAttr axis : op.getAxes().getNames())
    ranks *= mesh.getAxisSize(axis);
  return ranks;
}

Attribute Selector::algorithmFor(CommunicateOp op, bool inKernel,
                                 StringRef protocol) {
  auto named = [&](Algorithm algorithm) {
    return builder.getStringAttr(stringifyAlgorithm(algorithm));
  };
  if (op.getCollective() != Collective::all_reduce)
    return named(Algorithm::direct);
  if (protocol == "ll" || protocol == "lamport")
    return named(Algorithm::one_shot);
  int64_t bytes = largestBytes(op, mesh);
  int64_t ranks = countRanks(op);
  int64_t limit = 4 * kibibyte;
  if (!inKernel) {
    limit = 64 * kibibyte;
    if (protocol.empty() && ranks <= 2)
      limit = kibibyte * kibibyte;
    else if (protocol.empty() && hasSentinel(op))
      limit = std::max(limit, kibibyte * kibibyte / ranks * 4);
  }
  return named(bytes <= limit ? Algorithm::one_shot : Algorithm::two_shot);
}

FlatSymbolRefAttr Selector::ringFor(CommunicateOp op) {
  auto kind =
      synth::parseCollectiveKind(stringifyCollective(op.getCollective()).str());
  int64_t ranks = countRanks(op);
  std::string name =
      ("ring_" + stringifyCollective(op.getCollective()) + "_" + Twine(ranks))
          .str();
  if (!module.lookupSymbol(name)) {
    OpBuilder at = OpBuilder::atBlockBegin(module.getBody());
    at.setInsertionPointAfter(mesh);
    synth::Schedule ring = synth::ringSchedule(*kind, static_cast<int>(ranks));
    AlgorithmOp::create(at, op.getLoc(), name,
                        stringifyCollective(op.getCollective()), ranks,
                        synth::writeSchedule(ring));
  }
  return FlatSymbolRefAttr::get(op.getContext(), name);
}

void Selector::select(CommunicateOp op) {
  auto kernel = dyn_cast<FusedOp>(op->getParentOp());
  auto attrOf = [&](StringRef name) {
    Attribute attr = op->getAttr(name);
    return attr || !kernel ? attr : kernel->getAttr(name);
  };
  auto protocolAttr = dyn_cast_or_null<StringAttr>(attrOf(kProtocolAttr));
  StringRef protocol = protocolAttr ? protocolAttr.getValue() : "";
  Attribute algorithm = attrOf(kAlgorithmAttr);
  auto name = dyn_cast_or_null<StringAttr>(algorithm);
  if (name && name.getValue() == "ring") {
    algorithm = ringFor(op);
  } else if (!algorithm) {
    algorithm = algorithmFor(op, kernel, protocol);
  }
  name = dyn_cast<StringAttr>(algorithm);
  if (protocol.empty()) {
    protocol = "simple";
    if (!kernel && name && name.getValue() == "one_shot") {
      bool isLarge = largestBytes(op, mesh) > 64 * kibibyte;
      protocol =
          isLarge && countRanks(op) > 2 && hasSentinel(op) ? "lamport" : "ll";
    }
  }
  op->setAttr(kAlgorithmAttr, algorithm);
  op->setAttr(kProtocolAttr, builder.getStringAttr(protocol));
}

namespace {

struct SelectPass : ccn::impl::SelectBase<SelectPass> {
  void runOnOperation() override {
    Selector selector(getOperation());
    getOperation().walk([&](CommunicateOp op) { selector.select(op); });
  }
};

} // namespace
