//===- Lower.h - From the syntax tree to ccn IR -----------------*- C++ -*-===//
//
// The checker: resolves names, evaluates constants, types expressions by the
// dialect's own inference and builds the module. It reports what is wrong at
// the place in the source, several errors in one run.
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

/// What the command line changes in a file: `-D N=1003`, `--mesh dp=8`, as name
/// and value. A number as the name of a param is that of the sizes that the
/// file gives as this number: `-D 4096=9`.
struct LowerOptions {
  std::vector<std::pair<std::string, std::string>> params;
  std::vector<std::pair<std::string, std::string>> mesh;
  /// The schedule to apply; if empty, `default` where there is one.
  std::string schedule;
  /// A file of schedules that are applied instead: for each program its only
  /// one, or `default`. May be null.
  const ast::File *scheduleFile = nullptr;
};

/// A param of a file.
struct Param {
  std::string name;
  Constant value;
  /// Whether the file gives the value in terms of other names, which it then
  /// follows; not if the command line set it.
  bool isDerived = false;
};

/// What a file means.
struct Lowered {
  /// The programs; null if errors were reported.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The schedules that were asked for, as transform sequences; null if none.
  mlir::OwningOpRef<mlir::ModuleOp> schedules;
  /// The file's params, in its order.
  std::vector<Param> params;
  /// The sizes of more than 1 that stand in the file without a name.
  std::set<int64_t> literalSizes;
  /// Of each program, the types of its arguments and of what its lets name.
  llvm::StringMap<llvm::StringMap<mlir::RankedTensorType>> types;
};

/// Builds the module of a parsed file in `context`, which must have the ccn
/// and transform dialects loaded. The module is null if errors were reported,
/// now or before. An option that names nothing in the file is an error too;
/// `badOption` then becomes true.
Lowered lower(const ast::File &file, mlir::MLIRContext *context,
              const LowerOptions &options, Diagnostics &diagnostics,
              bool &badOption);

/// The built-in functions, sorted by name, and how each is called.
std::vector<std::pair<llvm::StringRef, llvm::StringRef>> getBuiltinUsages();

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LOWER_H
