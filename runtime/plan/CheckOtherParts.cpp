//===- CheckOtherParts.cpp - Checks the parts that are no loops -----------===//
//
// Copies, barriers, products, rows of tables, exchanges and gathers.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/ExchangeMemory.h"
#include "runtime/plan/GatherPieces.h"
#include "runtime/plan/PartChecker.h"
#include "runtime/plan/SymmetricMemory.h"
#include "runtime/tensor/DistinctElements.h"

#include <algorithm>

namespace ccn::runtime {

Status PartChecker::operator()(const CopyPart &part) {
  if (Result<int64_t> count = elementCount(part.sizes); !count)
    return count.status();
  if (Status status = all({strided(part.from, part.sizes, ReadsAny),
                           strided(part.to, part.sizes, WritesAny)});
      !status)
    return status;
  return sameType(part.from, part.to);
}

Status PartChecker::operator()(const BarrierPart &part) {
  if (Status status = groupOf(part.group); !status)
    return status;
  auto members =
      static_cast<int64_t>(plan.groups[static_cast<size_t>(part.group)].size());
  if (part.flags < 0 || part.flags > rankPlan.flags - members)
    return error("expected ", members, " flags below ", rankPlan.flags,
                 ", found the first at ", part.flags);
  return Status();
}

Status PartChecker::operator()(const MatmulPart &part) {
  auto matrix = [&](const View &view, int64_t rows, int64_t columns, Use use) {
    std::vector<int64_t> sizes = part.batch;
    sizes.push_back(rows);
    sizes.push_back(columns);
    Result<int64_t> count = elementCount(sizes);
    return count ? strided(view, sizes, use) : count.status();
  };
  if (Status status = all({matrix(part.a, part.m, part.k, ReadsAny),
                           matrix(part.b, part.k, part.n, ReadsAny),
                           matrix(part.c, part.m, part.n, Writes)});
      !status)
    return status;
  std::vector<int64_t> sizes = part.batch;
  sizes.push_back(part.m);
  sizes.push_back(part.n);
  if (Result<int64_t> count = elementCount(sizes); !count)
    return count.status();
  return all(
      {sameType(part.a, part.b), sameType(part.a, part.c), numbers(part.a)});
}

Status PartChecker::operator()(const Conv2dPart &part) {
  for (const std::vector<int64_t> *shape :
       {&part.xShape, &part.wShape, &part.yShape})
    if (shape->size() != 4)
      return error("expected shapes of 4 dimensions, found ", shape->size());
  if (Status status = all({rowMajor(part.x, part.xShape, Reads),
                           rowMajor(part.w, part.wShape, Reads),
                           rowMajor(part.y, part.yShape, Writes)});
      !status)
    return status;
  if (Status status = all({sameType(part.x, part.w), sameType(part.x, part.y),
                           numbers(part.x)});
      !status)
    return status;
  ConvolutionSizes sizes = convolutionSizes(part);
  if (!sizes.vertical.setResult() || !sizes.horizontal.setResult())
    return error("expected filters of at least 1 x 1, a stride of at least 1 "
                 "and a padding of at least 0 that do not overflow");
  if (part.xShape[1] != part.wShape[1] ||
      part.yShape != std::vector<int64_t>{sizes.images, sizes.filters,
                                          sizes.vertical.result,
                                          sizes.horizontal.result})
    return error("the shapes of the convolution do not agree");
  return Status();
}

Status PartChecker::table(const View &table, const View &indices,
                          const View &rows, const View &to, int64_t tableRows,
                          int64_t rowSize, int64_t count) const {
  const int64_t counts[] = {count};
  const int64_t tableSizes[] = {tableRows, rowSize};
  if (Status status = all({rowMajor(table, tableSizes, Reads),
                           rowMajor(indices, counts, Reads),
                           buffer(rows, Reads), buffer(to, Writes)});
      !status)
    return status;
  if (Status status = all({sameType(table, rows), sameType(table, to)});
      !status)
    return status;
  if (!isInteger(type(indices)))
    return error("expected integers as indices, found ", name(type(indices)));
  return Status();
}

Status PartChecker::operator()(const GatherRowsPart &part) {
  if (Status status = table(part.table, part.indices, part.table, part.to,
                            part.tableRows, part.rowSize, part.count);
      !status)
    return status;
  const int64_t sizes[] = {part.count, part.rowSize};
  return rowMajor(part.to, sizes, Writes);
}

Status PartChecker::operator()(const ScatterRowsPart &part) {
  if (Status status = table(part.table, part.indices, part.rows, part.to,
                            part.tableRows, part.rowSize, part.count);
      !status)
    return status;
  const int64_t sizes[] = {part.count, part.rowSize};
  const int64_t tableSizes[] = {part.tableRows, part.rowSize};
  return all({rowMajor(part.rows, sizes, Reads),
              rowMajor(part.to, tableSizes, Writes), numbers(part.table)});
}

Status PartChecker::operator()(const ExchangePart &part) {
  const int64_t inputSizes[] = {part.inputCount};
  const int64_t outputSizes[] = {part.outputCount};
  if (Status status =
          all({groupOf(part.group), rowMajor(part.from, inputSizes, Reads),
               rowMajor(part.to, outputSizes, Writes)});
      !status)
    return status;
  if (part.exchange > Exchange::Schedule || part.reduction > ReduceKind::Mean)
    return error("the exchange or its reduction is unknown");
  ElementType element = type(part.from);
  if (Status status = sameType(part.from, part.to); !status)
    return status;
  if (part.largestCount < 0 || part.largestCount > maxSymmetricBytes ||
      std::max(part.inputCount, part.outputCount) > part.largestCount)
    return error("the largest group has ", part.largestCount,
                 " elements, this one ", part.inputCount, " and ",
                 part.outputCount);
  std::string what(name(element));
  if (part.exchange != Exchange::Schedule) {
    if (part.inputCount != part.outputCount)
      return error("expected as many elements of output as of input, found ",
                   part.outputCount, " and ", part.inputCount);
    if (part.exchange == Exchange::Lamport && isInteger(element))
      return error("protocol lamport takes floats and bool, found ", what);
    if (Result<int64_t> bytes = allReduceBytes(
            exchangeGroup(plan, part), element, part.inputCount, Protocol::LL);
        !bytes)
      return bytes.status();
    return checkReduction(part.reduction, element, what);
  }
  auto schedules = static_cast<int>(plan.schedules.size());
  if (part.schedule < 0 || part.schedule >= schedules)
    return error("expected a schedule below ", schedules, ", found ",
                 part.schedule);
  const ChunkSchedule &schedule =
      plan.schedules[static_cast<size_t>(part.schedule)];
  const std::vector<int> &group = plan.groups[static_cast<size_t>(part.group)];
  if (schedule.members != static_cast<int>(group.size()))
    return error("the group has ", group.size(), " ranks, the schedule ",
                 schedule.members);
  if (schedule.combining)
    if (Status status = checkScheduled(part.reduction, element); !status)
      return status;
  // This also checks the sizes and members of chunks.
  if (Result<ScheduledMemory> memory =
          scheduledMemory(schedule, element, part.reduction);
      !memory)
    return memory.status();
  auto own = static_cast<int>(std::find(group.begin(), group.end(), rank) -
                              group.begin());
  auto has = [&](const std::vector<int> &members) {
    return std::find(members.begin(), members.end(), own) != members.end();
  };
  for (const Chunk &chunk : schedule.chunks)
    if (chunk.count > 0 &&
        ((has(chunk.sources) &&
          chunk.inputFirst + chunk.count > part.inputCount) ||
         (has(chunk.destinations) &&
          chunk.outputFirst + chunk.count > part.outputCount)))
      return error("a chunk of the schedule lies beyond the ", part.inputCount,
                   " elements of input or the ", part.outputCount,
                   " of output");
  return Status();
}

Status PartChecker::operator()(const GatherPart &part) {
  if (Status status = groupOf(part.group); !status)
    return status;
  const std::vector<int> &group = plan.groups[static_cast<size_t>(part.group)];
  // The last member.
  int64_t last = part.firstMember;
  for (const PieceDim &dim : part.grid) {
    int64_t step;
    if (dim.count < 1 || dim.memberStep < 0 || dim.fromStep < 0 ||
        dim.toStep < 0)
      return error("expected at least one piece, and steps of at least 0");
    if (__builtin_mul_overflow(dim.count - 1, dim.memberStep, &step) ||
        __builtin_add_overflow(last, step, &last))
      return error("the members' numbers overflow");
  }
  if (part.firstMember < 0 || last >= static_cast<int64_t>(group.size()))
    return error("expected members below ", group.size(), ", found ",
                 part.firstMember, " to ", last);
  for (const View *view : {&part.from, &part.to})
    if (view->strides.size() != part.sizes.size())
      return error("expected a stride for each of ", part.sizes.size(),
                   " dimensions, found ", view->strides.size());
  std::vector<int64_t> sizes = gatheredSizes(part);
  View from = gatheredView(part, part.from, &PieceDim::fromStep),
       to = gatheredView(part, part.to, &PieceDim::toStep);
  Result<int64_t> count = elementCount(sizes);
  if (!count)
    return count.status();
  if (*count == 0)
    return error("expected pieces with elements");
  if (Status status =
          all({strided(from, sizes, Reads), strided(to, sizes, Writes)});
      !status)
    return status;
  if (Status status = sameType(from, to); !status)
    return status;
  const Buffer &read = rankPlan.buffers[static_cast<size_t>(from.buffer)],
               &written = rankPlan.buffers[static_cast<size_t>(to.buffer)];
  if (read.memory != Memory::Symmetric)
    return error("expected symmetric memory");
  if (!hasDistinctElements(sizes, to.strides))
    return error("the pieces overlap where they are written");
  // Other members may read there what this rank would overwrite.
  int64_t bytes = sizeInBytes(read.type);
  if (written.memory == Memory::Symmetric &&
      read.offset < written.offset + written.count * bytes &&
      written.offset < read.offset + read.count * bytes)
    return error("the pieces are written in the buffer that members read");
  return Status();
}

ConvolutionSizes convolutionSizes(const Conv2dPart &part) {
  auto axis = [&](size_t dim) {
    return ConvolutionAxis{part.xShape[dim], part.wShape[dim], part.stride,
                           part.padding, part.padding};
  };
  return {part.xShape[0], part.xShape[1], part.wShape[0], axis(2), axis(3)};
}

} // namespace ccn::runtime
