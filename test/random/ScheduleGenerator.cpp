//===- ScheduleGenerator.cpp - Random lines of schedules ------------------===//
//
// Looks at the names of a program and what they stand for, and writes lines.
//
//===----------------------------------------------------------------------===//

#include "ScheduleGenerator.h"

#include "lib/Frontend/Primitives.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace ccn;
using namespace ccn::random;
using mlir::Operation;

std::string random::primitiveOf(llvm::StringRef line) {
  if (line.starts_with("let "))
    line = line.split(" = ").second;
  return line.split(' ').first.str();
}

/// The operation of the program's own block that holds `op`, or is it.
static Operation *topOf(Operation *op) {
  while (!llvm::isa<ProgramOp>(op->getParentOp()))
    op = op->getParentOp();
  return op;
}

static std::string join(const std::vector<std::string> &names) {
  return llvm::join(names, ", ");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void ScheduleGenerator::look(ProgramOp program) {
  llvm::SetVector<llvm::StringRef> all;
  program.getBody().walk([&](Operation *op) {
    if (auto let = op->getAttrOfType<mlir::StringAttr>(kLetAttr))
      all.insert(let.getValue());
    if (auto tags = op->getAttrOfType<mlir::ArrayAttr>(kTagsAttr))
      for (auto tag : tags.getAsRange<mlir::StringAttr>())
        all.insert(tag.getValue());
  });
  names.clear();
  for (llvm::StringRef name : all) {
    Named named;
    named.name = name.str();
    named.ops = findByName(program, name);
    llvm::SetVector<Operation *> tops;
    for (Operation *op : named.ops)
      tops.insert(topOf(op));
    named.tops = OpSet(tops.getArrayRef());
    named.communicating = findCommunicating(named.ops);
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      named.isInout |= program.isInout(i) && program.getArgName(i) == name;
    names.push_back(std::move(named));
  }
}

std::vector<const ScheduleGenerator::Named *>
ScheduleGenerator::where(llvm::function_ref<bool(const Named &)> test) const {
  std::vector<const Named *> found;
  for (const Named &named : names)
    if (test(named))
      found.push_back(&named);
  return found;
}

std::vector<const ScheduleGenerator::Named *>
ScheduleGenerator::usersOf(const Named &named) const {
  llvm::DenseSet<Operation *> users;
  for (Operation *top : named.tops)
    for (Operation *user : top->getUsers())
      users.insert(topOf(user));
  return where([&](const Named &other) {
    return &other != &named && llvm::any_of(other.tops, [&](Operation *top) {
      return users.contains(top) && !llvm::is_contained(named.tops, top);
    });
  });
}

std::vector<const ScheduleGenerator::Named *>
ScheduleGenerator::below(const Named &named) const {
  llvm::SetVector<Operation *> reached;
  for (Operation *top : named.tops)
    reached.insert(top);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i]->getUsers())
      reached.insert(topOf(user));
  return where([&](const Named &other) {
    return &other != &named && llvm::any_of(other.tops, [&](Operation *top) {
      return reached.contains(top) && !llvm::is_contained(named.tops, top);
    });
  });
}

std::string ScheduleGenerator::results(const Names &stems) {
  if (random.chance(0.15))
    return "";
  for (const std::string &stem : stems)
    proposed.push_back(stem + std::to_string(lines));
  return "let " +
         (proposed.size() > 1 ? "(" + join(proposed) + ")" : proposed.front()) +
         " = ";
}

std::string ScheduleGenerator::anyName() {
  if (names.empty() || random.chance(0.02))
    return random.pick<std::string>({"x0", "nothing", "a"});
  return random.pick(names).name;
}

