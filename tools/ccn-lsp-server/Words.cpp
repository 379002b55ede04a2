//===- Words.cpp - The words of the language ------------------------------===//
//
// From the tables that the compiler reads itself, for the grammars of editors,
// which have lists of them.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"
#include "lib/Frontend/Lexer.h"
#include "tools/ccn-lsp-server/Features.h"

using namespace ccn;
using namespace ccn::frontend;

std::vector<std::string> lsp::getKeywords() {
  std::vector<std::string> words;
  for (auto kind = static_cast<uint8_t>(TokenKind::KwMesh);
       isKeyword(static_cast<TokenKind>(kind)); ++kind)
    words.push_back(
        getDescription(static_cast<TokenKind>(kind)).trim('\'').str());
  return words;
}

std::vector<std::string> lsp::getAlgorithms() {
  std::vector<std::string> words;
  for (uint32_t i = 0; std::optional<Algorithm> kind = symbolizeAlgorithm(i);
       ++i)
    words.push_back(stringifyAlgorithm(*kind).str());
  return words;
}

llvm::json::Value lsp::getWords() {
  using llvm::json::Array;
  Array types, layouts, functions, primitives, clauses;
  for (runtime::ElementType type : runtime::allElementTypes)
    types.push_back(ast::getSpelling(type).str());
  for (auto kind :
       {ast::LayoutState::Kind::Replicated, ast::LayoutState::Kind::Sliced,
        ast::LayoutState::Kind::Partial, ast::LayoutState::Kind::Local})
    layouts.push_back(ast::getSpelling(kind).str());
  layouts.push_back("scattered");
  for (auto [name, usage] : getBuiltinUsages())
    functions.push_back(name.str());
  std::vector<std::string> words = getAlgorithms();
  words.emplace_back("synth");
  for (const ast::Primitive &primitive : ast::getPrimitives()) {
    primitives.push_back(primitive.name.str());
    if (!primitive.keyword.empty() && !primitive.isChoice())
      words.push_back(primitive.keyword.str());
    words.insert(words.end(), primitive.words.begin(), primitive.words.end());
  }
  return llvm::json::Object{{"keywords", Array(getKeywords())},
                            {"types", std::move(types)},
                            {"layouts", std::move(layouts)},
                            {"functions", std::move(functions)},
                            {"primitives", std::move(primitives)},
                            {"clauses", Array(words)}};
}
