//===- Names.cpp - Where names are defined and used -----------------------===//
//
// First declares all names of all items, then resolves uses, since a schedule
// may come before the program that it names.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/Names.h"

#include "lib/Editor/Walk.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace ccn;
using namespace ccn::editor;
using namespace ccn::frontend;

Names::Names(const ast::File &file) : file(file) {
  for (const ast::Item *item : file.items)
    declareItem(*item);
  for (const ast::Item *item : file.items)
    resolveItem(*item);
  for (Symbol &symbol : symbols)
    llvm::sort(symbol.uses,
               [](SourceRange a, SourceRange b) { return a.begin < b.begin; });
}

void Names::declare(Scope &scope, Symbol::Kind kind, const ast::Name &name,
                    SourceRange whole, const ast::Item *owner) {
  // If a name is defined twice, the second definition counts as a use of the
  // first.
  if (name.isMissing() || scope.contains(name.text))
    return use(scope, name.text, name.range);
  symbols.push_back({kind, name.text, name.range, whole, owner, {}});
  scope[name.text] = &symbols.back();
}

void Names::use(const Scope &local, llvm::StringRef name, SourceRange range) {
  Symbol *symbol = local.lookup(name);
  if (!symbol)
    symbol = globals.lookup(name);
  if (symbol)
    symbol->uses.push_back(range);
}

void Names::declareItem(const ast::Item &item) {
  using Kind = Symbol::Kind;
  Scope &scope = locals[&item];
  auto declareHere = [&](Kind kind, const ast::Name &name, SourceRange whole) {
    declare(scope, kind, name, whole, &item);
  };
  if (auto *mesh = llvm::dyn_cast<ast::MeshItem>(&item)) {
    for (const ast::MeshAxis &axis : mesh->axes)
      declare(globals, Kind::Axis, axis.name, axis.range);
  } else if (llvm::isa<ast::ParamItem>(&item)) {
    declare(globals, Kind::Param, item.name, item.range);
  } else if (auto *fn = llvm::dyn_cast<ast::FnItem>(&item)) {
    declare(functions, Kind::Function, item.name, item.range);
    for (const ast::FnParam &param : fn->params)
      declareHere(Kind::Argument, param.name, param.range);
  } else if (auto *program = llvm::dyn_cast<ast::ProgramItem>(&item)) {
    declare(programs, Kind::Program, item.name, item.range);
    for (const ast::ProgramArg &arg : program->args)
      declareHere(Kind::Argument, arg.name, arg.range);
  } else if (auto *schedule = llvm::dyn_cast<ast::ScheduleItem>(&item)) {
    if (!item.name.isMissing())
      symbols.push_back({Kind::Schedule,
                         item.name.text,
                         item.name.range,
                         item.range,
                         nullptr,
                         {}});
    for (const ast::Directive *directive : schedule->directives)
      for (const ast::Name &name : directive->results)
        declareHere(Kind::Part, name, directive->range);
  }
  for (const ast::Stmt *stmt : getStmts(item))
    if (auto *let = llvm::dyn_cast<ast::LetStmt>(stmt))
      for (const ast::Name &name : let->names)
        declareHere(Kind::Value, name, let->range);
}

/// The range of the name itself: the expression's range may include
/// parentheses, and comments after these.
SourceRange Names::getNameRange(const ast::NameExpr &expr) const {
  llvm::StringRef text = file.source.getText(expr.range);
  size_t at = 0;
  while ((at = text.find_first_not_of("( \t\r\n", at)) < text.size() &&
         text[at] == '/')
    at = text.find('\n', at);
  uint32_t begin = expr.range.begin + static_cast<uint32_t>(at);
  return {begin, begin + static_cast<uint32_t>(expr.name.size())};
}

