//===- Session.cpp - A program and the lines applied to it ----------------===//
//
// Each line is applied as part of the whole text, through the parser, the
// checker and the transform script, to the program as it was read.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "PackageRuns.h"
#include "Random.h"
#include "codegen/package/BuildPackage.h"
#include "lib/Driver/ApplySchedule.h"
#include "lib/Driver/FindSchedule.h"
#include "lib/Driver/Variants.h"
#include "lib/Transforms/Rewrites.h"
#include "lib/Verify/BoundPlans.h"
#include "lib/Verify/Prove.h"
#include "test/common/PlanTeam.h"
#include "tools/cccompile/Predict.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/Regex.h"

#include <fstream>

using namespace ccn;
using namespace ccn::random;
using namespace ccn::verify;

namespace {

std::string messagesOf(const Diagnostics &diagnostics) {
  std::string text;
  for (const Diagnostic *diagnostic : diagnostics.getSorted())
    text += (text.empty() ? "" : "; ") + diagnostic->message;
  return text;
}

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text;
}

/// The program as primitives leave it when they refuse: they may make readers
/// of an argument read what was stored in it.
std::string printForwarded(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  forwardStores(onlyProgram(*copy));
  return print(*copy);
}

/// Errors that are not numbered: what is named is not there, or not what the
/// line takes, which the checker says.
const std::pair<const char *, const char *> namedErrors[] = {
    {"^unknown value '", "unknown name"},
    {"has the name '.*' here: ", "name of nothing"},
    {"' is named twice$", "named twice"},
    {"' is a constant$", "constant"},
    {"^expected an inout argument, found '", "not inout"},
    {"^expected a (number of chunks|number of SMs|size of a bucket) of at "
     "least 1",
     "number below 1"},
    {"^unknown algorithm '", "unknown algorithm"},
    {"^expected a topology, as in synth", "synth()"},
};

mlir::LogicalResult run(Phase phase, bool before, mlir::ModuleOp module) {
  mlir::PassManager first(module.getContext()), last(module.getContext());
  addPhasePasses(phase, {}, first, last);
  return (before ? first : last).run(module);
}

} // namespace

Session::Session(mlir::MLIRContext &context, Program all)
    : context(context), program(std::move(all)) {
  program.lines.clear();
  SourceFile source("random.ccn", program.text());
  Diagnostics diagnostics;
  CompileOptions options;
  options.stopAfter = Phase::Parse;
  if (compile(source, &context, options, diagnostics, before) !=
      CompileStatus::Done) {
    error = messagesOf(diagnostics);
    return;
  }
  scheduled = before->clone();
  if (mlir::failed(run(Phase::Schedule, true, *scheduled)))
    error = "the passes before the schedule fail";
}

ProgramOp Session::current() { return onlyProgram(*scheduled); }

Outcome Session::judge(const Diagnostics &diagnostics, const Program &tried) {
  auto sorted = diagnostics.getSorted();
  if (sorted.empty())
    return {Outcome::Wrong, "no error says why the line fails"};
  const Diagnostic &first = *sorted.front();
  llvm::StringRef message = first.message;
  std::string why;
  llvm::SmallVector<llvm::StringRef> groups;
  if (llvm::Regex("\\(([a-z_]+_c[0-9]+)\\)$").match(message, &groups))
    why = groups[1].str();
  for (const auto &[pattern, name] : namedErrors)
    if (why.empty() && llvm::Regex(pattern).match(message))
      why = name;
  if (why.empty())
    return {Outcome::Wrong,
            "an error that is no refusal: " + messagesOf(diagnostics)};
  unsigned line = first.place.line;
  if (first.place.file)
    line = first.place.file->getLineColumn(first.place.range.begin).line;
  unsigned expected = tried.textLine(tried.lines.size() - 1);
  if (line != expected)
    return {Outcome::Wrong, "the refusal is at line " + std::to_string(line) +
                                ", expected " + std::to_string(expected) +
                                ": " + message.str()};
  return {Outcome::Refused, why};
}

