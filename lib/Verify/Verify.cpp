//===- Verify.cpp - Compares a program with its schedule ------------------===//
//
// Runs two programs on the reference interpreter and compares their outputs,
// first by bits.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Verify.h"

#include "lib/Interpreter/Placement.h"
#include "lib/Transforms/Localize.h"
#include "runtime/tensor/Comparison.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Agreement
//===----------------------------------------------------------------------===//

void Agreement::Closest::add(const Closest &other) {
  if (other.difference * bound > difference * other.bound ||
      (bound == 0 && other.bound > 0))
    *this = other;
}

void Agreement::merge(const Agreement &other) {
  runs += other.runs;
  sameBits &= other.sameBits;
  wide.add(other.wide);
  native.add(other.native);
  if (other.terms.count > terms.count)
    terms = other.terms;
  for (const auto &[name, counts] : other.outputs) {
    outputs[name].compared += counts.compared;
    outputs[name].unbounded += counts.unbounded;
  }
}

std::string Agreement::findUncompared() const {
  for (const auto &[name, counts] : outputs)
    if (counts.compared == 0 && counts.unbounded != 0)
      return name;
  return {};
}

std::string Agreement::str() const {
  if (sameBits)
    return "same bits";
  auto text = [](const Closest &closest) -> std::string {
    if (closest.difference == 0)
      return "no difference";
    return llvm::formatv("within {0:e2} (bound {1:e2})", closest.difference,
                         closest.bound);
  };
  std::string result = text(native) + ", in f64 " + text(wide);
  if (terms.count)
    result += llvm::formatv(", from reductions of {0} terms in {1}",
                            terms.count, elementTypeName(terms.element));
  int64_t unbounded = 0;
  for (const auto &[name, counts] : outputs)
    unbounded += counts.unbounded;
  if (unbounded)
    result += llvm::formatv(" ({0} elements have no bound)", unbounded);
  return result;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {

/// Records the first error that is reported during its lifetime.
class ErrorKeeper {
public:
  explicit ErrorKeeper(MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
              !message.empty())
            return success();
          llvm::raw_string_ostream os(message);
          if (auto place =
                  diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            os << place.getFilename().getValue() << ":" << place.getLine()
               << ":" << place.getColumn() << ": ";
          os << diagnostic.str();
          return success();
        }) {}

  std::string message;

private:
  ScopedDiagnosticHandler handler;
};

FailureOr<std::vector<interp::Output>> execute(ArrayRef<ProgramOp> programs,
                                               interp::NamedTensors inputs,
                                               std::string &why) {
  ProgramOp first = programs.front();
  ErrorKeeper errors(first.getContext());
  interp::RunOptions options;
  options.inChunks = true;
  auto outputs =
      interp::run(programs, first.getMesh(), std::move(inputs), options);
  why = errors.message;
  return outputs;
}

/// The element type and shape of a tensor in external form.
using External = std::pair<runtime::ElementType, runtime::Shape>;

/// The names and types of a program's arguments or outputs, in order.
std::vector<std::pair<std::string, RankedTensorType>>
argumentsOf(ProgramOp program) {
  std::vector<std::pair<std::string, RankedTensorType>> list;
  for (BlockArgument argument : program.getArguments())
    list.emplace_back(program.getArgName(argument.getArgNumber()).str(),
                      cast<RankedTensorType>(argument.getType()));
  return list;
}

std::vector<std::pair<std::string, RankedTensorType>>
outputsOf(ProgramOp program) {
  std::vector<std::pair<std::string, RankedTensorType>> list;
  for (auto [index, argument] : llvm::enumerate(argumentsOf(program)))
    if (program.isInout(index))
      list.push_back(argument);
  for (auto [index, type] : llvm::enumerate(program.getResultTypes()))
    list.emplace_back(program.getResultName(index).str(),
                      cast<RankedTensorType>(type));
  return list;
}

std::string describeElement(ProgramOp program, StringRef output,
                            int64_t linear) {
  interp::RankMesh mesh(program.getMesh());
  for (const auto &[name, type] : outputsOf(program)) {
    if (name != output)
      continue;
    runtime::Shape shape = mesh.externalShape(type);
    runtime::Shape strides = runtime::rowMajorStrides(shape);
    std::string text = "element " + runtime::describeIndex(shape, linear);
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      interp::Box box = mesh.externalBox(type, rank);
      int64_t rest = linear;
      bool inside = true;
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        int64_t index = rest / strides[dim] - box.offsets[dim];
        rest %= strides[dim];
        inside &= index >= 0 && index < box.sizes[dim];
      }
      if (inside)
        return text + " on " + mesh.describe(rank);
    }
    return text;
  }
  return "element " + std::to_string(linear);
}

} // namespace

