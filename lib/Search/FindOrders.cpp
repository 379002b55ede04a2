//===- FindOrders.cpp - How what communicates could leave -----------------===//
//
// Moves that leave everything in its kernel: which collectives are sent
// together, in which order, and how.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CostModel.h"
#include "lib/Search/FindMoves.h"

#include "llvm/ADT/MapVector.h"

#include <algorithm>

using namespace mlir;
using namespace ccn;
using namespace ccn::search;
using Primitive = Line::Primitive;

/// What collectives of one bucket have in common: their kind, and the type of
/// their elements.
using BucketKey = std::pair<OperationName, Attribute>;
static BucketKey bucketKeyOf(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return {
      op->getName(),
      ArrayAttr::get(op->getContext(), {op->getPropertiesAsAttribute(),
                                        TypeAttr::get(type.getElementType())})};
}

static void addToBucket(Line &line, StringRef name, Operation *op,
                        MeshOp mesh) {
  line.primitive = Line::Primitive::Bucket;
  line.targets.push_back(name.str());
  line.number +=
      bytesOnRank(cast<RankedTensorType>(op->getOperand(0).getType()), mesh);
}

void MoveFinder::buckets() {
  llvm::MapVector<BucketKey, Line> groups;
  for (const Named *named : communicating()) {
    Operation *op = findCommunicating(named->all);
    if (isa<CollectiveOpInterface>(op))
      addToBucket(groups[bucketKeyOf(op)], named->name, op, program.getMesh());
  }
  for (auto &[key, line] : groups)
    if (line.targets.size() > 1 && line.number > 0)
      add(named(line, {"bucket"}));
}

std::vector<Move> MoveFinder::findOrders() {
  moves.clear();
  // How many may leave in any order.
  constexpr size_t maxPermuted = 3, maxOrdered = 4096;
  std::vector<std::string> list;
  for (const Named *named : communicating()) {
    Operation *op = findCommunicating(named->all);
    if (op->hasAttr(kPriorityAttr))
      return {};
    list.push_back(named->name);
  }
  if (list.size() < 2 || list.size() > maxOrdered)
    return {};
  auto propose = [&] { add({.primitive = Primitive::Order, .targets = list}); };
  propose();
  if (list.size() > maxPermuted) {
    std::reverse(list.begin(), list.end());
    propose();
    return std::move(moves);
  }
  std::vector<std::string> first = list;
  std::sort(list.begin(), list.end());
  do {
    if (list != first)
      propose();
  } while (std::next_permutation(list.begin(), list.end()));
  return std::move(moves);
}

std::vector<Move> MoveFinder::findOrderedBuckets() {
  moves.clear();
  // Bytes. Small buckets are sent early, large ones cost fewer meetings.
  constexpr int64_t limits[] = {1 << 18, 1 << 20, 1 << 22, 25 << 20};
  std::vector<const Named *> list = communicating();
  for (const Named *named : list)
    if (Operation *op = findCommunicating(named->all);
        !isa<CollectiveOpInterface>(op) || op->hasAttr(kPriorityAttr))
      return {};
  for (int64_t limit : limits) {
    Move move;
    llvm::StringSet<> given;
    Line order = {.primitive = Primitive::Order};
    auto close = [&](Line &bucket) {
      if (bucket.targets.size() > 1) {
        for (unsigned i = 0; bucket.results.empty(); ++i) {
          Line line =
              named(bucket, {i == 0 ? "bucket" : "bucket" + std::to_string(i)});
          if (given.insert(line.results[0]).second)
            bucket = std::move(line);
        }
        order.targets.push_back(bucket.results[0]);
        move.push_back(bucket);
      } else {
        llvm::append_range(order.targets, bucket.targets);
      }
    };
    // What was added to last is the last one.
    llvm::MapVector<BucketKey, Line> open;
    for (const Named *named : list) {
      Operation *op = findCommunicating(named->all);
      BucketKey key = bucketKeyOf(op);
      Line bucket = std::move(open[key]);
      open.erase(key);
      addToBucket(bucket, named->name, op, program.getMesh());
      if (bucket.number >= limit)
        close(bucket);
      else
        open[key] = std::move(bucket);
    }
    for (auto &[key, bucket] : open)
      close(bucket);
    if (move.empty() || order.targets.size() < 2)
      continue;
    move.push_back(std::move(order));
    moves.push_back(std::move(move));
  }
  return std::move(moves);
}

std::vector<Move> MoveFinder::findChoices() {
  moves.clear();
  for (const Named *named : communicating()) {
    Operation *top = findCommunicating(named->all);
    bool isChosen = false, hasReduce = false;
    top->walk([&](Operation *op) {
      isChosen |= op->hasAttr(kAlgorithmAttr) || op->hasAttr(kProtocolAttr);
      hasReduce |= isa<AllReduceOp, ReduceScatterOp>(op);
    });
    if (isChosen || !hasReduce)
      continue;
    for (const char *protocol : {"ll", "lamport", "push", "simple"})
      add({.primitive = Primitive::Protocol,
           .targets = {named->name},
           .word = protocol});
    for (const char *algorithm : {"one_shot", "two_shot"})
      add({.primitive = Primitive::Algorithm,
           .targets = {named->name},
           .word = algorithm});
  }
  return std::move(moves);
}
