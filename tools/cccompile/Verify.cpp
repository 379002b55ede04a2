//===- Verify.cpp - Verifying the schedule that is applied ----------------===//
//
// Chooses how thoroughly to verify, and the exit code.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/Verify.h"

#include "lib/Verify/VerifySchedule.h"

#include <cstdlib>

using namespace ccn;

bool ccn::verifiesAlways() {
  const char *text = std::getenv("CCN_VERIFY");
#ifdef NDEBUG
  return text && llvm::StringRef(text) == "1";
#else
  return !text || llvm::StringRef(text) != "0";
#endif
}

int ccn::verifyFile(const SourceFile &source, mlir::MLIRContext *context,
                    const CompileOptions &compileOptions,
                    mlir::ModuleOp schedules, const Options &options,
                    Diagnostics &diagnostics,
                    std::vector<std::string> &report) {
  using verify::VerifyStatus;
  if (!schedules) {
    if (options.verify.empty())
      return 0;
    diagnostics.error(
        compileOptions.unscheduled
            ? "--verify: expected --schedule to name a schedule, found 'none'"
            : "--verify: expected --schedule to say which one, or a schedule "
              "'default' in the file, found none");
    return 2;
  }
  verify::VerifyOptions verifyOptions;
  if (options.verify.empty())
    verifyOptions = verify::VerifyOptions::quick();
  if (options.verify == "prove")
    verifyOptions = verify::VerifyOptions::proof();
  verifyOptions.seed = options.seed;
  verifyOptions.schedule = options.nameOfSchedule();
  switch (verify::verifySchedule(source, context, compileOptions, schedules,
                                 verifyOptions, diagnostics, report)) {
  case VerifyStatus::Same:
    return 0;
  case VerifyStatus::WrongSchedule:
    return 1;
  case VerifyStatus::TooLarge:
    return 2;
  case VerifyStatus::Different:
    return 4;
  }
  llvm_unreachable("all statuses have an exit code");
}