Outcome Session::apply(const std::string &line) {
  Program tried = program;
  tried.lines.push_back(line);
  SourceFile source("random.ccn", tried.text());
  Diagnostics diagnostics;
  CompileOptions options;
  options.stopAfter = Phase::Parse;
  options.lower.schedule = "t";
  Module module, schedules;
  if (compile(source, &context, options, diagnostics, module, &schedules) !=
      CompileStatus::Done)
    return judge(diagnostics, tried);
  if (mlir::failed(run(Phase::Schedule, true, *module)))
    return {Outcome::Wrong, "the passes before the schedule fail"};
  mlir::LogicalResult applied = mlir::failure();
  {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          forwardDiagnostic(diagnostic, diagnostics);
          return mlir::success();
        });
    applied = applySchedules(*module, *schedules);
    if (mlir::failed(mlir::verify(*module)))
      return {Outcome::Wrong,
              "the program does not verify: " + messagesOf(diagnostics)};
  }
  if (mlir::succeeded(applied)) {
    scheduled = std::move(module);
    program = std::move(tried);
    return {Outcome::Accepted, ""};
  }
  Outcome outcome = judge(diagnostics, tried);
  if (outcome.kind == Outcome::Refused &&
      printForwarded(*module) != printForwarded(*scheduled))
    return {Outcome::Wrong, "a refusal (" + outcome.why +
                                ") changed the program:\n" + print(*scheduled) +
                                "became\n" + print(*module)};
  return outcome;
}

std::vector<std::string> Session::findLines(uint64_t seed, bool isPredicted,
                                            std::string &wrong) {
  SourceFile source("random.ccn", program.text());
  Diagnostics diagnostics;
  CompileOptions options;
  options.unscheduled = program.lines.empty();
  if (!options.unscheduled)
    options.lower.schedule = "t";
  Random random(seed);
  // As GPUs have it where no schedule is named.
  FindOptions find =
      *predictingSearch({}, Target::anyGpu(), Machine(), diagnostics);
  find.maxPriced = 20;
  for (unsigned i = 0; i < current().getNumArguments(); ++i)
    if (current().isInout(i))
      find.states.push_back(current().getArgName(i).str());
  if (!isPredicted)
    find.price = [&](mlir::ModuleOp, llvm::StringRef) -> Result<double> {
      if (random.chance(0.02))
        return ccn::error("it cannot run so");
      return static_cast<double>(random.between(100, 200));
    };
  FoundSchedules found;
  if (findSchedule(source, &context, options, find, diagnostics, found) !=
      CompileStatus::Done) {
    wrong = "the search fails: " + messagesOf(diagnostics);
    return {};
  }
  // Between the first line and the last, after those by hand, without what is
  // said of them.
  llvm::SmallVector<llvm::StringRef> all;
  found.best->getText().split(all, '\n');
  std::vector<std::string> lines;
  for (llvm::StringRef line : all)
    if (line.starts_with("  "))
      lines.push_back(line.split("//").first.trim().str());
  if (lines.size() < program.lines.size()) {
    wrong = "the search has lost lines:\n" + found.best->getText().str();
    return {};
  }
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(
                                                 program.lines.size()));
  return lines;
}

std::string Session::compare(const Depth &depth, uint64_t seed) {
  Module after = scheduled->clone();
  if (mlir::failed(run(Phase::Schedule, false, *after)))
    return "the passes after the schedule fail";
  Comparison comparison(onlyProgram(*before), onlyProgram(*after));
  if (auto wrong = comparison.checkInterface())
    return *wrong;
  Agreement agreement;
  for (ValueSet set : depth.sets) {
    if (auto wrong = comparison.run(set, seed, agreement))
      return "on values '" + name(set).str() + "', " + *wrong;
    if (!comparison.getFailure().empty())
      ++counts["not run"];
  }
  counts["run"] += agreement.runs;
  if (!agreement.findUncompared().empty())
    ++counts["without bound"];
  if (!depth.proves)
    return "";
  ProveOptions options;
  options.timeLimit = 2;
  options.elementTimeLimit = 0.2;
  options.sizeLimit = 300'000;
  Proof proof = prove(onlyProgram(*before), onlyProgram(*after), options);
  // For other functions than the real ones programs may differ.
  if (proof.kind == Proof::Different && proof.counterexample->functions.empty())
    return "by proof, " + proof.describe();
  ++counts[proof.kind == Proof::Proved ? "proved" : "not proved"];
  return "";
}

