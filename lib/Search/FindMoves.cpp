//===- FindMoves.cpp - What a schedule could do next ----------------------===//
//
// A line can only name what the program or an earlier line has named, so that
// everything here is about names and the operations that they stand for.
//
//===----------------------------------------------------------------------===//

#include "lib/Search/FindMoves.h"

#include "lib/CostModel/CostModel.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace ccn;
using namespace ccn::search;
using Primitive = Line::Primitive;

/// Sorts by keys; elements of one key stay in their order.
template <typename List, typename Key> static void sortBy(List &list, Key key) {
  std::multimap<decltype(key(list.front())), typename List::value_type> sorted;
  for (auto &element : list)
    sorted.emplace(key(element), element);
  llvm::copy(llvm::make_second_range(sorted), list.begin());
}

MoveFinder::MoveFinder(ProgramOp program, llvm::StringSet<> taken,
                       const llvm::StringSet<> &states)
    : program(program), taken(std::move(taken)), states(states),
      block(&program.getBody().front()) {
  forwardStores(program);
  findNames();
}

std::vector<Move> MoveFinder::find() {
  moves.clear();
  splits();
  reorders();
  sliceStates();
  std::vector<std::vector<bool>> tried;
  for (const Filter &filter :
       {Filter{true, true, true}, Filter{true, false, true},
        Filter{false, true, true}, Filter{false, false, true},
        Filter{true, false, false}, Filter{false, false, false}})
    fuses(filter, tried);
  recomputes();
  overlaps();
  buckets();
  return std::move(moves);
}

InFlightDiagnostic MoveFinder::emit() {
  return mlir::emitError(program.getLoc());
}

bool MoveFinder::canFuse(ArrayRef<Operation *> ops) {
  return succeeded(checkFuse(ops, [&] { return emit(); }));
}

void MoveFinder::findNames() {
  for (auto &[name, ops] : findAllNames(program)) {
    Named named;
    named.name = name.str();
    named.all = std::move(ops);
    for (Operation *op : named.all)
      if (!isa<UpdateOp, ConstantOp>(op))
        named.ops.push_back(op);
    named.isTop =
        !named.ops.empty() && llvm::all_of(named.ops, [&](Operation *op) {
          return op->getBlock() == block && !isa<OverlappedOp>(op);
        });
    named.isOpen = named.isTop && llvm::all_of(named.ops, [](Operation *op) {
                     return op->getNumRegions() == 0 && isEffectFree(op);
                   });
    names.push_back(std::move(named));
  }
}

Line MoveFinder::named(Line line, ArrayRef<StringRef> stems) const {
  auto isTaken = [&](StringRef name) {
    return taken.contains(name) ||
           llvm::any_of(names, [&](const Named &n) { return n.name == name; });
  };
  for (StringRef stem : stems) {
    std::string name = stem.str();
    for (unsigned i = 1; isTaken(name); ++i)
      name = stem.str() + std::to_string(i);
    line.results.push_back(name);
  }
  return line;
}

std::vector<const MoveFinder::Named *> MoveFinder::communicating() const {
  std::vector<const Named *> found;
  llvm::DenseSet<Operation *> ops;
  for (const Named &named : names)
    if (Operation *op = findCommunicating(named.all);
        op && op->getBlock() == block && ops.insert(op).second)
      found.push_back(&named);
  return found;
}

//===----------------------------------------------------------------------===//
// Split, reorder, slice_state
//===----------------------------------------------------------------------===//

void MoveFinder::splits() {
  llvm::DenseSet<Operation *> done;
  for (const Named &named : names) {
    if (!named.isTop ||
        llvm::count_if(named.ops, llvm::IsaPred<AllReduceOp>) != 1)
      continue;
    auto op = cast<AllReduceOp>(
        *llvm::find_if(named.ops, llvm::IsaPred<AllReduceOp>));
    if (!done.insert(op).second || op.getType().getRank() == 0)
      continue;
    Line line = this->named({.primitive = Primitive::Split,
                             .targets = {named.name},
                             .word = "rs_ag"},
                            {"rs", "ag"});
    // Opening a place for computation rarely pays by itself.
    OwningOpRef<ModuleOp> copy(program->getParentOfType<ModuleOp>().clone());
    auto opened = *copy->getOps<ProgramOp>().begin();
    if (failed(search::apply(line, opened, [&] { return emit(); })))
      continue;
    MoveFinder after(opened, taken, states);
    for (const Named &gather : after.names)
      if (gather.name == line.results.back())
        after.reorder(gather);
    for (Move &move : after.moves) {
      move.insert(move.begin(), line);
      moves.push_back(std::move(move));
    }
    add(line);
    if (op.getAxes().getNames().size() > 1)
      add(this->named({.primitive = Primitive::Split,
                       .targets = {named.name},
                       .word = "hierarchical"},
                      {"rs", "sum", "ag"}));
  }
}

