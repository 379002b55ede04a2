//===- ShareArguments.cpp - Arguments that other ranks access -------------===//
//
// Lists all accesses to each buffer. For each symmetric buffer, looks for an
// argument that can replace it, and replaces it on all ranks.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/map/ShareArguments.h"

#include "codegen/gpu/map/PartOrder.h"
#include "runtime/plan/PartAccesses.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::runtime;

namespace {

/// One access of a part to a buffer.
struct BufferAccess {
  PartPlace place;
  bool writes = false;
  /// The rank whose memory is accessed, and the elements [begin, end).
  int owner = 0;
  int64_t begin = 0, end = 0;
  const View *view = nullptr;
  /// For a copy, the view at its other end; null for other parts.
  const View *other = nullptr;
  /// The loop that accesses the elements one by one, if a loop does.
  const Loop *loop = nullptr;
  /// Whether all of [begin, end) is accessed.
  bool isContiguous = true;

  bool meets(const BufferAccess &o) const {
    return owner == o.owner && begin < o.end && o.begin < end;
  }
};

/// The loop to which a view belongs, unless it reduces.
const Loop *elementwiseLoop(const RowsPart &rows, const View &view) {
  auto has = [&](const LoopOperand &operand) { return &operand.view == &view; };
  for (const Loop &loop : rows.loops)
    if (llvm::any_of(loop.inputs, has) || llvm::any_of(loop.outputs, has))
      return loop.reducedDims == 0 ? &loop : nullptr;
  return nullptr;
}

/// A buffer on all ranks: its index on each rank.
using BufferKey = std::vector<int>;

class Sharer {
public:
  explicit Sharer(Plan &plan) : plan(plan) {}

  std::vector<int> run();

private:
  void findSlots();
  void gather();
  void addPart(int rank, size_t launch, size_t part);
  const Buffer &bufferOf(int rank, int index) const {
    return plan.ranks[static_cast<size_t>(rank)]
        .buffers[static_cast<size_t>(index)];
  }
  const std::vector<BufferAccess> &accesses(int rank, int buffer) const {
    static const std::vector<BufferAccess> none;
    auto it = byBuffer.find({rank, buffer});
    return it == byBuffer.end() ? none : it->second;
  }
  std::vector<BufferKey> buffersIn(Memory memory) const;
  bool isInside(const BufferKey &buffer, const BufferKey &argument) const;
  bool isSameCopy(const BufferAccess &copy, int buffer, int argument) const;
  bool isInput(const BufferKey &buffer, const BufferKey &argument) const;
  bool isOutput(const BufferKey &buffer, const BufferKey &argument);
  void replace(const BufferKey &buffer, const BufferKey &argument);
  void replaceIn(int rank, size_t launch, int buffer, int argument);

