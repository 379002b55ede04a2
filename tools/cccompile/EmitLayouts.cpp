//===- EmitLayouts.cpp - A program's text with its layouts ----------------===//
//
// Operations know the names that the text gives them; the last one of a name
// makes its value.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/EmitLayouts.h"

#include "dialect/ccn/Ccn.h"
#include "lib/Frontend/Parser.h"

#include "llvm/ADT/StringMap.h"

#include <map>

using namespace ccn;
using namespace ccn::frontend;

namespace {

/// Lets that end on one line, and what follows them there.
struct Comment {
  std::string text;
  int lets = 0;
};

/// The types of what the names of a program stand for.
llvm::StringMap<std::string> typesOf(ProgramOp program) {
  llvm::StringMap<std::string> types;
  program.walk([&](mlir::Operation *op) {
    if (op->getNumResults() != 1)
      return;
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResultTypes()[0]);
    if (!type)
      return;
    if (auto name = op->getAttrOfType<mlir::StringAttr>(kLetAttr))
      types[name.getValue()] = typeName(type);
    if (auto names = op->getAttrOfType<mlir::ArrayAttr>(kTagsAttr))
      for (auto name : names.getAsRange<mlir::StringAttr>())
        types[name.getValue()] = typeName(type);
  });
  return types;
}

void addLet(const ast::LetStmt &let, const SourceFile &source,
            const llvm::StringMap<std::string> &types,
            std::map<uint32_t, Comment> &comments) {
  std::string text;
  for (const ast::Name &name : let.names) {
    auto found = types.find(name.text);
    if (found == types.end())
      continue;
    text += (text.empty() ? "" : ", ") +
            (let.names.size() > 1 ? name.text.str() + ": " : "") +
            found->second;
  }
  if (text.empty())
    return;
  Comment &comment = comments[source.getLineColumn(let.range.end).line];
  comment.text += (comment.lets++ ? "; " : "") + text;
}

} // namespace

std::string ccn::textWithLayouts(const SourceFile &source,
                                 mlir::ModuleOp module) {
  Diagnostics silent;
  std::unique_ptr<ast::File> file = parse(source, silent);
  std::map<uint32_t, Comment> comments;
  for (const ast::Item *item : file->items) {
    auto *program = llvm::dyn_cast<ast::ProgramItem>(item);
    auto op = program ? module.lookupSymbol<ProgramOp>(program->name.text)
                      : ProgramOp();
    if (!op || !program->block)
      continue;
    llvm::StringMap<std::string> types = typesOf(op);
    for (const ast::Stmt *stmt : program->block->stmts)
      if (auto *let = llvm::dyn_cast<ast::LetStmt>(stmt))
        addLet(*let, source, types, comments);
  }
  // One column, unless a line is very long.
  constexpr size_t maxColumn = 80;
  size_t column = 0;
  for (auto &[line, comment] : comments)
    column = std::max(column, source.getLine(line).size());
  column = std::min(column, maxColumn);
  std::string text;
  for (uint32_t line = 1; line <= source.getNumLines(); ++line) {
    llvm::StringRef own = source.getLine(line);
    text += own;
    if (auto found = comments.find(line); found != comments.end()) {
      text.append(column - std::min(column, own.size()), ' ');
      text += "  // " + found->second.text;
    }
    text += '\n';
  }
  // What follows the last end of a line is a line too.
  text.pop_back();
  return text;
}
