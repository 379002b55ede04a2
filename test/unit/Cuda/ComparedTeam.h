//===- ComparedTeam.h - Emulated ranks beside the interpreter ---*- C++ -*-===//
//
// A program's kernels on emulated ranks, whose results are compared with those
// of the interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_COMPAREDTEAM_H
#define CCN_TEST_UNIT_CUDA_COMPAREDTEAM_H

#include "lib/Verify/Retype.h"
#include "lib/Verify/Values.h"
#include "test/unit/Cuda/CudaTeam.h"
#include "test/unit/Plan/PlanUtil.h"

namespace ccn::test {

class ComparedTeam {
public:
  /// Compiles a text's one program under a schedule, or none if its name is
  /// empty; blocks and clusters are those of CudaTeam::create.
  testing::AssertionResult create(const std::string &text,
                                  const std::string &schedule, int blocks,
                                  int clusterBits = 0) {
    verify::Variant variant = {.phase = Phase::Plan, .schedule = schedule};
    std::string messages;
    scheduled = compiler.compileTo(Phase::Schedule, text, variant, messages);
    if (scheduled)
      compiled = compiler.compileTo(Phase::Plan, text, variant, messages);
    if (!compiled)
      return testing::AssertionFailure() << messages << text;
    auto made = CudaTeam::create(*compiled, program().getSymName(), blocks,
                                 clusterBits);
    if (!made)
      return testing::AssertionFailure() << made.message() << text;
    cuda = *std::move(made);
    return testing::AssertionSuccess();
  }

  /// Runs on arguments that are drawn; whether results have the interpreter's
  /// bits.
  testing::AssertionResult
  run(uint64_t seed, verify::ValueSet values = verify::ValueSet::Ties) {
    auto inputs =
        verify::drawInputs(program(), values, verify::Integers::Any, seed);
    if (mlir::failed(inputs))
      return testing::AssertionFailure() << "no arguments";
    auto expected = interp::run(program(), program().getMesh(), *inputs, {});
    if (mlir::failed(expected))
      return testing::AssertionFailure() << "the interpreter fails";
    auto found = cuda->run(*inputs);
    if (!found)
      return testing::AssertionFailure() << found.message();
    return haveSameBits(*expected, *found) << " in run " << seed;
  }

  CudaTeam &team() { return *cuda; }
  mlir::ModuleOp plans() { return *compiled; }

private:
  ProgramOp program() { return verify::onlyProgram(*scheduled); }

  PlanCompiler compiler;
  mlir::OwningOpRef<mlir::ModuleOp> scheduled, compiled;
  std::unique_ptr<CudaTeam> cuda;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_COMPAREDTEAM_H
