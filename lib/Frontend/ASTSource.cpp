//===- ASTSource.cpp - The syntax tree as .ccn text -----------------------===//
//
// Writes a tree in the language itself, one statement per line, with only the
// parentheses that precedence requires. If the tree has no errors, parsing the
// output gives the same tree.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/AST.h"
#include "llvm/ADT/STLExtras.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

namespace {

class SourceWriter {
public:
  explicit SourceWriter(llvm::raw_ostream &os) : os(os) {}

  void write(const Item *item);

private:
  template <typename Range, typename Write>
  void writeList(const Range &values, Write writeOne) {
    llvm::interleave(values, os, writeOne, ", ");
  }
  void write(const Name &name) { os << name.text; }
  void writeNames(llvm::ArrayRef<Name> names) {
    writeList(names, [&](const Name &name) { write(name); });
  }
  void writeBound(llvm::ArrayRef<Name> names, bool inParens);
  void writeExprs(llvm::ArrayRef<const Expr *> exprs) {
    writeList(exprs, [&](const Expr *expr) { write(expr); });
  }
  void write(const StringLiteral &string);
  void write(const Expr *expr);
  void write(const BinaryExpr *expr);
  void writeOperand(const Expr *expr, unsigned precedence);
  void writeArgument(const Expr *value, bool isLoneName);
  void write(const CallArg *arg);
  void write(const LayoutState &state);
  void write(llvm::ArrayRef<LayoutState> states);
  void write(const TypeSpec *type);
  void write(const Stmt *stmt);
  void write(const Block *block);
  void write(const Directive *directive);
  void write(const AlgorithmClause *algorithm);

