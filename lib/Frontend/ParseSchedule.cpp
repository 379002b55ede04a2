//===- ParseSchedule.cpp - Schedules and their directives -----------------===//
//
// The words of directives are not reserved, so the first word of a line says
// which directive it is.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ParserImpl.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

const Item *Parser::parseSchedule(uint32_t begin, const Name &name) {
  Name program;
  program.range = {previousEnd, previousEnd};
  bool ok = true;
  if (accept(TokenKind::KwFor)) {
    ok = parseName(program, "a program's name");
  } else if (at(TokenKind::Name)) {
    // The current token is the program's name, or another word before the name.
    errorExpected("'for'");
    if (peek().is(TokenKind::Name))
      consume();
    ok = parseName(program, "a program's name");
  } else {
    errorExpected("'for' and a program's name");
    ok = false;
  }
  llvm::SmallVector<const Directive *> directives;
  if (ok || skipToBlock())
    parseBraces("directive", [&] { return parseDirective(directives); });
  return create<ScheduleItem>(rangeFrom(begin), name, isBroken(), program,
                              copy(directives));
}

bool Parser::parseDirective(llvm::SmallVectorImpl<const Directive *> &out) {
  uint32_t begin = tok.range.begin;
  llvm::SmallVector<Name> names;
  bool inParens = false;
  if (accept(TokenKind::KwLet))
    if (!parseNames(names, inParens) || !expectLetAssign())
      return false;
  if (!at(TokenKind::Name)) {
    errorExpected("a schedule primitive");
    return false;
  }
  const Primitive *primitive = parsePrimitiveWord();
  if (!primitive)
    return false;
  auto *directive = create<Directive>(*primitive, consume().range);
  directive->results = copy(names);
  directive->inParens = inParens;
  if (!parseTargets(*directive) || !parseClause(*directive))
    return false;
  directive->range = rangeFrom(begin);
  out.push_back(directive);
  return true;
}

const Primitive *Parser::parsePrimitiveWord() {
  llvm::StringRef word = getText(tok);
  if (const Primitive *primitive = findPrimitive(word))
    return primitive;
  llvm::SmallVector<llvm::StringRef> known;
  for (const Primitive &primitive : getPrimitives())
    known.push_back(primitive.name);
  std::string shown = describeFound();
  error(tok.range,
        "unknown schedule primitive " + shown + didYouMean(word, known));
  // The closest primitive is probably the right one, so the parser goes on with
  // it.
  return findPrimitive(closestName(word, known));
}

bool Parser::parseTargets(Directive &directive) {
  llvm::SmallVector<Name> targets;
  if (directive.primitive.targets != Primitive::Targets::One) {
    if (!parseNameList(targets))
      return false;
  } else if (!parseName(targets.emplace_back(), "a name")) {
    return false;
  }
  directive.targets = copy(targets);
  return true;
}

std::optional<bool> Parser::parseClauseKeyword(const Primitive &primitive) {
  if (primitive.isChoice())
    return expect(TokenKind::Assign) ? std::optional(true) : std::nullopt;
  if (atWord(primitive.keyword)) {
    consume();
    return true;
  }
  if (primitive.isOptional && isAtStatementEnd())
    return false;
  bool isList = primitive.targets == Primitive::Targets::List;
  std::string expected = isList ? "','" : "";
  if (isList)
    expected += primitive.isOptional ? ", " : " or ";
  expected += ("'" + primitive.keyword + "'").str();
  errorExpected(expected +
                (primitive.isOptional ? " or end of directive" : ""));
  return std::nullopt;
}

bool Parser::parseClause(Directive &directive) {
  const Primitive &primitive = directive.primitive;
  // Only the end of the line may follow a list.
  auto expectNoName = [&] {
    if (!at(TokenKind::Name))
      return true;
    errorExpected("',' or end of directive");
    return false;
  };
  if (primitive.clause == Primitive::Clause::None)
    return expectNoName();
  std::optional<bool> isThere = parseClauseKeyword(primitive);
  if (!isThere || !*isThere)
    return isThere.has_value();
  switch (primitive.clause) {
  case Primitive::Clause::None:
    break;
  case Primitive::Clause::Names: {
    llvm::SmallVector<Name> names;
    if (!parseNameList(names) || !expectNoName())
      return false;
    directive.names = copy(names);
    break;
  }
  case Primitive::Clause::Number: {
    ParsedExpr number = parseExpr();
    if (!number)
      return false;
    directive.number = number.expr;
    break;
  }
  case Primitive::Clause::Word:
  case Primitive::Clause::Choice:
    return parseWord(directive);
  case Primitive::Clause::Algorithm:
    directive.algorithm = parseAlgorithm();
    return directive.algorithm;
  }
  return true;
}

bool Parser::parseWord(Directive &directive) {
  llvm::ArrayRef<llvm::StringLiteral> words = directive.primitive.words;
  if (at(TokenKind::Name) && llvm::is_contained(words, getText(tok))) {
    directive.word = getText(consume());
    return true;
  }
  std::string expected;
  for (auto [i, word] : llvm::enumerate(words))
    expected += ((i == 0                  ? "'"
                  : i + 1 == words.size() ? " or '"
                                          : ", '") +
                 word + "'")
                    .str();
  llvm::SmallVector<llvm::StringRef> known(words.begin(), words.end());
  errorExpected(expected, at(TokenKind::Name) ? didYouMean(getText(tok), known)
                                              : std::string());
  return false;
}

//===----------------------------------------------------------------------===//
// algorithm
//===----------------------------------------------------------------------===//

ast::StringLiteral Parser::parseString() {
  Token token = consume();
  if (token.broken)
    return {"", token.range};
  std::string value = decodeString(getText(token));
  return {llvm::StringRef(value).copy(file->arena), token.range};
}

const AlgorithmClause *Parser::parseAlgorithm() {
  uint32_t begin = tok.range.begin;
  auto *clause = create<AlgorithmClause>();
  llvm::SmallVector<SynthArg> args;
  if (at(TokenKind::String)) {
    clause->source = AlgorithmClause::Source::File;
    clause->file = parseString();
  } else if (atWord("synth") && peek().is(TokenKind::LParen)) {
    clause->source = AlgorithmClause::Source::Synth;
    consume();
    if (peek().is(TokenKind::RParen)) {
      consume();
      consume();
    } else if (!parseList(TokenKind::RParen, /*recover=*/false,
                          [&] { return parseSynthArg(args); })) {
      return nullptr;
    }
  } else if (!parseName(clause->name,
                        "an algorithm's name, a string or 'synth(...)'")) {
    return nullptr;
  }
  clause->range = rangeFrom(begin);
  clause->synthArgs = copy(args);
  return clause;
}

/// NAME | STRING | NAME '=' (NAME | STRING | constant)
bool Parser::parseSynthArg(llvm::SmallVectorImpl<SynthArg> &args) {
  SynthArg arg;
  uint32_t begin = tok.range.begin;
  if (at(TokenKind::Name)) {
    Token word = consume();
    Name name{getText(word), word.range};
    if (!accept(TokenKind::Assign)) {
      arg.value = create<NameExpr>(word.range, name.text);
      arg.range = word.range;
      args.push_back(arg);
      return true;
    }
    arg.key = name;
  } else if (!at(TokenKind::String)) {
    errorExpected("'name = value', a name or a string");
    return false;
  }
  if (at(TokenKind::String)) {
    arg.string = parseString();
  } else {
    ParsedExpr value = parseExpr();
    if (!value)
      return false;
    arg.value = value.expr;
  }
  arg.range = rangeFrom(begin);
  args.push_back(arg);
  return true;
}
