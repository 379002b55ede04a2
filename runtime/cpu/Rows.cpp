//===- Rows.cpp - Loops over blocks of rows -------------------------------===//
//
// Compiled functions get addresses in this process only. Before a function
// runs, what it reads of other ranks is viewed in place, or gathered into the
// block's memory, row-major and without repeated elements. After it has run,
// what it wrote for other ranks is put there.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Rows.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/cpu/CollectiveSupport.h"

#include <algorithm>
#include <map>

namespace ccn::runtime {

namespace {

struct Operand {
  const LoopOperand *info = nullptr;
  int size = 0;
  /// The strides that the function gets.
  std::vector<int64_t> strides;
  /// The number of different elements of one row.
  int64_t rowElements = 1;
  bool rowsRepeat = false;
  /// The ranks whose memory holds the operand, beginning with this one; empty
  /// if it is accessed in place in this rank's memory.
  std::vector<int> ranks = {};
  /// For an operand that is reduced: all members, in order.
  std::vector<int> members = {};
  /// Whether its elements are contiguous there in a block of any number of
  /// rows.
  bool contiguous = false;
  /// Where the elements are in the block's memory, and where those of each
  /// member are if the operand is reduced.
  int64_t blockOffset = 0, membersOffset = 0;
  /// The value of an index, whose address the function gets.
  int64_t index = 0;

  int64_t count(int64_t rows) const {
    return rowsRepeat ? rowElements : rows * rowElements;
  }
  int64_t bytes(int64_t rows) const { return aligned(count(rows) * size); }
  int64_t rowStride() const { return info->view.strides[0]; }
};

struct PreparedLoop {
  const Loop *loop = nullptr;
  LoopFunction function = nullptr;
  std::vector<Operand> operands;
  size_t inputs = 0;
  std::vector<int64_t> sizes, strides;
  std::vector<void *> data;
};

class Rows : public PartKernel {
public:
  Rows(const PlanMemory &plan, const RowsPart &part) : plan(plan), part(part) {}

  Status prepare(const FunctionResolver &resolve);
  Status run(StreamContext &context) override;

private:
  Operand prepareOperand(const Loop &loop, const LoopOperand &info);
  void count(const Loop &loop, const LoopOperand &info, const Operand &operand);
  void placeOperands();
  Status runLoop(StreamContext &context, PreparedLoop &loop, int64_t row,
                 int64_t rows);
  Result<std::byte *> addressOf(StreamContext &context, PreparedLoop &loop,
                                Operand &operand, int64_t row);
  Result<const std::byte *> fetch(StreamContext &context,
                                  const PreparedLoop &loop,
                                  const Operand &operand, const View &view,
                                  int rank, int64_t row, std::byte *scratch);
  Status send(StreamContext &context, const PreparedLoop &loop,
              const Operand &operand, std::span<const int64_t> strides,
              const std::byte *data, int64_t row);

