//===- Shapes.cpp - Small sizes at which programs are verified ------------===//
//
// Tries values of params, in an order that depends only on the file and its
// mesh, and keeps those at which everything compiles.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Shapes.h"

#include "lib/Frontend/Parser.h"
#include "lib/Interpreter/Placement.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Regex.h"

#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

std::string SizedProgram::str() const {
  std::string text;
  for (const auto &[name, value] : params)
    text += (text.empty() ? "" : ", ") + name + " = " + value;
  return text;
}

namespace {

/// The cost of running a program, as in Budget.
struct Cost {
  double elements = 0, work = 0;
};

/// The cost of all programs of a module. The first rank holds the largest
/// parts, so it is taken for all.
Cost costOf(ModuleOp module) {
  Cost cost;
  module.walk([&](ProgramOp program) {
    interp::RankMesh mesh(program.getMesh());
    auto ranks = static_cast<double>(mesh.numRanks());
    auto elementsOf = [&](Value value) {
      double count = ranks;
      for (int64_t size :
           mesh.boxOf(cast<RankedTensorType>(value.getType()), 0).sizes)
        count *= static_cast<double>(size);
      return count;
    };
    for (BlockArgument argument : program.getArguments())
      cost.elements += elementsOf(argument);
    program.getBody().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        double elements = elementsOf(result);
        cost.elements += elements;
        // A product needs one operation for each term of each element.
        double terms = 1;
        if (isa<MatmulOp, Conv2dOp>(op)) {
          auto type = cast<RankedTensorType>(
              op->getOperand(isa<Conv2dOp>(op)).getType());
          terms = isa<MatmulOp>(op)
                      ? static_cast<double>(type.getShape().back())
                      : static_cast<double>(type.getNumElements());
        }
        cost.work += elements * terms;
      }
      for (Value operand : op->getOperands())
        cost.work += elementsOf(operand);
    });
  });
  return cost;
}

/// Whether an error is one that small sizes explain: a numbered condition does
/// not hold, or an operation that the schedule names does not exist at these
/// sizes.
bool isRefusal(const ccn::Diagnostic &error) {
  static const llvm::Regex condition("\\([a-z_]+_c[0-9]+\\)$");
  StringRef message = error.message;
  return condition.match(message) || message.contains("has the name");
}

class SizeFinder {
public:
  SizeFinder(const SourceFile &source, MLIRContext *context,
             const CompileOptions &options, const Budget &budget,
             Diagnostics &diagnostics)
      : source(source), context(context), options(options), budget(budget),
        diagnostics(diagnostics) {
    this->options.configure = nullptr;
    this->options.dumpFolder.clear();
    this->options.roundTrip = false;
  }

  FailureOr<std::vector<SizedProgram>> run();

private:
  using Values = SmallVector<int64_t>;

  void findParams();
  /// Tries values for the params in `names`.
  void trySizes();
  void tryKinds();
  /// Makes single params, or two together, as small as possible, but not below
  /// `least`. Returns whether any became smaller.
  bool shrink(Values &current, int64_t least);
  void tryShrunk();
  /// Multiplies some values by up / down; returns false if a result is not an
  /// integer.
  static bool multiply(Values &values, ArrayRef<size_t> which, int64_t up,
                       int64_t down);
  /// Whether everything compiles with these values. With `keep`, adds the
  /// programs to `sizes` if they are within the budget and new.
  bool attempt(const Values &values, bool keep);
  bool compileBoth(SizedProgram &program);
  bool isDone() const {
    return failedSchedule || attempts >= budget.attempts ||
           sizes.size() >= budget.sizes;
  }

  const SourceFile &source;
  MLIRContext *context;
  CompileOptions options;
  const Budget &budget;
  Diagnostics &diagnostics;

  /// The names that can be changed, and their values in the file (`own`):
  /// params, then numbers that the file uses as sizes.
  SmallVector<std::string> names;
  Values own;
  std::set<int64_t> literals;
  int64_t longestAxis = 1;
  std::vector<SizedProgram> sizes;
  std::set<std::vector<int64_t>> kept;
  unsigned attempts = 0;
  bool failedSchedule = false;
  /// Whether all sizes found so far have a param that is 0.
  bool isOnlyEmpty = true;
};

void SizeFinder::findParams() {
  if (isMlir(source))
    return;
  Diagnostics scratch;
  std::unique_ptr<frontend::ast::File> file = frontend::parse(source, scratch);
  bool badOption = false;
  frontend::Lowered lowered =
      frontend::lower(*file, context, options.lower, scratch, badOption);
  if (!lowered.module)
    return;
  for (const frontend::Param &param : lowered.params) {
    const int64_t *value = param.value.getInteger();
    if (!value || *value < 0 || param.isDerived)
      continue;
    names.push_back(param.name);
    own.push_back(*value);
  }
  literals = std::move(lowered.literalSizes);
  lowered.module->walk([&](MeshOp mesh) {
    for (int64_t size : mesh.getAxisSizes())
      longestAxis = std::max(longestAxis, size);
  });
}

bool SizeFinder::compileBoth(SizedProgram &program) {
  CompileOptions sized = options;
  for (const auto &[name, value] : program.params) {
    // The last value of a param overrides earlier ones.
    sized.lower.params.emplace_back(name, value);
  }
  sized.stopAfter = Phase::Parse;
  Diagnostics scratch;
  if (compile(source, context, sized, scratch, program.before) !=
      CompileStatus::Done)
    return false;
  sized.stopAfter = Phase::Schedule;
  if (compile(source, context, sized, scratch, program.after) ==
      CompileStatus::Done)
    return true;
  for (const ccn::Diagnostic *error : scratch.getSorted()) {
    if (isRefusal(*error))
      continue;
    failedSchedule = true;
    diagnostics.error("at " + program.str() +
                      " the schedule fails: " + error->message);
    break;
  }
  return false;
}

