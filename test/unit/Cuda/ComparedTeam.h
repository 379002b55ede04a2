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

#include <cmath>

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
    return run(program(), seed, values, haveSameBits);
  }
  /// Whether results differ so little from the interpreter's of the program of
  /// another text, with the same arguments, relative to the largest one of each
  /// output; NaN must be where it has NaN.
  testing::AssertionResult runNear(const std::string &text, uint64_t seed,
                                   verify::ValueSet values, double limit) {
    std::string messages;
    auto other = compiler.compileTo(Phase::Parse, text, {}, messages);
    if (!other)
      return testing::AssertionFailure() << messages << text;
    return run(verify::onlyProgram(*other), seed, values,
               [&](const Outputs &expected, const Outputs &found) {
                 for (size_t i = 0; i < expected.size(); ++i)
                   if (auto result =
                           areNear(expected[i].tensor, found[i].tensor, limit);
                       !result)
                     return result;
                 return testing::AssertionSuccess();
               });
  }

  CudaTeam &team() { return *cuda; }
  mlir::ModuleOp plans() { return *compiled; }

private:
  using Comparison = llvm::function_ref<testing::AssertionResult(
      const Outputs &, const Outputs &)>;

  static testing::AssertionResult areNear(const runtime::HostTensor &expected,
                                          const runtime::HostTensor &found,
                                          double limit) {
    double largest = 0;
    for (int64_t i = 0; i < expected.count(); ++i)
      if (double value = std::abs(expected.doubleAt(i)); std::isfinite(value))
        largest = std::max(largest, value);
    for (int64_t i = 0; i < expected.count(); ++i) {
      double a = expected.doubleAt(i), b = found.doubleAt(i);
      bool isSame = (std::isnan(a) && std::isnan(b)) || a == b;
      if (!isSame && !(std::abs(a - b) <= limit * largest))
        return testing::AssertionFailure()
               << "element " << runtime::describeIndex(expected.shape(), i)
               << " is " << b << ", expected " << a;
    }
    return testing::AssertionSuccess();
  }

  testing::AssertionResult run(ProgramOp reference, uint64_t seed,
                               verify::ValueSet values, Comparison compare) {
    auto inputs =
        verify::drawInputs(program(), values, verify::Integers::Any, seed);
    if (mlir::failed(inputs))
      return testing::AssertionFailure() << "no arguments";
    auto expected = interp::run(reference, reference.getMesh(), *inputs, {});
    if (mlir::failed(expected))
      return testing::AssertionFailure() << "the interpreter fails";
    auto found = cuda->run(*inputs);
    if (!found)
      return testing::AssertionFailure() << found.message();
    return compare(*expected, *found) << " in run " << seed;
  }

  ProgramOp program() { return verify::onlyProgram(*scheduled); }

  PlanCompiler compiler;
  mlir::OwningOpRef<mlir::ModuleOp> scheduled, compiled;
  std::unique_ptr<CudaTeam> cuda;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_COMPAREDTEAM_H
