//===- Prove.cpp - Two programs compute the same --------------------------===//
//
// Makes the symbols, executes both programs on them, and compares what they
// leave.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Prove.h"

#include "lib/Verify/Compare.h"
#include "lib/Verify/SymbolicExecutor.h"

#include "llvm/ADT/StringMap.h"

#include <chrono>

namespace ccn::verify {

namespace {

using interp::HostTensor;

/// One of the two programs, and what its execution left.
struct Side {
  Side(ProgramOp program, std::string name)
      : program(program), mesh(program.getMesh()), name(std::move(name)),
        outcomes(interp::outcomesOf(program)) {}

  ProgramOp program;
  interp::RankMesh mesh;
  /// "before" or "after".
  std::string name;
  std::vector<interp::Outcome> outcomes;
  /// By outcome, then by rank.
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
  /// An element that ought to be equal, in two places.
  struct Place {
    const Side *side;
    int64_t rank;
    Expr value;
  };

  Status checkInterfaces();
  Status checkType(const Side &a, mlir::RankedTensorType aType, const Side &b,
                   mlir::RankedTensorType bType, const std::string &name);
  Status makeSymbols();
  Status execute(Side &side);
  void compareOutputs();
  void compareOutput(const interp::Outcome &was, const interp::Outcome &is);
  Judgement::Kind comparePlaces(const Place &a, const Place &b,
                                const std::string &output,
                                const interp::Shape &index);
  std::string describePlace(const Place &place);

  Side before, after;
  synth::Limits limits;
  Expressions exprs;
  SymbolicKernels kernels;
  Comparer comparer;
  /// By argument, in external form.
  llvm::StringMap<HostTensor> inputs;
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
    return interp::describe(interp::elementTypeOf(type.getElementType()),
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

Status Prover::makeSymbols() {
  for (unsigned i = 0; i < before.program.getNumArguments(); ++i) {
    mlir::RankedTensorType type = typeOf(before.program.getArgument(i));
    std::string name = before.program.getArgName(i).str();
    Result<HostTensor> tensor =
        kernels.symbols(name, interp::elementTypeOf(type.getElementType()),
                        before.mesh.externalShape(type));
    if (!tensor)
      return error("argument '", name, "': ", tensor.message());
    inputs[name] = *std::move(tensor);
  }
  return Status();
}

Status Prover::execute(Side &side) {
  SymbolicExecutor executor(side.mesh, kernels);
  for (unsigned i = 0; i < side.program.getNumArguments(); ++i) {
    mlir::BlockArgument argument = side.program.getArgument(i);
    const HostTensor &whole = inputs[side.program.getArgName(i)];
    for (int64_t rank = 0; rank < executor.numRanks(); ++rank) {
      Result<HostTensor> part =
          side.mesh.takePart(typeOf(argument), whole, rank);
      if (!part)
        return part.status();
      executor.set(rank, argument, *std::move(part));
    }
  }
  if (auto failure = executor.execute(side.program.getBody().front()))
    return error(failure->op->getName().stripDialect().str(), " at ",
                 interp::describeLocation(failure->op->getLoc()), " ",
                 side.name, ", on ", side.mesh.describe(failure->rank), ": ",
                 failure->status.message());
  for (const interp::Outcome &outcome : side.outcomes) {
    side.parts.emplace_back();
    for (int64_t rank = 0; rank < executor.numRanks(); ++rank)
      side.parts.back().push_back(executor.get(rank, outcome.value));
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

Judgement::Kind Prover::comparePlaces(const Place &a, const Place &b,
                                      const std::string &output,
                                      const interp::Shape &index) {
  const Judgement &comparison = comparer.compare(a.value, b.value);
  if (comparison.kind == Judgement::Different && !proof.counterexample)
    proof.counterexample = Counterexample{output,
                                          index,
                                          describePlace(a),
                                          describePlace(b),
                                          b.rank,
                                          comparison.inputs,
                                          comparison.first,
                                          comparison.second,
                                          comparison.functions};
  if (comparison.kind == Judgement::Unknown && proof.reason.empty())
    proof.reason = "element " + interp::describeIndex(index) + " of '" +
                   output + "', " + describePlace(a) + " and " +
                   describePlace(b) + ": " + comparison.reason;
  return comparison.kind;
}

void Prover::compareOutput(const interp::Outcome &was,
                           const interp::Outcome &is) {
  const auto &wasParts = before.parts[&was - before.outcomes.data()];
  const auto &isParts = after.parts[&is - after.outcomes.data()];
  // By index in the external form: where it is first found, before.
  std::map<interp::Shape, Place> places;
  /// Whether the element is equal everywhere, and by whom that is known.
  std::map<interp::Shape, Judgement::Kind> kinds;
  auto visit = [&](const Side &side, mlir::RankedTensorType type,
                   const std::vector<HostTensor> &parts) {
    interp::RankMesh mesh = side.mesh;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank)
      for (int64_t i = 0; i < parts[rank].count(); ++i) {
        interp::Shape index = mesh.externalIndex(type, rank, i);
        Place place = {&side, rank, parts[rank].dataAs<Expr>()[i]};
        auto [first, isNew] = places.try_emplace(index, place);
        auto &kind =
            kinds.try_emplace(index, Judgement::Identical).first->second;
        if (isNew)
          continue;
        kind = std::max(kind,
                        comparePlaces(first->second, place, was.name, index));
        if (proof.counterexample)
          return;
      }
  };
  visit(before, was.type, wasParts);
  if (!proof.counterexample)
    visit(after, is.type, isParts);
  ++proof.outputs;
  for (const auto &[index, kind] : kinds) {
    ++proof.elements;
    proof.byNormalization += kind == Judgement::Identical;
    proof.bySolver += kind == Judgement::Solved;
  }
}

void Prover::compareOutputs() {
  for (const interp::Outcome &is : after.outcomes) {
    auto was = llvm::find_if(before.outcomes, [&](const interp::Outcome &o) {
      return o.name == is.name;
    });
    compareOutput(*was, is);
    if (proof.counterexample)
      return;
  }
}

Proof Prover::run() {
  auto start = std::chrono::steady_clock::now();
  auto step = [&](Status status) {
    if (!status)
      proof.reason = status.message();
    return status.ok();
  };
  if (step(checkInterfaces()) && step(makeSymbols()) && step(execute(before)) &&
      step(execute(after))) {
    compareOutputs();
    if (proof.counterexample)
      proof.kind = Proof::Different;
    else if (proof.reason.empty())
      proof.kind = Proof::Proved;
  }
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
    os << "element " << interp::describeIndex(c.index) << " of '" << c.output
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
