//===- CudaRows.cpp - Loops over rows as CUDA C++ -------------------------===//
//
// Around the structures of loops are loops over the indices, shared out among
// the threads: rows among teams, and a row's elements among a team's lanes
// (device/rows.cuh). Few long rows are shared out among the whole grid.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/skeletons/CudaRows.h"

#include "codegen/gpu/emit/CudaElements.h"
#include "codegen/gpu/emit/CudaTransposes.h"
#include "codegen/gpu/map/ExchangePackets.h"
#include "codegen/gpu/skeletons/CudaColumns.h"
#include "codegen/gpu/skeletons/CudaShares.h"
#include "codegen/gpu/skeletons/RowShares.h"
#include "runtime/plan/GpuAbi.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using namespace ccn::codegen;
using llvm::StringRef;
using llvm::Twine;
using runtime::Access;
using runtime::LoopOperand;

namespace {

/// The most dynamic shared memory that a part takes of a block.
constexpr int64_t mostShared = 96 * 1024;

/// The team of rows in a kernel.
Team teamIn(const CudaKernel &kernel, const runtime::RowsPart &rows) {
  Team team = teamFor(rows, kernel.properties.threads);
  if (team.kind == Team::Block && kernel.properties.clusters)
    team.kind = Team::Cluster;
  return team;
}

/// Whether a warp has several teams, all with as many rows, so that all of its
/// threads come to where some wait for each other.
bool fillsWarps(const runtime::RowsPart &rows, Team team) {
  return team.kind == Team::Lanes && team.lanes > 1 && team.lanes < 32 &&
         rows.rows % (32 / team.lanes) == 0;
}

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
  RowsWriter(CudaPart &part, const runtime::RowsPart &rows,
             const BlockShare &share, const RowExchange *exchange)
      : part(part), rows(rows), share(share), exchange(exchange),
        team(teamIn(part.kernel, rows)) {}

  llvm::Error write();

private:
  void placeScratch();
  CudaText exchanged(const ShareWriter &writer, const LoopWriter &loop) const;
  bool dependsOnEarlier(size_t loop) const;
  CudaText eachRow(const CudaText &body) const;
  llvm::Error writeTeams(std::vector<LoopWriter> &loops);
  void writeManySums(const LoopWriter &loop, const CudaText &count);
  void writeFewSums(const LoopWriter &loop,
                    const std::vector<LoopOperand> &outputs,
                    const CudaText &count);
  llvm::Error writeGrid(std::vector<LoopWriter> &loops);

  CudaPart &part;
  const runtime::RowsPart &rows;
  const BlockShare &share;
  /// Of the rows, by those who take them; or null.
  const RowExchange *exchange;
  Team team;
  CudaScratch scratch;
  /// Where the scratch of a team begins, as an expression.
  CudaText scratchBase;
};

void RowsWriter::placeScratch() {
  struct Array {
    int64_t rowBytes = 0, firstBytes = 0;
  };
  std::map<int, Array> arrays;
  for (const runtime::Loop &loop : rows.loops)
    for (const auto *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &operand : *list) {
        if (operand.access != Access::Scratch ||
            scratch.places.count(operand.view.buffer) > 0)
          continue;
        Array &array = arrays[operand.view.buffer];
        int64_t size = runtime::sizeInBytes(operand.type);
        int64_t last = operand.view.offset;
        for (size_t dim = 1; dim < loop.sizes.size(); ++dim)
          last += std::max<int64_t>(loop.sizes[dim] - 1, 0) *
                  operand.view.strides[dim];
        array.firstBytes = std::max(array.firstBytes, (last + 1) * size);
        array.rowBytes =
            std::max(array.rowBytes, operand.view.strides[0] * size);
      }
  for (const auto &[number, array] : arrays) {
    bool all = team.kind == Team::Grid;
    scratch.places[number] = {.offset = scratch.bytes,
                              .rowBytes = all ? array.rowBytes : 0};
    int64_t bytes =
        array.firstBytes + (all ? (rows.rows - 1) * array.rowBytes : 0);
    scratch.bytes += llvm::alignTo(bytes, 16);
  }
  if (scratch.bytes == 0) {
    scratchBase << "nullptr";
    return;
  }
  runtime::GpuKernel &properties = part.kernel.properties;
  runtime::GpuLaunch &launch = part.kernel.launch;
  constexpr int64_t alignment = 64;
  if (team.kind == Team::Grid) {
    scratchBase << "c.workspace + " << launch.workspaceBytes;
    launch.workspaceBytes += llvm::alignTo(scratch.bytes, alignment);
    return;
  }
  int64_t bytes = llvm::alignTo(
      teamsOfBlock(team, properties.threads) * scratch.bytes, alignment);
  CudaText within;
  within << " + team.inBlock() * " << scratch.bytes;
  // Parts of a kernel take the same shared memory, one after the other.
  if (bytes <= mostShared) {
    properties.sharedBytes = std::max(properties.sharedBytes, bytes);
    scratchBase << "sharedMemory" << within;
    return;
  }
  scratchBase << "blockMemory" << within;
  properties.blockBytes = std::max(properties.blockBytes, bytes);
}

