//===- Localized.cpp - A program localized for all ranks ------------------===//
//
// Each rank gets a clone of the program in its own module.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Localized.h"

#include "lib/Transforms/Localize.h"
#include "lib/Verify/Retype.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;

FailureOr<LocalizedPrograms> verify::localizeForAllRanks(ProgramOp program) {
  MeshOp mesh = program.getMesh();
  int64_t ranks = mesh ? mesh.getNumRanks() : 1;
  LocalizedPrograms localized;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    localized.modules.push_back(cloneAlone(program));
    ProgramOp clone = onlyProgram(*localized.modules.back());
    if (failed(localize(clone, rank, [&] { return clone.emitError(); })) ||
        failed(mlir::verify(*localized.modules.back())))
      return failure();
    localized.programs.push_back(clone);
  }
  return localized;
}
