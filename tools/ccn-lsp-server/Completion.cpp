//===- Completion.cpp - What may stand at a place -------------------------===//
//
// By the item that the place is in: editors filter by what was typed.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Features.h"

using namespace ccn;
using namespace ccn::lsp;
using namespace ccn::frontend;
using editor::Symbol;
using llvm::lsp::CompletionItemKind;

namespace {

class Items {
public:
  void add(llvm::StringRef label, CompletionItemKind kind,
           llvm::StringRef detail = "") {
    if (!llvm::is_contained(labels, label)) {
      labels.push_back(label.str());
      llvm::json::Object item{{"label", label.str()}, {"kind", int(kind)}};
      if (!detail.empty())
        item["detail"] = detail.str();
      items.push_back(std::move(item));
    }
  }
  void addWords(llvm::ArrayRef<llvm::StringRef> words) {
    for (llvm::StringRef word : words)
      add(word, CompletionItemKind::Keyword);
  }
  llvm::json::Value take() { return std::move(items); }

private:
  std::vector<std::string> labels;
  llvm::json::Array items;
};

CompletionItemKind kindOf(const Symbol &symbol) {
  switch (symbol.kind) {
  case Symbol::Kind::Axis:
  case Symbol::Kind::Param:
    return CompletionItemKind::Constant;
  case Symbol::Kind::Function:
    return CompletionItemKind::Function;
  case Symbol::Kind::Program:
  case Symbol::Kind::Schedule:
    return CompletionItemKind::Module;
  default:
    return CompletionItemKind::Variable;
  }
}

/// Where a place is, as far as the text before it says, which may have errors.
enum class Where { File, Head, Type, Body, Schedule };

Where find(const SourceFile &source, const ast::Item *item, uint32_t begin) {
  if (!item)
    return Where::File;
  llvm::StringRef before =
      source.getText().slice(item->range.begin, begin).rtrim();
  if (before.empty() || before.ends_with("}"))
    return Where::File;
  if (before.contains('{'))
    return llvm::isa<ast::ScheduleItem>(item) ? Where::Schedule : Where::Body;
  // Behind the type's colon, before the next argument.
  size_t colon = before.rfind(':');
  bool isType = colon != llvm::StringRef::npos;
  int depth = 0;
  for (char c : before.substr(isType ? colon : before.size())) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    isType &= c != ',' || depth > 0;
  }
  if (isType && depth >= 0)
    return Where::Type;
  return before.contains('(') || before.contains('=') ? Where::Head
                                                      : Where::File;
}

} // namespace

llvm::json::Value lsp::getCompletion(const Document &document,
                                     Position position) {
  const SourceFile &source = document.getSource();
  const Analysis &analysis = document.get();
  uint32_t offset = toOffset(source, position);
  uint32_t begin = getWord(source, offset).begin;
  // The item that the word would begin is not the one that it is in.
  const ast::Item *item =
      begin == 0 ? nullptr : editor::findItem(*analysis.file, begin - 1);
  Where where = find(source, item, begin);
  Items items;
  for (const Symbol *symbol : analysis.names->getVisible(begin)) {
    bool isLine = symbol->kind == Symbol::Kind::Schedule;
    bool isProgram = symbol->kind == Symbol::Kind::Program;
    bool isHere = where == Where::File ? isProgram
                  : where == Where::Schedule
                      ? symbol->owner || symbol->kind == Symbol::Kind::Param
                      : !isProgram;
    if (!isLine && isHere)
      items.add(symbol->name, kindOf(*symbol), describe(document, *symbol));
  }
  switch (where) {
  case Where::File:
    items.addWords({"mesh", "param", "fn", "program", "schedule", "for"});
    break;
  case Where::Head:
    items.addWords({"inout"});
    break;
  case Where::Type:
    for (auto type : runtime::allElementTypes)
      items.add(ast::getSpelling(type), CompletionItemKind::TypeParameter);
    items.addWords({"replicated", "sliced", "partial", "local", "scattered",
                    "sum", "prod", "max", "min"});
    break;
  case Where::Body:
    items.addWords({"let", "return", "true", "false"});
    for (auto [name, usage] : getBuiltinUsages())
      items.add(name, CompletionItemKind::Function, usage);
    for (auto type : runtime::allElementTypes)
      items.add(ast::getSpelling(type), CompletionItemKind::TypeParameter);
    items.addWords({"replicated", "sliced", "partial", "local"});
    break;
  case Where::Schedule:
    items.addWords({"let"});
    for (const ast::Primitive &primitive : ast::getPrimitives())
      items.add(primitive.name, CompletionItemKind::Keyword,
                getUsage(primitive));
    for (const ast::Primitive &primitive : ast::getPrimitives()) {
      if (!primitive.keyword.empty() && !primitive.isChoice())
        items.addWords({primitive.keyword});
      for (llvm::StringRef word : primitive.words)
        items.add(word, CompletionItemKind::Value);
    }
    for (const std::string &algorithm : getAlgorithms())
      items.add(algorithm, CompletionItemKind::Value);
    items.addWords({"synth"});
    break;
  }
  return items.take();
}
