//===- Search.cpp - The search for a schedule -----------------------------===//

#include "lib/Search/Search.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::search;

/// Less than this is no gain.
static constexpr double minGain = 0.002;

namespace {

ProgramOp programOf(ModuleOp module) {
  return *module.getOps<ProgramOp>().begin();
}

/// What tells programs apart, but for the names that schedules gave: only of
/// use in this process.
class Fingerprint {
public:
  explicit Fingerprint(ProgramOp program) { add(program); }

  std::string take() { return std::move(bytes); }

private:
  void add(const void *pointer) {
    bytes.append(reinterpret_cast<const char *>(&pointer), sizeof(pointer));
  }
  void add(size_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void add(Value value) {
    add(numbers.try_emplace(value, numbers.size()).first->second);
  }
  void add(Operation *op);

  std::string bytes;
  llvm::DenseMap<Value, size_t> numbers;
};

void Fingerprint::add(Operation *op) {
  add(op->getName().getAsOpaquePointer());
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (attr.getName() != kTagsAttr) {
      add(attr.getName().getAsOpaquePointer());
      add(attr.getValue().getAsOpaquePointer());
    }
  add(op->getPropertiesAsAttribute().getAsOpaquePointer());
  add(op->getNumOperands());
  for (Value operand : op->getOperands())
    add(operand);
  add(op->getNumResults());
  for (Value result : op->getResults()) {
    add(result);
    add(result.getType().getAsOpaquePointer());
  }
  for (Region &region : op->getRegions())
    for (Block &inside : region) {
      add(inside.getNumArguments());
      for (Value argument : inside.getArguments()) {
        add(argument);
        add(argument.getType().getAsOpaquePointer());
      }
      for (Operation &inner : inside)
        add(&inner);
      add(size_t(0));
    }
}

/// A program that was reached.
struct State {
  OwningOpRef<ModuleOp> module;
  double price;
  /// The lowest price on the way to it.
  double lowest;
  std::vector<PricedMove> moves;
  /// What was tried next.
  std::vector<PricedMove> next;
};

class Searcher {
public:
  Searcher(ModuleOp module, const SearchOptions &options)
      : module(module), options(options) {}

  FailureOr<SearchResult> run();

private:
  bool isSpent() const { return result.priced >= options.maxPriced; }
  std::optional<double> price(ModuleOp changed) {
    ++result.priced;
    return options.price(changed);
  }
  /// A copy after some lines; null if one is refused.
  OwningOpRef<ModuleOp> applied(ModuleOp from, const Move &lines);
  void expand(size_t index);
  /// The price after moves from the beginning; none if one is refused.
  std::optional<double> replay(const std::vector<PricedMove> &moves);
  void tune();
  void takeBack();
  /// Prices all moves anew.
  void account();
  bool isBetter(double price, double than) const {
    return price < than * (1 - minGain);
  }

  ModuleOp module;
  const SearchOptions &options;
  SearchResult result;
  std::vector<State> states;
  std::set<std::pair<double, size_t>> open;
  llvm::StringSet<> seen;
  size_t best = 0;
};

OwningOpRef<ModuleOp> Searcher::applied(ModuleOp from, const Move &lines) {
  OwningOpRef<ModuleOp> copy(from.clone());
  ProgramOp program = programOf(*copy);
  for (const Line &line : lines)
    if (failed(search::apply(line, program,
                             [&] { return emitError(program.getLoc()); })))
      return {};
  return copy;
}

void Searcher::expand(size_t index) {
  MoveFinder finder(programOf(*states[index].module), options.taken);
  for (Move &move : finder.find()) {
    if (isSpent()) {
      result.isCut = true;
      return;
    }
    OwningOpRef<ModuleOp> changed = applied(*states[index].module, move);
    if (!changed) {
      ++result.refused;
      continue;
    }
    if (!seen.insert(Fingerprint(programOf(*changed)).take()).second) {
      ++result.equal;
      continue;
    }
    std::optional<double> us = price(*changed);
    if (!us) {
      ++result.refused;
      continue;
    }
    State &from = states[index];
    PricedMove priced{std::move(move), from.price, *us};
    from.next.push_back(priced);
    if (*us > from.lowest * options.relaxed)
      continue;
    State next{std::move(changed), *us, std::min(from.lowest, *us), from.moves,
               {}};
    next.moves.push_back(std::move(priced));
    states.push_back(std::move(next));
    open.insert({*us, states.size() - 1});
    if (isBetter(*us, states[best].price))
      best = states.size() - 1;
  }
}

FailureOr<SearchResult> Searcher::run() {
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  std::optional<double> plain = price(module);
  if (!plain)
    return failure();
  result.plain = *plain;
  seen.insert(Fingerprint(programOf(module)).take());
  states.push_back({module.clone(), *plain, *plain, {}, {}});
  open.insert({*plain, 0});
  while (!open.empty() && !isSpent()) {
    size_t index = open.begin()->second;
    open.erase(open.begin());
    expand(index);
    // Nothing else is done with it.
    if (index != best)
      states[index].module = {};
  }
  result.isCut |= !open.empty();
  result.moves = states[best].moves;
  result.found = states[best].price;
  std::multimap<double, PricedMove> left;
  for (PricedMove &move : states[best].next)
    left.emplace(move.after, std::move(move));
  for (auto &[us, move] : left)
    result.left.push_back(std::move(move));
  return std::move(result);
}

} // namespace

FailureOr<SearchResult> search::searchSchedule(ModuleOp module,
                                               const SearchOptions &options) {
  return Searcher(module, options).run();
}
