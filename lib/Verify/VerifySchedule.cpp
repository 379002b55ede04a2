//===- VerifySchedule.cpp - Verifies the schedule of a file ---------------===//
//
// Finds sizes, compares programs at each of them, and reports the results.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/VerifySchedule.h"

#include "lib/Verify/ChosenAlgorithms.h"
#include "lib/Verify/Prove.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

VerifyOptions VerifyOptions::quick() {
  VerifyOptions options;
  options.budget.elements = 1 << 14;
  options.budget.work = 1 << 16;
  options.budget.largestParam = 40;
  options.budget.sizes = 2;
  options.budget.attempts = 20;
  options.sets = {ValueSet::Positive, ValueSet::Special};
  options.ranks = 16;
  options.mustCompare = false;
  return options;
}

VerifyOptions VerifyOptions::proof() {
  VerifyOptions options;
  options.budget.elements = 1 << 14;
  options.budget.work = 1 << 16;
  options.budget.largestParam = 12;
  options.budget.sizes = 3;
  options.ranks = 64;
  options.prove = true;
  return options;
}

namespace {

class ScheduleVerifier {
public:
  ScheduleVerifier(const SourceFile &source, const CompileOptions &options,
                   const VerifyOptions &verifyOptions, Diagnostics &diagnostics)
      : source(source), options(options), verifyOptions(verifyOptions),
        diagnostics(diagnostics) {}

  /// Compares one program at all sizes; returns its line of the report, or none
  /// if an error was reported.
  std::optional<std::string> verify(StringRef name,
                                    MutableArrayRef<SizedProgram> sizes);

  /// Proves that one program is equal at all sizes; returns its line of the
  /// report, or none if an error was reported.
  std::optional<std::string> prove(StringRef name,
                                   MutableArrayRef<SizedProgram> sizes);

private:
  void reportMismatch(StringRef name, const SizedProgram &size,
                      const Twine &what, std::optional<ValueSet> set);
  /// The command line that repeats the verification at one size.
  std::string command(const SizedProgram &size);

  const SourceFile &source;
  const CompileOptions &options;
  const VerifyOptions &verifyOptions;
  Diagnostics &diagnostics;
};

ProgramOp find(ModuleOp module, StringRef name) {
  for (ProgramOp program : module.getOps<ProgramOp>())
    if (program.getSymName() == name)
      return program;
  return {};
}

/// The mesh in words, such as `4 ranks (dp = 2, tp = 2)`.
std::string describeMesh(MeshOp mesh) {
  if (!mesh)
    return "1 rank";
  std::string text;
  llvm::raw_string_ostream os(text);
  int64_t ranks = mesh.getNumRanks();
  os << ranks << (ranks == 1 ? " rank (" : " ranks (");
  llvm::interleaveComma(llvm::zip(mesh.getAxisNames().getAsRange<StringAttr>(),
                                  mesh.getAxisSizes()),
                        os, [&](auto axis) {
                          os << std::get<0>(axis).getValue() << " = "
                             << std::get<1>(axis);
                        });
  os << ")";
  return text;
}

/// Appends the sizes, as in ` with N = 5; N = 3`.
void appendSizes(std::string &line, ArrayRef<SizedProgram> sizes) {
  if (sizes.front().params.empty())
    return;
  line += " with ";
  llvm::raw_string_ostream os(line);
  llvm::interleave(
      sizes, os, [&](const SizedProgram &size) { os << size.str(); }, "; ");
}

std::string ScheduleVerifier::command(const SizedProgram &size) {
  std::string text = "cccompile " + source.getName().str();
  if (!verifyOptions.schedule.empty())
    text += " --schedule " + verifyOptions.schedule;
  for (const auto &[name, value] : options.lower.mesh)
    text += " --mesh " + name + "=" + value;
  for (const auto &[name, value] : options.lower.params)
    if (llvm::none_of(size.params, [&, &param = name](const auto &other) {
          return other.first == param;
        }))
      text += " -D " + name + "=" + value;
  for (const auto &[name, value] : size.params)
    text += " -D " + name + "=" + value;
  if (!options.topology.empty())
    text += " --topology '" + options.topology + "'";
  if (verifyOptions.prove)
    return text + " --verify=prove";
  return text + " --verify --seed " + std::to_string(verifyOptions.seed);
}

void ScheduleVerifier::reportMismatch(StringRef name, const SizedProgram &size,
                                      const Twine &what,
                                      std::optional<ValueSet> set) {
  DiagnosticHandle handle =
      diagnostics.error("program '" + name +
                        "' computes something else with its schedule: " + what);
  std::string where = "on " + describeMesh(getMesh(*size.before));
  if (!size.params.empty())
    where += ", with " + size.str();
  if (set)
    where += llvm::formatv(", '{0}' values of seed {1}", verify::name(*set),
                           verifyOptions.seed);
  handle.note(where);
  handle.note("to see it again: " + command(size));
}

std::optional<std::string>
ScheduleVerifier::verify(StringRef name, MutableArrayRef<SizedProgram> sizes) {
  Agreement total;
  std::string failure;
  for (auto [index, size] : llvm::enumerate(sizes)) {
    Comparison comparison(find(*size.before, name), find(*size.after, name));
    if (std::optional<std::string> error = comparison.checkInterface()) {
      reportMismatch(name, size, *error, std::nullopt);
      return std::nullopt;
    }
    for (ValueSet set : verifyOptions.sets) {
      if (std::optional<std::string> error = comparison.run(
              set, verifyOptions.seed, total, {index, sizes.size()})) {
        reportMismatch(name, size, *error, set);
        return std::nullopt;
      }
      if (failure.empty())
        failure = comparison.getFailure();
    }
  }
  if (total.runs == 0 && verifyOptions.mustCompare) {
    diagnostics.error("program '" + name +
                      "' fails without its schedule too, so nothing could be "
                      "compared: " +
                      failure);
    return std::nullopt;
  }
  std::string uncompared = total.findUncompared();
  if (!uncompared.empty() && verifyOptions.mustCompare) {
    diagnostics.error("output '" + uncompared + "' of program '" + name +
                      "' could not be compared: its bits differ with the "
                      "schedule, and rounding may change every element by any "
                      "amount");
    return std::nullopt;
  }
  std::string line = llvm::formatv(
      "program '{0}' with schedule '{1}': {2} on {3}, in {4} runs", name,
      verifyOptions.schedule, total.str(),
      describeMesh(getMesh(*sizes.front().before)), total.runs);
  appendSizes(line, sizes);
  return line;
}

std::optional<std::string>
ScheduleVerifier::prove(StringRef name, MutableArrayRef<SizedProgram> sizes) {
  Proof total;
  for (SizedProgram &size : sizes) {
    ProgramOp before = find(*size.before, name),
              after = find(*size.after, name);
    if (std::optional<std::string> error =
            Comparison(before, after).checkInterface()) {
      reportMismatch(name, size, *error, std::nullopt);
      return std::nullopt;
    }
    Proof proof = verify::prove(before, after, {});
    if (proof.kind == Proof::Different) {
      // The message has one line: the values, then the inputs that lead to
      // them.
      std::string what = proof.describe();
      if (size_t end = what.find("\n  "); end != std::string::npos)
        what.replace(end, 3, ", with ");
      for (size_t end; (end = what.find("\n  ")) != std::string::npos;)
        what.replace(end, 3, ", ");
      reportMismatch(name, size, what, std::nullopt);
      return std::nullopt;
    }
    if (proof.kind == Proof::Unknown) {
      diagnostics
          .error(
              "program '" + name +
              "' could not be proved equal with its schedule: " + proof.reason)
          .note("on " + describeMesh(getMesh(*size.before)) +
                (size.params.empty() ? "" : ", with " + size.str()));
      return std::nullopt;
    }
    total.elements += proof.elements;
    total.byNormalization += proof.byNormalization;
    total.bySolver += proof.bySolver;
  }
  std::string line = llvm::formatv(
      "program '{0}' with schedule '{1}': proved equal over the reals on {2}, "
      "{3} elements, {4} of them by normal form and {5} by Z3",
      name, verifyOptions.schedule,
      describeMesh(getMesh(*sizes.front().before)), total.elements,
      total.byNormalization, total.bySolver);
  appendSizes(line, sizes);
  return line;
}

} // namespace

