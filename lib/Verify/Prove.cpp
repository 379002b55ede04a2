//===- Prove.cpp - Proves that two programs are equal ---------------------===//
//
// Makes the symbols, executes both programs on them, and compares their
// outputs.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Prove.h"

#include "lib/Verify/Compare.h"
#include "lib/Verify/SymbolicExecutor.h"

#include <chrono>

namespace ccn::verify {

namespace {

using runtime::HostTensor;

/// One of the two programs, and the outputs of its execution.
struct Side {
  Side(ProgramOp program, std::string name)
      : program(program), mesh(program.getMesh()), name(std::move(name)),
        outcomes(interp::outcomesOf(program)) {}

  ProgramOp program;
  interp::RankMesh mesh;
  /// "before" or "after".
  std::string name;
  std::vector<interp::Outcome> outcomes;
  /// The ranks' parts of the outputs, by outcome, then by rank.
  std::vector<std::vector<HostTensor>> parts;
};

class Prover {
public:
  Prover(ProgramOp before, ProgramOp after, const ProveOptions &options)
      : before(before, "before"), after(after, "after"),
        limits(synth::Limits::seconds(std::max(options.timeLimit, 0.001))),
        exprs(options.normalize), kernels(exprs, {limits, options.sizeLimit}),
        comparer(exprs, {options.normalize, options.sample,
                         options.elementTimeLimit, limits}) {}

  Proof run();

private:
  /// One copy of an element: which program and rank hold it, and its value.
  struct Place {
    const Side *side;
    int64_t rank;
    Expr value;
  };
  struct Element {
    std::string output;
    runtime::Shape index;
    /// Its first copy, in the program before the schedule.
    Place first;
    /// Other copies, whose equality with the first only the solver can decide.
    std::vector<Place> open;
    /// Whether both programs have the element.
    bool isPaired = false;
  };

  Status checkInterfaces();
  Status checkType(const Side &a, mlir::RankedTensorType aType, const Side &b,
                   mlir::RankedTensorType bType, const std::string &name);
  Status execute(const SymbolicInputs &inputs);
  void compareOutput(const interp::Outcome &was, const interp::Outcome &is);
  void compareOutputs();
  void solveElements();
  void setCounterexample(const Element &element, const Place &place,
                         const Judgement &comparison);
  std::string describePlace(const Place &place);