/// Whether a loop reads, for all rows, what an earlier one writes: of a part
/// with one row that is the same.
bool RowsWriter::dependsOnEarlier(size_t loop) const {
  for (const LoopOperand &input : rows.loops[loop].inputs) {
    if (input.access != Access::Load && input.access != Access::LoadReduced)
      continue;
    for (size_t earlier = 0; earlier < loop; ++earlier)
      for (const LoopOperand &output : rows.loops[earlier].outputs)
        if (output.access != Access::Scratch &&
            output.view.buffer == input.view.buffer)
          return true;
  }
  return false;
}

/// Does `body` for all rows of a team.
CudaText RowsWriter::eachRow(const CudaText &body) const {
  CudaText count, text;
  if (share.units == 0) {
    count << rows.rows;
    return countedLoop("r", "team.first()", count, "team.count()", body);
  }
  // The block's of all times as many, shared out among its teams.
  count << llvm::divideCeilSigned(rows.rows, share.units)
        << " * (last - first)";
  text << "const i64 r = t / (last - first) * " << share.units
       << " + first + t % (last - first);\nif (r >= " << rows.rows
       << ")\n  continue;\n"
       << body;
  return countedLoop("t", "team.inBlock()", count, "team.ofBlock()", text);
}

/// A row's exchange, which is a variable `exchanged` of this type.
CudaText RowsWriter::exchanged(const ShareWriter &writer,
                               const LoopWriter &loop) const {
  const runtime::ExchangePart &own = *exchange->part;
  runtime::ElementType type = part.places.type(own.from);
  int64_t size = runtime::sizeInBytes(type);
  bool isLL = own.exchange == runtime::Exchange::LL;
  CudaText text;
  text << (Twine("ExchangedRow<") + (isLL ? "LowLatency" : "Lamport") + ", " +
           cudaStorage(type) + ", " + cudaKind(own.reduction) + ", " +
           Twine(part.places.members(own.group).size()) + ", " +
           Twine(loop.width) + ", " + Twine(writer.turnCount()) +
           "> exchanged(c, ")
       << part.places.group(own.group) << ", " << exchange->slots << ", "
       << own.inputCount * size / payloadOf(own.exchange) << ", "
       << own.inputCount << ", epoch, " << exchange->segment << ");\n";
  CudaText send;
  send << "exchanged.template send<turn.value>("
       << part.places.elements(own.from, "const ") << ", r * "
       << product(loop.kept) / loop.width << " + i);\n";
  text << writer.eachTurn(send) << "if (c.segment == " << exchange->segment
       << ")\n  continue;\n";
  return text;
}