/// Executes twice: epochs go on, and what a run left in memory is there.
static Result<std::vector<interp::Output>>
executeTwice(ccn::test::PlanTeam &team, const interp::NamedTensors &inputs) {
  auto first = team.run(inputs);
  if (!first)
    return first;
  auto second = team.run(inputs);
  if (!second)
    return error("the second time, ", second.message());
  for (size_t i = 0; i < first->size(); ++i)
    if (auto index =
            runtime::firstDifference((*first)[i].tensor, (*second)[i].tensor))
      return error("element ", *index, " of '", (*first)[i].name, "' is ",
                   (*first)[i].tensor.textAt(*index), " the first time, ",
                   (*second)[i].tensor.textAt(*index), " the second time");
  return first;
}

std::string Session::compileTo(CompileOptions options, Phase phase,
                               Module &module) {
  SourceFile source("random.ccn", program.text());
  Diagnostics diagnostics;
  options.stopAfter = phase;
  if (!program.lines.empty() && !options.unscheduled)
    options.lower.schedule = "t";
  if (compile(source, &context, options, diagnostics, module) !=
      CompileStatus::Done)
    return "compiling fails: " + messagesOf(diagnostics);
  return "";
}

std::string Session::makePlans(const Target &target, const SelectLimits &limits,
                               size_t variant, Module &plans) {
  CompileOptions options;
  options.target = target;
  options.limits = limits;
  if (variant == 0)
    return compileTo(options, Phase::Plan, plans);
  Module module;
  if (std::string wrong = compileTo(options, Phase::Schedule, module);
      !wrong.empty())
    return wrong;
  constexpr size_t most = 24;
  std::vector<PlanVariant> variants = planVariants(*module, "f", options, most);
  if (variants.empty())
    return "there are no variants";
  plans = std::move(variants[variant % variants.size()].plans);
  return "";
}

std::string Session::writePackage(const std::string &path, size_t variant) {
  Module plans, plain, reference;
  Target target = Target::anyGpu(CpuLevel::X86_64_V3);
  std::string wrong = makePlans(target, {}, variant, plans);
  CompileOptions options;
  options.target = target;
  options.unscheduled = true;
  if (wrong.empty())
    wrong = compileTo(options, Phase::Schedule, plain);
  if (wrong.empty())
    wrong = compileTo(options, Phase::Plan, reference);
  if (!wrong.empty())
    return wrong;
  codegen::PackageOptions made;
  made.program = "f";
  made.schedule = program.lines.empty() ? "" : "t";
  made.reference = *reference;
  made.target = target;
  BoundPlans bounds;
  if (auto found = makeBoundPlans(onlyProgram(*plain));
      mlir::succeeded(found)) {
    bounds = *std::move(found);
    made.bounds = *bounds.plans;
    made.bounded = bounds.outputs;
  }
  Result<runtime::Package> package = codegen::buildPackage(*plans, made);
  if (!package)
    return "there is no package: " + package.message();
  Result<std::string> bytes = runtime::encodePackage(*package);
  if (!bytes)
    return "the package cannot be written: " + bytes.message();
  std::ofstream file(path, std::ios::binary);
  file << *bytes;
  return file.flush() ? "" : "cannot write '" + path + "'";
}

std::string Session::compareExecuted(Comparison::Executor executor,
                                     bool reordersSums, const Depth &depth,
                                     uint64_t seed,
                                     const std::string &counter) {
  Module after = scheduled->clone();
  if (mlir::failed(run(Phase::Schedule, false, *after)))
    return "the passes after the schedule fail";
  Comparison comparison(onlyProgram(*before), onlyProgram(*after));
  comparison.executeAlso(std::move(executor), reordersSums);
  Agreement agreement;
  for (ValueSet set : depth.sets)
    if (auto wrong = comparison.run(set, seed, agreement))
      return "on values '" + name(set).str() + "', " + *wrong;
  counts[counter] += agreement.runs;
  return "";
}

