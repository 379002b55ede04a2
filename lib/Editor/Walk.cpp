//===- Walk.cpp - Visits every expression of a file -----------------------===//
//
// Uses an explicit stack instead of recursion, since operator chains may be
// long.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/Walk.h"

using namespace ccn;
using namespace ccn::frontend;

namespace {

using Stack = llvm::SmallVector<const ast::Expr *>;

void push(const ast::LayoutState &state, const editor::Visitor &visitor,
          Stack &stack) {
  if (visitor.state)
    visitor.state(state);
  if (state.dim)
    stack.push_back(state.dim);
}

void push(const ast::CallArg &arg, const editor::Visitor &visitor,
          Stack &stack) {
  if (auto *expr = llvm::dyn_cast<ast::ExprArg>(&arg)) {
    stack.push_back(expr->value);
  } else if (auto *pair = llvm::dyn_cast<ast::PairArg>(&arg)) {
    stack.push_back(pair->from);
    stack.push_back(pair->to);
  } else if (auto *list = llvm::dyn_cast<ast::ListArg>(&arg)) {
    stack.append(list->elements.begin(), list->elements.end());
  } else if (auto *layout = llvm::dyn_cast<ast::LayoutArg>(&arg)) {
    if (std::optional<ast::Name> name = layout->asName();
        name && visitor.maybeName)
      visitor.maybeName(*name);
    for (const ast::LayoutState &state : layout->states)
      push(state, visitor, stack);
  }
}

} // namespace

void editor::walk(const ast::Expr *root, const Visitor &visitor) {
  Stack stack;
  if (root)
    stack.push_back(root);
  while (!stack.empty()) {
    const ast::Expr *expr = stack.pop_back_val();
    if (!expr)
      continue;
    if (visitor.expr)
      visitor.expr(*expr);
    if (auto *unary = llvm::dyn_cast<ast::UnaryExpr>(expr)) {
      stack.push_back(unary->operand);
    } else if (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
      stack.push_back(binary->lhs);
      stack.push_back(binary->rhs);
    } else if (auto *call = llvm::dyn_cast<ast::CallExpr>(expr)) {
      for (const ast::CallArg *arg : call->args)
        push(*arg, visitor, stack);
    }
  }
}

void editor::walk(const ast::TypeSpec *type, const Visitor &visitor) {
  if (!type)
    return;
  for (const ast::Expr *size : type->shape)
    walk(size, visitor);
  Stack dims;
  for (const ast::LayoutState &state : type->states)
    push(state, visitor, dims);
  for (const ast::Expr *dim : dims)
    walk(dim, visitor);
}

llvm::ArrayRef<const ast::Stmt *> editor::getStmts(const ast::Item &item) {
  const ast::Block *block = nullptr;
  if (auto *program = llvm::dyn_cast<ast::ProgramItem>(&item))
    block = program->block;
  else if (auto *fn = llvm::dyn_cast<ast::FnItem>(&item))
    block = fn->block;
  if (!block)
    return {};
  return block->stmts;
}

void editor::walk(const ast::Stmt &stmt, const Visitor &visitor) {
  if (auto *let = llvm::dyn_cast<ast::LetStmt>(&stmt))
    walk(let->value, visitor);
  else if (auto *store = llvm::dyn_cast<ast::StoreStmt>(&stmt))
    walk(store->value, visitor);
  else if (auto *ret = llvm::dyn_cast<ast::ReturnStmt>(&stmt))
    for (const ast::Expr *value : ret->values)
      walk(value, visitor);
}

void editor::walk(const ast::Item &item, const Visitor &visitor) {
  if (auto *mesh = llvm::dyn_cast<ast::MeshItem>(&item)) {
    for (const ast::MeshAxis &axis : mesh->axes)
      walk(axis.size, visitor);
  } else if (auto *param = llvm::dyn_cast<ast::ParamItem>(&item)) {
    walk(param->value, visitor);
  } else if (auto *fn = llvm::dyn_cast<ast::FnItem>(&item)) {
    for (const ast::FnParam &param : fn->params)
      walk(param.type, visitor);
    walk(fn->result, visitor);
  } else if (auto *program = llvm::dyn_cast<ast::ProgramItem>(&item)) {
    for (const ast::ProgramArg &arg : program->args)
      walk(arg.type, visitor);
  } else if (auto *schedule = llvm::dyn_cast<ast::ScheduleItem>(&item)) {
    for (const ast::Directive *directive : schedule->directives) {
      walk(directive->number, visitor);
      if (directive->algorithm)
        for (const ast::SynthArg &arg : directive->algorithm->synthArgs)
          // A word without a key is not a name of the program.
          if (arg.key)
            walk(arg.value, visitor);
    }
  }
  for (const ast::Stmt *stmt : getStmts(item))
    walk(*stmt, visitor);
}
