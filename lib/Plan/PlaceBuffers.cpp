//===- PlaceBuffers.cpp - Where buffers lie -------------------------------===//
//
// Buffers that become arguments or results, and places in the arenas for the
// others.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Finish.h"

#include <algorithm>
#include <map>
#include <utility>

using namespace ccn;
using namespace ccn::plan;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

namespace {

/// Where in a plan something is accessed.
struct Position {
  size_t launch, part, loop;

  auto operator<=>(const Position &) const = default;
};

class Forwarder {
public:
  explicit Forwarder(PlanDraft &draft);

  /// Where the stores are, in order; as many on all ranks.
  std::vector<Position> findStores();
  /// Whether a store needs no copy: what it copies is there, or can be made
  /// there.
  bool canDrop(Position at) { return isThere(at) || canForward(at); }
  void drop(Position at);

private:
  struct Access {
    Strided *view;
    AllAttr all;
    bool isWrite;
    Position position;
  };

  bool isWhole(const Strided &view) const {
    return view.isRowMajor() && view.offset == 0 && !view.rank &&
           view.count() ==
               draft.buffers[static_cast<size_t>(view.buffer)].count;
  }
  bool isThere(Position at);
  bool canForward(Position at);
  bool isSafe(const CopyDraft &store, Position at);
  CopyDraft &storeAt(Position at) {
    return std::get<CopyDraft>(draft.launches[at.launch].parts[at.part]);
  }

