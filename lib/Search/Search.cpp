//===- Search.cpp - The search for a schedule -----------------------------===//

#include "lib/Search/Search.h"

#include "lib/Search/EqualMoves.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::search;

/// Less than this is no gain.
static constexpr double minGain = 0.002;

/// How many programs are priced at least, however much work that is, to find
/// moves, and how many are tried to find numbers.
static constexpr int64_t minSearched = 8, minTuned = 4;

/// To make a move takes about this share of the work to price the program.
static constexpr double workOfMoving = 1.0 / 64;

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

Move linesOf(ArrayRef<PricedMove> moves) {
  Move lines;
  for (const PricedMove &move : moves)
    llvm::append_range(lines, move.lines);
  return lines;
}

std::string textOf(const Move &lines) {
  std::string text;
  for (const Line &line : lines)
    text += line.text() + "\n";
  return text;
}

/// Adds the names that lines give, which may stand for nothing.
void addNames(const Move &move, llvm::StringSet<> &names) {
  for (const Line &line : move)
    for (const std::string &name : line.results)
      names.insert(name);
}

bool isOrder(const Move &move) {
  return move.back().primitive == Line::Primitive::Order;
}

/// The numbers that a line may have instead of its own.
ArrayRef<int64_t> optionsOf(const Line &line) {
  static constexpr int64_t chunks[] = {2, 8, 16},
                           sizes[] = {1 << 20, 1 << 22, 1 << 24, 1 << 26};
  if (line.primitive == Line::Primitive::Overlap)
    return chunks;
  if (line.primitive == Line::Primitive::Bucket)
    return sizes;
  return {};
}

/// A program that was reached.
struct State {
  OwningOpRef<ModuleOp> module;
  double estimate = 0;
  /// By the price of the program before it, until it is priced.
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
  Searcher(ModuleOp program, const SearchOptions &options)
      : original(program.clone()), module(*original), options(options) {}

  FailureOr<SearchResult> run();

private:
  /// The price of a program, which is computed once for equal ones. None of
  /// those that are too much work.
  std::optional<double> price(ModuleOp changed);
  /// Whether there may be more work to find moves.
  bool mayGoOn() const {
    return result.priced < minSearched || work < options.maxWork;
  }
  /// Applies some lines; false if one is refused, of which those before it are
  /// applied.
  bool applyLines(ModuleOp changed, const Move &lines);
  /// A copy after some lines; null if one is refused.
  OwningOpRef<ModuleOp> applied(ModuleOp from, const Move &lines);
  /// A copy after those of joined moves that are not refused, of which `lines`
  /// gets the lines; null if there are not as many as were joined for.
  OwningOpRef<ModuleOp> applied(ModuleOp from, const JoinedMoves &moves,
                                Move &lines);
  /// The program after moves from the beginning.
  OwningOpRef<ModuleOp> replayed(ArrayRef<PricedMove> moves);
  void visit(size_t index);
  void forget();
  void expand(size_t index);
  bool isBetter(double price, double than, double gain = minGain) const {
    return price < than * (1 - gain);
  }
  std::vector<PricedMove> movesTo(size_t index) const;
  void collect();
  bool takesPlace(std::vector<PricedMove> moves, double below,
                  bool isKept = false);
  void tune();
  void collectOthers();
  void takeBack();
  void account();

  /// A copy, in which stores are forwarded as before each line.
  OwningOpRef<ModuleOp> original;
  ModuleOp module;
  const SearchOptions &options;
  SearchResult result;
  std::vector<State> states;
  /// What is not priced yet, by price and number.
  std::set<std::pair<double, size_t>> open;
  llvm::StringSet<> seen;
  /// By fingerprint; none of what cannot be priced.
  llvm::StringMap<std::optional<double>> prices;
  /// What was done so far (see SearchOptions), and what the program needed as
  /// it was.
  double work = 0, plainWork = 0;
  size_t best = 0;
  /// Schedules with other choices and numbers than what was found.
  std::vector<OtherSchedule> tuned;
};

std::optional<double> Searcher::price(ModuleOp changed) {
  auto [known, isNew] =
      prices.try_emplace(Fingerprint(programOf(changed)).take());
  if (isNew) {
    double needed = options.workOf(programOf(changed));
    if (plainWork == 0)
      plainWork = needed;
    if (needed > std::max(options.maxWork / 2, 4 * plainWork))
      return std::nullopt;
    ++result.priced;
    work += needed;
    known->second = options.price(changed);
  }
  return known->second;
}

bool Searcher::applyLines(ModuleOp changed, const Move &lines) {
  ProgramOp program = programOf(changed);
  return llvm::all_of(lines, [&](const Line &line) {
    return succeeded(search::apply(
        line, program, [&] { return emitError(program.getLoc()); }));
  });
}