ScheduleGenerator::Names ScheduleGenerator::anyNames(int64_t least,
                                                     int64_t most) {
  Names found;
  for (int64_t i = random.between(least, most); i > 0; --i) {
    std::string name = anyName();
    if (!llvm::is_contained(found, name))
      found.push_back(name);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Lines that are likely to be legal
//===----------------------------------------------------------------------===//

ScheduleGenerator::Line ScheduleGenerator::split() {
  auto found = where([](const Named &named) {
    return llvm::count_if(named.ops, llvm::IsaPred<AllReduceOp>) == 1;
  });
  if (found.empty())
    return std::nullopt;
  const Named &x = *random.pick(found);
  auto form = random.weighted<std::string>({{6, ""},
                                            {3, " as rs_ag"},
                                            {1, " as reduce_broadcast"},
                                            {1, " as hierarchical"}});
  auto reduce = llvm::cast<AllReduceOp>(
      *llvm::find_if(x.ops, llvm::IsaPred<AllReduceOp>));
  if (reduce.getAxes().getNames().size() > 1 && random.chance(0.4))
    form = " as hierarchical";
  if (form == " as hierarchical")
    return results({"rs", "ar", "ag"}) + "split " + x.name + form;
  if (form == " as reduce_broadcast")
    return results({"red", "bc"}) + "split " + x.name + form;
  return results({"rs", "ag"}) + "split " + x.name + form;
}

ScheduleGenerator::Line ScheduleGenerator::reorder() {
  auto found = where([](const Named &named) {
    return llvm::count_if(named.ops, llvm::IsaPred<AllGatherOp>) == 1;
  });
  if (found.empty())
    return std::nullopt;
  // Mostly the gather of the last split.
  const Named *gather = random.pick(found);
  for (const Named *named : found)
    if (!parts.empty() && named->name == parts.back() && random.chance(0.6))
      gather = named;
  auto after = below(*gather);
  if (after.empty())
    return std::nullopt;
  Names targets;
  if (random.chance(0.4))
    targets.push_back(after.back()->name);
  else
    targets.push_back(random.pick(after)->name);
  if (random.chance(0.3)) {
    const std::string &other = random.pick(after)->name;
    if (other != targets.front())
      targets.push_back(other);
  }
  return results({"part", "ends"}) + "reorder " + gather->name + " after " +
         join(targets);
}

ScheduleGenerator::Line ScheduleGenerator::sliceState() {
  auto gathered = where([](const Named &named) {
    return named.isInout && llvm::any_of(named.ops, [](Operation *op) {
             auto update = llvm::dyn_cast<UpdateOp>(op);
             return update && update.getValue().getDefiningOp<AllGatherOp>();
           });
  });
  if (!gathered.empty() && random.chance(0.85))
    return "slice_state " + random.pick(gathered)->name;
  auto states = where([](const Named &named) { return named.isInout; });
  if (states.empty())
    return std::nullopt;
  return "slice_state " + random.pick(states)->name;
}

ScheduleGenerator::Line ScheduleGenerator::fuseParts() {
  if (parts.size() < 2)
    return std::nullopt;
  // All of them, or the computations alone.
  Names some = parts;
  if (parts.size() > 2 && random.chance(0.4))
    some = {parts[parts.size() - 2]};
  return results({"k"}) + "fuse " + join(some);
}

ScheduleGenerator::Line ScheduleGenerator::fuse() {
  if (random.chance(0.35))
    if (Line line = fuseParts())
      return line;
  if (random.chance(0.15)) {
    Names some = sameCollectives();
    if (some.size() > 1)
      return results({"k"}) + "fuse " + join(some);
  }
  auto computing = where([](const Named &named) {
    return llvm::none_of(named.tops, [](Operation *op) {
      return op->getNumRegions() != 0 || llvm::isa<UpdateOp>(op);
    });
  });
  if (computing.empty())
    return std::nullopt;
  // One value of several operations, or a chain of producers and consumers.
  const Named *at = random.pick(computing);
  Names chain = {at->name};
  for (int64_t i = random.below(4); i > 0; --i) {
    auto users = usersOf(*at);
    if (users.empty())
      break;
    at = random.pick(users);
    if (!llvm::is_contained(chain, at->name))
      chain.push_back(at->name);
  }
  return results({"k"}) + "fuse " + join(chain);
}

std::string ScheduleGenerator::chunks() {
  return random.weighted<std::string>({{6, ""},
                                       {2, " chunks 1"},
                                       {4, " chunks 2"},
                                       {2, " chunks 3"},
                                       {1, " chunks 7"}});
}

ScheduleGenerator::Line ScheduleGenerator::overlapParts() {
  if (parts.size() < 2)
    return std::nullopt;
  return results({"o"}) + "overlap " + join(parts) + chunks();
}

ScheduleGenerator::Line ScheduleGenerator::overlap() {
  if (random.chance(0.35))
    if (Line line = overlapParts())
      return line;
  // A chain with a collective in it: back from it, then forth.
  auto moving = where([](const Named &named) {
    return named.communicating &&
           !llvm::isa<OverlappedOp>(topOf(named.communicating));
  });
  if (moving.empty())
    return std::nullopt;
  const Named *middle = random.pick(moving);
  Names chain = {middle->name};
  int64_t length = random.between(2, 4);
  const Named *first = middle, *last = middle;
  for (int attempt = 0; attempt < 6 && int64_t(chain.size()) < length;
       ++attempt) {
    if (random.chance(0.5)) {
      auto makers = where([&](const Named &named) {
        return llvm::is_contained(usersOf(named), first);
      });
      if (makers.empty())
        continue;
      first = random.pick(makers);
      if (llvm::is_contained(chain, first->name))
        break;
      chain.insert(chain.begin(), first->name);
    } else {
      auto users = usersOf(*last);
      if (users.empty())
        continue;
      last = random.pick(users);
      if (llvm::is_contained(chain, last->name))
        break;
      chain.push_back(last->name);
    }
  }
  if (chain.size() < 2)
    return std::nullopt;
  return results({"o"}) + "overlap " + join(chain) + chunks();
}

/// Names of collectives that could share a launch; empty if there are none.
ScheduleGenerator::Names ScheduleGenerator::sameCollectives() {
  auto alone = [](const Named &named) {
    return named.communicating &&
           llvm::isa<CollectiveOpInterface>(named.communicating) &&
           llvm::isa<ProgramOp>(named.communicating->getParentOp());
  };
  auto found = where(alone);
  if (found.empty())
    return {};
  const Named *like = random.pick(found);
  auto element = [](const Named &named) {
    return mlir::getElementTypeOrSelf(
        named.communicating->getOperand(0).getType());
  };
  auto same = where([&](const Named &named) {
    return alone(named) &&
           named.communicating->getName() == like->communicating->getName() &&
           named.communicating->getPropertiesAsAttribute() ==
               like->communicating->getPropertiesAsAttribute() &&
           element(named) == element(*like);
  });
  llvm::SetVector<Operation *> ops;
  Names some;
  for (const Named *named : same)
    if (ops.insert(named->communicating) && random.chance(0.8))
      some.push_back(named->name);
  return some;
}

ScheduleGenerator::Line ScheduleGenerator::bucket() {
  Names some = sameCollectives();
  if (some.empty() || (some.size() == 1 && random.chance(0.7)))
    return std::nullopt;
  // Thousands of buckets, each an operation, say no more than hundreds.
  int64_t elements = 0;
  for (const Named *named : where([&](const Named &named) {
         return named.communicating && llvm::is_contained(some, named.name);
       }))
    elements =
        std::max(elements, llvm::cast<mlir::TensorType>(
                               named->communicating->getOperand(0).getType())
                               .getNumElements());
  int64_t size = random.pick<int64_t>({1, 7, 16, 40, 100, 1000000});
  return results({"b"}) + "bucket " + join(some) + " size " +
         std::to_string(std::max(size, elements / 256));
}

ScheduleGenerator::Line ScheduleGenerator::order() {
  auto moving = where([](const Named &named) {
    return named.communicating &&
           llvm::isa<ProgramOp>(named.communicating->getParentOp());
  });
  if (moving.size() < 2)
    return std::nullopt;
  Names some;
  llvm::SetVector<Operation *> ops;
  for (const Named *named : moving)
    if (random.chance(0.6) && ops.insert(named->communicating))
      some.push_back(named->name);
  if (some.empty())
    return std::nullopt;
  if (random.chance(0.4))
    random.shuffle(some);
  return "order " + join(some);
}

ScheduleGenerator::Line ScheduleGenerator::choose() {
  auto moving = where([](const Named &named) { return named.communicating; });
  if (moving.empty())
    return std::nullopt;
  const std::string &name = random.pick(moving)->name;
  switch (random.below(6)) {
  case 0:
  case 1:
    return "algorithm " + name + " = " +
           random.pick<std::string>(
               {"nccl", "one_shot", "two_shot", "ring", "direct"});
  case 2:
    if (random.chance(0.5))
      return "algorithm " + name + " = \"" + schedules + "/" +
             random.pick<std::string>({"ring2", "ring3"}) + ".json\"";
    return "algorithm " + name + " = synth(\"" +
           random.pick<std::string>({"ring(2)", "ring(3)", "ring(4)", "line(2)",
                                     "line(3)", "full(4)"}) +
           "\", " + random.pick<std::string>({"latency", "bandwidth"}) + ")";
  case 3:
  case 4:
    return "protocol " + name + " = " +
           random.pick<std::string>({"simple", "ll", "lamport", "push"});
  default:
    return "sms " + name + " = " + std::to_string(random.between(1, 40));
  }
}

//===----------------------------------------------------------------------===//
// Lines that are likely to be wrong
//===----------------------------------------------------------------------===//

std::string ScheduleGenerator::anyLine() {
  using frontend::ast::Primitive;
  llvm::ArrayRef<Primitive> primitives = frontend::ast::getPrimitives();
  const Primitive &primitive =
      primitives[static_cast<size_t>(random.below(int64_t(primitives.size())))];
  bool isOne = primitive.targets == Primitive::Targets::One;
  std::string line =
      primitive.name.str() + " " + join(anyNames(1, isOne ? 1 : 3));
  std::string keyword = " " + primitive.keyword.str() + " ";
  switch (primitive.clause) {
  case Primitive::Clause::None:
    return line;
  case Primitive::Clause::Names:
    return line + keyword + join(anyNames(1, 2));
  case Primitive::Clause::Number:
    return line + keyword + std::to_string(random.between(1, 16));
  case Primitive::Clause::Word:
  case Primitive::Clause::Choice:
    return line + keyword +
           primitive
               .words[static_cast<size_t>(
                   random.below(int64_t(primitive.words.size())))]
               .str();
  case Primitive::Clause::Algorithm:
    return line + keyword + "nccl";
  }
  return line;
}

std::string ScheduleGenerator::illegal() {
  switch (random.below(16)) {
  case 0:
    return results({"rs", "ag"}) + "split " + anyName();
  case 1:
    return "split " + anyName() +
           random.pick<std::string>(
               {" as hierarchical", " as reduce_broadcast"});
  case 2: {
    Names some = anyNames(1, 2);
    std::string gather = anyName();
    return results({"part", "ends"}) + "reorder " + gather + " after " +
           join(some);
  }
  case 3: {
    // A gather that is there, after anything.
    auto found = where([](const Named &named) {
      return llvm::any_of(named.ops, llvm::IsaPred<AllGatherOp>);
    });
    std::string gather = found.empty() ? anyName() : random.pick(found)->name;
    return "reorder " + gather + " after " + join(anyNames(1, 2));
  }
  case 4:
    return "slice_state " + anyName();
  case 5:
  case 6:
    return results({"k"}) + "fuse " + join(anyNames(1, 4));
  case 7:
  case 8:
    return results({"o"}) + "overlap " + join(anyNames(1, 4)) + chunks();
  case 9:
    return "overlap " + join(anyNames(2, 3)) +
           random.pick<std::string>({" chunks 65537", " chunks 0"});
  case 10:
    return "bucket " + join(anyNames(1, 4)) + " size " +
           random.pick<std::string>({"64", "0"});
  case 11:
    return "order " + join(anyNames(1, 4));
  case 12:
    return "algorithm " + anyName() + " = " +
           random.pick<std::string>(
               {"nccl", "one_shot", "\"" + schedules + "/wrong2.json\"",
                "\"missing.json\"", "\"" + schedules + "/ring3.json\"",
                "nothing", "synth()"});
  case 13:
  case 14:
    return anyLine();
  default:
    return random.pick<std::string>({"protocol ", "sms "}).find("sms") == 0
               ? "sms " + anyName() + " = " +
                     random.pick<std::string>({"0", "1025", "8"})
               : "protocol " + anyName() + " = lamport";
  }
}

std::string ScheduleGenerator::next(ProgramOp program) {
  look(program);
  ++lines;
  for (int attempt = 0; attempt < 8; ++attempt) {
    proposed.clear();
    Line line;
    switch (random.weighted<unsigned>({{8, 0},
                                       {parts.size() == 2 ? 12 : 4, 1},
                                       {3, 2},
                                       {6, 3},
                                       {6, 4},
                                       {2, 5},
                                       {2, 6},
                                       {3, 7},
                                       {4, 8}})) {
    case 0:
      line = split();
      break;
    case 1:
      line = reorder();
      break;
    case 2:
      line = sliceState();
      break;
    case 3:
      line = fuse();
      break;
    case 4:
      line = overlap();
      break;
    case 5:
      line = bucket();
      break;
    case 6:
      line = order();
      break;
    case 7:
      line = choose();
      break;
    case 8:
      line = illegal();
      break;
    }
    if (line)
      return *line;
  }
  proposed.clear();
  return illegal();
}

void ScheduleGenerator::tell(bool accepted) {
  if (!accepted || proposed.empty())
    return;
  if (proposed.front().starts_with("rs") && proposed.size() == 2)
    parts = proposed;
  else if (proposed.front().starts_with("part") && parts.size() >= 2)
    parts = {parts.front(), proposed[0], proposed[1]};
  else if (proposed.front().starts_with("k") && parts.size() == 3 &&
           random.chance(0.5))
    // The kernel takes the place of the computations.
    parts[1] = proposed.front();
  else if (proposed.front().starts_with("o"))
    parts.clear();
}