llvm::Error RowsWriter::writeTeams(std::vector<LoopWriter> &loops) {
  RowShares shares(part, rows, team, loops, scratch);
  placeScratch();
  std::string given;
  if (exchange)
    given = loops.front().give(exchange->part->to.buffer);
  for (LoopWriter &loop : loops)
    if (llvm::Error error = loop.write())
      return error;
  CudaText &text = part.kernel.body;
  // In a step of a pipeline the teams of a warp may have unequal numbers.
  bool areWarps = share.units == 0 && fillsWarps(rows, team);
  text << (teamType(team, areWarps) + " team" +
           (exchange                     ? "(c, false)"
            : team.kind == Team::Cluster ? "(c)"
                                         : "") +
           ";\n");
  std::string own = "nullptr";
  if (scratch.ownBytes > 0) {
    own = "own";
    text << ("__align__(16) Byte own[" + Twine(scratch.ownBytes) + "];\n");
  }
  CudaText sent, fetched, body;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (shares.waitsBefore(i))
      body << "team.sync();\n";
    bool inside = dependsOnEarlier(i);
    (inside ? body : text) << loop.construct(scratchBase, own);
    ShareWriter writer(loop, team, rows.loops[i].reducedDims > 0);
    // Of few rows a block has the registers to have all that it needs at once.
    if (exchange && i == 0) {
      sent = exchanged(writer, loop);
      CudaText receive;
      receive << ("f." + given +
                  " = exchanged.template receive<turn.value>(r * ")
              << product(loop.kept) / loop.width << " + i);\n";
      writer.setGiven(std::move(receive));
    }
    bool isFetched = part.kernel.takesRegisters && i > 0 && writer.canFetch() &&
                     shares.fetchesConstants(i);
    if (isFetched)
      fetched << writer.fetch();
    body << writer.take(shares.isOfEvery(i), isFetched);
  }
  sent << fetched << body;
  body = std::move(sent);
  if (shares.waitsAfter())
    body << "team.sync();\n";
  text << eachRow(body);
  if (exchange)
    text << "team.open();\n";
  part.needBlocks(llvm::divideCeilSigned(
      rows.rows, teamsOfBlock(team, part.kernel.properties.threads)));
  return llvm::Error::success();
}

/// Many sums: each by a warp, or by a thread where they are short.
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

/// Few sums: each block has a part of each, and the parts are summed, of one
/// row by the first block in the next barrier.
void RowsWriter::writeFewSums(const LoopWriter &loop,
                              const std::vector<LoopOperand> &outputs,
                              const CudaText &count) {
  CudaText &text = part.kernel.body;
  runtime::GpuLaunch &launch = part.kernel.launch;
  // What is on its way.
  part.kernel.takesRegisters = true;
  CudaText place, partial, whole;
  place << ("reinterpret_cast<typename decltype(" + loop.variable() +
            ")::Sums *>(c.workspace + ")
        << launch.workspaceBytes << ") + r * CCN_MAX_BLOCKS";
  int64_t sumBytes = 8 * static_cast<int64_t>(outputs.size());
  launch.workspaceBytes +=
      std::max<int64_t>(rows.rows, 1) * CCN_MAX_BLOCKS * sumBytes;
  partial << beginSums(loop) << sumOfBlocks(loop, share.tile)
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
  if (rows.rows == 1) {
    // In whichever barrier comes next, so that it is no barrier more.
    if (!part.last.text.empty())
      part.last << "__syncthreads();\n";
    for (const LoopOperand &output : outputs)
      part.lastWrites.push_back(output.view);
    part.last << "{\n"
              << loop.construct(scratchBase, "nullptr")
              << (teamType({Team::Block, threadsPerBlock}) +
                  " team;\nconst i64 r = 0;\n")
              << whole << "}\n";
    return;
  }
  part.gridBarrier();
  text << countedLoop("r", "blockIdx.x", count, "gridDim.x", whole);
}

