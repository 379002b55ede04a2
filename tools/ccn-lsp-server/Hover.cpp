//===- Hover.cpp - What a name is -----------------------------------------===//
//
// Types and what a rank holds, from the last text without errors; usages of
// built-in functions and primitives.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Features.h"

using namespace ccn;
using namespace ccn::lsp;
using namespace ccn::frontend;
using editor::Symbol;

const ValueType *lsp::getType(const Document &document, const Symbol &symbol) {
  if (!symbol.owner || !llvm::isa<ast::ProgramItem>(symbol.owner))
    return nullptr;
  auto program = document.getTypes().find(symbol.owner->name.text);
  if (program == document.getTypes().end())
    return nullptr;
  auto type = program->second.find(symbol.name);
  return type == program->second.end() ? nullptr : &type->second;
}

/// A part of a text, shortened and on one line.
static std::string onOneLine(llvm::StringRef text) {
  // No character of UTF-8 is cut.
  size_t most = std::min<size_t>(text.size(), 200);
  while (most < text.size() && (text[most] & 0xC0) == 0x80)
    --most;
  std::string line;
  for (char c : text.take_front(most)) {
    bool isBlank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!isBlank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  return llvm::StringRef(line).rtrim().str() +
         (most < text.size() ? "..." : "");
}

std::string lsp::describe(const Document &document, const Symbol &symbol) {
  const SourceFile &source = document.getSource();
  const ValueType *type = getType(document, symbol);
  std::string name = symbol.name.str();
  llvm::StringRef whole = source.getText(symbol.whole);
  switch (symbol.kind) {
  case Symbol::Kind::Param: {
    auto value = document.get().params.find(symbol.name);
    return value == document.get().params.end()
               ? onOneLine(whole)
               : "param " + name + " = " + value->second;
  }
  case Symbol::Kind::Axis:
    return "axis " + onOneLine(whole);
  case Symbol::Kind::Function:
  case Symbol::Kind::Program:
  case Symbol::Kind::Schedule:
    // The head.
    return onOneLine(whole.take_until([](char c) { return c == '{'; }));
  case Symbol::Kind::Value:
    return type ? "let " + name + ": " + type->text : onOneLine(whole);
  case Symbol::Kind::Argument:
    if (!type)
      return onOneLine(whole);
    return (whole.starts_with("inout") ? "inout " : "") + name + ": " +
           type->text;
  case Symbol::Kind::Part:
    return onOneLine(whole);
  }
  llvm_unreachable("all kinds are described");
}

std::string lsp::getUsage(const ast::Primitive &primitive) {
  using Clause = ast::Primitive::Clause;
  bool isOne = primitive.targets == ast::Primitive::Targets::One;
  std::string usage = (primitive.name + (isOne ? " x" : " x, y")).str();
  if (primitive.clause == Clause::None)
    return usage;
  std::string clause = primitive.keyword.str();
  if (primitive.clause == Clause::Names)
    clause += " v, w";
  else if (primitive.clause == Clause::Number)
    clause += " n";
  else if (primitive.clause == Clause::Algorithm)
    clause += " name, \"file.json\" or synth(topology, latency)";
  else
    clause += " " + llvm::join(primitive.words, " | ");
  return usage + (primitive.isOptional ? " [" + clause + "]" : " " + clause);
}

SourceRange lsp::getWord(const SourceFile &source, uint32_t offset) {
  llvm::StringRef text = source.getText();
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  uint32_t begin = offset, end = offset;
  while (begin != 0 && isPart(text[begin - 1]))
    --begin;
  while (end < text.size() && isPart(text[end]))
    ++end;
  return {begin, end};
}

/// Whether a byte is in a comment or a string.
static bool isText(const SourceFile &source, uint32_t offset) {
  LineColumn place = source.getLineColumn(offset);
  llvm::StringRef before =
      source.getLine(place.line).take_front(place.column - 1);
  bool isString = false;
  for (size_t i = 0; i < before.size(); ++i) {
    if (isString && before[i] == '\\')
      ++i;
    else if (before[i] == '"')
      isString = !isString;
    else if (!isString && before.substr(i).starts_with("//"))
      return true;
  }
  return isString;
}

/// The words of the language, in a sentence.
static std::string describeWord(llvm::StringRef word) {
  return llvm::StringSwitch<std::string>(word)
      .Case("replicated", "`replicated`: all ranks of the axis hold the same")
      .Case("sliced", "`sliced(d, axis)`: dimension d is cut along the axis")
      .Case("partial", "`partial(sum, axis)`: the value is the sum of what the "
                       "ranks hold; also `prod`, `max`, `min`")
      .Case("local", "`local(axis)`: the ranks hold different values, and "
                     "nothing is pending")
      .Case("scattered", "`scattered`: an argument that is a list of buffers")
      .Default("");
}

llvm::json::Value lsp::getHover(const Document &document, Position position) {
  const SourceFile &source = document.getSource();
  uint32_t offset = toOffset(source, position);
  if (isText(source, offset))
    return nullptr;
  SourceRange range = getWord(source, offset);
  llvm::StringRef word = source.getText(range);
  std::string text;
  if (const Symbol *symbol = document.get().names->find(offset, &range)) {
    text = "```ccn\n" + describe(document, *symbol) + "\n```";
    if (const ValueType *type = getType(document, *symbol))
      text += "\non a rank: " + type->part;
  } else if (const ast::Primitive *primitive = ast::findPrimitive(word);
             primitive && llvm::isa_and_nonnull<ast::ScheduleItem>(
                              editor::findItem(*document.get().file, offset))) {
    text = "```ccn\n" + lsp::getUsage(*primitive) + "\n```";
  } else {
    for (auto [name, usage] : getBuiltinUsages())
      if (name == word)
        text = ("```ccn\n" + usage + "\n```").str();
    if (text.empty())
      text = describeWord(word);
  }
  if (text.empty())
    return nullptr;
  return llvm::json::Object{
      {"contents",
       llvm::json::Object{{"kind", "markdown"}, {"value", std::move(text)}}},
      {"range", toRange(source, range)}};
}
