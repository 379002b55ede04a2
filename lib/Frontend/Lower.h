//===- Lower.h - From the syntax tree to ccn IR -----------------*- C++ -*-===//
//
// The checker: resolves names, evaluates constants, types expressions with the
// dialect's own inference, and builds the module. It reports errors at their
// places in the source, several in one run.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_LOWER_H
#define CCN_LIB_FRONTEND_LOWER_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Constant.h"
#include "lib/Frontend/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ccn::frontend {

/// Changes of a file on the command line, as names and values: `-D N=1003`,
/// `--mesh dp=8`. A param whose name is a number replaces all sizes that the
/// file gives as this number: `-D 4096=9`.
struct LowerOptions {
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::pair<std::string, std::string>> mesh;
  /// The schedule to apply; if empty, the schedule `default`, if there is one.
  std::string schedule;
  /// A file whose schedules are applied instead: for each program its only
  /// schedule, or `default`. May be null.
  const ast::File *scheduleFile = nullptr;
};

/// A param of a file.
struct Param {
  std::string name;
  Constant value;
  /// Whether the value is computed from other names in the file; false if the
  /// command line sets it.
  bool isDerived = false;
};

/// The result of checking a file.
struct Lowered {
  /// The programs; null if errors were reported.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The selected schedules, as transform sequences; null if there are none.
  mlir::OwningOpRef<mlir::ModuleOp> schedules;
  /// The file's params, in its order.
  std::vector<Param> params;
  /// The sizes larger than 1 that the file gives as numbers, without a name.
  std::set<int64_t> literalSizes;
  /// For each program, the types of its arguments and of the values that `let`
  /// names.
  llvm::StringMap<llvm::StringMap<mlir::RankedTensorType>> types;
};

/// Builds the module of a parsed file in `context`, which must have the ccn and
/// transform dialects loaded. The module is null if errors were reported, now
/// or before. An option that names nothing in the file is also an error;
/// `badOption` then becomes true.
Lowered lower(const ast::File &file, mlir::MLIRContext *context,
              const LowerOptions &options, Diagnostics &diagnostics,
              bool &badOption);

/// Builds the schedules of a file of schedules for programs in IR, whose
/// operations have the names that the program's text gave them. Null if errors
/// were reported.
mlir::OwningOpRef<mlir::ModuleOp> lowerSchedules(const ast::File &file,
                                                 mlir::ModuleOp programs,
                                                 Diagnostics &diagnostics);

/// The names of the built-in functions, sorted, and how each is called.
std::vector<std::pair<llvm::StringRef, llvm::StringRef>> getBuiltinUsages();

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LOWER_H
