//===- ccn-opt.cpp - mlir-opt with ccn's dialects and passes --------------===//
//
// Reads, verifies and transforms MLIR that holds ccn programs; for tests and
// for those who work on the compiler.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Phases.h"
#include "lib/Plan/Passes.h"
#include "lib/Transforms/Passes.h"

#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "ccn-opt " CCN_VERSION "\n"; });
  mlir::DialectRegistry registry;
  ccn::registerDialects(registry);
  mlir::registerTransformsPasses();
  ccn::registerCcnPasses();
  ccn::plan::registerCcnPlanPasses();
  mlir::transform::registerTransformPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "ccn-opt: mlir-opt with ccn's dialects and passes\n",
      registry));
}
