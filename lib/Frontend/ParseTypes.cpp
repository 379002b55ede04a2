//===- ParseTypes.cpp - Names, types and layout states --------------------===//
//
// Parses types, and the lists of names that statements and directives share.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool Parser::parseName(Name &name, const llvm::Twine &what) {
  name.range = {tok.range.begin, tok.range.begin};
  if (at(TokenKind::Name)) {
    Token token = consume();
    name = {getText(token), token.range};
    return true;
  }
  bool isReserved = isKeyword(tok.kind) || tok.is(TokenKind::Element);
  errorExpected(what);
  if (!isReserved || isAtLineEnd() || tok.startsLine)
    return false;
  // The word was probably meant as a name, so the parser goes on with it.
  name.range = consume().range;
  return true;
}

bool Parser::parseNames(llvm::SmallVectorImpl<Name> &names, bool &inParens) {
  inParens = at(TokenKind::LParen);
  auto parseOne = [&] {
    Name name;
    bool ok = parseName(name, "a name");
    names.push_back(name);
    return ok;
  };
  if (!inParens)
    return parseOne();
  return parseList(TokenKind::RParen, /*recover=*/false, parseOne);
}

bool Parser::parseNameList(llvm::SmallVectorImpl<Name> &names) {
  do {
    Name name;
    bool ok = parseName(name, "a name");
    names.push_back(name);
    if (!ok)
      return false;
  } while (accept(TokenKind::Comma));
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// "; did you mean 'f32'" for a name that another language uses, or for a
/// misspelt one.
static std::string suggestElement(llvm::StringRef word) {
  llvm::StringRef known = llvm::StringSwitch<llvm::StringRef>(word)
                              .Cases({"float", "float32", "fp32"}, "f32")
                              .Cases({"double", "float64", "fp64"}, "f64")
                              .Cases({"half", "float16", "fp16"}, "f16")
                              .Case("bfloat16", "bf16")
                              .Cases({"int", "int32"}, "i32")
                              .Cases({"long", "int64"}, "i64")
                              .Case("int16", "i16")
                              .Case("int8", "i8")
                              .Cases({"uint", "uint32"}, "u32")
                              .Case("uint64", "u64")
                              .Case("uint16", "u16")
                              .Cases({"uint8", "byte"}, "u8")
                              .Default("");
  if (!known.empty())
    return ("; did you mean '" + known + "'").str();
  // Integer types are not suggested for misspelt names: they are so short that
  // many words are similar.
  llvm::SmallVector<llvm::StringRef> others;
  for (runtime::ElementType type : runtime::allElementTypes)
    if (!runtime::isInteger(type))
      others.push_back(runtime::name(type));
  return didYouMean(word, others);
}

TypeSpec *Parser::parseType() {
  uint32_t begin = tok.range.begin;
  if (!at(TokenKind::Element)) {
    if (at(TokenKind::Name))
      errorExpected("an element type", suggestElement(getText(tok)));
    else if (at(TokenKind::KwInout))
      errorExpected("an element type", "; 'inout' stands before the name");
    else
      errorExpected("an element type");
    return nullptr;
  }
  Token element = consume();

  llvm::SmallVector<const Expr *> shape;
  if (at(TokenKind::LSquare) && peek().is(TokenKind::RSquare)) {
    consume();
    consume();
  } else if (at(TokenKind::LSquare)) {
    auto parseExtent = [&] {
      ParsedExpr extent = parseExpr();
      if (extent)
        shape.push_back(extent.expr);
      return bool(extent);
    };
    if (!parseList(TokenKind::RSquare, /*recover=*/false, parseExtent))
      return nullptr;
  }

  llvm::SmallVector<LayoutState> states;
  while (at(TokenKind::Name) && getStateKind(tok)) {
    LayoutState state;
    unsigned height = 1;
    if (!parseLayoutState(state, height))
      return nullptr;
    states.push_back(state);
  }
  std::optional<SourceRange> scattered;
  if (atWord("scattered"))
    scattered = consume().range;

  if (at(TokenKind::Name)) {
    if (scattered && getStateKind(tok))
      errorExpected("',' or ')'", "; layout states stand before 'scattered'");
    else
      errorExpected(
          "a layout state, ',' or ')'",
          getText(tok) == "shard" || getText(tok) == "sharded"
              ? "; did you mean 'sliced'"
              : didYouMean(getText(tok), {"replicated", "sliced", "partial",
                                          "local", "scattered"}));
    return nullptr;
  }

  auto *type = create<TypeSpec>();
  type->range = rangeFrom(begin);
  type->element = element.element;
  type->elementRange = element.range;
  type->shape = copy(shape);
  type->states = copy(states);
  type->scattered = scattered;
  return type;
}

//===----------------------------------------------------------------------===//
// Layout states
//===----------------------------------------------------------------------===//

std::optional<LayoutState::Kind>
Parser::getStateKind(const Token &token) const {
  if (!token.is(TokenKind::Name))
    return std::nullopt;
  return getLayoutStateKind(getText(token));
}

bool Parser::parseAxis(LayoutState &state) {
  Name axis;
  if (!parseName(axis, "an axis name"))
    return false;
  state.axis = axis;
  return true;
}

bool Parser::parseLayoutState(LayoutState &state, unsigned &height) {
  state.kind = *getStateKind(tok);
  uint32_t begin = consume().range.begin;
  SourceRange open = tok.range;
  state.range = rangeFrom(begin);
  switch (state.kind) {
  case LayoutState::Kind::Replicated:
    return true;
  case LayoutState::Kind::Local:
    if (!at(TokenKind::LParen))
      return true;
    ++openBrackets;
    consume();
    if (!parseAxis(state) || !expectClose(TokenKind::RParen, open, "')'"))
      return false;
    break;
  case LayoutState::Kind::Sliced:
  case LayoutState::Kind::Partial:
    if (!at(TokenKind::LParen))
      return expect(TokenKind::LParen,
                    state.kind == LayoutState::Kind::Sliced
                        ? "; write 'sliced(0)' for dimension 0"
                        : "; write 'partial(sum)' for a pending sum");
    ++openBrackets;
    consume();
    if (state.kind == LayoutState::Kind::Sliced) {
      ParsedExpr dim = parseExpr();
      if (!dim)
        return false;
      state.dim = dim.expr;
      height = std::max(height, dim.height);
    } else if (at(TokenKind::Name) && getReduction(getText(tok))) {
      state.reduction = getReduction(getText(tok));
      state.reductionRange = consume().range;
    } else {
      errorExpected(
          "'sum', 'prod', 'max' or 'min'",
          at(TokenKind::Name)
              ? didYouMean(getText(tok), {"sum", "prod", "max", "min"})
              : "");
      return false;
    }
    if (accept(TokenKind::Comma)) {
      if (!parseAxis(state) || !expectClose(TokenKind::RParen, open, "')'"))
        return false;
    } else if (!expectClose(TokenKind::RParen, open, "',' or ')'")) {
      return false;
    }
    break;
  }
  state.range = rangeFrom(begin);
  return true;
}
