//===- ApplySchedule.cpp - Schedules on programs --------------------------===//
//
// Runs transform sequences on ccn programs.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/ApplySchedule.h"

#include "dialect/ccn/Ccn.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ccn;

/// The program that a sequence is for.
static ProgramOp findProgram(ModuleOp module,
                             transform::NamedSequenceOp sequence) {
  SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  if (auto name = sequence->getAttrOfType<StringAttr>(kForAttr)) {
    for (ProgramOp program : programs)
      if (program.getSymName() == name.getValue())
        return program;
    sequence.emitError() << "the schedule is for program '" << name.getValue()
                         << "', which is not there";
    return {};
  }
  if (programs.size() == 1)
    return programs.front();
  sequence.emitError() << "expected '" << kForAttr
                       << "' to name one of several programs";
  return {};
}

LogicalResult ccn::applySchedules(ModuleOp module, ModuleOp schedules) {
  auto sequences = schedules.getOps<transform::NamedSequenceOp>();
  if (sequences.empty())
    return schedules.emitError() << "holds no transform.named_sequence";
  for (transform::NamedSequenceOp sequence : sequences) {
    ProgramOp program = findProgram(module, sequence);
    if (!program)
      return failure();
    if (sequence.getNumArguments() != 1)
      return sequence.emitError() << "expected one argument, the program";
    transform::TransformOptions options;
    if (failed(transform::applyTransformNamedSequence(program, sequence,
                                                      schedules, options)))
      return failure();
    // Primitives make legal programs by construction; this checks it.
    if (failed(verify(program)))
      return sequence.emitError() << "made a program that does not verify";
  }
  return success();
}
