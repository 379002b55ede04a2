//===- ASTPrinter.cpp - The syntax tree as an indented listing ------------===//
//
// Implements `--emit ast`: one node per line, children indented, each with the
// place where it starts. A chain of operators of the same precedence is printed
// as one node, so that it is as flat as it was written.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

namespace {

class Printer {
public:
  Printer(const SourceFile &source, llvm::raw_ostream &os, bool places)
      : source(source), os(os), places(places) {}

  void print(const Item *item);

private:
  /// Indents everything that is printed during its lifetime.
  struct Indent {
    explicit Indent(Printer &printer) : printer(printer) { ++printer.depth; }
    ~Indent() { --printer.depth; }
    Printer &printer;
  };

  void line(const llvm::Twine &text, SourceRange range);
  static llvm::StringRef show(const Name &name) {
    return name.isMissing() ? "<missing>" : name.text;
  }
  void printNames(llvm::StringRef label, llvm::ArrayRef<Name> names);
  /// `prefix` is printed before the node's own text: "+ " for an operand of a
  /// chain.
  void print(const Expr *expr, llvm::StringRef prefix = "");
  void print(const BinaryExpr *expr, llvm::StringRef prefix);
  void print(const CallArg *arg);
  void print(const LayoutState &state);
  void print(const TypeSpec *type);
  void print(const Stmt *stmt);
  void print(const Block *block);
  void print(const AlgorithmClause *algorithm);
  void print(const Directive *directive);
  void printLabelled(llvm::StringRef label, const Expr *expr);

  const SourceFile &source;
  llvm::raw_ostream &os;
  bool places;
  unsigned depth = 0;
};

} // namespace

void Printer::line(const llvm::Twine &text, SourceRange range) {
  os.indent(2 * depth) << text;
  if (places) {
    LineColumn at = source.getLineColumn(range.begin);
    os << ' ' << at.line << ':' << at.column;
  }
  os << '\n';
}

void Printer::printNames(llvm::StringRef label, llvm::ArrayRef<Name> names) {
  for (const Name &name : names)
    line(label + " " + show(name), name.range);
}

