//===- CudaRows.cpp - Loops over rows as CUDA C++ -------------------------===//
//
// Writes loops over indices around the structures of loops. Threads divide the
// indices: teams divide rows, and the lanes of a team divide a row's elements
// (device/rows.cuh). The whole grid divides few long rows.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/CudaRows.h"

#include "codegen/gpu/emit/CudaElements.h"
#include "codegen/gpu/emit/CudaTransposes.h"
#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/skeletons/CudaShares.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;

namespace {

std::string teamType(Team team, bool areWarps = false) {
  std::string lanes = std::to_string(team.lanes);
  switch (team.kind) {
  case Team::Lanes:
    return "LanesTeam<" + lanes + (areWarps ? ", 32>" : ">");
  case Team::Block:
    return "BlockTeam<" + lanes + ">";
  case Team::Cluster:
    return "ClusterTeam";
  case Team::Grid:
    break;
  }
  llvm_unreachable("the grid is no team of a block");
}

class RowsWriter {
public:
  RowsWriter(CudaPart &part, const RowsPlan &plan) : part(part), plan(plan) {
    for (const RowLoopPlan &loop : plan.loops)
      loops.emplace_back(part, loop.loop);
  }

  llvm::Error write();

private:
  CudaText scratchBase() const;
  CudaText exchanged(const ShareWriter &writer, const LoopWriter &loop,
                     int64_t turns) const;
  CudaText eachRow(const CudaText &body) const;
  void writeElements();
  void writeTeams();
  void writeManySums(const LoopWriter &loop, const CudaText &count);
  void writeFewSums(const RowLoopPlan &of, const LoopWriter &loop,
                    const CudaText &count);
  void writeGrid();

