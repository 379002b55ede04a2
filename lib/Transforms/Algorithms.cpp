//===- Algorithms.cpp - Synthesized schedules in programs -----------------===//
//
// The module holds each schedule as text on one line.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Algorithms.h"

#include "dialect/ccn/Placement.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace ccn;

int64_t ccn::largestBytes(RankedTensorType type, MeshOp mesh) {
  return largestPart(type, mesh) * elementBytes(type.getElementType());
}

/// Whether the collective adds or multiplies floats, so that the order changes
/// the rounding.
static bool rounds(CollectiveOpInterface collective) {
  std::optional<ReduceKind> kind = collective.getReduction();
  return kind && *kind != ReduceKind::max && *kind != ReduceKind::min &&
         isFloat(getElementTypeOrSelf(collective.getSource().getType()));
}

double ccn::partialFactor(CollectiveOpInterface collective) {
  auto element = dyn_cast<FloatType>(
      getElementTypeOrSelf(collective.getSource().getType()));
  return rounds(collective) && element.getWidth() < 32
             ? 32.0 / element.getWidth()
             : 1;
}

SynthRequest ccn::requestFor(CollectiveOpInterface collective) {
  MeshOp mesh = getMesh(collective);
  SynthRequest request;
  std::optional<synth::CollectiveKind> kind = synth::parseCollectiveKind(
      stringifyCollective(collective.getCollective()).str());
  request.kind = kind.value_or(synth::CollectiveKind::Custom);
  request.ranks = 1;
  for (StringAttr axis : collective.getMeshAxes().getNames())
    request.ranks *= mesh.getAxisSize(axis);
  request.root = collective.getRootPosition().value_or(0);
  request.ordered = rounds(collective);
  return request;
}

synth::Groups ccn::groupsOf(CollectiveOpInterface collective) {
  MeshOp mesh = getMesh(collective);
  ArrayRef<StringAttr> axes = collective.getMeshAxes().getNames();
  synth::Groups groups;
  for (int64_t rank = 0, ranks = mesh.getNumRanks(); rank < ranks; ++rank) {
    SmallVector<int64_t> group = mesh.getGroup(rank, axes);
    if (group.front() == rank)
      groups.emplace_back(group.begin(), group.end());
  }
  return groups;
}

bool ccn::mayPush(CommunicateOp op) {
  auto collective = cast<CollectiveOpInterface>(op.getOperation());
  return (op.getCollective() == Collective::all_reduce ||
          op.getCollective() == Collective::reduce_scatter) &&
         requestFor(collective).ranks > 2 &&
         !op->getParentOfType<OverlappedOp>();
}

bool ccn::isFor(const synth::Schedule &schedule, const SynthRequest &wanted) {
  const synth::Collective &collective = schedule.collective;
  return collective.kind == wanted.kind && collective.ranks == wanted.ranks &&
         (!collective.rooted() || collective.root == wanted.root);
}

std::optional<int> ccn::findChunkThroughCpu(const synth::Schedule &schedule) {
  for (const synth::Step &step : schedule.steps)
    for (const synth::Send &send : step.sends)
      if (std::max(send.src, send.dst) >= schedule.collective.ranks)
        return send.chunk;
  return std::nullopt;
}

std::string ccn::algorithmName(CollectiveOpInterface collective,
                               StringRef topology) {
  return (stringifyCollective(collective.getCollective()) + "_" +
          llvm::sys::path::stem(topology))
      .str();
}

/// An unused symbol of the module, made from a name or a file's name.
static std::string freeSymbol(ModuleOp module, StringRef text) {
  std::string stem;
  for (char c : llvm::sys::path::stem(text))
    stem += llvm::isAlnum(c) ? c : '_';
  std::string name = stem;
  for (unsigned i = 1; module.lookupSymbol(name); ++i)
    name = stem + "_" + std::to_string(i);
  return name;
}

/// Removes blanks and line ends from JSON, except in strings.
static std::string onOneLine(StringRef text) {
  std::string line;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      inString = !inString;
    if (inString || !llvm::isSpace(text[i]))
      line += text[i];
  }
  return line;
}

FlatSymbolRefAttr ccn::addAlgorithm(ModuleOp module,
                                    const synth::Schedule &schedule,
                                    StringRef name, Location loc) {
  std::string line = onOneLine(synth::writeSchedule(schedule));
  for (auto other : module.getOps<AlgorithmOp>())
    if (other.getSchedule() == line)
      return FlatSymbolRefAttr::get(other.getSymNameAttr());
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  if (MeshOp mesh = getMesh(module))
    builder.setInsertionPointAfter(mesh);
  auto algorithm = AlgorithmOp::create(
      builder, loc, freeSymbol(module, name),
      synth::kindName(schedule.collective.kind).data(),
      static_cast<int64_t>(schedule.collective.ranks), line);
  return FlatSymbolRefAttr::get(algorithm.getSymNameAttr());
}
