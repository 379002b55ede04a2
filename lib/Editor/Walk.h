//===- Walk.h - Visits every expression of a file ---------------*- C++ -*-===//
//
// Visits all expressions of a syntax tree.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_WALK_H
#define CCN_LIB_EDITOR_WALK_H

#include "lib/Frontend/AST.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ccn::editor {

/// The functions to call with the nodes; those that are not set are not called.
struct Visitor {
  llvm::function_ref<void(const frontend::ast::Expr &)> expr;
  llvm::function_ref<void(const frontend::ast::LayoutState &)> state;
  /// Called with a single `local` or `replicated`, which may be a value's name.
  llvm::function_ref<void(const frontend::ast::Name &)> maybeName;
};

/// Calls the visitor for an expression and all expressions in it, in no special
/// order. Does not recurse, so that expressions may be arbitrarily deep.
void walk(const frontend::ast::Expr *expr, const Visitor &visitor);
/// The same for a type's sizes and layout; `type` may be null.
void walk(const frontend::ast::TypeSpec *type, const Visitor &visitor);

/// The statements of an item; none if it has no block.
llvm::ArrayRef<const frontend::ast::Stmt *>
getStmts(const frontend::ast::Item &item);

/// The same for the expressions of a statement.
void walk(const frontend::ast::Stmt &stmt, const Visitor &visitor);
/// The same for all expressions of an item.
void walk(const frontend::ast::Item &item, const Visitor &visitor);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_WALK_H
