//===- Parts.cpp - The kernels of a plan's parts --------------------------===//
//
// One function for each kind of part. Products, convolutions and row tables use
// the code that the reference interpreter uses too (runtime/tensor); exchanges
// use the collectives.
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Parts.h"

#include "runtime/cpu/CollectiveSupport.h"
#include "runtime/cpu/ScheduledCollective.h"
#include "runtime/plan/CheckParts.h"
#include "runtime/plan/PartAccesses.h"
#include "runtime/plan/PlanFields.h"
#include "runtime/tensor/MatrixProduct.h"
#include "runtime/tensor/RowTable.h"
#include "runtime/tensor/Strided.h"

#include <algorithm>
#include <cstring>

namespace ccn::runtime {

namespace {

//===----------------------------------------------------------------------===//
// Copies and flags
//===----------------------------------------------------------------------===//

/// The dimensions that a CopyPart, or each piece of a GatherPart, copies.
CopyDims dimsOf(const auto &part) {
  CopyDims dims;
  for (size_t dim = 0; dim < part.sizes.size(); ++dim)
    dims.push_back(
        {part.sizes[dim], part.to.strides[dim], part.from.strides[dim]});
  return dims;
}

Status runPart(StreamContext &context, const CopyPart &part) {
  int size = sizeInBytes(context.plan.type(part.from));
  CopyDims dims = dimsOf(part);
  if (isEmpty(dims))
    return Status();
  bool fromOther = context.isRemote(part.from);
  bool toOther = context.isRemote(part.to);
  RemotePlace from = context.place(part.from, part.from.rank);
  RemotePlace to = context.place(part.to, part.to.rank);
  if (fromOther && toOther)
    return context.remote.relay(size, dims, from, to);
  if (fromOther)
    return context.remote.read(size, dims, from, context.own(part.to));
  if (toOther)
    return context.remote.write(size, dims, context.own(part.from), to);
  copyStrided(size, dims, context.own(part.from), context.own(part.to));
  return Status();
}

Status runPart(StreamContext &context, const GatherPart &part) {
  int size = sizeInBytes(context.plan.type(part.from));
  CopyDims dims = dimsOf(part);
  Members members = context.plan.members(part.group);
  // Each rank begins after its own piece, so that not all read from the same
  // member.
  for (int64_t i = 1, count = countPieces(part); i <= count; ++i) {
    GatheredPiece piece = pieceAt(part, (members.position + i) % count);
    std::byte *to = context.own(part.to, piece.to);
    if (piece.member == members.position) {
      copyStrided(size, dims, context.own(part.from, piece.from), to);
      continue;
    }
    int rank = members.rankAt(static_cast<int>(piece.member));
    if (Status status = context.remote.read(
            size, dims, context.place(part.from, rank, piece.from), to);
        !status)
      return status;
  }
  return Status();
}

Signals signals(const StreamContext &context, const char *what) {
  return {what, context.plan.flags};
}

Status runPart(StreamContext &context, const BarrierPart &part) {
  Signals arrival = signals(context, "arrival");
  arrival.offset += part.flags * Signals::stride;
  return barrier(context.memory, context.plan.members(part.group), arrival,
                 context.operation(), context.epoch);
}

Status runPart(StreamContext &context, const SignalPart &part) {
  signals(context, "").set(context.memory, part.rank, part.flag, context.epoch);
  return Status();
}

Status runPart(StreamContext &context, const AwaitPart &part) {
  return signals(context, "signal")
      .await(context.memory, part.rank, part.flag, context.operation(),
             context.epoch);
}

//===----------------------------------------------------------------------===//
// Products and rows
//===----------------------------------------------------------------------===//

/// An operand of a product: the matrices of a batch, which may lie in another
/// rank's memory.
class MatrixOperand {
public:
  MatrixOperand(StreamContext &context, const View &view, int64_t rows,
                int64_t columns, Workspace &workspace)
      : context(context), view(view), sizes{rows, columns},
        workspace(workspace) {}

