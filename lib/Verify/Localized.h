//===- Localized.h - A program localized for all ranks ----------*- C++ -*-===//
//
// Localizes a program for each rank, so that the localized programs can run
// together and be compared with the program.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_LOCALIZED_H
#define CCN_LIB_VERIFY_LOCALIZED_H

#include "dialect/ccn/Ccn.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace ccn::verify {

/// A program as each rank of its mesh executes it.
struct LocalizedPrograms {
  /// Both lists are by rank.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<ProgramOp> programs;
};

/// Localizes a program for every rank, and verifies the results. Fails, with an
/// error reported, if a condition of `localize` does not hold or a result does
/// not verify.
mlir::FailureOr<LocalizedPrograms> localizeForAllRanks(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_LOCALIZED_H
