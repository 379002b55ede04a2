//===- Run.cpp - Running a program on CPU ranks ---------------------------===//
//
// Reads the arrays that the command line names, runs the reference interpreter,
// prints what came out and writes the arrays asked for.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Run.h"

#include "lib/Driver/Phases.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Placement.h"
#include "runtime/tensor/ProgramArrays.h"

#include <sstream>

using namespace ccn;
using namespace ccn::interp;
using ccn::runtime::ProgramArray;
using ccn::runtime::ProgramArrays;
using llvm::StringRef;

namespace {

/// The arrays of a program, for the command line.
ProgramArrays arraysOf(ProgramOp program) {
  RankMesh mesh(program.getMesh());
  std::vector<ProgramArray> arrays;
  auto add = [&](StringRef name, mlir::Type type) -> ProgramArray & {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    ProgramArray array;
    array.name = name.str();
    array.type = elementTypeOf(tensor.getElementType());
    array.shape = mesh.externalShape(tensor);
    array.typeName = typeName(tensor);
    array.isScalar = tensor.getRank() == 0;
    return arrays.emplace_back(std::move(array));
  };
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    ProgramArray &array =
        add(program.getArgName(i), program.getArgument(i).getType());
    array.isInput = true;
    array.isOutput = program.isInout(i);
    array.isScattered = program.isScattered(i);
  }
  for (auto [i, type] : llvm::enumerate(program.getResultTypes()))
    add(program.getResultName(i), type).isOutput = true;
  return ProgramArrays(program.getSymName().str(), std::move(arrays));
}

int runOne(ProgramOp program, const Options &options, llvm::raw_ostream &os,
           Diagnostics &diagnostics) {
  if (program.getRank()) {
    diagnostics.error("program '" + program.getSymName() +
                      "' is localized for one rank; run what phase 'schedule' "
                      "leaves, which all ranks share");
    return 2;
  }
  auto fail = [&](const Status &status) {
    diagnostics.error(status.message());
    return 2;
  };
  ProgramArrays arrays = arraysOf(program);
  if (Status status = arrays.find(options.inputs); !status)
    return fail(status);
  if (Status status = arrays.checkOutputs(options.outputs); !status)
    return fail(status);
  RunOptions runOptions;
  runOptions.seed = options.seed;
  mlir::ScopedDiagnosticHandler handler(
      program.getContext(), [&](mlir::Diagnostic &diagnostic) {
        forwardDiagnostic(diagnostic, diagnostics);
        return mlir::success();
      });
  if (mlir::failed(checkRoom(program, program.getMesh())))
    return 4;
  Result<NamedTensors> inputs = arrays.read();
  if (!inputs)
    return fail(inputs.status());
  mlir::FailureOr<std::vector<Output>> outputs =
      interp::run(program, program.getMesh(), *std::move(inputs), runOptions);
  if (mlir::failed(outputs))
    return 4;
  for (const Output &output : *outputs) {
    std::ostringstream line;
    arrays.print(line, output.name, output.tensor);
    os << line.str();
    if (Status status =
            arrays.write(output.name, output.tensor, options.outputs);
        !status)
      return fail(status);
  }
  return 0;
}

} // namespace

int ccn::runProgram(mlir::ModuleOp module, const Options &options,
                    llvm::raw_ostream &os, Diagnostics &diagnostics) {
  llvm::SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  llvm::SmallVector<StringRef> names;
  for (ProgramOp program : programs)
    names.push_back(program.getSymName());
  if (programs.empty()) {
    diagnostics.error("expected a program to run, found none in the file");
    return 2;
  }
  if (programs.size() == 1)
    return runOne(programs.front(), options, os, diagnostics);
  diagnostics.error("expected --program to say which of '" +
                    llvm::join(names, "', '") + "' to run");
  return 2;
}