std::optional<std::string> Comparison::checkInterface() {
  interp::RankMesh oldMesh(before.getMesh()), newMesh(after.getMesh());
  if (oldMesh.numRanks() != newMesh.numRanks())
    return llvm::formatv("expected {0} ranks, found {1}", oldMesh.numRanks(),
                         newMesh.numRanks());
  auto compare = [&](const auto &olds, const auto &news,
                     StringRef what) -> std::optional<std::string> {
    if (olds.size() != news.size())
      return llvm::formatv("expected {0} {1}s, found {2}", olds.size(), what,
                           news.size());
    for (const auto &[a, b] : llvm::zip_equal(olds, news)) {
      if (a.first != b.first)
        return llvm::formatv("expected {0} '{1}', found '{2}'", what, a.first,
                             b.first);
      if (a.second.getElementType() != b.second.getElementType() ||
          oldMesh.externalShape(a.second) != newMesh.externalShape(b.second))
        return llvm::formatv("expected {0} '{1}' of '{2}', found '{3}'", what,
                             a.first, typeName(a.second), typeName(b.second));
    }
    return std::nullopt;
  };
  if (auto error = compare(argumentsOf(before), argumentsOf(after), "argument"))
    return error;
  return compare(outputsOf(before), outputsOf(after), "output");
}

BoundProgram *Comparison::getBounds(Arithmetic arithmetic) {
  std::optional<BoundProgram> &cached = bounds[static_cast<int>(arithmetic)];
  if (!cached) {
    FailureOr<BoundProgram> made = makeBoundProgram(before, arithmetic);
    if (failed(made))
      return nullptr;
    cached.emplace(*std::move(made));
  }
  return &*cached;
}

std::optional<std::string> Comparison::run(ValueSet set, uint64_t seed,
                                           Agreement &agreement, Share share) {
  if (set != ValueSet::OneZero)
    return runOnce(set, seed, 0, agreement);
  SmallVector<unsigned> floats;
  for (BlockArgument argument : before.getArguments())
    if (isFloat(cast<RankedTensorType>(argument.getType()).getElementType()))
      floats.push_back(argument.getArgNumber());
  constexpr size_t many = 16;
  if (floats.size() <= many)
    share = Share();
  for (size_t i = share.index; i < floats.size(); i += share.count)
    if (auto error = runOnce(set, seed, floats[i], agreement))
      return error;
  return std::nullopt;
}