OwningOpRef<ModuleOp> Searcher::applied(ModuleOp from, const Move &lines) {
  OwningOpRef<ModuleOp> copy(from.clone());
  if (!applyLines(*copy, lines))
    return {};
  return copy;
}

OwningOpRef<ModuleOp> Searcher::applied(ModuleOp from, const JoinedMoves &moves,
                                        Move &lines) {
  OwningOpRef<ModuleOp> changed(from.clone());
  size_t accepted = 0;
  for (const Move &move : moves)
    if (applyLines(*changed, move)) {
      llvm::append_range(lines, move);
      ++accepted;
    } else if (moves.size() > 1 && move.size() > 1) {
      // Some of its lines were applied.
      changed = applied(from, lines);
      if (!changed)
        return {};
    }
  if (accepted < std::min<size_t>(2, moves.size()))
    return {};
  return changed;
}

OwningOpRef<ModuleOp> Searcher::replayed(ArrayRef<PricedMove> moves) {
  return applied(module, linesOf(moves));
}

//===----------------------------------------------------------------------===//
// Moves from program to program
//===----------------------------------------------------------------------===//

void Searcher::expand(size_t index) {
  llvm::StringSet<> taken = options.taken;
  for (size_t i = index; i != 0; i = states[i].from)
    addNames(states[i].move, taken);
  ProgramOp before = programOf(*states[index].module);
  MoveFinder finder(before, taken, options.states);
  std::vector<Move> moves = finder.find();
  // Estimates do not know of orders. They are few, and those that help are as
  // good before other moves as after them.
  if (index == 0) {
    llvm::append_range(moves, finder.findOrders());
    llvm::append_range(moves, finder.findOrderedBuckets());
  }
  double workOfMove = options.workOf(before) * workOfMoving;
  for (const JoinedMoves &joined : joinEqualMoves(moves, before, taken)) {
    State next;
    Move move;
    work += workOfMove;
    next.module = applied(*states[index].module, joined, move);
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
    next.price = isOrder(move) ? 0 : from.price * next.estimate / from.estimate;
    next.lowest = from.lowest;
    next.from = index;
    next.move = std::move(move);
    open.insert({next.price, states.size()});
    states.push_back(std::move(next));
    forget();
  }
}

/// Drops what there are too many better ones before, so that it is not priced.
void Searcher::forget() {
  auto left = static_cast<size_t>(
      std::max<int64_t>(options.maxPriced - result.priced, 0));
  while (open.size() > left) {
    auto last = std::prev(open.end());
    states[last->second].module = {};
    open.erase(last);
    result.isCut = true;
  }
}

void Searcher::visit(size_t index) {
  State &state = states[index];
  std::optional<double> us = price(*state.module);
  if (us) {
    state.isPriced = true;
    state.price = *us;
    if (isBetter(*us, states[best].price)) {
      best = index;
      result.bestAt = result.priced;
    }
    // An order makes room for nothing.
    bool isOpen = isOrder(state.move) ? isBetter(*us, state.lowest)
                                      : *us <= state.lowest * options.relaxed;
    state.lowest = std::min(state.lowest, *us);
    if (isOpen && mayGoOn())
      expand(index);
  } else {
    ++result.refused;
  }
  states[index].module = {};
}

std::vector<PricedMove> Searcher::movesTo(size_t index) const {
  std::vector<PricedMove> moves;
  for (size_t i = index; i != 0; i = states[i].from)
    moves.push_back(
        {states[i].move, states[states[i].from].price, states[i].price});
  std::reverse(moves.begin(), moves.end());
  return moves;
}