  CudaPart &part;
  const RowsPlan &plan;
  std::vector<LoopWriter> loops;
};

/// The address of a team's scratch, as an expression.
CudaText RowsWriter::scratchBase() const {
  CudaText text;
  switch (plan.scratchIn) {
  case RowsPlan::None:
    text << "nullptr";
    break;
  case RowsPlan::Workspace:
    text << "c.workspace + " << plan.scratchOffset;
    break;
  case RowsPlan::Shared:
    text << "sharedMemory + team.inBlock() * " << plan.scratch.bytes;
    break;
  case RowsPlan::Block:
    text << "blockMemory + team.inBlock() * " << plan.scratch.bytes;
    break;
  }
  return text;
}

/// Executes `body` for all rows of a team.
CudaText RowsWriter::eachRow(const CudaText &body) const {
  CudaText count, text;
  if (plan.share.units == 0) {
    count << plan.rows->rows;
    return countedLoop("r", "team.first()", count, "team.count()", body);
  }
  // The block has the rows [first, last) of every `units` rows; its teams
  // divide them.
  count << llvm::divideCeilSigned(plan.rows->rows, plan.share.units)
        << " * (last - first)";
  text << "const i64 r = t / (last - first) * " << plan.share.units
       << " + first + t % (last - first);\nif (r >= " << plan.rows->rows
       << ")\n  continue;\n"
       << body;
  return countedLoop("t", "team.inBlock()", count, "team.ofBlock()", text);
}

/// Declares the variable `exchanged`, which exchanges a row, and sends the row.
CudaText RowsWriter::exchanged(const ShareWriter &writer,
                               const LoopWriter &loop, int64_t turns) const {
  const runtime::ExchangePart &own = *plan.exchange->part;
  runtime::ElementType type = part.places.type(own.from);
  int64_t size = runtime::sizeInBytes(type);
  bool isLL = own.exchange == runtime::Exchange::LL;
  std::string types =
      (cudaStorage(type) + ", " + cudaKind(own.reduction) + ", " +
       Twine(part.places.members(own.group).size()) + ", " + Twine(loop.width))
          .str();
  CudaText text;
  if (part.isByMessages())
    text << ("MessagesOfRow<" + types + "> exchanged(c, ")
         << part.places.group(own.group) << ", " << plan.exchange->slots << ", "
         << own.inputCount << ", " << plan.exchange->segment << ");\n";
  else
    text << (Twine("ExchangedRow<") + (isLL ? "LowLatency" : "Lamport") + ", " +
             types + ", " + Twine(turns) + "> exchanged(c, ")
         << part.places.group(own.group) << ", " << plan.exchange->slots << ", "
         << own.inputCount * size / payloadOf(own.exchange) << ", "
         << own.inputCount << ", epoch);\n";
  CudaText send;
  send << "exchanged.template send<turn.value>("
       << part.places.elements(own.from, "const ") << ", r * "
       << product(loop.kept) / loop.width << " + i);\n";
  text << writer.eachTurn(send);
  if (part.isByMessages())
    text << "if (c.segment == " << plan.exchange->segment << ")\n  continue;\n";
  return text;
}

void RowsWriter::writeTeams() {
  CudaText &text = part.kernel.body;
  text << (teamType(plan.team, plan.areWarps) + " team" +
           (plan.exchange                     ? "(c, false)"
            : plan.team.kind == Team::Cluster ? "(c)"
                                              : "") +
           ";\n");
  std::string own = "nullptr";
  if (plan.scratch.ownBytes > 0) {
    own = "own";
    text << ("__align__(16) Byte own[" + Twine(plan.scratch.ownBytes) + "];\n");
  }
  CudaText sent, fetched, body;
  for (auto [i, of] : llvm::enumerate(plan.loops)) {
    const LoopWriter &loop = loops[i];
    if (of.waitsBefore)
      body << "team.sync();\n";
    (of.isMadePerRow ? body : text) << loop.construct(scratchBase(), own);
    ShareWriter writer(loop, plan.team, *of.turns);
    if (plan.exchange && i == 0) {
      sent = exchanged(writer, loop, of.turns->turns);
      CudaText receive;
      receive << ("f." + plan.given +
                  " = exchanged.template receive<turn.value>(r * ")
              << product(loop.kept) / loop.width << " + i);\n";
      writer.setGiven(std::move(receive));
    }
    if (of.isFetchedBefore)
      fetched << writer.fetch();
    body << writer.take(of.isOfEvery, of.isFetchedBefore);
  }
  sent << fetched << body;
  body = std::move(sent);
  if (plan.waitsAfter)
    body << "team.sync();\n";
  text << eachRow(body);
  if (plan.exchange)
    text << "team.open();\n";
}

/// Many sums: a warp computes each, or a thread if sums are short.
void RowsWriter::writeManySums(const LoopWriter &loop, const CudaText &count) {
  StringRef type = product(loop.reduced) >= 32 ? "WarpTeam" : "ThreadTeam";
  CudaText body, many;
  body << indicesOf("k", loop.kept, "x", 1) << sumTogether(loop);
  many << product(loop.kept);
  part.kernel.body << (type + " team;\n")
                   << countedLoop("r", "0", count, "1",
                                  countedLoop("k", "team.first()", many,
                                              "team.count()", body));
}

/// Few sums: each block computes a partial sum of each, and the partial sums
/// are then added; if there is one row, as work deferred to the next barrier.
void RowsWriter::writeFewSums(const RowLoopPlan &of, const LoopWriter &loop,
                              const CudaText &count) {
  CudaText &text = part.kernel.body;
  CudaText place, partial, whole;
  place << ("reinterpret_cast<typename decltype(" + loop.variable() +
            ")::Sums *>(c.workspace + ")
        << of.partials << ") + r * CCN_MAX_BLOCKS";
  partial << beginSums(loop) << sumOfBlocks(loop, plan.share.tile)
          << "merge(team, sums);\nif (threadIdx.x == 0)\n  (" << place
          << ")[blockIdx.x] = sums;\n";
  text << (teamType({Team::Block, threadsPerBlock}) + " team;\n")
       << countedLoop("r", "0", count, "1", partial);
  whole << beginSums(loop)
        << "for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x)\n  "
           "sums.add(("
        << place
        << (")[b]);\nmerge(team, sums);\nif (threadIdx.x == 0)\n  " +
            finishSums(loop));
  if (!of.isDeferred) {
    part.gridBarrier();
    text << countedLoop("r", "blockIdx.x", count, "gridDim.x", whole);
    return;
  }
  if (of.isDeferredAfterOthers)
    part.deferred << "__syncthreads();\n";
  part.deferred << "{\n"
                << loop.construct(scratchBase(), "nullptr")
                << (teamType({Team::Block, threadsPerBlock}) +
                    " team;\nconst i64 r = 0;\n")
                << whole << "}\n";
}

void RowsWriter::writeGrid() {
  CudaText &text = part.kernel.body;
  CudaText count;
  count << plan.rows->rows;
  for (auto [i, of] : llvm::enumerate(plan.loops)) {
    const LoopWriter &loop = loops[i];
    if (i > 0)
      part.gridBarrier();
    text << "{\n" << loop.construct(scratchBase(), "nullptr");
    switch (of.shared) {
    case RowLoopPlan::Elements:
      text << countedLoop(
          "r", "0", count, "1",
          elementsOfRow(loop, "threadInGrid()", "threadsInGrid()"));
      break;
    case RowLoopPlan::FewSums:
      writeFewSums(of, loop, count);
      break;
    case RowLoopPlan::ManySums:
      writeManySums(loop, count);
      break;
    }
    text << "}\n";
  }
}

void RowsWriter::writeElements() {
  const LoopWriter &loop = loops.front();
  CudaText elements;
  if (plan.tiles)
    elements = elementsByTiles(loop, *plan.tiles);
  else if (plan.share.units)
    elements = elementsOfUnits(loop, plan.share);
  else if (plan.share.tile)
    elements = elementsOfTiles(loop, plan.share.tile);
  else
    elements = elementsOfRow(loop, "threadInGrid()", "threadsInGrid()");
  part.kernel.body << loop.construct(scratchBase(), "nullptr") << elements;
}

llvm::Error RowsWriter::write() {
  part.kernel.body << "{\n";
  for (LoopWriter &loop : loops)
    if (llvm::Error error = loop.write())
      return error;
  switch (plan.kind) {
  case RowsPlan::Elements:
    writeElements();
    break;
  case RowsPlan::Teams:
    writeTeams();
    break;
  case RowsPlan::Grid:
    writeGrid();
    break;
  }
  part.kernel.body << "}\n";
  return llvm::Error::success();
}

} // namespace

void codegen::requireOfRows(const RowsPlan &plan, DeviceFiles &files) {
  if (plan.tiles)
    files.add({"transposes.cuh"});
}

llvm::Error codegen::emitRows(CudaPart &part, const RowsPlan &rows) {
  return RowsWriter(part, rows).write();
}

void codegen::emitPrefetch(CudaPart &part, const Prefetch &prefetch) {
  part.kernel.body << ("prefetchRow(" + teamType(prefetch.team) +
                       (prefetch.team.kind == Team::Cluster ? "(c), " : "(), "))
                   << prefetch.rows << ", "
                   << part.places.address(prefetch.view) << ", "
                   << prefetch.step << ", " << prefetch.bytes << ");\n";
}
