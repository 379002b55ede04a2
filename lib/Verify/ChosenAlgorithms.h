//===- ChosenAlgorithms.h - Algorithms chosen by a topology -----*- C++ -*-===//
//
// With a topology, the schedule of a collective, and so the order in which it
// adds, depends on the sizes. This makes a program that is verified at small
// sizes add in the same order as at its own sizes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_CHOSENALGORITHMS_H
#define CCN_LIB_VERIFY_CHOSENALGORITHMS_H

#include "lib/Driver/Phases.h"

#include <map>

namespace ccn::verify {

class ChosenAlgorithms {
public:
  /// Finds the algorithms that the phase `select` chooses for a program's
  /// reductions at its own sizes; none without a topology. Fails, with an error
  /// reported, if compiling fails.
  static mlir::FailureOr<ChosenAlgorithms> find(const SourceFile &source,
                                                mlir::MLIRContext *context,
                                                CompileOptions options,
                                                Diagnostics &diagnostics);

  /// Sets these algorithms on the same reductions of a scheduled program, which
  /// may have other sizes.
  void giveTo(mlir::ModuleOp scheduled) const;

private:
  /// For each reduction's key (see forEachReduction), the text and the name of
  /// a schedule.
  std::map<std::string, std::pair<std::string, std::string>> algorithms;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_CHOSENALGORITHMS_H