void Searcher::collect() {
  result.found = states[best].price;
  result.moves = movesTo(best);
  std::multimap<double, PricedMove> left;
  for (State &state : states)
    if (state.isPriced && state.from == best && !state.move.empty())
      left.emplace(state.price,
                   PricedMove{state.move, states[best].price, state.price});
  for (auto &[us, move] : left)
    result.left.push_back(std::move(move));
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

/// Takes moves in place of those that were found if the program takes less than
/// `below` then. If `isKept`, they may be one of the others.
bool Searcher::takesPlace(std::vector<PricedMove> moves, double below,
                          bool isKept) {
  Move lines = linesOf(moves);
  work += options.workOf(programOf(module)) * workOfMoving *
          static_cast<double>(lines.size());
  OwningOpRef<ModuleOp> changed = applied(module, lines);
  std::optional<double> us = changed ? price(*changed) : std::nullopt;
  if (us && isKept)
    tuned.push_back({std::move(lines), *us});
  if (!us || *us >= below)
    return false;
  result.found = *us;
  result.bestAt = result.priced;
  result.moves = std::move(moves);
  return true;
}

void Searcher::tune() {
  // The sizes at which algorithms and protocols change have been measured:
  // where a prediction is no clear gain, they know better.
  constexpr double minGainOfChoice = 0.05;
  // A third of what was done before, at most.
  int64_t tried = 0, maxTried = std::max(minTuned, options.maxPriced / 3);
  double maxWork = work + options.maxWork / 3;
  auto isDone = [&] {
    return tried >= maxTried || (tried >= minTuned && work >= maxWork);
  };
  for (size_t i = 0; i < result.moves.size(); ++i)
    for (size_t k = 0; k < result.moves[i].lines.size(); ++k)
      for (int64_t number : optionsOf(result.moves[i].lines[k])) {
        if (isDone())
          break;
        std::vector<PricedMove> moves = result.moves;
        moves[i].lines[k].number = number;
        ++tried;
        takesPlace(std::move(moves), result.found * (1 - minGain), true);
      }
  OwningOpRef<ModuleOp> found = replayed(result.moves);
  if (!found)
    return;
  // Choices have no names.
  MoveFinder finder(programOf(*found), options.taken, options.states);
  std::vector<Move> choices = finder.findOrders();
  llvm::append_range(choices, finder.findChoices());
  // The one that was chosen for each value, at the end of what was found.
  std::map<std::string, size_t> chosen;
  for (const JoinedMoves &joined :
       joinEqualMoves(choices, programOf(*found), options.taken)) {
    Move move;
    if (isDone())
      break;
    if (!applied(*found, joined, move))
      continue;
    std::string target = isOrder(move) ? "" : move.front().targets.front();
    double gain = isOrder(move) ? minGain : minGainOfChoice;
    std::vector<PricedMove> moves = result.moves;
    auto other = chosen.find(target);
    if (other != chosen.end())
      moves[other->second].lines = move;
    else
      moves.push_back({move});
    ++tried;
    if (takesPlace(std::move(moves), result.found * (1 - gain), true))
      chosen.try_emplace(target, result.moves.size() - 1);
  }
}

/// Drops moves that save nothing.
void Searcher::takeBack() {
  // All that are taken back together may not cost more than that, either.
  double below =
      std::min(result.found * (1 + minGain), result.plain * (1 + 1e-9));
  for (size_t i = result.moves.size(); i-- > 0;) {
    std::vector<PricedMove> moves = result.moves;
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(i));
    takesPlace(std::move(moves), below);
  }
}

/// The best of all that was priced, but for what was found and for taking lines
/// of it back.
void Searcher::collectOthers() {
  if (options.maxOthers == 0)
    return;
  std::multimap<double, Move> byTime;
  for (OtherSchedule &other : tuned)
    byTime.emplace(other.us, std::move(other.lines));
  for (auto [index, state] : llvm::enumerate(states))
    if (state.isPriced && !state.move.empty())
      byTime.emplace(state.price, linesOf(movesTo(index)));
  llvm::StringSet<> texts;
  texts.insert(textOf(linesOf(result.moves)));
  for (auto &[us, lines] : byTime)
    if (result.others.size() < options.maxOthers &&
        texts.insert(textOf(lines)).second)
      result.others.push_back({std::move(lines), us});
}

/// Prices what each move adds to those before it.
void Searcher::account() {
  double before = result.plain;
  for (size_t i = 0; i < result.moves.size(); ++i) {
    PricedMove &move = result.moves[i];
    move.before = before;
    OwningOpRef<ModuleOp> upTo =
        replayed(ArrayRef(result.moves).take_front(i + 1));
    if (i + 1 == result.moves.size())
      move.after = result.found;
    else
      move.after = upTo ? price(*upTo).value_or(before) : before;
    before = move.after;
  }
}

FailureOr<SearchResult> Searcher::run() {
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  forwardStores(programOf(module));
  std::optional<double> plain = price(module);
  if (!plain)
    return failure();
  result.plain = *plain;
  result.bestAt = 1;
  ProgramOp program = programOf(module);
  seen.insert(Fingerprint(program).take());
  State first;
  first.module = module.clone();
  first.estimate = options.estimate(program);
  first.price = first.lowest = *plain;
  first.isPriced = true;
  states.push_back(std::move(first));
  expand(0);
  while (!open.empty() && result.priced < options.maxPriced && mayGoOn()) {
    size_t index = open.begin()->second;
    open.erase(open.begin());
    visit(index);
  }
  result.isCut |= !open.empty();
  collect();
  tune();
  takeBack();
  account();
  collectOthers();
  return std::move(result);
}

} // namespace

FailureOr<SearchResult> search::searchSchedule(ModuleOp module,
                                               const SearchOptions &options) {
  return Searcher(module, options).run();
}