  Plan &plan;
  std::map<std::pair<int, int>, std::vector<BufferAccess>> byBuffer;
  /// The launches of a rank that name a buffer, even if they access nothing.
  std::map<std::pair<int, int>, std::set<size_t>> launchesOf;
  /// Of the plan as it is; made when it is needed.
  std::optional<PartOrder> order;
  /// Buffers of the first rank with slots, into which other ranks put what it
  /// combines.
  std::set<int> withSlots;
};

void Sharer::addPart(int rank, size_t launch, size_t number) {
  const Part &part =
      plan.ranks[static_cast<size_t>(rank)].launches[launch].parts[number];
  const auto *copy = std::get_if<CopyPart>(&part);
  const auto *rows = std::get_if<RowsPart>(&part);
  forEachAccess(part, plan.groups, [&](const PartAccess<const View> &access) {
    const View &view = access.view;
    launchesOf[{rank, view.buffer}].insert(launch);
    if (access.extent == 0)
      return;
    BufferAccess found;
    found.place = {rank, launch, number};
    found.writes = access.writes;
    found.owner = access.ownerFor(rank);
    found.begin = view.offset;
    found.end = view.offset + access.extent;
    found.view = &view;
    if (copy)
      found.other = access.writes ? &copy->from : &copy->to;
    if (rows)
      found.loop = elementwiseLoop(*rows, view);
    found.isContiguous = access.isContiguous;
    byBuffer[{rank, view.buffer}].push_back(found);
  });
}

void Sharer::findSlots() {
  for (const Launch &launch : plan.ranks.front().launches)
    for (const Part &part : launch.parts)
      if (const auto *rows = std::get_if<RowsPart>(&part))
        for (const Loop &loop : rows->loops)
          for (const LoopOperand &input : loop.inputs)
            if (input.slots != 0)
              withSlots.insert(input.view.buffer);
}

void Sharer::gather() {
  for (auto [rank, own] : llvm::enumerate(plan.ranks))
    for (auto [l, launch] : llvm::enumerate(own.launches))
      for (size_t part = 0; part < launch.parts.size(); ++part)
        addPart(static_cast<int>(rank), l, part);
}

/// The buffers in a memory, in the order that they have on all ranks; none if
/// ranks have different numbers of them.
std::vector<BufferKey> Sharer::buffersIn(Memory memory) const {
  std::vector<BufferKey> keys;
  for (auto [rank, own] : llvm::enumerate(plan.ranks)) {
    size_t number = 0;
    for (auto [i, buffer] : llvm::enumerate(own.buffers)) {
      if (buffer.memory != memory)
        continue;
      if (rank == 0)
        keys.emplace_back();
      if (number == keys.size())
        return {};
      keys[number++].push_back(static_cast<int>(i));
    }
    if (number != keys.size())
      return {};
  }
  return keys;
}

/// Whether the argument has all elements that ranks access of the buffer.
bool Sharer::isInside(const BufferKey &buffer,
                      const BufferKey &argument) const {
  for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank)
    for (const BufferAccess &access :
         accesses(rank, buffer[static_cast<size_t>(rank)]))
      // Not all ranks need be planned (see mapKernels).
      if (static_cast<size_t>(access.owner) < argument.size() &&
          access.end > bufferOf(access.owner,
                                argument[static_cast<size_t>(access.owner)])
                           .count)
        return false;
  return true;
}

/// Whether a copy reads and writes the same elements of buffer and argument,
/// both in this rank's memory.
bool Sharer::isSameCopy(const BufferAccess &copy, int buffer,
                        int argument) const {
  return copy.other && copy.owner == copy.place.rank &&
         copy.view->buffer == buffer && copy.other->buffer == argument &&
         copy.other->rank < 0 && copy.other->offset == copy.view->offset &&
         copy.other->strides == copy.view->strides;
}

bool Sharer::isInput(const BufferKey &buffer, const BufferKey &argument) const {
  bool any = false;
  for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank) {
    auto r = static_cast<size_t>(rank);
    for (const BufferAccess &access : accesses(rank, buffer[r])) {
      if (!access.writes)
        continue;
      if (!isSameCopy(access, buffer[r], argument[r]))
        return false;
      any = true;
    }
    for (const BufferAccess &access : accesses(rank, argument[r]))
      if (access.writes)
        return false;
  }
  return any;
}