void MoveFinder::reorders() {
  llvm::DenseSet<Operation *> done;
  for (const Named &named : names)
    if (named.isTop &&
        llvm::count_if(named.ops, llvm::IsaPred<AllGatherOp>) == 1 &&
        done.insert(*llvm::find_if(named.ops, llvm::IsaPred<AllGatherOp>))
            .second)
      reorder(named);
}

/// What the operations of `ops` that are in `below` depend on there, and they.
static llvm::SetVector<Operation *>
neededIn(const llvm::SetVector<Operation *> &below, ArrayRef<Operation *> ops) {
  llvm::SetVector<Operation *> needed;
  for (Operation *op : ops)
    if (below.contains(op))
      needed.insert(op);
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (Operation *definer = operand.getDefiningOp();
          definer && below.contains(definer))
        needed.insert(definer);
  return needed;
}

std::vector<std::string>
MoveFinder::lastOf(ArrayRef<const Named *> list,
                   const llvm::SetVector<Operation *> &below) const {
  SmallVector<const Named *> kept(list);
  auto count = [&] {
    OpSet ops;
    for (const Named *named : kept)
      llvm::append_range(ops, named->all);
    return neededIn(below, ops).size();
  };
  size_t whole = count();
  for (size_t i = 0; i < kept.size();) {
    const Named *one = kept[i];
    kept.erase(kept.begin() + i);
    if (kept.empty() || count() < whole)
      kept.insert(kept.begin() + i++, one);
  }
  std::vector<std::string> found;
  for (const Named *named : kept)
    found.push_back(named->name);
  return found;
}

void MoveFinder::reorder(const Named &gather) {
  llvm::SetVector<Operation *> below;
  below.insert(*llvm::find_if(gather.ops, llvm::IsaPred<AllGatherOp>));
  for (size_t i = 0; i < below.size(); ++i)
    for (Operation *user : below[i]->getUsers())
      if (user->getBlock() == block && !user->hasTrait<OpTrait::IsTerminator>())
        below.insert(user);
  IRRewriter rewriter(program.getContext());
  auto canReorder = [&](ArrayRef<const Named *> list) {
    SmallVector<OpSet> after;
    for (const Named *named : list)
      after.push_back(named->all);
    return succeeded(
        checkReorder(rewriter, gather.ops, after, [&] { return emit(); }));
  };
  // Each by itself, then all together.
  SmallVector<const Named *> legal, all;
  for (const Named &named : names)
    if (&named != &gather &&
        llvm::any_of(named.all,
                     [&](Operation *op) {
                       return op != below.front() && below.contains(op);
                     }) &&
        canReorder(&named))
      legal.push_back(&named);
  for (const Named *named : legal) {
    all.push_back(named);
    if (!canReorder(all))
      all.pop_back();
  }
  if (all.empty())
    return;
  auto propose = [&](ArrayRef<const Named *> list) {
    add(named({.primitive = Primitive::Reorder,
               .targets = {gather.name},
               .names = lastOf(list, below)},
              {"part", "whole"}));
  };
  propose(all);
  // The ends that are next to that.
  constexpr size_t maxOthers = 2;
  SmallVector<size_t> seen = {0};
  auto sizeOf = [&](const Named *named) {
    return neededIn(below, named->all).size();
  };
  OpSet ops;
  for (const Named *named : all)
    llvm::append_range(ops, named->all);
  seen.push_back(neededIn(below, ops).size());
  sortBy(legal, [&](const Named *named) { return -int64_t(sizeOf(named)); });
  size_t others = 0;
  for (const Named *named : legal) {
    if (others == maxOthers)
      break;
    if (llvm::is_contained(seen, sizeOf(named)))
      continue;
    seen.push_back(sizeOf(named));
    propose(named);
    ++others;
  }
}

void MoveFinder::sliceStates() {
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    if (!program.isInout(i) || !states.contains(program.getArgName(i)))
      continue;
    std::vector<UpdateOp> updates = program.getUpdates(i);
    if (!updates.empty() && llvm::all_of(updates, [](UpdateOp update) {
          return update.getValue().getDefiningOp<AllGatherOp>() != nullptr;
        }))
      add({.primitive = Primitive::SliceState,
           .targets = {program.getArgName(i).str()}});
  }
}

//===----------------------------------------------------------------------===//
// Fuse
//===----------------------------------------------------------------------===//