  Side before, after;
  synth::Limits limits;
  Expressions exprs;
  SymbolicKernels kernels;
  Comparer comparer;
  /// The elements that need the solver.
  std::vector<Element> open;
  Proof proof;
};

mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

std::string axesOf(MeshOp mesh) {
  std::string text;
  if (!mesh)
    return "none";
  for (auto axis : mesh.getAxisNames().getAsRange<mlir::StringAttr>())
    text += (text.empty() ? "" : ", ") + axis.getValue().str() + " = " +
            std::to_string(mesh.getAxisSize(axis));
  return text;
}

} // namespace

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

Status Prover::checkType(const Side &a, mlir::RankedTensorType aType,
                         const Side &b, mlir::RankedTensorType bType,
                         const std::string &name) {
  auto describe = [](const Side &side, mlir::RankedTensorType type) {
    interp::RankMesh mesh = side.mesh;
    return runtime::describe(elementTypeOf(type.getElementType()),
                             mesh.externalShape(type));
  };
  std::string aText = describe(a, aType), bText = describe(b, bType);
  if (aText == bText)
    return Status();
  return error("'", name, "' is ", aText, " before, ", bText, " after");
}

Status Prover::checkInterfaces() {
  std::string was = axesOf(before.program.getMesh());
  std::string is = axesOf(after.program.getMesh());
  if (was != is)
    return error("the mesh is ", was, " before, ", is, " after");

  llvm::StringMap<mlir::RankedTensorType> arguments;
  for (unsigned i = 0; i < before.program.getNumArguments(); ++i)
    arguments[before.program.getArgName(i)] =
        typeOf(before.program.getArgument(i));
  if (before.program.getNumArguments() != after.program.getNumArguments())
    return error("the program has ", before.program.getNumArguments(),
                 " arguments before, ", after.program.getNumArguments(),
                 " after");
  for (unsigned i = 0; i < after.program.getNumArguments(); ++i) {
    std::string name = after.program.getArgName(i).str();
    auto it = arguments.find(name);
    if (it == arguments.end())
      return error("argument '", name, "' is not there before");
    if (Status status = checkType(before, it->second, after,
                                  typeOf(after.program.getArgument(i)), name);
        !status)
      return status;
  }

  if (before.outcomes.size() != after.outcomes.size())
    return error("the program has ", before.outcomes.size(),
                 " outputs before, ", after.outcomes.size(), " after");
  for (const interp::Outcome &is : after.outcomes) {
    auto was = llvm::find_if(before.outcomes, [&](const interp::Outcome &o) {
      return o.name == is.name;
    });
    if (was == before.outcomes.end())
      return error("output '", is.name, "' is not there before");
    if (Status status = checkType(before, was->type, after, is.type, is.name);
        !status)
      return status;
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

Status Prover::execute(const SymbolicInputs &inputs) {
  for (Side *side : {&before, &after}) {
    auto parts = executeProgram(side->program, inputs, kernels);
    if (!parts)
      return error(side->name, ", ", parts.message());
    side->parts = *std::move(parts);
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Judgement
//===----------------------------------------------------------------------===//

std::string Prover::describePlace(const Place &place) {
  interp::RankMesh mesh = place.side->mesh;
  return place.side->name + " on " + mesh.describe(place.rank);
}

void Prover::setCounterexample(const Element &element, const Place &place,
                               const Judgement &comparison) {
  proof.counterexample = Counterexample{
      element.output,       element.index,     describePlace(element.first),
      describePlace(place), place.rank,        comparison.inputs,
      comparison.first,     comparison.second, comparison.functions};
}

void Prover::compareOutput(const interp::Outcome &was,
                           const interp::Outcome &is) {
  std::map<runtime::Shape, Element> elements;
  auto visit = [&](const Side &side, mlir::RankedTensorType type,
                   const std::vector<HostTensor> &parts) {
    interp::RankMesh mesh = side.mesh;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      for (int64_t i = 0; i < parts[rank].count(); ++i) {
        runtime::Shape index = mesh.externalIndex(type, rank, i);
        Place place = {&side, rank, parts[rank].dataAs<Expr>()[i]};
        auto [it, isNew] = elements.try_emplace(
            index, Element{was.name, index, place, {}, false});
        Element &element = it->second;
        if (isNew)
          continue;
        element.isPaired |= &side != element.first.side;
        auto quick = comparer.compareQuickly(element.first.value, place.value);
        if (!quick)
          element.open.push_back(place);
        else if (quick->kind == Judgement::Different)
          return setCounterexample(element, place, *quick);
        if (limits.expired()) {
          proof.reason = "out of time at element " +
                         runtime::describeIndex(index) + " of '" + was.name +
                         "'";
          return;
        }
      }
  };
  auto hasEnded = [&] { return proof.counterexample || !proof.reason.empty(); };
  visit(before, was.type, before.parts[&was - before.outcomes.data()]);
  if (!hasEnded())
    visit(after, is.type, after.parts[&is - after.outcomes.data()]);
  if (hasEnded())
    return;
  ++proof.outputs;
  proof.elements += static_cast<int64_t>(elements.size());
  for (auto &[index, element] : elements) {
    if (!element.isPaired)
      proof.reason = "internal error: element " +
                     runtime::describeIndex(index) + " of '" + was.name +
                     "' is not there before and after";
    else if (element.open.empty())
      ++proof.byNormalization;
    else
      open.push_back(std::move(element));
  }
}

void Prover::compareOutputs() {
  for (const interp::Outcome &is : after.outcomes) {
    auto was = llvm::find_if(before.outcomes, [&](const interp::Outcome &o) {
      return o.name == is.name;
    });
    compareOutput(*was, is);
    if (proof.counterexample || !proof.reason.empty())
      return;
  }
  solveElements();
}

void Prover::solveElements() {
  for (const Element &element : open) {
    bool isEqual = true;
    for (const Place &place : element.open) {
      const Judgement &comparison =
          comparer.solve(element.first.value, place.value);
      if (comparison.kind == Judgement::Different)
        return setCounterexample(element, place, comparison);
      if (comparison.kind == Judgement::Solved)
        continue;
      isEqual = false;
      if (proof.reason.empty())
        proof.reason = "element " + runtime::describeIndex(element.index) +
                       " of '" + element.output + "' " +
                       describePlace(element.first) + " and " +
                       describePlace(place) + ": " + comparison.reason;
    }
    proof.bySolver += isEqual;
  }
}

Proof Prover::run() {
  auto start = std::chrono::steady_clock::now();
  auto step = [&](Status status) {
    if (!status)
      proof.reason = status.message();
    return status.ok();
  };
  bool compared = false;
  if (step(checkInterfaces())) {
    Result<SymbolicInputs> inputs = makeSymbols(before.program, kernels);
    if (step(inputs.status()) && step(execute(*inputs))) {
      compareOutputs();
      compared = true;
    }
  }
  if (proof.counterexample)
    proof.kind = Proof::Different;
  else if (compared && proof.reason.empty() &&
           proof.byNormalization + proof.bySolver == proof.elements)
    proof.kind = Proof::Proved;
  proof.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return std::move(proof);
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

std::string Proof::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  switch (kind) {
  case Proved:
    os << "proved equal: " << outputs << " outputs, " << elements
       << " elements, " << byNormalization << " by normalization, " << bySolver
       << " by the solver";
    break;
  case Unknown:
    os << "not proved: " << reason;
    break;
  case Different: {
    const Counterexample &c = *counterexample;
    os << "element " << runtime::describeIndex(c.index) << " of '" << c.output
       << "' is " << c.firstValue << " " << c.firstPlace << ", but "
       << c.secondValue << " " << c.secondPlace;
    if (!c.functions.empty()) {
      os << ", in a theory where some stand for any function: ";
      llvm::interleaveComma(c.functions, os);
    }
    for (const auto &[name, value] : c.inputs)
      os << "\n  " << name << " = " << value;
    break;
  }
  }
  return text;
}

Proof prove(ProgramOp before, ProgramOp after, const ProveOptions &options) {
  return Prover(before, after, options).run();
}

} // namespace ccn::verify
