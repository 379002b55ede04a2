#include "tools/cccompile/Run.h"
int ccn::runProgram(mlir::ModuleOp, const Options &, Diagnostics &) {
  return 4;
}