bool SizeFinder::attempt(const Values &values, bool keep) {
  ++attempts;
  SizedProgram program;
  for (const auto &[name, value] : llvm::zip_equal(names, values))
    program.params.emplace_back(name, std::to_string(value));
  if (!compileBoth(program))
    return false;
  Cost cost = costOf(*program.before);
  if (keep && cost.elements <= static_cast<double>(budget.elements) &&
      cost.work <= static_cast<double>(budget.work) &&
      kept.emplace(values.begin(), values.end()).second) {
    sizes.push_back(std::move(program));
    isOnlyEmpty &= llvm::is_contained(values, 0);
  }
  return true;
}

void SizeFinder::tryKinds() {
  auto tryKind = [&](llvm::function_ref<int64_t(size_t)> value) {
    Values values;
    for (size_t i = 0; i < names.size(); ++i)
      values.push_back(value(i));
    if (!isDone() && llvm::all_of(values, [&](int64_t value) {
          return value <= budget.largestParam;
        }))
      attempt(values, /*keep=*/true);
  };
  static constexpr int64_t primes[] = {5, 3, 7, 2, 11, 13};
  int64_t axis = longestAxis;
  tryKind([](size_t i) { return primes[i % std::size(primes)]; });
  tryKind([](size_t) { return 1; });
  // Sizes where the last rank's part is smaller, then sizes smaller than the
  // mesh.
  tryKind([&](size_t i) { return i % 2 ? axis + 2 : 2 * axis + 1; });
  tryKind([&](size_t) { return std::max<int64_t>(axis - 1, 2); });
  tryKind([&](size_t i) { return i % 2 ? 2 * axis : axis; });
  tryKind([](size_t) { return 0; });
}

bool SizeFinder::multiply(Values &values, ArrayRef<size_t> which, int64_t up,
                          int64_t down) {
  return llvm::all_of(which, [&](size_t i) {
    int64_t rest = values[i] % down;
    return rest == 0 && values[i] != 0 &&
           !llvm::MulOverflow(values[i] / down, up, values[i]);
  });
}

bool SizeFinder::shrink(Values &current, int64_t least) {
  auto replace = [&](Values values) {
    if (isDone() || !attempt(values, /*keep=*/false))
      return false;
    current = std::move(values);
    return true;
  };
  auto divide = [&](ArrayRef<size_t> which) {
    bool any = false;
    for (int64_t factor : {2, 3, 5, 7})
      for (bool again = true; again;) {
        Values values = current;
        again =
            multiply(values, which, 1, factor) &&
            llvm::all_of(which, [&](size_t i) { return values[i] >= least; }) &&
            replace(std::move(values));
        any |= again;
      }
    return any;
  };
  bool any = false;
  for (bool smaller = true; smaller && !isDone(); any |= smaller) {
    smaller = false;
    for (size_t i = 0; i < names.size(); ++i) {
      for (int64_t value : {3, 2, 5, 1}) {
        Values values = current;
        values[i] = value;
        if (value >= least && value < current[i] && replace(values)) {
          smaller = true;
          break;
        }
      }
      if (current[i] > 3)
        smaller |= divide(i);
    }
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t j = i + 1; j < names.size(); ++j)
        smaller |= divide({i, j});
  }
  return any;
}

void SizeFinder::tryShrunk() {
  Values current = own;
  size_t before = sizes.size();
  // Prefers sizes of at least 2, which show more errors than 1; uses 1 if no
  // such size works.
  for (int64_t least : {2, 1})
    if (sizes.size() == before && shrink(current, least) && !isDone())
      attempt(current, /*keep=*/true);
  if (sizes.size() == before)
    return;
  // Adds sizes in which one or two params are larger than in the smallest.
  for (auto [up, down] : {std::pair(3, 2), std::pair(2, 1), std::pair(5, 2)})
    for (size_t i = 0; i < names.size(); ++i)
      for (size_t j = i; j < names.size() && !isDone(); ++j) {
        Values values = current;
        SmallVector<size_t> which = {i};
        if (j != i)
          which.push_back(j);
        if (multiply(values, which, up, down))
          attempt(values, /*keep=*/true);
      }
}

void SizeFinder::trySizes() {
  if (names.empty())
    return;
  tryKinds();
  if (!isDone())
    tryShrunk();
}

FailureOr<std::vector<SizedProgram>> SizeFinder::run() {
  findParams();
  trySizes();
  if (!failedSchedule)
    attempt(own, /*keep=*/true);
  // If no sizes were found, or only sizes with a param of 0, then numbers used
  // as sizes keep the program large: change these too.
  if (!failedSchedule && isOnlyEmpty && !literals.empty()) {
    for (int64_t size : literals) {
      names.push_back(std::to_string(size));
      own.push_back(size);
    }
    attempts = 0;
    trySizes();
  }
  if (failedSchedule)
    return failure();
  return std::move(sizes);
}

} // namespace

FailureOr<std::vector<SizedProgram>>
verify::findSizes(const SourceFile &source, MLIRContext *context,
                  const CompileOptions &options, const Budget &budget,
                  Diagnostics &diagnostics) {
  return SizeFinder(source, context, options, budget, diagnostics).run();
}
