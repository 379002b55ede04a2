//===- ForwardStores.cpp - Values made where they are stored --------------===//
//
// Replaces buffers by the argument or result that they are copied to, so that
// the copy is not needed.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Passes.h"
#include "lib/Plan/Views.h"

#include <algorithm>
#include <map>
#include <utility>

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

namespace ccn::plan {
#define GEN_PASS_DEF_FORWARDSTORES
#include "lib/Plan/Passes.h.inc"
} // namespace ccn::plan

namespace {

/// Where in a plan an access is.
struct Position {
  size_t launch, part, loop;

  auto operator<=>(const Position &) const = default;
};

/// The stores of one rank's plan.
class Forwarder {
public:
  explicit Forwarder(PlanOp plan);

  size_t countStores() const { return stores.size(); }
  /// Whether store `i` needs no copy: the value that it copies is in the
  /// argument's memory already, or can be made there.
  bool canDrop(size_t i) { return isThere(i) || canForward(i); }
  void drop(size_t i);
  /// Removes the copies that were dropped, and the marks of the others.
  void finish();

private:
  struct PlacedAccess : Access {
    Position position;
  };
  struct Store {
    CopyOp copy;
    Position position;
    bool isDropped = false;
  };

  void add(PartOpInterface op, Position position);
  bool isThere(size_t i);
  bool canForward(size_t i);
  bool isSafe(Store &store);
  bool isDoneBefore(Position position, Position first);

