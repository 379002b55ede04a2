//===- EqualMoves.cpp - One move in many equal places ---------------------===//

#include "lib/Search/EqualMoves.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::search;

/// What tells operations apart, without what they take and what they are
/// called.
static void describe(Operation *op, llvm::raw_ostream &os) {
  os << op->getName() << '(';
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getName() != kLetAttr && attr.getName() != kTagsAttr)
      os << attr.getName() << '=' << attr.getValue().getAsOpaquePointer()
         << ' ';
  os << op->getPropertiesAsAttribute().getAsOpaquePointer();
  for (Type type : op->getOperandTypes())
    os << ' ' << type.getAsOpaquePointer();
  os << ':';
  for (Type type : op->getResultTypes())
    os << ' ' << type.getAsOpaquePointer();
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      describe(&inner, os);
  os << ')';
}

/// What is the same of equal moves.
static std::string keyOf(const Move &move, const NamedOps &named) {
  std::string key;
  llvm::raw_string_ostream os(key);
  for (const Line &line : move) {
    os << static_cast<int>(line.primitive) << line.word << line.number;
    for (const auto *names : {&line.targets, &line.names}) {
      os << ';';
      for (const std::string &name : *names) {
        os << ',';
        for (Operation *op : named.lookup(name))
          describe(op, os);
      }
    }
  }
  return key;
}

/// Gives what the lines make names that are not in `used`, and adds them.
static Move renamed(Move move, llvm::StringSet<> &used) {
  llvm::StringMap<std::string> names;
  auto rename = [&](std::vector<std::string> &list) {
    for (std::string &name : list)
      if (auto found = names.find(name); found != names.end())
        name = found->second;
  };
  for (Line &line : move) {
    rename(line.targets);
    rename(line.names);
    for (std::string &name : line.results) {
      std::string stem = StringRef(name).rtrim("0123456789").str(),
                  fresh = name;
      for (unsigned i = 1; used.contains(fresh); ++i)
        fresh = stem + std::to_string(i);
      used.insert(fresh);
      names[name] = fresh;
      name = fresh;
    }
  }
  return move;
}

std::vector<JoinedMoves>
search::joinEqualMoves(ArrayRef<Move> moves, ProgramOp program,
                       const llvm::StringSet<> &taken) {
  std::vector<std::vector<const Move *>> groups;
  llvm::StringMap<size_t> numbers;
  llvm::StringSet<> seen;
  const NamedOps named = findAllNames(program);
  for (const Move &move : moves) {
    // It may have been found in several ways.
    std::string text;
    for (const Line &line : move)
      text += line.text() + "\n";
    if (!seen.insert(text).second)
      continue;
    size_t number =
        numbers.try_emplace(keyOf(move, named), groups.size()).first->second;
    groups.resize(std::max(groups.size(), number + 1));
    groups[number].push_back(&move);
  }
  std::vector<JoinedMoves> joined;
  for (std::vector<const Move *> &group : groups) {
    if (group.size() > 1) {
      llvm::StringSet<> used = namesIn(program);
      for (const auto &name : taken)
        used.insert(name.getKey());
      JoinedMoves &together = joined.emplace_back();
      for (const Move *move : group)
        together.push_back(renamed(*move, used));
    }
    if (group.size() > 2)
      group.resize(1);
    for (const Move *move : group)
      joined.push_back({*move});
  }
  return joined;
}
