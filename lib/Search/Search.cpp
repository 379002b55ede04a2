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
  double estimate = 0;
  /// Estimated by the price of the program before it, until it is priced.
  double price = 0;
  bool isPriced = false;
  /// The lowest price on the way to it.
  double lowest = 0;
  /// The state before, and the move from there; none of the first.
  size_t from = 0;
  Move move = {};
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
  void visit(size_t index);
  void expand(size_t index);
  bool isBetter(double price, double than) const {
    return price < than * (1 - minGain);
  }
  void collect();

  ModuleOp module;
  const SearchOptions &options;
  SearchResult result;
  std::vector<State> states;
  /// By price and number.
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
  MoveFinder finder(programOf(*states[index].module), options.taken,
                    options.states);
  for (Move &move : finder.find()) {
    State next;
    next.module = applied(*states[index].module, move);
    if (!next.module) {
      ++result.refused;
      continue;
    }
    ProgramOp program = programOf(*next.module);
    if (!seen.insert(Fingerprint(program).take()).second) {
      ++result.equal;
      continue;
    }
    const State &from = states[index];
    next.estimate = options.estimate(program);
    next.price = from.price * next.estimate / from.estimate;
    next.lowest = from.lowest;
    next.from = index;
    next.move = std::move(move);
    open.insert({next.price, states.size()});
    states.push_back(std::move(next));
  }
}

void Searcher::visit(size_t index) {
  State &state = states[index];
  if (state.isPriced) {
    expand(index);
    // Nothing else is done with it.
    states[index].module = {};
    return;
  }
  std::optional<double> us = price(*state.module);
  if (!us) {
    ++result.refused;
    state.module = {};
    return;
  }
  state.isPriced = true;
  state.price = *us;
  if (isBetter(*us, states[best].price)) {
    best = index;
    result.bestAt = result.priced;
  }
  if (*us > state.lowest * options.relaxed) {
    state.module = {};
    return;
  }
  state.lowest = std::min(state.lowest, *us);
  open.insert({*us, index});
}

void Searcher::collect() {
  result.found = states[best].price;
  for (size_t i = best; i != 0; i = states[i].from)
    result.moves.push_back(
        {states[i].move, states[states[i].from].price, states[i].price});
  std::reverse(result.moves.begin(), result.moves.end());
  std::multimap<double, PricedMove> left;
  for (State &state : states)
    if (state.isPriced && state.from == best && !state.move.empty())
      left.emplace(state.price,
                   PricedMove{state.move, states[best].price, state.price});
  for (auto &[us, move] : left)
    result.left.push_back(std::move(move));
}

FailureOr<SearchResult> Searcher::run() {
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  std::optional<double> plain = price(module);
  if (!plain)
    return failure();
  result.plain = *plain;
  ProgramOp program = programOf(module);
  seen.insert(Fingerprint(program).take());
  State first;
  first.module = module.clone();
  first.estimate = options.estimate(program);
  first.price = first.lowest = *plain;
  first.isPriced = true;
  states.push_back(std::move(first));
  open.insert({*plain, 0});
  while (!open.empty() && !isSpent()) {
    size_t index = open.begin()->second;
    open.erase(open.begin());
    visit(index);
  }
  result.isCut = !open.empty();
  collect();
  return std::move(result);
}

} // namespace

FailureOr<SearchResult> search::searchSchedule(ModuleOp module,
                                               const SearchOptions &options) {
  return Searcher(module, options).run();
}
