//===- Localized.h - A program localized for all ranks ----------*- C++ -*-===//
//
// What `localize` makes of a program, for each rank, so that all can be run
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
  /// By rank.
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  std::vector<ProgramOp> programs;
};

/// Localizes a program for every rank, and verifies what that gives. Fails,
/// with an error reported, if a condition of `localize` does not hold or what
/// it made does not verify.
mlir::FailureOr<LocalizedPrograms> localizeForAllRanks(ProgramOp program);

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_LOCALIZED_H
