//===- Walk.h - Every expression of a file ----------------------*- C++ -*-===//
//
// What looks at all expressions of a syntax tree, wherever they stand.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_WALK_H
#define CCN_LIB_EDITOR_WALK_H

#include "lib/Frontend/AST.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ccn::editor {

/// What is called with the nodes; what is not set is not called.
struct Visitor {
  llvm::function_ref<void(const frontend::ast::Expr &)> expr;
  llvm::function_ref<void(const frontend::ast::LayoutState &)> state;
  /// A lone `local` or `replicated`, which may be a value's name.
  llvm::function_ref<void(const frontend::ast::Name &)> maybeName;
};

/// Calls the visitor with an expression and all below it, in no special order.
/// It does not recurse, however deep they nest.
void walk(const frontend::ast::Expr *expr, const Visitor &visitor);
/// The same of a type's sizes and layout. `type` may be null.
void walk(const frontend::ast::TypeSpec *type, const Visitor &visitor);

/// The statements of an item; none if it has no block.
llvm::ArrayRef<const frontend::ast::Stmt *>
getStmts(const frontend::ast::Item &item);

/// The expressions of a statement.
void walk(const frontend::ast::Stmt &stmt, const Visitor &visitor);
/// All of an item.
void walk(const frontend::ast::Item &item, const Visitor &visitor);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_WALK_H