  llvm::raw_ostream &os;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void SourceWriter::write(const StringLiteral &string) {
  os << '"';
  for (char c : string.value) {
    if (c == '\n')
      os << "\\n";
    else if (c == '\t')
      os << "\\t";
    else if (c == '"' || c == '\\')
      os << '\\' << c;
    else
      os << c;
  }
  os << '"';
}

/// Writes an operand that must bind at least as tightly as `precedence`.
void SourceWriter::writeOperand(const Expr *expr, unsigned precedence) {
  const auto *binary = llvm::dyn_cast<BinaryExpr>(expr);
  bool needsParens = binary && getPrecedence(binary->op) < precedence;
  if (needsParens)
    os << '(';
  write(expr);
  if (needsParens)
    os << ')';
}

void SourceWriter::write(const BinaryExpr *expr) {
  // Sums and products associate to the left, so their left operand needs no
  // parentheses. The operands of a comparison are sums.
  unsigned precedence = getPrecedence(expr->op);
  llvm::SmallVector<const BinaryExpr *> chain{expr};
  const Expr *first = expr->lhs;
  if (!isComparison(expr->op)) {
    while (const auto *binary = llvm::dyn_cast<BinaryExpr>(first)) {
      if (getPrecedence(binary->op) != precedence)
        break;
      chain.push_back(binary);
      first = binary->lhs;
    }
  }
  writeOperand(first, precedence + isComparison(expr->op));
  for (const BinaryExpr *binary : llvm::reverse(chain)) {
    os << ' ' << getSpelling(binary->op) << ' ';
    writeOperand(binary->rhs, precedence + 1);
  }
}

void SourceWriter::write(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Int:
    os << llvm::cast<IntExpr>(expr)->text;
    return;
  case Expr::Kind::Float:
    os << llvm::cast<FloatExpr>(expr)->text;
    return;
  case Expr::Kind::Bool:
    os << (llvm::cast<BoolExpr>(expr)->value ? "true" : "false");
    return;
  case Expr::Kind::Name:
    os << llvm::cast<NameExpr>(expr)->name;
    return;
  case Expr::Kind::Error:
    os << "<error>";
    return;
  case Expr::Kind::Unary: {
    const auto *unary = llvm::cast<UnaryExpr>(expr);
    os << getSpelling(unary->op);
    writeOperand(unary->operand, /*precedence=*/4);
    return;
  }
  case Expr::Kind::Binary:
    write(llvm::cast<BinaryExpr>(expr));
    return;
  case Expr::Kind::Call: {
    const auto *call = llvm::cast<CallExpr>(expr);
    os << call->callee.text << '(';
    writeList(call->args, [&](const CallArg *arg) { write(arg); });
    os << ')';
    return;
  }
  }
}

/// Writes an argument, in parentheses if it would otherwise be parsed as a
/// layout: if it starts with a single `local`, or with a call of a function of
/// that name.
void SourceWriter::writeArgument(const Expr *value, bool isLoneName) {
  const Expr *first = value;
  while (const auto *binary = llvm::dyn_cast<BinaryExpr>(first))
    first = binary->lhs;
  bool needsParens = false;
  if (const auto *call = llvm::dyn_cast<CallExpr>(first))
    needsParens = getLayoutStateKind(call->callee.text).has_value();
  else if (isLoneName)
    needsParens =
        getLayoutStateKind(llvm::cast<NameExpr>(value)->name).has_value();
  if (needsParens)
    os << '(';
  write(value);
  if (needsParens)
    os << ')';
}

void SourceWriter::write(const CallArg *arg) {
  switch (arg->kind) {
  case CallArg::Kind::Expr: {
    const Expr *value = llvm::cast<ExprArg>(arg)->value;
    writeArgument(value, llvm::isa<NameExpr>(value));
    return;
  }
  case CallArg::Kind::Pair:
    writeArgument(llvm::cast<PairArg>(arg)->from, /*isLoneName=*/false);
    os << " -> ";
    write(llvm::cast<PairArg>(arg)->to);
    return;
  case CallArg::Kind::List:
    os << '[';
    writeExprs(llvm::cast<ListArg>(arg)->elements);
    os << ']';
    return;
  case CallArg::Kind::Type:
    os << getSpelling(llvm::cast<TypeArg>(arg)->element);
    return;
  case CallArg::Kind::Layout:
    write(llvm::cast<LayoutArg>(arg)->states);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void SourceWriter::write(const LayoutState &state) {
  os << getSpelling(state.kind);
  if (!state.dim && !state.reduction && !state.axis)
    return;
  os << '(';
  if (state.dim)
    write(state.dim);
  if (state.reduction)
    os << getSpelling(*state.reduction);
  if (state.axis) {
    if (state.dim || state.reduction)
      os << ", ";
    write(*state.axis);
  }
  os << ')';
}

void SourceWriter::write(llvm::ArrayRef<LayoutState> states) {
  llvm::interleave(
      states, os, [&](const LayoutState &state) { write(state); }, " ");
}

void SourceWriter::write(const TypeSpec *type) {
  if (!type) {
    os << "<missing>";
    return;
  }
  os << getSpelling(type->element);
  if (!type->shape.empty()) {
    os << '[';
    writeExprs(type->shape);
    os << ']';
  }
  if (!type->states.empty())
    os << ' ';
  write(type->states);
  if (type->scattered)
    os << " scattered";
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Writes `let a = ` or `let (a, b) = `.
void SourceWriter::writeBound(llvm::ArrayRef<Name> names, bool inParens) {
  os << (inParens ? "let (" : "let ");
  writeNames(names);
  os << (inParens ? ") = " : " = ");
}

void SourceWriter::write(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    const auto *let = llvm::cast<LetStmt>(stmt);
    writeBound(let->names, let->inParens);
    write(let->value);
    return;
  }
  case Stmt::Kind::Store:
    write(llvm::cast<StoreStmt>(stmt)->target);
    os << " <- ";
    write(llvm::cast<StoreStmt>(stmt)->value);
    return;
  case Stmt::Kind::Return:
    os << "return ";
    writeExprs(llvm::cast<ReturnStmt>(stmt)->values);
    return;
  }
}

void SourceWriter::write(const Block *block) {
  os << "{\n";
  if (block) {
    for (const Stmt *stmt : block->stmts) {
      os << "  ";
      write(stmt);
      os << '\n';
    }
  }
  os << "}\n";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void SourceWriter::write(const AlgorithmClause *algorithm) {
  switch (algorithm->source) {
  case AlgorithmClause::Source::Name:
    write(algorithm->name);
    return;
  case AlgorithmClause::Source::File:
    write(algorithm->file);
    return;
  case AlgorithmClause::Source::Synth:
    os << "synth(";
    writeList(algorithm->synthArgs, [&](const SynthArg &arg) {
      if (arg.key)
        os << arg.key->text << " = ";
      if (arg.string)
        write(*arg.string);
      else
        write(arg.value);
    });
    os << ')';
    return;
  }
}

void SourceWriter::write(const Directive *directive) {
  if (!directive->results.empty())
    writeBound(directive->results, directive->inParens);
  const Primitive &primitive = directive->primitive;
  os << primitive.name << ' ';
  writeNames(directive->targets);
  if (!directive->names.empty() || directive->number ||
      !directive->word.empty() || directive->algorithm)
    os << ' ' << primitive.keyword << ' ';
  writeNames(directive->names);
  if (directive->number)
    write(directive->number);
  os << directive->word;
  if (directive->algorithm)
    write(directive->algorithm);
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

void SourceWriter::write(const Item *item) {
  switch (item->kind) {
  case Item::Kind::Mesh:
    os << "mesh " << item->name.text << " (";
    writeList(llvm::cast<MeshItem>(item)->axes, [&](const MeshAxis &axis) {
      os << axis.name.text << " = ";
      write(axis.size);
    });
    os << ")\n";
    return;
  case Item::Kind::Param:
    os << "param " << item->name.text << " = ";
    write(llvm::cast<ParamItem>(item)->value);
    os << '\n';
    return;
  case Item::Kind::Fn: {
    const auto *fn = llvm::cast<FnItem>(item);
    os << "fn " << item->name.text << '(';
    writeList(fn->params, [&](const FnParam &param) {
      os << param.name.text;
      if (param.type) {
        os << ": ";
        write(param.type);
      }
    });
    if (fn->result) {
      os << ") = ";
      write(fn->result);
      os << '\n';
    } else {
      os << ") ";
      write(fn->block);
    }
    return;
  }
  case Item::Kind::Program: {
    const auto *program = llvm::cast<ProgramItem>(item);
    os << "program " << item->name.text << '(';
    writeList(program->args, [&](const ProgramArg &arg) {
      os << (arg.inout ? "inout " : "") << arg.name.text << ": ";
      write(arg.type);
    });
    os << ") ";
    write(program->block);
    return;
  }
  case Item::Kind::Schedule: {
    const auto *schedule = llvm::cast<ScheduleItem>(item);
    os << "schedule " << item->name.text << " for " << schedule->program.text
       << " {\n";
    for (const Directive *directive : schedule->directives) {
      os << "  ";
      write(directive);
      os << '\n';
    }
    os << "}\n";
    return;
  }
  }
}

void ast::printSource(const File &file, llvm::raw_ostream &os) {
  SourceWriter writer(os);
  for (const Item *item : file.items)
    writer.write(item);
}