void Names::resolveItem(const ast::Item &item) {
  if (auto *schedule = llvm::dyn_cast<ast::ScheduleItem>(&item))
    resolveSchedule(*schedule);
  const Scope &scope = locals[&item];
  // `sum` in `all_reduce(sum, x)` is not a value.
  llvm::SmallPtrSet<const ast::Expr *, 8> words;
  auto visitExpr = [&](const ast::Expr &expr) {
    if (auto *name = llvm::dyn_cast<ast::NameExpr>(&expr);
        name && !words.contains(name))
      use(scope, name->name, getNameRange(*name));
    auto *call = llvm::dyn_cast<ast::CallExpr>(&expr);
    if (!call)
      return;
    if (Symbol *fn = functions.lookup(call->callee.text))
      fn->uses.push_back(call->callee.range);
    else if (llvm::is_contained({"all_reduce", "reduce_scatter", "reduce"},
                                call->callee.text) &&
             !call->args.empty())
      if (auto *first = llvm::dyn_cast<ast::ExprArg>(call->args.front()))
        words.insert(first->value);
  };
  auto visitState = [&](const ast::LayoutState &state) {
    if (state.axis)
      use(Scope(), state.axis->text, state.axis->range);
  };
  auto visitMaybeName = [&](const ast::Name &name) {
    if (scope.contains(name.text))
      use(scope, name.text, name.range);
  };
  Visitor visitor;
  visitor.expr = visitExpr;
  visitor.state = visitState;
  visitor.maybeName = visitMaybeName;
  walk(item, visitor);
  for (const ast::Stmt *stmt : getStmts(item))
    if (auto *store = llvm::dyn_cast<ast::StoreStmt>(stmt))
      use(scope, store->target.text, store->target.range);
}

void Names::resolveSchedule(const ast::ScheduleItem &item) {
  Symbol *program = programs.lookup(item.program.text);
  const Scope *values = nullptr;
  if (program) {
    program->uses.push_back(item.program.range);
    for (const ast::Item *other : file.items)
      if (llvm::isa<ast::ProgramItem>(other) &&
          other->name.range == program->range)
        values = &locals[other];
  }
  const Scope &own = locals[&item];
  auto useName = [&](const ast::Name &name) {
    Symbol *symbol = own.lookup(name.text);
    if (!symbol && values)
      symbol = values->lookup(name.text);
    if (symbol)
      symbol->uses.push_back(name.range);
  };
  for (const ast::Directive *directive : item.directives) {
    llvm::for_each(directive->targets, useName);
    llvm::for_each(directive->names, useName);
  }
}

const Symbol *Names::find(uint32_t offset, SourceRange *place) const {
  auto isAt = [&](SourceRange range) {
    bool is = range.begin <= offset && offset <= range.end;
    if (is && place)
      *place = range;
    return is;
  };
  for (const Symbol &symbol : symbols)
    if (isAt(symbol.range) || llvm::any_of(symbol.uses, isAt))
      return &symbol;
  return nullptr;
}

/// The program that an item is, or that it is a schedule for; null if neither.
static const ast::Item *getProgram(const ast::File &file,
                                   const ast::Item *item) {
  auto *schedule = llvm::dyn_cast_or_null<ast::ScheduleItem>(item);
  if (!schedule)
    return item;
  for (const ast::Item *other : file.items)
    if (llvm::isa<ast::ProgramItem>(other) &&
        other->name.text == schedule->program.text)
      return other;
  return nullptr;
}

std::vector<const Symbol *> Names::getVisible(uint32_t offset) const {
  const ast::Item *item = findItem(file, offset);
  const ast::Item *program = getProgram(file, item);
  std::vector<const Symbol *> visible;
  for (const Symbol &symbol : symbols)
    if (!symbol.owner || (symbol.owner == item && symbol.range.end < offset) ||
        (symbol.owner == program && program != item))
      visible.push_back(&symbol);
  return visible;
}

bool Names::clashes(const Symbol &symbol, llvm::StringRef name) const {
  const ast::Item *program = getProgram(file, symbol.owner);
  return llvm::any_of(symbols, [&](const Symbol &other) {
    if (other.name != name || &other == &symbol)
      return false;
    return !symbol.owner || !other.owner || other.owner == symbol.owner ||
           getProgram(file, other.owner) == program;
  });
}

const ast::Item *editor::findItem(const ast::File &file, uint32_t offset) {
  const ast::Item *found = nullptr;
  for (const ast::Item *item : file.items)
    if (item->range.begin <= offset)
      found = item;
  return found;
}