void Printer::printLabelled(llvm::StringRef label, const Expr *expr) {
  line(label, expr->range);
  Indent indent(*this);
  print(expr);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void Printer::print(const BinaryExpr *expr, llvm::StringRef prefix) {
  static constexpr llvm::StringLiteral names[] = {"compare", "sum", "product"};
  unsigned precedence = getPrecedence(expr->op);
  line(prefix + names[precedence - 1], expr->range);
  Indent indent(*this);
  llvm::SmallVector<const BinaryExpr *> chain;
  const Expr *first = expr;
  while (const auto *binary = llvm::dyn_cast<BinaryExpr>(first)) {
    if (getPrecedence(binary->op) != precedence)
      break;
    chain.push_back(binary);
    first = binary->lhs;
  }
  print(first);
  for (const BinaryExpr *binary : llvm::reverse(chain))
    print(binary->rhs, (getSpelling(binary->op) + " ").str());
}

void Printer::print(const Expr *expr, llvm::StringRef prefix) {
  switch (expr->kind) {
  case Expr::Kind::Int:
    line(prefix + "int " + llvm::cast<IntExpr>(expr)->text, expr->range);
    return;
  case Expr::Kind::Float:
    line(prefix + "float " + llvm::cast<FloatExpr>(expr)->text, expr->range);
    return;
  case Expr::Kind::Bool:
    line(prefix + "bool " +
             (llvm::cast<BoolExpr>(expr)->value ? "true" : "false"),
         expr->range);
    return;
  case Expr::Kind::Name:
    line(prefix + "name " + llvm::cast<NameExpr>(expr)->name, expr->range);
    return;
  case Expr::Kind::Error:
    line(prefix + "<error>", expr->range);
    return;
  case Expr::Kind::Unary: {
    const auto *unary = llvm::cast<UnaryExpr>(expr);
    line(prefix + "unary " + getSpelling(unary->op), expr->range);
    Indent indent(*this);
    print(unary->operand);
    return;
  }
  case Expr::Kind::Binary:
    print(llvm::cast<BinaryExpr>(expr), prefix);
    return;
  case Expr::Kind::Call: {
    const auto *call = llvm::cast<CallExpr>(expr);
    line(prefix + "call " + call->callee.text, expr->range);
    Indent indent(*this);
    for (const CallArg *arg : call->args)
      print(arg);
    return;
  }
  }
}

void Printer::print(const CallArg *arg) {
  switch (arg->kind) {
  case CallArg::Kind::Expr:
    print(llvm::cast<ExprArg>(arg)->value);
    return;
  case CallArg::Kind::Pair: {
    line("pair", arg->range);
    Indent indent(*this);
    print(llvm::cast<PairArg>(arg)->from);
    print(llvm::cast<PairArg>(arg)->to);
    return;
  }
  case CallArg::Kind::List: {
    line("list", arg->range);
    Indent indent(*this);
    for (const Expr *element : llvm::cast<ListArg>(arg)->elements)
      print(element);
    return;
  }
  case CallArg::Kind::Type:
    line("type " + getSpelling(llvm::cast<TypeArg>(arg)->element), arg->range);
    return;
  case CallArg::Kind::Layout: {
    line("layout", arg->range);
    Indent indent(*this);
    for (const LayoutState &state : llvm::cast<LayoutArg>(arg)->states)
      print(state);
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

void Printer::print(const LayoutState &state) {
  std::string text = getSpelling(state.kind).str();
  if (state.reduction)
    text += (" " + getSpelling(*state.reduction)).str();
  if (state.axis)
    text += (" axis " + show(*state.axis)).str();
  line(text, state.range);
  Indent indent(*this);
  if (state.dim)
    print(state.dim);
}

void Printer::print(const TypeSpec *type) {
  if (!type) {
    os.indent(2 * depth) << "<missing>\n";
    return;
  }
  line("type " + getSpelling(type->element), type->range);
  Indent indent(*this);
  for (const Expr *extent : type->shape)
    printLabelled("extent", extent);
  for (const LayoutState &state : type->states)
    print(state);
  if (type->scattered)
    line("scattered", *type->scattered);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Printer::print(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    const auto *let = llvm::cast<LetStmt>(stmt);
    line(let->inParens ? "let tuple" : "let", stmt->range);
    Indent indent(*this);
    printNames("bind", let->names);
    print(let->value);
    return;
  }
  case Stmt::Kind::Store: {
    const auto *store = llvm::cast<StoreStmt>(stmt);
    line("store " + show(store->target), stmt->range);
    Indent indent(*this);
    print(store->value);
    return;
  }
  case Stmt::Kind::Return: {
    line("return", stmt->range);
    Indent indent(*this);
    for (const Expr *value : llvm::cast<ReturnStmt>(stmt)->values)
      print(value);
    return;
  }
  }
}

void Printer::print(const Block *block) {
  if (!block) {
    os.indent(2 * depth) << "<missing>\n";
    return;
  }
  line("block", block->range);
  Indent indent(*this);
  for (const Stmt *stmt : block->stmts)
    print(stmt);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void Printer::print(const AlgorithmClause *algorithm) {
  auto showString = [](const StringLiteral &string) {
    return "\"" + escapeForDisplay(string.value) + "\"";
  };
  switch (algorithm->source) {
  case AlgorithmClause::Source::Name:
    printNames("named", algorithm->name);
    return;
  case AlgorithmClause::Source::File:
    line("file " + showString(algorithm->file), algorithm->range);
    return;
  case AlgorithmClause::Source::Synth: {
    line("synth", algorithm->range);
    Indent indentArgs(*this);
    for (const SynthArg &arg : algorithm->synthArgs) {
      line(arg.key ? "arg " + arg.key->text.str() : "arg", arg.range);
      Indent indentArg(*this);
      if (arg.string)
        line("string " + showString(*arg.string), arg.string->range);
      else
        print(arg.value);
    }
    return;
  }
  }
}

void Printer::print(const Directive *directive) {
  const Primitive &primitive = directive->primitive;
  line(primitive.name, directive->range);
  Indent indent(*this);
  if (directive->inParens)
    os.indent(2 * depth) << "tuple\n";
  printNames("bind", directive->results);
  printNames("target", directive->targets);
  printNames(primitive.keyword, directive->names);
  llvm::StringRef label =
      primitive.isChoice() ? "count" : llvm::StringRef(primitive.keyword);
  if (directive->number)
    printLabelled(label, directive->number);
  if (!directive->word.empty())
    os.indent(2 * depth) << (primitive.isChoice() ? "" : label + " ")
                         << directive->word << '\n';
  if (directive->algorithm)
    print(directive->algorithm);
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

void Printer::print(const Item *item) {
  static constexpr llvm::StringLiteral names[] = {"mesh", "param", "fn",
                                                  "program", "schedule"};
  std::string head =
      (names[static_cast<unsigned>(item->kind)] + " " + show(item->name)).str();
  if (const auto *schedule = llvm::dyn_cast<ScheduleItem>(item))
    head += (" for " + show(schedule->program)).str();
  line(head + (item->broken ? " <broken>" : ""), item->range);
  Indent indent(*this);
  switch (item->kind) {
  case Item::Kind::Mesh:
    for (const MeshAxis &axis : llvm::cast<MeshItem>(item)->axes) {
      line("axis " + show(axis.name), axis.range);
      Indent indentAxis(*this);
      print(axis.size);
    }
    return;
  case Item::Kind::Param:
    print(llvm::cast<ParamItem>(item)->value);
    return;
  case Item::Kind::Fn: {
    const auto *fn = llvm::cast<FnItem>(item);
    for (const FnParam &param : fn->params) {
      line("arg " + show(param.name), param.range);
      Indent indentParam(*this);
      if (param.type)
        print(param.type);
    }
    if (fn->result)
      printLabelled("result", fn->result);
    else
      print(fn->block);
    return;
  }
  case Item::Kind::Program: {
    const auto *program = llvm::cast<ProgramItem>(item);
    for (const ProgramArg &arg : program->args) {
      line((arg.inout ? "inout " : "arg ") + show(arg.name), arg.range);
      Indent indentArg(*this);
      print(arg.type);
    }
    print(program->block);
    return;
  }
  case Item::Kind::Schedule:
    for (const Directive *directive :
         llvm::cast<ScheduleItem>(item)->directives)
      print(directive);
    return;
  }
}

void ast::print(const File &file, llvm::raw_ostream &os, bool places) {
  Printer printer(file.source, os, places);
  for (const Item *item : file.items)
    printer.print(item);
}