bool Sharer::isOutput(const BufferKey &buffer, const BufferKey &argument) {
  std::vector<BufferAccess> writes;
  for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank)
    for (const BufferAccess &access :
         accesses(rank, buffer[static_cast<size_t>(rank)]))
      if (access.writes)
        writes.push_back(access);
  for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank) {
    auto r = static_cast<size_t>(rank);
    // The whole argument must be copied, and nothing else may write to it.
    std::vector<std::pair<int64_t, int64_t>> copied;
    for (const BufferAccess &access : accesses(rank, argument[r])) {
      if (!access.writes)
        continue;
      if (!isSameCopy(access, argument[r], buffer[r]) || !access.isContiguous)
        return false;
      copied.emplace_back(access.begin, access.end);
    }
    llvm::sort(copied);
    int64_t reached = 0;
    for (auto [begin, end] : copied)
      if (begin <= reached)
        reached = std::max(reached, end);
    if (reached != bufferOf(rank, argument[r]).count)
      return false;
    // Reads of the argument must still get its former values.
    for (const BufferAccess &read : accesses(rank, argument[r])) {
      if (read.writes)
        continue;
      for (const BufferAccess &write : writes) {
        if (!write.meets(read))
          continue;
        bool isSame = write.loop && write.loop == read.loop &&
                      write.view->offset == read.view->offset &&
                      write.view->strides == read.view->strides;
        if (isSame)
          continue;
        if (!order)
          order.emplace(plan);
        if (!order->isBefore(read.place, write.place))
          return false;
      }
    }
  }
  return true;
}

/// Replaces a buffer in a launch of a rank, and lists its accesses anew.
void Sharer::replaceIn(int rank, size_t number, int buffer, int argument) {
  Launch &launch = plan.ranks[static_cast<size_t>(rank)].launches[number];
  std::set<int> accessed;
  for (Part &part : launch.parts) {
    forEachAccess(part, plan.groups, [&](const PartAccess<View> &access) {
      accessed.insert(access.view.buffer);
      if (access.view.buffer == buffer)
        access.view.buffer = argument;
    });
    // The views of its pieces are copies.
    if (auto *gather = std::get_if<GatherPart>(&part))
      for (View *view : {&gather->from, &gather->to})
        if (view->buffer == buffer)
          view->buffer = argument;
  }
  for (int each : accessed)
    llvm::erase_if(byBuffer[{rank, each}], [&](const BufferAccess &access) {
      return access.place.launch == number;
    });
  // Removes what are now copies to themselves.
  llvm::erase_if(launch.parts, [&](const Part &any) {
    const auto *copy = std::get_if<CopyPart>(&any);
    return copy && copy->from.buffer == argument &&
           copy->to.buffer == argument && copy->from.rank < 0 &&
           copy->to.rank < 0 && copy->from.offset == copy->to.offset &&
           copy->from.strides == copy->to.strides;
  });
  for (size_t part = 0; part < launch.parts.size(); ++part)
    addPart(rank, number, part);
}

void Sharer::replace(const BufferKey &buffer, const BufferKey &argument) {
  for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank) {
    auto r = static_cast<size_t>(rank);
    for (size_t launch : std::exchange(launchesOf[{rank, buffer[r]}], {}))
      replaceIn(rank, launch, buffer[r], argument[r]);
  }
  order.reset();
}

std::vector<int> Sharer::run() {
  std::vector<int> shared;
  findSlots();
  gather();
  std::vector<BufferKey> arguments = buffersIn(Memory::Argument);
  for (const BufferKey &buffer : buffersIn(Memory::Symmetric))
    for (auto [number, argument] : llvm::enumerate(arguments)) {
      bool fits = !withSlots.contains(buffer.front());
      for (int rank = 0; rank < static_cast<int>(buffer.size()); ++rank) {
        auto r = static_cast<size_t>(rank);
        const Buffer &a = bufferOf(rank, buffer[r]);
        const Buffer &b = bufferOf(rank, argument[r]);
        fits &= a.type == b.type && a.count >= b.count &&
                b.offset == static_cast<int64_t>(number);
      }
      // Views keep their offsets when the argument replaces the buffer, even in
      // another rank's memory, so the argument must have all elements that
      // ranks access.
      if (!fits || llvm::is_contained(shared, static_cast<int>(number)) ||
          !isInside(buffer, argument) ||
          !(isInput(buffer, argument) || isOutput(buffer, argument)))
        continue;
      replace(buffer, argument);
      shared.push_back(static_cast<int>(number));
      break;
    }
  return shared;
}

} // namespace

std::vector<int> codegen::shareArguments(Plan &plan) {
  return Sharer(plan).run();
}
