//===- Rewrites.cpp - Functions that rewrites share -----------------------===//
//
// Finds and copies names, reports refusals, and brings stores into the form
// that rewrites expect.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Rewrites.h"

using namespace mlir;
using namespace ccn;

LogicalResult ccn::refuse(EmitRefusal emit, StringRef condition,
                          const Twine &message, Operation *at) {
  InFlightDiagnostic diagnostic = emit();
  diagnostic << message << " (" << condition << ")";
  if (at)
    diagnostic.attachNote(at->getLoc()) << "in the program, this operation";
  return failure();
}

/// Calls look(name) for each name of an operation, in the program and in
/// schedules.
template <typename Look> static void forEachName(Operation *op, Look look) {
  if (auto let = op->getAttrOfType<StringAttr>(kLetAttr))
    look(let.getValue());
  if (auto tags = op->getAttrOfType<ArrayAttr>(kTagsAttr))
    for (auto tag : tags.getAsRange<StringAttr>())
      look(tag.getValue());
}

static bool hasName(Operation *op, StringRef name) {
  bool has = false;
  forEachName(op, [&](StringRef own) { has |= own == name; });
  return has;
}

llvm::StringSet<> ccn::namesIn(ProgramOp program) {
  llvm::StringSet<> names;
  program.getBody().walk([&](Operation *op) {
    forEachName(op, [&](StringRef name) { names.insert(name); });
  });
  return names;
}

OpSet ccn::findByName(ProgramOp program, StringRef name) {
  OpSet ops;
  program.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!hasName(op, name))
      return WalkResult::advance();
    ops.push_back(op);
    // A region with the name stands for all its operations.
    return WalkResult::skip();
  });
  return ops;
}

/// Adds the operations of some regions to their names, but for the names
/// `around`, which regions around them have.
static void addNamed(MutableArrayRef<Region> regions,
                     SmallVectorImpl<StringRef> &around, NamedOps &found) {
  for (Region &region : regions)
    for (Operation &op : region.getOps()) {
      size_t before = around.size();
      forEachName(&op, [&](StringRef name) {
        if (llvm::is_contained(around, name))
          return;
        found[name].push_back(&op);
        around.push_back(name);
      });
      addNamed(op.getRegions(), around, found);
      around.truncate(before);
    }
}

NamedOps ccn::findAllNames(ProgramOp program) {
  NamedOps found;
  SmallVector<StringRef> around;
  addNamed(program->getRegions(), around, found);
  return found;
}

SmallVector<OpSet> ccn::findAllByName(ProgramOp program,
                                      ArrayRef<std::string> names) {
  if (names.empty())
    return {};
  if (names.size() == 1)
    return {findByName(program, names.front())};
  const NamedOps found = findAllNames(program);
  return llvm::map_to_vector(
      names, [&](const std::string &name) { return found.lookup(name); });
}

void ccn::addTag(ArrayRef<Operation *> ops, StringRef name) {
  for (Operation *op : ops) {
    SmallVector<Attribute> tags;
    if (auto old = op->getAttrOfType<ArrayAttr>(kTagsAttr))
      llvm::append_range(tags, old);
    auto tag = StringAttr::get(op->getContext(), name);
    if (!llvm::is_contained(tags, tag))
      tags.push_back(tag);
    op->setAttr(kTagsAttr, ArrayAttr::get(op->getContext(), tags));
  }
}

void ccn::copyNames(Operation *from, Operation *to) {
  for (StringRef name : {kLetAttr, kTagsAttr})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

Operation *ccn::findCommunicating(ArrayRef<Operation *> value) {
  Operation *found = nullptr;
  for (Operation *op : value) {
    if (!communicatesAlong(op))
      continue;
    if (found)
      return nullptr;
    found = op;
  }
  return found;
}

void ccn::forwardStores(ProgramOp program) {
  for (auto update : program.getBody().getOps<UpdateOp>())
    update.getResult().replaceUsesWithIf(update.getValue(), [](OpOperand &use) {
      return !UpdateOp::isTarget(use);
    });
}