VerifyStatus verify::verifySchedule(const SourceFile &source,
                                    MLIRContext *context,
                                    const CompileOptions &options,
                                    ModuleOp schedules,
                                    const VerifyOptions &verifyOptions,
                                    Diagnostics &diagnostics,
                                    std::vector<std::string> &report) {
  auto tooLarge = [&](const Twine &what) {
    if (!verifyOptions.mustCompare)
      return VerifyStatus::Same;
    diagnostics.error(what);
    return VerifyStatus::TooLarge;
  };
  FailureOr<std::vector<SizedProgram>> sizes =
      findSizes(source, context, options, verifyOptions.budget, diagnostics);
  if (failed(sizes))
    return VerifyStatus::WrongSchedule;
  if (sizes->empty())
    return tooLarge("expected a program small enough to run, found none in '" +
                    source.getName() + "'" +
                    (isMlir(source)
                         ? "; compile the .ccn file for smaller sizes"
                         : " at its own sizes nor at smaller ones; set params "
                           "with -D"));
  if (MeshOp mesh = ::ccn::getMesh(*sizes->front().before))
    if (mesh.getNumRanks() > verifyOptions.ranks)
      return tooLarge("expected at most " + Twine(verifyOptions.ranks) +
                      " ranks to verify on, found " +
                      Twine(mesh.getNumRanks()));
  FailureOr<ChosenAlgorithms> chosen =
      ChosenAlgorithms::find(source, context, options, diagnostics);
  if (failed(chosen))
    return VerifyStatus::WrongSchedule;
  for (SizedProgram &size : *sizes)
    chosen->giveTo(*size.after);
  llvm::SmallSetVector<StringRef, 4> names;
  for (auto sequence : schedules.getOps<transform::NamedSequenceOp>()) {
    auto name = sequence->getAttrOfType<StringAttr>(kForAttr);
    for (ProgramOp program : sizes->front().before->getOps<ProgramOp>())
      if (!name || program.getSymName() == name.getValue())
        names.insert(program.getSymName());
  }
  ScheduleVerifier verifier(source, options, verifyOptions, diagnostics);
  for (StringRef name : names) {
    std::optional<std::string> line = verifyOptions.prove
                                          ? verifier.prove(name, *sizes)
                                          : verifier.verify(name, *sizes);
    if (!line)
      return VerifyStatus::Different;
    report.push_back(*std::move(line));
  }
  return VerifyStatus::Same;
}