  PlanDraft &draft;
  /// What accesses each buffer, in order.
  std::vector<std::vector<Access>> accesses;
};

/// Calls visit(view, all, isWrite, position) for all accesses in order.
template <typename Visit> void visitAll(PlanDraft &draft, Visit visit) {
  for (auto [l, launch] : llvm::enumerate(draft.launches))
    for (auto [p, part] : llvm::enumerate(launch.parts)) {
      if (auto *rows = std::get_if<RowsDraft>(&part)) {
        for (auto [i, loop] : llvm::enumerate(rows->loops)) {
          for (OperandDraft &input : loop.inputs)
            visit(input.view, input.all, false, Position{l, p, i});
          for (OperandDraft &output : loop.outputs)
            visit(output.view, output.all, true, Position{l, p, i});
        }
        continue;
      }
      forEachAccess(
          part, [&, l = l, p = p](Strided &view, AllAttr all, bool isWrite) {
            visit(view, all, isWrite, Position{l, p, 0});
          });
    }
}

/// Whether a part reads of a view, which it has among its operands, each
/// element before it writes that one, and no other afterwards: products and
/// convolutions read what they have written, rows are found anywhere in tables.
/// What an exchange takes and gives without a copy is in one order.
bool readsAsItWrites(const PartDraft &part, const Strided &view) {
  if (const auto *scatter = std::get_if<ScatterRowsDraft>(&part))
    return view != scatter->rows && view != scatter->indices;
  return std::holds_alternative<RowsDraft>(part) ||
         std::holds_alternative<CopyDraft>(part) ||
         std::holds_alternative<ExchangeDraft>(part);
}

Forwarder::Forwarder(PlanDraft &draft)
    : draft(draft), accesses(draft.buffers.size()) {
  visitAll(draft, [&](Strided &view, AllAttr all, bool isWrite, Position p) {
    accesses[static_cast<size_t>(view.buffer)].push_back(
        {&view, all, isWrite, p});
  });
}

/// Whether what makes the stored buffer may make it in the argument: whatever
/// reads the argument's old content does so before, or reads, in the part or
/// loop that writes it, the very element that is written.
bool Forwarder::isSafe(const CopyDraft &store, Position at) {
  const auto &source = accesses[static_cast<size_t>(store.from.buffer)];
  const auto &target = accesses[static_cast<size_t>(store.to.buffer)];
  bool right = true;
  auto segmentOf = [&](Position p) { return draft.launches[p.launch].segment; };
  std::optional<Position> first;
  for (const Access &access : source) {
    right &= !access.all && !access.view->rank;
    if (access.isWrite && !first)
      first = access.position;
    // What is made after the store is another value.
    right &= !(access.isWrite && access.position > at);
  }
  if (!right || !first)
    return false;
  for (const Access &access : target) {
    if (access.position == at)
      continue;
    // A later store in the argument ends the value's time there.
    if (access.isWrite)
      return false;
    if (access.position > at)
      continue;
    bool isBefore = access.position < *first &&
                    (segmentOf(access.position) != segmentOf(*first) ||
                     (access.position.launch == first->launch &&
                      access.position.part < first->part) ||
                     draft.launches[access.position.launch].stream ==
                         draft.launches[first->launch].stream);
    // Within a part, loops go row by row.
    if (isBefore && access.position.launch == first->launch &&
        access.position.part == first->part)
      isBefore = false;
    const PartDraft &part =
        draft.launches[access.position.launch].parts[access.position.part];
    bool isSame = readsAsItWrites(part, *access.view) &&
                  llvm::any_of(source, [&](const Access &write) {
                    Strided moved = *access.view;
                    moved.buffer = write.view->buffer;
                    return write.isWrite && write.position == access.position &&
                           *write.view == moved;
                  });
    // In chunks that are made one after the other it must be so for each.
    if (!isSame && !isBefore)
      return false;
  }
  return true;
}

std::vector<Position> Forwarder::findStores() {
  std::vector<Position> stores;
  for (auto [l, launch] : llvm::enumerate(draft.launches))
    for (auto [p, part] : llvm::enumerate(launch.parts))
      if (auto *copy = std::get_if<CopyDraft>(&part); copy && copy->isStore)
        stores.push_back({l, p, 0});
  return stores;
}

bool Forwarder::canForward(Position at) {
  CopyDraft &store = storeAt(at);
  BufferDraft &buffer = draft.buffers[static_cast<size_t>(store.from.buffer)];
  return buffer.memory == Memory::private_ && isWhole(store.from) &&
         isWhole(store.to) && isSafe(store, at);
}

bool Forwarder::isThere(Position at) {
  const Strided &from = storeAt(at).from, &to = storeAt(at).to;
  if (from.count() == 0)
    return true;
  bool same = from.buffer == to.buffer && from.offset == to.offset &&
              from.rank == to.rank;
  for (auto [size, a, b] :
       llvm::zip_equal(from.sizes, from.strides, to.strides))
    same &= a == b || size == 1;
  return same;
}

void Forwarder::drop(Position at) {
  CopyDraft &store = storeAt(at);
  store.isDropped = true;
  if (isThere(at))
    return;
  int to = store.to.buffer;
  auto &moved = accesses[static_cast<size_t>(store.from.buffer)];
  auto &all = accesses[static_cast<size_t>(to)];
  for (const Access &access : moved)
    access.view->buffer = to;
  std::vector<Access> merged;
  std::merge(all.begin(), all.end(), moved.begin(), moved.end(),
             std::back_inserter(merged), [](const Access &a, const Access &b) {
               return a.position < b.position;
             });
  all = std::move(merged);
  moved.clear();
}

/// Removes launches that do nothing on any rank and that nothing waits for.
void removeEmpty(llvm::MutableArrayRef<PlanDraft> ranks) {
  std::vector<bool> kept(ranks.front().launches.size());
  for (PlanDraft &draft : ranks) {
    assert(draft.launches.size() == kept.size() &&
           "all ranks have the same launches");
    for (auto [i, launch] : llvm::enumerate(draft.launches)) {
      kept[i] = kept[i] || !launch.parts.empty();
      for (int wait : launch.waits)
        kept[static_cast<size_t>(wait)] = true;
    }
  }
  for (PlanDraft &draft : ranks) {
    SmallVector<int> moved;
    std::vector<LaunchDraft> rest;
    // What those that go wait for, by stream: what follows there waits for it.
    std::map<int64_t, SmallVector<int>> inherited;
    for (auto [i, launch] : llvm::enumerate(draft.launches)) {
      moved.push_back(static_cast<int>(rest.size()));
      SmallVector<int> &left = inherited[launch.stream];
      for (int wait : launch.waits)
        if (int at = moved[static_cast<size_t>(wait)];
            !llvm::is_contained(left, at))
          left.push_back(at);
      if (!kept[i])
        continue;
      llvm::sort(left);
      launch.waits = std::exchange(left, {});
      rest.push_back(std::move(launch));
    }
    draft.launches = std::move(rest);
  }
}

} // namespace

