//===- ParseSchedule.cpp - Schedules and their directives -----------------===//
//
// A directive's words are ordinary names outside of their places, so a
// directive is known by the first word of its line.
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
    // The program's name is here, or another word and then the name.
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
  Directive::Head head;
  head.range.begin = tok.range.begin;
  if (accept(TokenKind::KwLet)) {
    llvm::SmallVector<Name> names;
    if (!parseNames(names, head.inParens) || !expectLetAssign())
      return false;
    head.results = copy(names);
  }
  if (!at(TokenKind::Name)) {
    errorExpected("a schedule primitive");
    return false;
  }

  llvm::StringRef word = getText(tok);
  std::optional<Directive::Kind> kind = getDirectiveKind(word);
  if (!kind) {
    llvm::SmallVector<llvm::StringRef> known;
    for (unsigned i = 0; i <= static_cast<unsigned>(Directive::Kind::Order);
         ++i)
      known.push_back(getSpelling(static_cast<Directive::Kind>(i)));
    std::string shown = describeFound();
    error(tok.range,
          "unknown schedule primitive " + shown + didYouMean(word, known));
    // Sure enough to go on with.
    kind = getDirectiveKind(closestName(word, known));
    if (!kind)
      return false;
  }
  head.wordRange = consume().range;
  return parsePrimitive(*kind, head, out);
}

bool Parser::parsePrimitive(Directive::Kind kind, Directive::Head &head,
                            llvm::SmallVectorImpl<const Directive *> &out) {
  const Directive *directive = nullptr;
  switch (kind) {
  case Directive::Kind::Split:
    directive = parseSplit(head);
    break;
  case Directive::Kind::Reorder:
    directive = parseReorder(head);
    break;
  case Directive::Kind::SliceState:
  case Directive::Kind::Fuse:
  case Directive::Kind::Order: {
    llvm::SmallVector<Name> targets;
    if (!parseNameList(targets))
      return false;
    if (at(TokenKind::Name)) {
      errorExpected("',' or end of directive");
      return false;
    }
    head.range = rangeFrom(head.range.begin);
    if (kind == Directive::Kind::SliceState)
      directive = create<SliceStateDirective>(head, copy(targets));
    else if (kind == Directive::Kind::Fuse)
      directive = create<FuseDirective>(head, copy(targets));
    else
      directive = create<OrderDirective>(head, copy(targets));
    break;
  }
  case Directive::Kind::Overlap:
    directive = parseOverlap(head);
    break;
  case Directive::Kind::Algorithm:
    directive = parseAlgorithm(head);
    break;
  case Directive::Kind::Protocol:
    directive = parseProtocol(head);
    break;
  case Directive::Kind::Sms:
    directive = parseSms(head);
    break;
  case Directive::Kind::Bucket:
    directive = parseBucket(head);
    break;
  }
  if (!directive)
    return false;
  out.push_back(directive);
  return true;
}

//===----------------------------------------------------------------------===//
// One primitive each
//===----------------------------------------------------------------------===//

const Directive *Parser::parseSplit(Directive::Head &head) {
  Name target;
  if (!parseName(target, "a name"))
    return nullptr;
  std::optional<SplitForm> form;
  if (atWord("as")) {
    consume();
    form = at(TokenKind::Name) ? getSplitForm(getText(tok)) : std::nullopt;
    if (!form) {
      errorExpected("'rs_ag', 'reduce_broadcast' or 'hierarchical'",
                    at(TokenKind::Name)
                        ? didYouMean(getText(tok), {"rs_ag", "reduce_broadcast",
                                                    "hierarchical"})
                        : "");
      return nullptr;
    }
    consume();
  } else if (!isAtStatementEnd()) {
    errorExpected("'as' or end of directive");
    return nullptr;
  }
  head.range = rangeFrom(head.range.begin);
  return create<SplitDirective>(head, target, form);
}