/// Few long rows: all blocks work on each loop, one loop after the other.
llvm::Error RowsWriter::writeGrid(std::vector<LoopWriter> &loops) {
  for (LoopWriter &loop : loops)
    if (llvm::Error error = loop.write())
      return error;
  CudaText &text = part.kernel.body;
  CudaText count;
  count << rows.rows;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    if (i > 0)
      part.gridBarrier();
    text << "{\n" << loop.construct(scratchBase, "nullptr");
    if (rows.loops[i].reducedDims == 0) {
      text << countedLoop(
          "r", "0", count, "1",
          elementsOfRow(loop, "threadInGrid()", "threadsInGrid()"));
      part.needBlocks(llvm::divideCeilSigned(product(loop.kept),
                                             threadsPerBlock * loop.width));
    } else {
      part.needBlocks(llvm::divideCeilSigned(
          product(loop.kept) * product(loop.reduced),
          share.tile ? share.tile : threadsPerBlock * loop.width * 4));
      if (loop.kept.empty())
        writeFewSums(loop, rows.loops[i].outputs, count);
      else
        writeManySums(loop, count);
    }
    text << "}\n";
  }
  return llvm::Error::success();
}

llvm::Error RowsWriter::write() {
  if (isElementwise(rows)) {
    placeScratch();
    LoopWriter loop(part, rows.loops.front(), false, scratch);
    // Which block takes which elements may be agreed, and blocks of clusters
    // have fewer threads than tiles are shared out among.
    if (share.units == 0 && share.tile == 0 && !part.kernel.properties.clusters)
      loop.chooseTile();
    if (llvm::Error error = loop.write())
      return error;
    CudaText elements;
    int64_t blocks = llvm::divideCeilSigned(
        product(loop.kept),
        share.tile ? share.tile : threadsPerBlock * loop.width);
    if (loop.tile) {
      TiledElements tiled = elementsByTiles(loop);
      elements = std::move(tiled.text);
      blocks = tiled.blocks;
    } else if (share.units) {
      elements = elementsOfUnits(loop, share);
    } else if (share.tile) {
      elements = elementsOfTiles(loop, share.tile);
    } else {
      elements = elementsOfRow(loop, "threadInGrid()", "threadsInGrid()");
    }
    part.kernel.body << "{\n"
                     << loop.construct(scratchBase, "nullptr") << elements
                     << "}\n";
    part.needBlocks(blocks);
    return llvm::Error::success();
  }
  if (team.kind == Team::Grid)
    placeScratch();
  std::vector<LoopWriter> loops;
  for (const runtime::Loop &loop : rows.loops)
    loops.emplace_back(part, loop, true, scratch);
  part.kernel.body << "{\n";
  if (llvm::Error error =
          team.kind == Team::Grid ? writeGrid(loops) : writeTeams(loops))
    return error;
  part.kernel.body << "}\n";
  return llvm::Error::success();
}

} // namespace

/// Of more rows each is for a block: with two blocks each they keep a GPU busy.
constexpr int64_t mostRowsOfClusters = 64;

/// Calls body(loops, shares) of what clusters do of rows, as it will be
/// written; false if they never do it.
static bool ofClusters(
    CudaPlaces &places, CudaBodies &bodies, const runtime::RowsPart &rows,
    llvm::function_ref<bool(std::vector<LoopWriter> &, const RowShares &)>
        body) {
  if (teamFor(rows, threadsPerBlock).kind != Team::Block ||
      rows.rows > mostRowsOfClusters)
    return false;
  CudaKernel kernel;
  kernel.takesRegisters = true;
  CudaPart part{kernel, places, bodies};
  CudaScratch scratch;
  std::vector<LoopWriter> loops;
  for (const runtime::Loop &loop : rows.loops)
    loops.emplace_back(part, loop, true, scratch);
  RowShares shares(part, rows, {Team::Cluster, threadsPerBlock}, loops,
                   scratch);
  return body(loops, shares);
}

bool codegen::suitClusters(CudaPlaces &places, CudaBodies &bodies,
                           const runtime::RowsPart &rows) {
  return ofClusters(places, bodies, rows,
                    [](std::vector<LoopWriter> &, const RowShares &shares) {
                      return shares.suitClusters();
                    });
}