void plan::forwardStores(llvm::MutableArrayRef<PlanDraft> ranks) {
  std::vector<Forwarder> forwarders;
  std::vector<std::vector<Position>> stores;
  for (PlanDraft &draft : ranks) {
    forwarders.emplace_back(draft);
    stores.push_back(forwarders.back().findStores());
  }
  for (size_t i = 0; i < stores.front().size(); ++i) {
    bool all = true;
    for (auto [forwarder, own] : llvm::zip_equal(forwarders, stores))
      all &= forwarder.canDrop(own[i]);
    for (auto [forwarder, own] : llvm::zip_equal(forwarders, stores))
      if (all)
        forwarder.drop(own[i]);
  }
  for (PlanDraft &draft : ranks)
    for (LaunchDraft &launch : draft.launches)
      llvm::erase_if(launch.parts, [](PartDraft &part) {
        auto *copy = std::get_if<CopyDraft>(&part);
        return copy && copy->isDropped;
      });
  removeEmpty(ranks);
}

//===----------------------------------------------------------------------===//
// Order of segments
//===----------------------------------------------------------------------===//

void plan::connectSegments(PlanDraft &draft) {
  // The last launches of the segment before, by stream, and of this one.
  std::map<int64_t, int> before, current;
  int at = -1;
  for (auto [i, launch] : llvm::enumerate(draft.launches)) {
    if (launch.segment != at) {
      if (!current.empty())
        before = std::move(current);
      current.clear();
      at = launch.segment;
    }
    if (!current.contains(launch.stream))
      for (auto [stream, last] : before)
        if (stream != launch.stream)
          launch.waitFor(last);
    current[launch.stream] = static_cast<int>(i);
    llvm::sort(launch.waits);
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t alignment = 64;

struct Lifetime {
  int first = -1, last = -1;

  void extend(int time) {
    first = first < 0 ? time : std::min(first, time);
    last = std::max(last, time);
  }
};

/// When each buffer is used: by launches of a stream at their number, and by
/// those of a segment of several streams in all of it.
std::vector<Lifetime> lifetimesOf(PlanDraft &draft) {
  std::vector<Lifetime> lifetimes(draft.buffers.size());
  llvm::DenseMap<int, Lifetime> segments;
  llvm::DenseMap<int, llvm::SmallDenseSet<int64_t>> streams;
  for (auto [i, launch] : llvm::enumerate(draft.launches)) {
    segments[launch.segment].extend(static_cast<int>(i));
    streams[launch.segment].insert(launch.stream);
  }
  for (auto [i, launch] : llvm::enumerate(draft.launches))
    for (PartDraft &part : launch.parts) {
      auto *rows = std::get_if<RowsDraft>(&part);
      forEachAccess(
          part, [&, i = i, &launch = launch](Strided &view, AllAttr, bool) {
            if (rows && llvm::is_contained(rows->scratch, view.buffer))
              return;
            Lifetime &life = lifetimes[static_cast<size_t>(view.buffer)];
            life.extend(static_cast<int>(i));
            if (streams[launch.segment].size() > 1) {
              life.extend(segments[launch.segment].first);
              life.extend(segments[launch.segment].last);
            }
          });
    }
  return lifetimes;
}

struct Block {
  size_t buffer;
  int64_t bytes;
  Lifetime life;
};

/// Blocks by when they live, to find those that meet another without a look at
/// all: a segment tree over the launches, and who starts at each.
class Timeline {
public:
  explicit Timeline(size_t times) : starts(times), nodes(2 * times) {}

  void insert(const Block &block) {
    auto first = static_cast<size_t>(block.life.first);
    starts[first].push_back(&block);
    size_t begin = first + starts.size();
    size_t end = static_cast<size_t>(block.life.last) + 1 + starts.size();
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2)
        nodes[begin++].push_back(&block);
      if (end % 2)
        nodes[--end].push_back(&block);
    }
  }

  /// Calls visit(block) once for each that lives at a time of `life`.
  template <typename Visit> void visitMeeting(Lifetime life, Visit visit) {
    auto first = static_cast<size_t>(life.first);
    for (size_t node = first + starts.size(); node > 0; node /= 2)
      llvm::for_each(nodes[node], visit);
    for (size_t i = first + 1; i <= static_cast<size_t>(life.last); ++i)
      llvm::for_each(starts[i], visit);
  }

private:
  std::vector<std::vector<const Block *>> starts, nodes;
};

