//===- MutatedScheduleTest.cpp - Examples with a wrong schedule -----------===//
//
// Takes the scheduled program of every example that has a schedule, breaks one
// operation after the other, and expects each to be found: an operation left
// out, its operands exchanged, another constant, another reduction.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace ccn;
using namespace ccn::verify;

namespace {

struct Example {
  const char *name;
  std::vector<std::pair<std::string, std::string>> params;
  /// Mutations that make no difference, but where something underflows: in
  /// lamb, what to do if the step is zero and the parameters are not.
  std::vector<std::string> equivalent = {};
};

class MutatedScheduleTest : public VerifyTest,
                            public testing::WithParamInterface<Example> {
protected:
  mlir::OwningOpRef<mlir::ModuleOp> load(Phase phase) {
    std::string path =
        std::string(CCN_EXAMPLES) + "/" + GetParam().name + ".ccn";
    auto buffer = llvm::MemoryBuffer::getFile(path);
    EXPECT_TRUE(buffer) << path;
    sources.emplace_back(path, (*buffer)->getBuffer().str());
    CompileOptions options;
    options.lower.params = GetParam().params;
    options.lower.schedule = "fused";
    options.stopAfter = phase;
    Diagnostics diagnostics;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    compile(sources.back(), &context, options, diagnostics, module);
    EXPECT_TRUE(module);
    return module;
  }
};

/// The operations that the program is made of, regions walked into.
std::vector<mlir::Operation *> operationsOf(mlir::ModuleOp module) {
  std::vector<mlir::Operation *> ops;
  onlyProgram(module).getBody().walk([&](mlir::Operation *op) {
    if (llvm::isa<LayoutOpInterface>(op) || llvm::isa<UpdateOp>(op))
      ops.push_back(op);
  });
  return ops;
}

using Mutate = std::function<bool(mlir::Operation *)>;

/// Ways to break an operation; false where they do not apply.
const std::pair<const char *, Mutate> mutations[] = {
    {"left out",
     [](mlir::Operation *op) {
       if (llvm::isa<UpdateOp>(op))
         return false;
       for (mlir::Value operand : op->getOperands())
         if (operand.getType() == op->getResult(0).getType()) {
           op->getResult(0).replaceAllUsesWith(operand);
           return true;
         }
       return false;
     }},
    {"operands exchanged",
     [](mlir::Operation *op) {
       if (!llvm::isa<SubOp, DivOp, PowOp>(op))
         return false;
       mlir::Value a = op->getOperand(0), b = op->getOperand(1);
       if (a.getType() != b.getType())
         return false;
       op->setOperands({b, a});
       return true;
     }},
    {"another constant",
     [](mlir::Operation *op) {
       auto constant = llvm::dyn_cast<ConstantOp>(op);
       auto number = constant
                         ? llvm::dyn_cast<mlir::FloatAttr>(constant.getValue())
                         : mlir::FloatAttr();
       if (!number)
         return false;
       constant.setValueAttr(mlir::FloatAttr::get(
           number.getType(), number.getValueAsDouble() * 1.01 + 0.001));
       return true;
     }},
    {"another reduction",
     [](mlir::Operation *op) {
       if (auto scatter = llvm::dyn_cast<ReduceScatterOp>(op))
         scatter.setKind(ReduceKind::max);
       else if (auto reduce = llvm::dyn_cast<AllReduceOp>(op))
         reduce.setKind(ReduceKind::max);
       else if (auto reduction = llvm::dyn_cast<ReductionOp>(op))
         reduction.setKind(reduction.getKind() == ReductionKind::mean
                               ? ReductionKind::sum
                               : ReductionKind::mean);
       else
         return false;
       return mlir::succeeded(mlir::verify(op));
     }},
    {"another comparison",
     [](mlir::Operation *op) {
       auto compare = llvm::dyn_cast<CompareOp>(op);
       if (compare)
         compare.setPredicate(ComparePredicate::lt);
       return bool(compare);
     }},
    {"another rate",
     [](mlir::Operation *op) {
       auto dropout = llvm::dyn_cast<DropoutOp>(op);
       if (dropout)
         dropout.setRate(llvm::APFloat(0.5));
       return bool(dropout);
     }},
};

TEST_P(MutatedScheduleTest, EveryMutationIsFound) {
  mlir::OwningOpRef<mlir::ModuleOp> before = load(Phase::Parse);
  mlir::OwningOpRef<mlir::ModuleOp> after = load(Phase::Schedule);
  ASSERT_TRUE(before && after);
  mlir::ScopedDiagnosticHandler handler(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto isFound = [&](mlir::ModuleOp mutant) {
    Comparison comparison(onlyProgram(*before), onlyProgram(mutant));
    Agreement agreement;
    for (ValueSet set : allValueSets)
      if (comparison.run(set, /*seed=*/1, agreement))
        return true;
    return false;
  };
  EXPECT_FALSE(isFound(*after));
  size_t count = operationsOf(*after).size();
  int tried = 0;
  for (const auto &[what, mutate] : mutations)
    for (size_t i = 0; i < count; ++i) {
      mlir::OwningOpRef<mlir::ModuleOp> mutant = after->clone();
      mlir::Operation *op = operationsOf(*mutant)[i];
      std::string text = llvm::formatv("{0}", *op);
      if (!mutate(op))
        continue;
      ++tried;
      bool isEquivalent =
          llvm::any_of(GetParam().equivalent, [&](const std::string &part) {
            return text.find(part) != std::string::npos;
          });
      EXPECT_NE(isFound(*mutant), isEquivalent) << what << ": " << text;
    }
  EXPECT_GE(tried, 4);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, MutatedScheduleTest,
    testing::Values(
        Example{"adam", {{"N", "7"}}}, Example{"sgd", {{"N", "7"}}},
        Example{"lamb",
                {{"N", "7"}},
                {"ccn.select %42, %43, %3", "ccn.constant 0.000000e+00"}},
        Example{"attention_tp", {{"B", "2"}, {"S", "3"}, {"H", "6"}}},
        Example{"rmsnorm_tp", {{"T", "5"}, {"H", "6"}}}),
    [](const testing::TestParamInfo<Example> &info) {
      return info.param.name;
    });

} // namespace