std::string Session::compareForLimits(const Depth &depth, uint64_t seed,
                                      CompareForLimits compareFor) {
  std::string wrong;
  for (const SelectLimits &limits : depth.limits)
    if (wrong.empty())
      wrong = (this->*compareFor)(depth, limits, seed);
  return wrong;
}

std::string Session::comparePlansFor(const Depth &depth,
                                     const SelectLimits &limits,
                                     uint64_t seed) {
  Module plans;
  if (std::string wrong =
          makePlans(Target::host(), limits, depth.variant, plans);
      !wrong.empty())
    return wrong;
  auto team = ccn::test::PlanTeam::create(*plans, "f", /*timeLimit=*/20);
  if (!team)
    return team.message();
  std::unique_ptr<PackageRuns> processes;
  if (depth.runsProcesses) {
    auto made = PackageRuns::create(*plans, "f", Target::host());
    if (!made)
      return made.message();
    processes = *std::move(made);
  }
  return compareExecuted(
      [&](const interp::NamedTensors &inputs) -> Result<PackageRuns::Outputs> {
        auto byThreads = executeTwice(**team, inputs);
        if (!byThreads || !processes)
          return byThreads;
        auto byProcesses = processes->asProcesses(inputs);
        if (!byProcesses)
          return ccn::error("by processes, ", byProcesses.message());
        std::string wrong =
            differenceOf(*byThreads, *byProcesses, "by processes");
        return wrong.empty() ? std::move(byThreads) : ccn::error(wrong);
      },
      /*reordersSums=*/false, depth, seed, "executed");
}

std::string Session::compareKernelsFor(const Depth &depth,
                                       const SelectLimits &limits,
                                       uint64_t seed) {
  Module plans;
  Target target = Target::anyGpu(Target::host().cpu);
  if (std::string wrong = makePlans(target, limits, depth.variant, plans);
      !wrong.empty())
    return wrong;
  auto runs = PackageRuns::create(*plans, "f", target);
  if (!runs)
    return runs.message();
  std::string wrong = compareExecuted(
      [&](const interp::NamedTensors &inputs) {
        return (*runs)->onGpus(inputs);
      },
      /*reordersSums=*/true, depth, seed, "executed by kernels");
  return wrong.empty() ? wrong : "by kernels, " + wrong;
}

std::string Session::compileAll() {
  SourceFile source("random.ccn", program.text());
  Diagnostics diagnostics;
  CompileOptions options;
  options.roundTrip = true;
  if (!program.lines.empty())
    options.lower.schedule = "t";
  Module whole;
  if (compile(source, &context, options, diagnostics, whole) !=
      CompileStatus::Done)
    return "compiling the whole fails: " + messagesOf(diagnostics);
  Module after = scheduled->clone();
  if (mlir::failed(run(Phase::Schedule, false, *after)))
    return "the passes after the schedule fail";
  (*whole)->removeAttr(kPhaseAttr);
  (*after)->removeAttr(kPhaseAttr);
  if (print(*whole) != print(*after))
    return "compiling the whole makes another program, expected\n" +
           print(*after) + "found\n" + print(*whole);
  return "";
}

std::string random::checkAll(mlir::MLIRContext &context, const Program &program,
                             const Depth &depth) {
  Session session(context, program);
  if (!session.getError().empty())
    return "";
  std::string wrong = session.compare(depth, 1);
  for (const std::string &line : program.lines) {
    if (!wrong.empty())
      return wrong;
    Outcome outcome = session.apply(line);
    if (outcome.kind == Outcome::Wrong)
      return outcome.why;
    if (outcome.kind == Outcome::Accepted)
      wrong = session.compare(depth, 1);
  }
  if (wrong.empty() && depth.executes)
    wrong = session.comparePlans(depth, 1);
  if (wrong.empty() && depth.runsKernels)
    wrong = session.compareKernels(depth, 1);
  return wrong.empty() ? session.compileAll() : wrong;
}