/// First fit, the largest first.
void place(SmallVector<Block> blocks, Places &places) {
  llvm::stable_sort(
      blocks, [](const Block &a, const Block &b) { return a.bytes > b.bytes; });
  int last = -1;
  for (const Block &block : blocks)
    last = std::max(last, block.life.last);
  Timeline placed(static_cast<size_t>(last + 1));
  for (const Block &block : blocks) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    placed.visitMeeting(block.life, [&](const Block *other) {
      taken.push_back(
          {places[other->buffer], places[other->buffer] + other->bytes});
    });
    llvm::sort(taken);
    int64_t at = 0;
    for (auto [begin, end] : taken) {
      if (at + block.bytes <= begin)
        break;
      at = std::max(at, end);
    }
    places[block.buffer] = at;
    placed.insert(block);
  }
}

int64_t alignedBytes(const BufferDraft &buffer, int64_t count) {
  int64_t bytes = count * elementBytes(buffer.element);
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

std::vector<Places> plan::allocate(llvm::MutableArrayRef<PlanDraft> ranks) {
  std::vector<Places> places;
  // Symmetric buffers are made in the same order on all ranks.
  SmallVector<Block> shared;
  for (PlanDraft &draft : ranks) {
    places.emplace_back(draft.buffers.size(), -1);
    std::vector<Lifetime> lifetimes = lifetimesOf(draft);
    SmallVector<Block> own;
    size_t symmetric = 0;
    for (auto [i, buffer] : llvm::enumerate(draft.buffers)) {
      if (buffer.memory == Memory::symmetric) {
        if (symmetric == shared.size())
          shared.push_back(
              {symmetric, alignedBytes(buffer, buffer.largest), {}});
        if (lifetimes[i].first >= 0) {
          shared[symmetric].life.extend(lifetimes[i].first);
          shared[symmetric].life.extend(lifetimes[i].last);
        }
        ++symmetric;
      } else if (buffer.memory == Memory::private_ && lifetimes[i].first >= 0) {
        own.push_back({i, alignedBytes(buffer, buffer.count), lifetimes[i]});
      }
    }
    place(own, places.back());
  }
  Places symmetricPlaces(shared.size(), -1);
  llvm::erase_if(shared, [](Block &block) { return block.life.first < 0; });
  place(shared, symmetricPlaces);
  for (auto [draft, own] : llvm::zip_equal(ranks, places)) {
    size_t symmetric = 0;
    for (auto [i, buffer] : llvm::enumerate(draft.buffers))
      if (buffer.memory == Memory::symmetric)
        own[i] = symmetricPlaces[symmetric++];
  }
  return places;
}
