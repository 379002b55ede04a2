//===- EmitLayouts.cpp - A program's text with its layouts ----------------===//
//
// The frontend says what the names of a program stand for.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/EmitLayouts.h"

#include "dialect/ccn/Ccn.h"
#include "lib/Frontend/Parser.h"

#include <map>

using namespace ccn;
using namespace ccn::frontend;

namespace {

/// The comment behind the lets that end on one line.
struct Comment {
  std::string text;
  int lets = 0;
};

void addLet(const ast::LetStmt &let, const SourceFile &source,
            const llvm::StringMap<mlir::RankedTensorType> &types,
            std::map<uint32_t, Comment> &comments) {
  std::string text;
  for (const ast::Name &name : let.names) {
    auto found = types.find(name.text);
    if (found == types.end())
      continue;
    text += (text.empty() ? "" : ", ") +
            (let.names.size() > 1 ? name.text.str() + ": " : "") +
            typeName(found->second);
  }
  if (text.empty())
    return;
  Comment &comment = comments[source.getLineColumn(let.range.end).line];
  comment.text += (comment.lets++ ? "; " : "") + text;
}

} // namespace

std::string ccn::textWithLayouts(const SourceFile &source,
                                 const LowerOptions &options,
                                 mlir::ModuleOp module) {
  Diagnostics silent;
  bool badOption = false;
  std::unique_ptr<ast::File> file = parse(source, silent);
  Lowered lowered =
      lower(*file, module.getContext(), options, silent, badOption);
  std::map<uint32_t, Comment> comments;
  for (const ast::Item *item : file->items) {
    auto *program = llvm::dyn_cast<ast::ProgramItem>(item);
    if (!program || !program->block ||
        !module.lookupSymbol<ProgramOp>(program->name.text))
      continue;
    for (const ast::Stmt *stmt : program->block->stmts)
      if (auto *let = llvm::dyn_cast<ast::LetStmt>(stmt))
        addLet(*let, source, lowered.types[program->name.text], comments);
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
