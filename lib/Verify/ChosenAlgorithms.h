//===- ChosenAlgorithms.h - What a topology chooses -------------*- C++ -*-===//
//
// With a topology, it depends on the sizes by which schedule a collective runs,
// and so in which order it adds. A program that is verified at small sizes adds
// as it does at its own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_VERIFY_CHOSENALGORITHMS_H
#define CCN_LIB_VERIFY_CHOSENALGORITHMS_H

#include "lib/Driver/Phases.h"

#include <map>

namespace ccn::verify {

class ChosenAlgorithms {
public:
  /// What the phase select chooses for the reductions of a program at its own
  /// sizes; nothing without a topology. Fails, with an error reported, where
  /// that does.
  static mlir::FailureOr<ChosenAlgorithms> find(const SourceFile &source,
                                                mlir::MLIRContext *context,
                                                CompileOptions options,
                                                Diagnostics &diagnostics);

  /// Gives the same reductions of a scheduled program, at whatever sizes, these
  /// algorithms.
  void giveTo(mlir::ModuleOp scheduled) const;

private:
  /// By what says which reduction it is: the text of a schedule, and what it is
  /// called.
  std::map<std::string, std::pair<std::string, std::string>> algorithms;
};

} // namespace ccn::verify

#endif // CCN_LIB_VERIFY_CHOSENALGORITHMS_H