const Directive *Parser::parseReorder(Directive::Head &head) {
  Name gather;
  if (!parseName(gather, "a name"))
    return nullptr;
  if (!atWord("after")) {
    errorExpected("'after'");
    return nullptr;
  }
  consume();
  llvm::SmallVector<Name> after;
  if (!parseNameList(after))
    return nullptr;
  if (at(TokenKind::Name)) {
    errorExpected("',' or end of directive");
    return nullptr;
  }
  head.range = rangeFrom(head.range.begin);
  return create<ReorderDirective>(head, gather, copy(after));
}

const Directive *Parser::parseOverlap(Directive::Head &head) {
  llvm::SmallVector<Name> targets;
  if (!parseNameList(targets))
    return nullptr;
  const Expr *chunks = nullptr;
  if (atWord("chunks")) {
    consume();
    ParsedExpr count = parseExpr();
    if (!count)
      return nullptr;
    chunks = count.expr;
  } else if (!isAtStatementEnd()) {
    errorExpected("',', 'chunks' or end of directive");
    return nullptr;
  }
  head.range = rangeFrom(head.range.begin);
  return create<OverlapDirective>(head, copy(targets), chunks);
}

const Directive *Parser::parseProtocol(Directive::Head &head) {
  Name target;
  if (!parseName(target, "a name") || !expect(TokenKind::Assign))
    return nullptr;
  std::optional<ProtocolKind> protocol;
  if (at(TokenKind::Name))
    protocol = getProtocolKind(getText(tok));
  if (!protocol) {
    errorExpected(
        "'ll', 'lamport', 'push' or 'simple'",
        at(TokenKind::Name)
            ? didYouMean(getText(tok), {"ll", "lamport", "push", "simple"})
            : "");
    return nullptr;
  }
  consume();
  head.range = rangeFrom(head.range.begin);
  return create<ProtocolDirective>(head, target, protocol);
}

const Directive *Parser::parseSms(Directive::Head &head) {
  Name target;
  if (!parseName(target, "a name") || !expect(TokenKind::Assign))
    return nullptr;
  ParsedExpr count = parseExpr();
  if (!count)
    return nullptr;
  head.range = rangeFrom(head.range.begin);
  return create<SmsDirective>(head, target, count.expr);
}

const Directive *Parser::parseBucket(Directive::Head &head) {
  llvm::SmallVector<Name> targets;
  if (!parseNameList(targets))
    return nullptr;
  if (!atWord("size")) {
    errorExpected("',' or 'size'");
    return nullptr;
  }
  consume();
  ParsedExpr size = parseExpr();
  if (!size)
    return nullptr;
  head.range = rangeFrom(head.range.begin);
  return create<BucketDirective>(head, copy(targets), size.expr);
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

const Directive *Parser::parseAlgorithm(Directive::Head &head) {
  Name target;
  if (!parseName(target, "a name") || !expect(TokenKind::Assign))
    return nullptr;
  uint32_t begin = tok.range.begin;
  AlgorithmDirective::Source kind = AlgorithmDirective::Source::Name;
  Name name;
  ast::StringLiteral path;
  llvm::SmallVector<SynthArg> args;
  if (at(TokenKind::String)) {
    kind = AlgorithmDirective::Source::File;
    path = parseString();
  } else if (atWord("synth") && peek().is(TokenKind::LParen)) {
    kind = AlgorithmDirective::Source::Synth;
    consume();
    if (peek().is(TokenKind::RParen)) {
      consume();
      consume();
    } else if (!parseList(TokenKind::RParen, /*recover=*/false,
                          [&] { return parseSynthArg(args); })) {
      return nullptr;
    }
  } else if (!parseName(name,
                        "an algorithm's name, a string or 'synth(...)'")) {
    return nullptr;
  }
  SourceRange valueRange = rangeFrom(begin);
  head.range = rangeFrom(head.range.begin);
  return create<AlgorithmDirective>(head, target, kind, valueRange, name, path,
                                    copy(args));
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