bool MoveFinder::Filter::allows(Operation *op) const {
  if (isa<CollectiveOpInterface>(op) &&
      cast<CollectiveOpInterface>(op).communicates())
    return collectives;
  if (isa<MatmulOp, Conv2dOp>(op))
    return products;
  if (isa<ReductionOp>(op))
    return reductions;
  return true;
}

bool MoveFinder::addTo(OpSet &set, const Named &named,
                       const std::vector<bool> &allowed) {
  llvm::SetVector<Operation *> larger(set.begin(), set.end());
  larger.insert(named.ops.begin(), named.ops.end());
  if (larger.size() == set.size())
    return false;
  if (canFuse(larger.getArrayRef())) {
    set.assign(larger.begin(), larger.end());
    return true;
  }
  // What stands between it and the set may have to come along.
  llvm::SetVector<Operation *> after, before;
  for (Operation &op : *block)
    if (larger.contains(&op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return operand.getDefiningOp() &&
                 after.contains(operand.getDefiningOp());
        }))
      after.insert(&op);
  for (Operation &op : llvm::reverse(*block))
    if (larger.contains(&op) ||
        llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return before.contains(user); }))
      before.insert(&op);
  for (Operation *op : after)
    if (before.contains(op) && !larger.contains(op)) {
      const Named *holder = nullptr;
      for (auto [i, other] : llvm::enumerate(names))
        if (allowed[i] && llvm::is_contained(other.ops, op) &&
            (!holder || other.ops.size() < holder->ops.size()))
          holder = &other;
      if (!holder)
        return false;
      larger.insert(holder->ops.begin(), holder->ops.end());
    }
  if (!canFuse(larger.getArrayRef()))
    return false;
  set.assign(larger.begin(), larger.end());
  return true;
}

void MoveFinder::grow(const Filter &filter, std::vector<bool> &allowed,
                      OpSet &set) {
  for (bool grows = true; grows;) {
    grows = false;
    for (auto [i, named] : llvm::enumerate(names)) {
      if (!allowed[i])
        continue;
      bool isNear = llvm::any_of(named.ops, [&](Operation *op) {
        return llvm::is_contained(set, op) ||
               llvm::any_of(op->getUsers(),
                            [&](Operation *user) {
                              return llvm::is_contained(set, user);
                            }) ||
               llvm::any_of(op->getOperands(), [&](Value operand) {
                 return operand.getDefiningOp() &&
                        llvm::is_contained(set, operand.getDefiningOp());
               });
      });
      grows |= isNear && addTo(set, named, allowed);
    }
  }
}

std::vector<std::string>
MoveFinder::namesOf(ArrayRef<Operation *> set,
                    const std::vector<bool> &allowed) const {
  // Few names, the largest first.
  SmallVector<const Named *> within;
  for (auto [i, named] : llvm::enumerate(names))
    if (allowed[i] && llvm::all_of(named.ops, [&](Operation *op) {
          return llvm::is_contained(set, op);
        }))
      within.push_back(&named);
  sortBy(within,
         [](const Named *named) { return -int64_t(named->ops.size()); });
  llvm::DenseSet<Operation *> covered;
  SmallVector<const Named *> chosen;
  for (const Named *named : within)
    if (llvm::any_of(named->ops,
                     [&](Operation *op) { return !covered.contains(op); })) {
      covered.insert(named->ops.begin(), named->ops.end());
      chosen.push_back(named);
    }
  // In the order of the program.
  llvm::DenseMap<Operation *, int64_t> places;
  for (Operation &op : *block)
    places.try_emplace(&op, places.size());
  sortBy(chosen,
         [&](const Named *named) { return places.lookup(named->ops.front()); });
  std::vector<std::string> list;
  for (const Named *named : chosen)
    list.push_back(named->name);
  return list;
}

void MoveFinder::fuses(const Filter &filter,
                       std::vector<std::vector<bool>> &tried) {
  std::vector<bool> allowed;
  for (const Named &named : names)
    allowed.push_back(named.isOpen &&
                      llvm::all_of(named.ops, [&](Operation *op) {
                        return filter.allows(op);
                      }));
  // Another filter may leave the same.
  if (llvm::is_contained(tried, allowed))
    return;
  tried.push_back(allowed);
  llvm::DenseSet<Operation *> done;
  for (auto [i, named] : llvm::enumerate(names)) {
    if (!allowed[i] || llvm::all_of(named.ops, [&](Operation *op) {
          return done.contains(op);
        }))
      continue;
    OpSet set = named.ops;
    grow(filter, allowed, set);
    done.insert(set.begin(), set.end());
    // Collectives alone are what buckets are for.
    if (set.size() < 2 || !canFuse(set) ||
        llvm::all_of(set, llvm::IsaPred<CollectiveOpInterface>))
      continue;
    add(this->named(
        {.primitive = Primitive::Fuse, .targets = namesOf(set, allowed)},
        {"kernel"}));
  }
}