std::optional<std::string> Comparison::runOnce(ValueSet set, uint64_t seed,
                                               unsigned zero,
                                               Agreement &agreement) {
  for (Integers integers : allIntegers) {
    FailureOr<interp::NamedTensors> inputs =
        drawInputs(before, set, integers, seed, zero);
    if (failed(inputs)) {
      failure = "there is no memory for the arguments";
      return std::nullopt;
    }
    FailureOr<Outputs> expected = execute(before, *inputs, failure);
    if (failed(expected)) {
      if (auto error = checkFails(*inputs))
        return error;
      continue;
    }
    std::string why;
    FailureOr<Outputs> found = execute(after, *inputs, why);
    if (failed(found))
      return "the run fails: " + why;
    if (auto error = runLocalized(*inputs, *found))
      return "localized for each rank, " + *error;
    if (auto error = runExecutor(*inputs, *expected, *found))
      return "as executed, " + *error;
    Pair native = {*std::move(expected), *std::move(found)};
    Agreement now;
    now.runs = 1;
    now.sameBits = native.hasSameBits();
    for (const interp::Output &output : native.expected)
      now.outputs[output.name].compared = output.tensor.count();
    Result<interp::NamedTensors> wideInputs = toF64(*inputs);
    std::optional<Pair> wide;
    if (wideInputs)
      wide = runWide(*wideInputs);
    if (wide && !wide->hasSameBits())
      if (auto error = compareBounded(*wide, *wideInputs, Arithmetic::Wide, now,
                                      now.outputs))
        return error;
    if (!now.sameBits) {
      if (!wideInputs)
        return "there is no memory for the error bounds";
      // Elements that were compared in f64 count as compared; the counts in the
      // own types are then dropped.
      std::map<std::string, Agreement::Counts> covered;
      if (auto error = compareBounded(native, *wideInputs, Arithmetic::Native,
                                      now, wide ? covered : now.outputs))
        return error;
    }
    agreement.merge(now);
    return std::nullopt;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparison by bounds
//===----------------------------------------------------------------------===//

std::optional<std::string> Comparison::compareElements(
    const interp::Output &expected, const interp::Output &found,
    const HostTensor *bound, Arithmetic arithmetic, Agreement::Closest &closest,
    Agreement::Counts &counts) {
  const HostTensor &a = expected.tensor, &b = found.tensor;
  using runtime::ElementComparison;
  for (int64_t i = 0; i < a.count(); ++i) {
    ElementComparison result = runtime::compareElement(b, a, bound, i);
    if (result.verdict == ElementComparison::Unknown) {
      ++counts.unbounded;
      continue;
    }
    ++counts.compared;
    if (result.verdict == ElementComparison::Same)
      continue;
    Agreement::Closest here = {result.difference, result.limit};
    if (result.verdict == ElementComparison::Within) {
      closest.add(here);
      continue;
    }
    std::string text = llvm::formatv("{0} of '{1}' is {2}, expected {3}",
                                     describeElement(after, expected.name, i),
                                     expected.name, b.textAt(i), a.textAt(i));
    if (arithmetic == Arithmetic::Wide)
      text += " (all in f64)";
    if (here.bound > 0 && here.difference == here.difference)
      text += llvm::formatv(", which is off by {0:e2} where rounding makes at "
                            "most {1:e2}",
                            here.difference, here.bound);
    return text;
  }
  return std::nullopt;
}

std::optional<std::string>
Comparison::runLocalized(const interp::NamedTensors &inputs,
                         const Outputs &expected) {
  WalkResult result = after.getBody().walk([](ReshardOp op) {
    return isRelabelling(op) ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  if (!localized) {
    ErrorKeeper errors(after.getContext());
    FailureOr<LocalizedPrograms> made = localizeForAllRanks(after);
    if (failed(made))
      return "the program is wrong: " + errors.message;
    localized = *std::move(made);
  }
  std::string why;
  FailureOr<Outputs> found = execute(localized->programs, inputs, why);
  if (failed(found))
    return "the run fails: " + why;
  return compareBits(expected, *found);
}

std::optional<std::string> Comparison::compareBits(const Outputs &expected,
                                                   const Outputs &found) {
  for (auto [a, b] : llvm::zip_equal(expected, found))
    if (std::optional<int64_t> i = runtime::firstDifference(a.tensor, b.tensor))
      return llvm::formatv("{0} of '{1}' is {2}, expected {3}",
                           describeElement(after, a.name, *i), a.name,
                           b.tensor.textAt(*i), a.tensor.textAt(*i));
  return std::nullopt;
}

std::optional<std::string>
Comparison::runExecutor(const interp::NamedTensors &inputs,
                        const Outputs &expected, const Outputs &found) {
  if (!executor)
    return std::nullopt;
  Result<Outputs> executed = executor(inputs);
  if (!executed)
    return "the run fails: " + executed.message();
  if (executed->size() != found.size())
    return llvm::formatv("there are {0} outputs, expected {1}",
                         executed->size(), found.size());
  for (auto [a, b] : llvm::zip_equal(found, *executed))
    if (a.name != b.name || a.tensor.type() != b.tensor.type() ||
        a.tensor.shape() != b.tensor.shape())
      return llvm::formatv("there is an output '{0}' of {1}, expected '{2}' of "
                           "{3}",
                           b.name, b.tensor.describe(), a.name,
                           a.tensor.describe());
  std::optional<std::string> error = compareBits(found, *executed);
  if (!error || !executorReordersSums)
    return error;
  Result<interp::NamedTensors> wide = toF64(inputs);
  if (!wide)
    return "there is no memory for the error bounds";
  Agreement unused;
  return compareBounded({expected, *executed}, *wide, Arithmetic::Native,
                        unused, unused.outputs);
}

std::optional<std::string>
Comparison::checkFails(const interp::NamedTensors &inputs) {
  if (!executor)
    return std::nullopt;
  std::string why;
  if (succeeded(execute(after, inputs, why)))
    return std::nullopt;
  if (executor(inputs))
    return "as executed, the run does not fail: " + why;
  return std::nullopt;
}

std::optional<Comparison::Pair>
Comparison::runWide(const interp::NamedTensors &inputs) {
  if (!beforeInF64) {
    beforeInF64 = cloneInF64(before);
    afterInF64 = cloneInF64(after);
  }
  std::string why;
  FailureOr<Outputs> expected = execute(onlyProgram(*beforeInF64), inputs, why);
  if (failed(expected))
    return std::nullopt;
  FailureOr<Outputs> found = execute(onlyProgram(*afterInF64), inputs, why);
  if (failed(found))
    return std::nullopt;
  return Pair{*std::move(expected), *std::move(found)};
}

bool Comparison::Pair::hasSameBits() const {
  return llvm::all_of(llvm::zip_equal(expected, found), [](auto outputs) {
    return !runtime::firstDifference(std::get<0>(outputs).tensor,
                                     std::get<1>(outputs).tensor);
  });
}

std::optional<std::string>
Comparison::compareBounded(const Pair &pair, const interp::NamedTensors &inputs,
                           Arithmetic arithmetic, Agreement &agreement,
                           std::map<std::string, Agreement::Counts> &outputs) {
  for (ProgramOp program : {before, after}) {
    Terms terms = longestReduction(program);
    if (terms.count > agreement.terms.count)
      agreement.terms = terms;
  }
  BoundProgram *program = getBounds(arithmetic);
  if (!program)
    return "no error bound is known of the program";
  std::string why;
  FailureOr<Outputs> computed =
      execute(onlyProgram(*program->module), inputs, why);
  size_t next = 0;
  for (const auto &[i, expected] : llvm::enumerate(pair.expected)) {
    Agreement::Counts counts;
    if (failed(computed)) {
      // The run may fail because of rounding, as in runWide, so the bounds are
      // unknown.
      counts.unbounded = expected.tensor.count();
    } else {
      const HostTensor *bound =
          program->exact[i] ? nullptr : &(*computed)[next++].tensor;
      bool isWide = arithmetic == Arithmetic::Wide;
      if (auto error = compareElements(
              expected, pair.found[i], bound, arithmetic,
              isWide ? agreement.wide : agreement.native, counts))
        return error;
    }
    outputs[expected.name] = counts;
  }
  return std::nullopt;
}