bool codegen::suitExchange(CudaPlaces &places, CudaBodies &bodies,
                           const runtime::RowsPart &rows,
                           const runtime::ExchangePart &exchange) {
  const runtime::Loop &first = rows.loops.front();
  // What more ranks send, or more of it, would not leave enough registers.
  constexpr size_t mostMembers = 4;
  constexpr int64_t mostBytes = exchangedByThread / 2;
  if (rows.rows == 0 || places.members(exchange.group).size() > mostMembers ||
      first.reducedDims > 0 || exchange.inputCount % rows.rows != 0 ||
      exchange.inputCount != exchange.outputCount)
    return false;
  int64_t columns = exchange.inputCount / rows.rows;
  // What is sent must not be overwritten before.
  for (const runtime::Loop &loop : rows.loops)
    for (const LoopOperand &output : loop.outputs)
      if (output.access != Access::Scratch &&
          places.overlap(output.view, exchange.from))
        return false;
  return ofClusters(
      places, bodies, rows,
      [&](std::vector<LoopWriter> &loops, const RowShares &) {
        LoopWriter &loop = loops.front();
        int64_t size = runtime::sizeInBytes(places.type(exchange.to)),
                bytes = loop.width * size;
        for (const LoopOperand &input : first.inputs)
          if (input.access == Access::Load &&
              input.view.buffer == exchange.to.buffer &&
              (input.view.offset != exchange.to.offset ||
               (rows.rows > 1 && input.view.strides.front() != columns) ||
               !isRowMajor(first, input, first.sizes.size())))
            return false;
        ShareWriter writer(loop, {Team::Cluster, threadsPerBlock},
                           /*isReduced=*/false);
        return product(loop.kept) == columns &&
               bytes % payloadOf(exchange.exchange) == 0 &&
               writer.turnCount() * bytes <= mostBytes && loop.takesParts() &&
               !loop.give(exchange.to.buffer).empty();
      });
}

llvm::Error codegen::emitRows(CudaPart &part, const runtime::RowsPart &rows,
                              const BlockShare &share,
                              const RowExchange *exchange) {
  if (share.byColumns)
    return emitColumns(part, rows);
  return RowsWriter(part, rows, share, exchange).write();
}

void codegen::prefetchRows(CudaPart &part, const runtime::RowsPart &rows,
                           int awaited) {
  Team team = teamIn(part.kernel, rows);
  // Short rows of a thread are few bytes of a line.
  if (team.kind == Team::Grid || team.lanes == 1)
    return;
  std::set<std::pair<int, int64_t>> begun;
  for (const runtime::Loop &loop : rows.loops)
    for (const LoopOperand &input : loop.inputs) {
      const runtime::View &view = input.view;
      bool isOwn = view.rank < 0 || view.rank == part.places.rank;
      if (input.access != Access::Load || !isOwn || view.buffer == awaited ||
          part.places.isScattered(view) ||
          !isRowMajor(loop, input, loop.sizes.size()) ||
          !begun.emplace(view.buffer, view.offset).second)
        continue;
      int64_t bytes = runtime::sizeInBytes(input.type),
              step = view.strides.front() * bytes;
      for (int64_t size : llvm::drop_begin(loop.sizes))
        bytes *= size;
      part.kernel.body << ("prefetchRow(" + teamType(team) +
                           (team.kind == Team::Cluster ? "(c), " : "(), "))
                       << rows.rows << ", " << part.places.address(view) << ", "
                       << step << ", " << bytes << ");\n";
    }
}

llvm::Error codegen::emitCopy(CudaPart &part, const runtime::CopyPart &copy,
                              const BlockShare &share) {
  runtime::Loop loop;
  loop.sizes = copy.sizes.empty() ? std::vector<int64_t>{1} : copy.sizes;
  runtime::ElementType type = part.places.type(copy.from);
  loop.inputs = {{Access::Load, copy.from, type}};
  loop.outputs = {{Access::Store, copy.to, type}};
  for (LoopOperand *operand : {&loop.inputs[0], &loop.outputs[0]})
    operand->view.strides.resize(loop.sizes.size());
  return emitRows(part, {loop.sizes.front(), {loop}}, share);
}