//===----------------------------------------------------------------------===//
// Recompute
//===----------------------------------------------------------------------===//

llvm::SetVector<Operation *> MoveFinder::usersOf(const Named &named) {
  llvm::SetVector<Operation *> users;
  for (Operation *op : named.ops)
    for (Operation *user : op->getUsers())
      if (user->getBlock() != block || isa<UpdateOp>(user) ||
          user->hasTrait<OpTrait::IsTerminator>())
        return {};
      else if (!llvm::is_contained(named.ops, user))
        users.insert(user);
  return users;
}

void MoveFinder::recomputes() {
  const Filter elements = {false, false, false};
  for (const Named &value : names) {
    if (!value.isOpen || !llvm::all_of(value.ops, [&](Operation *op) {
          return elements.allows(op);
        }))
      continue;
    const llvm::SetVector<Operation *> users = usersOf(value);
    // The value and some of those that use it.
    auto withUsers = [&](auto isWanted) {
      llvm::SetVector<Operation *> ops(value.ops.begin(), value.ops.end());
      for (Operation *user : users)
        if (isWanted(user))
          ops.insert(user);
      return ops;
    };
    if (users.size() < 2 ||
        canFuse(withUsers([](Operation *) { return true; }).getArrayRef()))
      continue;
    for (const Named &user : names) {
      if (!user.isOpen || llvm::none_of(user.ops, [&](Operation *op) {
            return users.contains(op);
          }))
        continue;
      // What others need in memory is there anyway.
      if (!canFuse(withUsers([&](Operation *op) {
                     return !llvm::is_contained(user.ops, op);
                   }).getArrayRef()))
        continue;
      Line again = named({.primitive = Primitive::Recompute,
                          .targets = {value.name},
                          .names = {user.name}},
                         {"again"});
      Line kernel = named({.primitive = Primitive::Fuse,
                           .targets = {again.results.front(), user.name}},
                          {"kernel"});
      moves.push_back({std::move(again), std::move(kernel)});
    }
  }
}

//===----------------------------------------------------------------------===//
// Overlap, bucket, and choices
//===----------------------------------------------------------------------===//

/// Whether an operation of `users`, or one in it, uses a result of `makers`.
static bool usesAny(ArrayRef<Operation *> users, ArrayRef<Operation *> makers) {
  return llvm::any_of(makers, [&](Operation *maker) {
    return llvm::any_of(maker->getUsers(), [&](Operation *user) {
      Operation *top = maker->getBlock()->findAncestorOpInBlock(*user);
      return llvm::is_contained(users, top);
    });
  });
}

void MoveFinder::overlaps() {
  // Of names for the same operations, the first.
  SmallVector<const Named *> stages;
  for (const Named &named : names)
    if (named.isTop && llvm::none_of(stages, [&](const Named *other) {
          return other->ops == named.ops;
        }))
      stages.push_back(&named);
  auto communicates = [](const Named *named) {
    return llvm::any_of(named->ops,
                        [](Operation *op) { return communicatesAlong(op); });
  };
  auto follows = [&](const Named *next, ArrayRef<const Named *> chain) {
    for (const Named *before : chain)
      if (llvm::any_of(next->ops, [&](Operation *op) {
            return llvm::is_contained(before->ops, op);
          }))
        return false;
    return usesAny(next->ops, chain.back()->ops);
  };
  constexpr size_t maxStages = 4;
  // All pairs, and some of what is longer.
  size_t maxChains = 24 + 2 * stages.size();
  // Shorter ones first.
  std::vector<SmallVector<const Named *>> chains;
  for (const Named *stage : stages)
    chains.push_back({stage});
  size_t proposed = 0;
  for (size_t i = 0; i < chains.size() && proposed < maxChains; ++i) {
    SmallVector<const Named *> chain = chains[i];
    if (chain.size() > 1 && llvm::any_of(chain, communicates)) {
      std::vector<std::string> list;
      for (const Named *stage : chain)
        list.push_back(stage->name);
      add(named({.primitive = Primitive::Overlap,
                 .targets = list,
                 .number = defaultChunks},
                {"pipeline"}));
      ++proposed;
    }
    if (chain.size() == maxStages)
      continue;
    for (const Named *stage : stages)
      // Two stages that compute, one after the other, run at once only in part.
      if (follows(stage, chain) &&
          (communicates(stage) || communicates(chain.back()))) {
        chains.push_back(chain);
        chains.back().push_back(stage);
      }
  }
}