  const PlanMemory &plan;
  const RowsPart &part;
  std::vector<PreparedLoop> loops;
  /// The rows of a block and the memory that all blocks use.
  int64_t blockRows = 1, memoryBytes = 0;
  std::byte *block = nullptr;
  std::vector<const std::byte *> parts;
};

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

Operand Rows::prepareOperand(const Loop &loop, const LoopOperand &info) {
  Operand operand;
  operand.info = &info;
  operand.size = sizeInBytes(info.type);
  operand.strides = info.view.strides;
  operand.rowsRepeat = operand.strides[0] == 0;
  operand.rowElements = distinctElements(std::span(loop.sizes).subspan(1),
                                         std::span(operand.strides).subspan(1));
  bool reduced = info.access == Access::LoadReduced;
  bool toAll = info.access == Access::StoreAll;
  bool remote = (info.access == Access::Load || info.access == Access::Store) &&
                info.view.rank >= 0 && info.view.rank != plan.rank;
  if (reduced || toAll) {
    Members members = plan.members(info.group);
    // The slots of all members are in this rank's memory.
    if (info.slots != 0)
      std::fill(members.ranks.begin(), members.ranks.end(), plan.rank);
    for (int i = 0; i < members.count(); ++i)
      operand.ranks.push_back(
          members.rankAt((members.position + i) % members.count()));
    operand.members = std::move(members.ranks);
  } else if (remote) {
    operand.ranks = {info.view.rank};
  }
  if (operand.ranks.empty())
    return operand;
  // Row-major strides, without dimensions that repeat elements.
  std::vector<int64_t> compact(operand.strides.size());
  int64_t stride = 1;
  operand.contiguous = true;
  for (size_t dim = compact.size(); dim-- > 0;) {
    if (operand.strides[dim] == 0)
      continue;
    compact[dim] = stride;
    if (loop.sizes[dim] != 1)
      operand.contiguous &= operand.strides[dim] == stride;
    stride *= loop.sizes[dim];
  }
  // What is stored to all ranks is first written to this rank's memory.
  if (!toAll)
    operand.strides = std::move(compact);
  return operand;
}

void Rows::count(const Loop &loop, const LoopOperand &info,
                 const Operand &operand) {
  if (info.access == Access::Scratch || info.access == Access::Index)
    return;
  int64_t bytes =
      distinctElements(loop.sizes, info.view.strides) * operand.size;
  bool loads =
      info.access == Access::Load || info.access == Access::LoadReduced;
  if (operand.ranks.empty())
    (loads ? traffic.ownRead : traffic.ownWritten) += bytes;
  for (int rank : operand.ranks)
    (rank == plan.rank ? loads ? traffic.ownRead : traffic.ownWritten
     : loads           ? traffic.othersRead
                       : traffic.othersWritten) += bytes;
}

Status Rows::prepare(const FunctionResolver &resolve) {
  for (const Loop &loop : part.loops) {
    PreparedLoop &prepared = loops.emplace_back();
    prepared.loop = &loop;
    if (!loop.function.empty() && resolve)
      prepared.function = resolve(loop.function);
    if (!loop.function.empty() && !prepared.function)
      return error("there is no function '", loop.function, "'");
    prepared.inputs = loop.inputs.size();
    for (const std::vector<LoopOperand> *list : {&loop.inputs, &loop.outputs})
      for (const LoopOperand &info : *list) {
        Operand operand = prepareOperand(loop, info);
        count(loop, info, operand);
        prepared.strides.insert(prepared.strides.end(), operand.strides.begin(),
                                operand.strides.end());
        prepared.operands.push_back(std::move(operand));
      }
    prepared.sizes = loop.sizes;
    prepared.data.resize(prepared.operands.size());
  }
  placeOperands();
  return Status();
}

/// Chooses the number of rows of a block and lays out its memory: the scratch
/// arrays, then the current loop's operands of other ranks.
void Rows::placeOperands() {
  /// The elements of a scratch array: a row's stride, and the extent of one
  /// row.
  struct Scratch {
    int64_t rowStride = 0, first = 0, size = 1;
    int64_t bytes(int64_t rows) const {
      return (first + (rows - 1) * rowStride) * size;
    }
  };
  std::map<int, Scratch> scratches;
  int64_t rowBytes = 0;
  for (PreparedLoop &loop : loops)
    for (Operand &operand : loop.operands) {
      const View &view = operand.info->view;
      if (operand.info->access == Access::Scratch) {
        Scratch &scratch = scratches[view.buffer];
        int64_t last = view.offset;
        for (size_t dim = 1; dim < view.strides.size(); ++dim)
          last += std::max<int64_t>(loop.loop->sizes[dim] - 1, 0) *
                  view.strides[dim];
        scratch.first = std::max(scratch.first, last + 1);
        scratch.rowStride = std::max(scratch.rowStride, view.strides[0]);
        scratch.size = std::max<int64_t>(scratch.size, operand.size);
        continue;
      }
      if (operand.info->access == Access::Index || operand.rowsRepeat)
        continue;
      auto copies = static_cast<int64_t>(operand.members.size()) + 1;
      rowBytes =
          addSaturating(rowBytes, operand.rowElements * operand.size * copies);
    }
  for (const auto &[number, scratch] : scratches)
    rowBytes = addSaturating(rowBytes, scratch.rowStride * scratch.size);
  blockRows = std::clamp<int64_t>(blockBytes / std::max<int64_t>(rowBytes, 1),
                                  1, std::max<int64_t>(part.rows, 1));
  std::map<int, int64_t> scratchOffsets;
  int64_t shared = 0;
  for (const auto &[number, scratch] : scratches) {
    scratchOffsets[number] = shared;
    shared = addSaturating(shared, aligned(scratch.bytes(blockRows)));
  }
  memoryBytes = shared;
  for (PreparedLoop &loop : loops) {
    int64_t offset = shared;
    for (Operand &operand : loop.operands) {
      if (operand.info->access == Access::Scratch)
        operand.blockOffset = scratchOffsets[operand.info->view.buffer] +
                              operand.info->view.offset * operand.size;
      if (operand.ranks.empty() || operand.info->access == Access::StoreAll)
        continue;
      operand.blockOffset = offset;
      offset = addSaturating(offset, operand.bytes(blockRows));
      if (operand.info->access != Access::LoadReduced)
        continue;
      operand.membersOffset = offset;
      offset = addSaturating(offset,
                             operand.bytes(blockRows) *
                                 static_cast<int64_t>(operand.members.size()));
    }
    memoryBytes = std::max(memoryBytes, offset);
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Status Rows::run(StreamContext &context) {
  Result<std::byte *> memory = context.work.get(memoryBytes);
  if (!memory)
    return memory.status();
  block = *memory;
  for (int64_t row = 0; row < part.rows; row += blockRows) {
    if (Status status = context.memory.failure(); !status)
      return status;
    int64_t rows = std::min(blockRows, part.rows - row);
    for (PreparedLoop &loop : loops)
      if (Status status = runLoop(context, loop, row, rows); !status)
        return status;
  }
  return Status();
}

/// The block's elements of a view in the memory of `rank`: in place if they are
/// contiguous, else gathered in `scratch`.
Result<const std::byte *> Rows::fetch(StreamContext &context,
                                      const PreparedLoop &loop,
                                      const Operand &operand, const View &view,
                                      int rank, int64_t row,
                                      std::byte *scratch) {
  RemotePlace from = context.place(view, rank, row * operand.rowStride());
  int64_t bytes = operand.count(loop.sizes[0]) * operand.size;
  if (operand.contiguous)
    return rank == plan.rank
               ? context.memory.at(rank, from.offset)
               : context.memory.view(rank, from.offset, bytes, scratch);
  CopyDims dims;
  for (size_t dim = 0; dim < loop.sizes.size(); ++dim)
    if (view.strides[dim] != 0)
      dims.push_back(
          {loop.sizes[dim], operand.strides[dim], view.strides[dim]});
  if (rank == plan.rank) {
    copyStrided(operand.size, dims, context.memory.at(rank, from.offset),
                scratch);
    return scratch;
  }
  if (Status status = context.remote.read(operand.size, dims, from, scratch);
      !status)
    return status;
  return scratch;
}

/// Writes an operand's block to the memory of other ranks.
Status Rows::send(StreamContext &context, const PreparedLoop &loop,
                  const Operand &operand, std::span<const int64_t> strides,
                  const std::byte *data, int64_t row) {
  const View &view = operand.info->view;
  CopyDims dims;
  for (size_t dim = 0; dim < loop.sizes.size(); ++dim)
    if (view.strides[dim] != 0)
      dims.push_back({loop.sizes[dim], view.strides[dim], strides[dim]});
  for (int rank : operand.ranks) {
    if (rank == plan.rank)
      continue;
    RemotePlace to = context.place(view, rank, row * operand.rowStride());
    if (Status status = context.remote.write(operand.size, dims, data, to);
        !status)
      return status;
  }
  return Status();
}

/// The address of an operand that the function gets. What the function reads
/// has been brought there.
Result<std::byte *> Rows::addressOf(StreamContext &context, PreparedLoop &loop,
                                    Operand &operand, int64_t row) {
  const LoopOperand &info = *operand.info;
  int64_t first = row * operand.rowStride();
  switch (info.access) {
  case Access::Index:
    operand.index = info.view.offset + first;
    return reinterpret_cast<std::byte *>(&operand.index);
  case Access::Scratch:
    return block + operand.blockOffset;
  case Access::Load:
    if (!operand.ranks.empty()) {
      Result<const std::byte *> data =
          fetch(context, loop, operand, info.view, operand.ranks[0], row,
                block + operand.blockOffset);
      // Compiled functions take non-const addresses of inputs too.
      return data ? Result(const_cast<std::byte *>(*data)) : data.status();
    }
    break;
  case Access::Store:
    if (!operand.ranks.empty())
      return block + operand.blockOffset;
    break;
  case Access::LoadReduced: {
    int64_t rows = loop.sizes[0];
    parts.clear();
    for (int member : operand.members) {
      auto number = static_cast<int64_t>(parts.size());
      View view = info.view;
      view.offset += number * info.slots;
      Result<const std::byte *> data = fetch(
          context, loop, operand, view, member, row,
          block + operand.membersOffset + number * operand.bytes(blockRows));
      if (!data)
        return data.status();
      parts.push_back(*data);
    }
    combine(info.reduction, info.type, parts, operand.count(rows),
            block + operand.blockOffset);
    return block + operand.blockOffset;
  }
  case Access::StoreAll:
    break;
  }
  return context.own(info.view, first);
}

Status Rows::runLoop(StreamContext &context, PreparedLoop &loop, int64_t row,
                     int64_t rows) {
  loop.sizes[0] = rows;
  for (size_t dim = 0;
       dim + static_cast<size_t>(loop.loop->reducedDims) < loop.sizes.size();
       ++dim)
    if (loop.sizes[dim] == 0)
      return Status();
  bool copies = !loop.function;
  for (size_t i = 0; i < loop.operands.size(); ++i) {
    Operand &operand = loop.operands[i];
    Result<std::byte *> address = addressOf(context, loop, operand, row);
    if (!address)
      return address.status();
    loop.data[i] = *address;
  }
  if (!copies) {
    int64_t failure = 0;
    loop.function(loop.sizes.data(), loop.data.data(), loop.strides.data(),
                  &failure);
    if (failure > 0 && failure <= static_cast<int64_t>(plan.failures.size()))
      return error(plan.failures[static_cast<size_t>(failure - 1)]);
    if (failure != 0)
      return error("function '", loop.loop->function, "' failed with code ",
                   failure, ", which the plan does not explain");
  }
  for (size_t i = loop.inputs; i < loop.operands.size(); ++i) {
    const Operand &operand = loop.operands[i];
    const Operand &source = loop.operands[copies ? 0 : i];
    const auto *data =
        static_cast<const std::byte *>(loop.data[copies ? 0 : i]);
    bool isOwn =
        operand.ranks.empty() || operand.info->access == Access::StoreAll;
    if (copies && isOwn) {
      CopyDims dims;
      for (size_t dim = 0; dim < loop.sizes.size(); ++dim)
        dims.push_back(
            {loop.sizes[dim], operand.strides[dim], source.strides[dim]});
      copyStrided(operand.size, dims, data,
                  static_cast<std::byte *>(loop.data[i]));
    }
    if (Status status = send(context, loop, operand, source.strides, data, row);
        !status)
      return status;
  }
  return Status();
}

} // namespace

Result<std::unique_ptr<PartKernel>> makeRows(const PlanMemory &plan,
                                             const RowsPart &part,
                                             const FunctionResolver &resolve) {
  auto rows = std::make_unique<Rows>(plan, part);
  if (Status status = rows->prepare(resolve); !status)
    return status;
  return std::unique_ptr<PartKernel>(std::move(rows));
}

} // namespace ccn::runtime