  /// The matrix that begins `elements` elements after the view's first.
  Result<MatrixView> at(int64_t elements) {
    std::span<const int64_t> strides = std::span(view.strides).last(2);
    if (!context.isRemote(view))
      return MatrixView{context.own(view, elements), strides[0], strides[1]};
    // A matrix that serves the whole batch is fetched once.
    if (fetched.data && elements == fetchedAt)
      return fetched;
    int size = sizeInBytes(context.plan.type(view));
    int64_t bytes = sizes[0] * sizes[1] * size;
    Result<std::byte *> scratch = workspace.get(bytes);
    if (!scratch)
      return scratch.status();
    RemotePlace from = context.place(view, view.rank, elements);
    fetchedAt = elements;
    fetched = {*scratch, sizes[1], 1};
    if (isRowMajor(sizes, strides)) {
      fetched.data =
          context.memory.view(from.rank, from.offset, bytes, *scratch);
      return fetched;
    }
    Status status = context.remote.read(
        size, {{sizes[0], sizes[1], strides[0]}, {sizes[1], 1, strides[1]}},
        from, *scratch);
    return status ? Result(fetched) : status;
  }

private:
  StreamContext &context;
  const View &view;
  int64_t sizes[2];
  Workspace &workspace;
  MatrixView fetched;
  int64_t fetchedAt = 0;
};

Status runPart(StreamContext &context, const MatmulPart &part) {
  if (product(part.batch) * part.m * part.n == 0)
    return Status();
  MatrixOperand a(context, part.a, part.m, part.k, context.left);
  MatrixOperand b(context, part.b, part.k, part.n, context.right);
  // Where the matrices of a and b begin, and in a second loop those of c.
  CopyDims inputs, outputs;
  for (size_t dim = 0; dim < part.batch.size(); ++dim) {
    inputs.push_back(
        {part.batch[dim], part.a.strides[dim], part.b.strides[dim]});
    outputs.push_back({part.batch[dim], part.c.strides[dim], 0});
  }
  std::vector<int64_t> results;
  forEachIndex(outputs,
               [&](int64_t first, int64_t) { results.push_back(first); });
  size_t batch = 0;
  Status status;
  std::span<const int64_t> strides = std::span(part.c.strides).last(2);
  forEachIndex(inputs, [&](int64_t aFirst, int64_t bFirst) {
    int64_t cFirst = results[batch++];
    if (!status)
      return;
    // Operands without elements have no address.
    Result<MatrixView> left = part.k ? a.at(aFirst) : MatrixView();
    Result<MatrixView> right = part.k ? b.at(bFirst) : MatrixView();
    if (!left || !right)
      status = left ? right.status() : left.status();
    else
      status = multiplyMatrices(
          context.plan.type(part.c), {part.m, part.n, part.k}, *left, *right,
          context.own(part.c, cFirst), strides[0], strides[1], context.work);
  });
  return status;
}

Status runPart(StreamContext &context, const Conv2dPart &part) {
  if (product(part.yShape) == 0)
    return Status();
  ConvolutionSizes sizes = convolutionSizes(part);
  if (!sizes.vertical.setResult() || !sizes.horizontal.setResult())
    return error("the convolution's sizes overflow");
  return convolve(context.plan.type(part.x), sizes, context.own(part.x),
                  context.own(part.w), context.own(part.y), context.work);
}

Status runPart(StreamContext &context, const GatherRowsPart &part) {
  return gatherRows(context.plan.type(part.table),
                    {part.tableRows, part.rowSize, part.count},
                    context.own(part.table), context.plan.type(part.indices),
                    context.own(part.indices), context.own(part.to));
}

Status runPart(StreamContext &context, const ScatterRowsPart &part) {
  ElementType type = context.plan.type(part.table);
  int64_t bytes = part.tableRows * part.rowSize * sizeInBytes(type);
  std::byte *to = context.own(part.to);
  if (bytes > 0)
    std::memmove(to, context.own(part.table), static_cast<size_t>(bytes));
  return addRows(type, {part.tableRows, part.rowSize, part.count},
                 context.plan.type(part.indices), context.own(part.indices),
                 context.own(part.rows), to, context.order);
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

/// What a part reads and writes that is neither RowsPart nor ExchangePart.
Traffic trafficOf(const StreamContext &context, const Plan &plan,
                  const Part &part) {
  Traffic traffic;
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    const View &view = access.view;
    int64_t elements = access.sizes.empty()
                           ? access.extent
                           : distinctElements(access.sizes, view.strides);
    // Only those rows of the table are read that the indices name.
    if (const auto *gather = std::get_if<GatherRowsPart>(&part);
        gather && &view == &gather->table)
      elements = gather->count * gather->rowSize;
    int64_t bytes = elements * sizeInBytes(context.plan.type(view));
    if (access.ownerFor(context.plan.rank) != context.plan.rank)
      (access.writes ? traffic.othersWritten : traffic.othersRead) += bytes;
    else
      (access.writes ? traffic.ownWritten : traffic.ownRead) += bytes;
  });
  return traffic;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A part that needs no preparation.
template <typename Part> class PlainPart : public PartKernel {
public:
  explicit PlainPart(const Part &part) : part(part) {}
  Status run(StreamContext &context) override { return runPart(context, part); }

private:
  const Part &part;
};

class ExchangeKernel : public PartKernel {
public:
  ExchangeKernel(const ExchangePart &part, CollectivePtr collective)
      : part(part), collective(std::move(collective)) {}
  Status run(StreamContext &context) override {
    return collective->run(context.own(part.from), context.own(part.to));
  }

private:
  const ExchangePart &part;
  CollectivePtr collective;
};

Result<std::unique_ptr<PartKernel>> makeExchange(const Plan &plan,
                                                 const PlanMemory &memory,
                                                 StreamContext &context,
                                                 size_t launch, size_t index) {
  const std::vector<Part> &parts = memory.plan.launches[launch].parts;
  const auto &part = std::get<ExchangePart>(parts[index]);
  ElementType type = exchangeType(memory.plan, part);
  Group group = exchangeGroup(plan, part);
  Result<CollectivePtr> collective = CollectivePtr();
  if (part.exchange == Exchange::Schedule) {
    auto number = std::count_if(
        parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(index),
        [](const Part &p) { return std::holds_alternative<ExchangePart>(p); });
    Result<ScheduledMemory> largest =
        largestSchedule(plan, launch, static_cast<size_t>(number));
    if (!largest)
      return largest.status();
    collective = makeScheduled(context.memory, group, type, part.reduction,
                               scheduleOf(plan, part), {}, *largest);
  } else {
    collective = makeAllReduce(context.memory, group, type, part.reduction,
                               part.inputCount, protocolOf(part));
  }
  if (!collective)
    return collective.status();
  int64_t sent = (*collective)->bytesSent();
  auto kernel = std::make_unique<ExchangeKernel>(part, *std::move(collective));
  int size = sizeInBytes(type);
  Traffic &traffic = kernel->traffic;
  traffic.ownRead = part.inputCount * size;
  traffic.ownWritten = part.outputCount * size;
  traffic.othersWritten = sent;
  return std::unique_ptr<PartKernel>(std::move(kernel));
}

} // namespace

Result<std::unique_ptr<PartKernel>>
makePart(const Plan &plan, const PlanMemory &memory, StreamContext &context,
         size_t launch, size_t index, const FunctionResolver &resolve) {
  const Part &part = memory.plan.launches[launch].parts[index];
  auto make = [&](const auto &p) -> Result<std::unique_ptr<PartKernel>> {
    using Kind = std::decay_t<decltype(p)>;
    if constexpr (std::is_same_v<Kind, RowsPart>) {
      return makeRows(memory, p, resolve);
    } else if constexpr (std::is_same_v<Kind, ExchangePart>) {
      return makeExchange(plan, memory, context, launch, index);
    } else {
      auto kernel = std::make_unique<PlainPart<Kind>>(p);
      kernel->traffic = trafficOf(context, plan, part);
      return std::unique_ptr<PartKernel>(std::move(kernel));
    }
  };
  Result<std::unique_ptr<PartKernel>> kernel = std::visit(make, part);
  if (kernel)
    (*kernel)->name = names<Part>[part.index()];
  return kernel;
}

} // namespace ccn::runtime