  PlanOp plan;
  ViewMaker views;
  SmallVector<LaunchOp> launches;
  std::vector<Store> stores;
  /// The accesses to each buffer, in order.
  llvm::DenseMap<Operation *, std::vector<PlacedAccess>> accesses;
};

/// Whether a view is all of its buffer, in this rank's memory.
bool isWhole(Value view) {
  Strided strided = stridedOf(view);
  auto whole = cast<MemRefType>(bufferOf(view)->getResult(0).getType());
  return strided.isRowMajor() && strided.offset == 0 && !strided.rank &&
         strided.count() == whole.getNumElements();
}

Forwarder::Forwarder(PlanOp plan)
    : plan(plan), views(plan),
      launches(llvm::to_vector(plan.getBody().getOps<LaunchOp>())) {
  for (auto [l, launch] : llvm::enumerate(launches))
    for (auto [p, part] :
         llvm::enumerate(launch.getBody().getOps<PartOpInterface>())) {
      if (auto rows = dyn_cast<RowsOp>(part.getOperation())) {
        for (auto [i, loop] : llvm::enumerate(rows.getBody().getOps<LoopOp>()))
          add(loop, {l, p, i});
        continue;
      }
      add(part, {l, p, 0});
      if (auto copy = dyn_cast<CopyOp>(part.getOperation());
          copy && copy.getStore())
        stores.push_back({copy, {l, p, 0}});
    }
}

void Forwarder::add(PartOpInterface op, Position position) {
  for (const Access &access : op.getAccesses())
    accesses[bufferOf(access.getView())].push_back({access, position});
}

/// Whether the access at `position` is over when the part at `first` begins.
bool Forwarder::isDoneBefore(Position position, Position first) {
  LaunchOp launch = launches[position.launch], maker = launches[first.launch];
  // Loops of one part run together row by row, so none is done before another
  // begins.
  if (launch == maker)
    return position.part < first.part;
  return position < first && (launch.getSegment() != maker.getSegment() ||
                              launch.getStream() == maker.getStream());
}

/// Whether the stored buffer may be written directly in the argument. Each read
/// of the argument's old content must be done before the write, or be in the
/// part or loop that writes and read only the element that is written.
bool Forwarder::isSafe(Store &store) {
  const auto &source = accesses[bufferOf(store.copy.getFrom())];
  const auto &target = accesses[bufferOf(store.copy.getTo())];
  Position at = store.position;
  std::optional<Position> first;
  for (const PlacedAccess &access : source) {
    // A write after the store writes another value into the buffer.
    if (access.all || rankOf(access.getView()) ||
        (access.isWrite && access.position > at))
      return false;
    if (access.isWrite && !first)
      first = access.position;
  }
  if (!first)
    return false;
  for (const PlacedAccess &access : target) {
    if (access.position == at)
      continue;
    // A later store overwrites the value in the argument.
    if (access.isWrite)
      return false;
    if (access.position > at || isDoneBefore(access.position, *first))
      continue;
    // If chunks are written one after the other, this must hold for each.
    auto reader = cast<PartOpInterface>(access.operand->getOwner());
    if (!reader.readsInOrder(*access.operand) ||
        llvm::none_of(source, [&](const PlacedAccess &write) {
          return write.isWrite && write.position == access.position &&
                 stridedOf(write.getView()) == stridedOf(access.getView());
        }))
      return false;
  }
  return true;
}

bool Forwarder::canForward(size_t i) {
  CopyOp copy = stores[i].copy;
  return memoryOf(copy.getFrom()) == Memory::private_ &&
         isWhole(copy.getFrom()) && isWhole(copy.getTo()) && isSafe(stores[i]);
}

bool Forwarder::isThere(size_t i) {
  Value from = stores[i].copy.getFrom(), to = stores[i].copy.getTo();
  Strided source = stridedOf(from), target = stridedOf(to);
  if (source.count() == 0)
    return true;
  bool same = bufferOf(from) == bufferOf(to) &&
              source.offset == target.offset && source.rank == target.rank;
  for (auto [size, a, b] :
       llvm::zip_equal(source.sizes, source.strides, target.strides))
    same &= a == b || size == 1;
  return same;
}

void Forwarder::drop(size_t i) {
  Store &store = stores[i];
  store.isDropped = true;
  if (isThere(i))
    return;
  Operation *buffer = bufferOf(store.copy.getTo());
  std::vector<PlacedAccess> moved =
      std::exchange(accesses[bufferOf(store.copy.getFrom())], {});
  for (const PlacedAccess &access : moved)
    access.operand->set(views.view(
        access.getView().getLoc(), buffer->getResult(0),
        stridedOf(access.getView()), access.isWrite ? access.reduced : 0));
  std::vector<PlacedAccess> &all = accesses[buffer];
  std::vector<PlacedAccess> merged;
  std::merge(all.begin(), all.end(), moved.begin(), moved.end(),
             std::back_inserter(merged),
             [](const PlacedAccess &a, const PlacedAccess &b) {
               return a.position < b.position;
             });
  all = std::move(merged);
}

void Forwarder::finish() {
  for (Store &store : stores) {
    store.copy.setStore(false);
    if (store.isDropped)
      store.copy.erase();
  }
  tidyViews(plan);
}

/// Removes launches that have no parts on any rank and that no launch waits
/// for.
void removeEmpty(ArrayRef<PlanOp> ranks) {
  auto launchesOf = [](PlanOp plan) {
    return llvm::enumerate(llvm::to_vector(plan.getBody().getOps<LaunchOp>()));
  };
  SmallVector<bool> kept;
  for (PlanOp plan : ranks)
    for (auto [i, launch] : launchesOf(plan)) {
      kept.resize(std::max(kept.size(), i + 1));
      kept[i] = kept[i] || !launch.getBody().front().empty() ||
                !launch.getDone().use_empty();
    }
  for (PlanOp plan : ranks) {
    // For each stream, the events that the erased launches wait for. The next
    // launch of the stream waits for them instead.
    std::map<uint64_t, SmallVector<Value>> inherited;
    for (auto [i, launch] : launchesOf(plan)) {
      SmallVector<Value> &waits = inherited[launch.getStream()];
      llvm::append_range(waits, launch.getWaits());
      if (!kept[i]) {
        launch.erase();
        continue;
      }
      launch.setWaits(waits);
      waits.clear();
    }
  }
}

LogicalResult forwardStores(ArrayRef<PlanOp> ranks) {
  std::vector<Forwarder> forwarders;
  for (PlanOp plan : ranks) {
    forwarders.emplace_back(plan);
    size_t expected = forwarders.front().countStores(),
           found = forwarders.back().countStores();
    if (found != expected)
      return plan->emitOpError() << "expected as many stores as on rank "
                                 << PlanOp(ranks.front()).getRank() << ", "
                                 << expected << ", found " << found;
  }
  for (size_t i = 0; i < forwarders.front().countStores(); ++i)
    if (llvm::all_of(forwarders,
                     [&](Forwarder &own) { return own.canDrop(i); }))
      for (Forwarder &own : forwarders)
        own.drop(i);
  for (Forwarder &own : forwarders)
    own.finish();
  removeEmpty(ranks);
  return success();
}

struct ForwardStoresPass : plan::impl::ForwardStoresBase<ForwardStoresPass> {
  void runOnOperation() override {
    for (auto &[name, ranks] : plansByProgram(getOperation()))
      if (failed(verifyRanks(ranks)) || failed(forwardStores(ranks)))
        return signalPassFailure();
  }
};

} // namespace
