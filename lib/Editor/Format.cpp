//===- Format.cpp - .ccn text in its usual form ---------------------------===//
//
// Places tokens on lines, one after the other. If a line gets too long, it is
// broken at the best place so far, and the rest is placed again. Then the
// columns are found that lines share. All decisions depend only on what the
// result shows, so formatting it again changes nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/Format.h"

#include "lib/Editor/FormatTokens.h"
#include "lib/Frontend/Parser.h"

#include <utility>

using namespace ccn;
using namespace ccn::editor;
using namespace ccn::frontend;

namespace {

constexpr unsigned step = 2;
/// The indentation of a statement's second and later lines outside of brackets.
constexpr unsigned furtherLines = 4;

struct Line {
  unsigned indent = 0;
  std::string code;
  llvm::StringRef comment;
  /// The original column of a comment beside code; 0 if one blank was before
  /// it.
  unsigned commentColumn = 0;
  bool isBlankBefore = false;
  /// The position of a statement's `=` or `<-` in `code` (0 if there is none),
  /// and the number of blanks before it.
  unsigned assign = 0;
  unsigned blanks = 1;
  /// The line with the bracket by which this line is indented: behind the
  /// bracket (`isBehind`) or relative to the bracket's line.
  std::optional<size_t> bracketLine;
  bool isBehind = false;

  unsigned width() const { return indent + countColumns(code); }
  /// The original column of the assignment.
  unsigned assignColumn() const { return indent + assign - 1 + blanks; }
};

/// An open `(` or `[`.
struct Bracket {
  /// How many brackets are around it, and the index of the innermost of them.
  unsigned level;
  size_t outer;
  size_t line;
  /// The column of the token after it on its line.
  unsigned column;
  /// The indentation of its line.
  unsigned indent;
  /// Whether it is the last token of its line.
  bool isLast = false;
};

class Formatter {
public:
  explicit Formatter(std::vector<FormatToken> tokens)
      : tokens(std::move(tokens)) {}
  std::vector<Line> run();

private:
  /// The state before a token was placed, to return to it.
  struct State {
    size_t token;
    /// The bytes and the columns of the line's code.
    size_t codeSize;
    unsigned columns;
    /// The number of brackets, and the innermost open one.
    size_t bracketCount, innermost;
    unsigned depth;
    unsigned assign;
  };

  bool needsBreak(size_t at) const;
  void startLine(size_t at);
  bool needsBlank(size_t at) const;
  std::optional<unsigned> getRank(size_t at) const;
  void place(size_t at);
  std::optional<size_t> goBack();
  bool isOutsideBrackets() const { return innermost == none; }
  void alignAssigns();
  void alignComments();

  static constexpr size_t none = std::numeric_limits<size_t>::max();

  std::vector<FormatToken> tokens;
  /// For each token, the first token from it on, and the last one before it,
  /// that is not a comment; the number of tokens if there is none.
  std::vector<size_t> nextCode, codeBefore;
  std::vector<Line> lines;
  /// The columns of the last line's code, and its first token.
  unsigned columns = 0;
  size_t firstToken = 0;
  bool isLineEmpty = true;
  /// The state before the token at which it is best to break the last line
  /// (none if the line cannot be broken), and how good that is; a lower rank is
  /// better.
  std::optional<State> bestBreak;
  unsigned bestRank = 0;
  /// All brackets that were opened, and the index of the innermost open one.
  std::vector<Bracket> brackets;
  size_t innermost = none;
  /// Tokens before which a line was broken because it was too long.
  std::vector<bool> isBroken;
  unsigned depth = 0;
};

/// Whether a token begins a new line.
bool Formatter::needsBreak(size_t at) const {
  const FormatToken &token = tokens[at];
  if (at == 0 || isBroken[at])
    return true;
  const FormatToken &before = tokens[at - 1];
  if (token.isComment)
    return !token.isTrailing();
  if (before.isComment)
    return true;
  if (token.is(TokenKind::LBrace))
    return false;
  if (before.is(TokenKind::LBrace))
    return !before.isOneLine;
  if (token.is(TokenKind::RBrace)) {
    size_t open = at;
    while (!tokens[open].is(TokenKind::LBrace))
      --open;
    return !tokens[open].isOneLine;
  }
  return token.isFirst || token.newlines != 0;
}

/// Begins a line with a token: finds its indentation, and whether a blank line
/// stays before it.
void Formatter::startLine(size_t at) {
  const FormatToken &token = tokens[at];
  Line line;
  bool isAfterBrace = at != 0 && tokens[at - 1].is(TokenKind::LBrace);
  line.isBlankBefore = token.newlines > 1 && at != 0 && !isAfterBrace &&
                       !token.is(TokenKind::RBrace);
  // A comment is indented like the code that it is about.
  size_t next = nextCode[at];
  bool beginsStatement = next == tokens.size() || tokens[next].isFirst ||
                         tokens[next].is(TokenKind::LBrace) ||
                         tokens[next].is(TokenKind::RBrace);
  if (token.is(TokenKind::RBrace)) {
    line.indent = step * (depth - 1);
  } else if (beginsStatement) {
    line.indent = step * depth;
  } else if (isOutsideBrackets()) {
    line.indent = step * depth + furtherLines;
  } else {
    const FormatToken &before = tokens[codeBefore[at]];
    Bracket &bracket = brackets[innermost];
    bracket.isLast |=
        before.is(TokenKind::LParen) || before.is(TokenKind::LSquare);
    bool isClosing =
        token.is(TokenKind::RParen) || token.is(TokenKind::RSquare);
    line.indent = bracket.isLast ? bracket.indent + (isClosing ? 0 : step)
                                 : bracket.column;
    line.bracketLine = bracket.line;
    line.isBehind = !bracket.isLast;
  }
  lines.push_back(line);
  columns = 0;
  firstToken = at;
  isLineEmpty = true;
  bestBreak.reset();
}

bool Formatter::needsBlank(size_t at) const {
  const FormatToken &token = tokens[at], &before = tokens[at - 1];
  switch (token.kind) {
  case TokenKind::RParen:
  case TokenKind::RSquare:
  case TokenKind::Comma:
  case TokenKind::Colon:
    return false;
  case TokenKind::RBrace:
    return !before.is(TokenKind::LBrace);
  default:
    return !token.isTight && !before.isSign && !before.is(TokenKind::LParen) &&
           !before.is(TokenKind::LSquare);
  }
}

/// How good it is to break a line before a token, judged by the token before
/// it: a lower rank is better; none if the line cannot be broken there.
std::optional<unsigned> Formatter::getRank(size_t at) const {
  const FormatToken &before = tokens[at - 1];
  if (before.is(TokenKind::LBrace) && before.isOneLine)
    return 0;
  unsigned level =
      1 + 2 * (isOutsideBrackets() ? 0 : brackets[innermost].level + 1);
  if (before.is(TokenKind::Comma))
    return level;
  bool isAssign = before.is(TokenKind::Assign) || before.is(TokenKind::Store);
  if (isAssign && isOutsideBrackets())
    return std::numeric_limits<unsigned>::max();
  bool isOperator = before.kind >= TokenKind::Plus &&
                    before.kind <= TokenKind::GreaterEqual && !before.isSign &&
                    !before.isComment;
  if (isOperator)
    return level + 1;
  return std::nullopt;
}

/// Adds a token to the last line.
void Formatter::place(size_t at) {
  const FormatToken &token = tokens[at];
  Line &line = lines.back();
  bool isFirst = std::exchange(isLineEmpty, false);
  std::optional<unsigned> rank = isFirst ? std::nullopt : getRank(at);
  if (rank && (!bestBreak || *rank <= bestRank)) {
    bestBreak = {at,    line.code.size(), columns, brackets.size(), innermost,
                 depth, line.assign};
    bestRank = *rank;
  }
  if (!isFirst && needsBlank(at)) {
    line.code += ' ';
    ++columns;
  }
  bool isAssign = token.is(TokenKind::Assign) || token.is(TokenKind::Store);
  if (isAssign && isOutsideBrackets() && !line.assign && !isFirst &&
      tokens[firstToken].isFirst) {
    line.assign = line.code.size();
    line.blanks = token.newlines ? 1 : std::max(token.blanks, 1u);
  }
  line.code += token.text;
  columns += countColumns(token.text);
  if (token.isComment)
    return;
  switch (token.kind) {
  case TokenKind::LParen:
  case TokenKind::LSquare: {
    unsigned level = isOutsideBrackets() ? 0 : brackets[innermost].level + 1;
    brackets.push_back({level, innermost, lines.size() - 1,
                        line.indent + columns, line.indent});
    innermost = brackets.size() - 1;
    break;
  }
  case TokenKind::RParen:
  case TokenKind::RSquare:
    innermost = brackets[innermost].outer;
    break;
  case TokenKind::LBrace:
    ++depth;
    break;
  case TokenKind::RBrace:
    --depth;
    break;
  default:
    break;
  }
}

/// Breaks the last line, which is too long, at the best place. Returns the
/// token with which the next line starts; none if the line cannot be broken.
std::optional<size_t> Formatter::goBack() {
  if (!bestBreak)
    return std::nullopt;
  const State &state = *bestBreak;
  if (bestRank == 0)
    tokens[state.token - 1].isOneLine = false;
  isBroken[state.token] = true;
  lines.back().code.resize(state.codeSize);
  lines.back().assign = state.assign;
  columns = state.columns;
  brackets.resize(state.bracketCount);
  innermost = state.innermost;
  depth = state.depth;
  return state.token;
}

/// Keeps the user's alignment: blanks before an assignment that put it above or
/// below another one. Lines that are indented behind brackets move with them.
void Formatter::alignAssigns() {
  auto agree = [&](size_t a, size_t b) {
    return lines[a].assign && lines[b].assign &&
           !lines[std::max(a, b)].isBlankBefore &&
           lines[a].assignColumn() == lines[b].assignColumn();
  };
  std::vector<bool> isKept(lines.size());
  for (size_t i = 0; i < lines.size(); ++i)
    isKept[i] = (i != 0 && agree(i, i - 1)) ||
                (i + 1 < lines.size() && agree(i, i + 1));
  // How far each line moves, and how far its code behind the assignment moves.
  std::vector<unsigned> moved(lines.size()), movedBehind(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    Line &line = lines[i];
    if (line.bracketLine)
      moved[i] = (line.isBehind ? movedBehind : moved)[*line.bracketLine];
    movedBehind[i] = moved[i];
    line.indent += moved[i];
    if (!line.assign || !isKept[i])
      continue;
    line.code.insert(line.assign, line.blanks - 1, ' ');
    movedBehind[i] += line.blanks - 1;
  }
}

/// Aligns comments beside code on consecutive lines: they get the rightmost
/// column that one of them had, if there is room.
void Formatter::alignComments() {
  for (size_t begin = 0, end; begin < lines.size(); begin = end) {
    end = begin + 1;
    if (lines[begin].comment.empty())
      continue;
    while (end < lines.size() && !lines[end].comment.empty() &&
           !lines[end].isBlankBefore)
      ++end;
    unsigned least = 0, wanted = 0, longest = 0;
    for (const Line &line : llvm::ArrayRef(lines).slice(begin, end - begin)) {
      least = std::max(least, line.width() + 1);
      wanted = std::max(wanted, line.commentColumn);
      longest = std::max(longest, countColumns(line.comment));
    }
    unsigned column = std::max(least, wanted);
    if (column + longest > maxWidth)
      column = least;
    for (Line &line : llvm::MutableArrayRef(lines).slice(begin, end - begin)) {
      line.code.append(column - line.width(), ' ');
      line.code += line.comment;
    }
  }
}

std::vector<Line> Formatter::run() {
  isBroken.resize(tokens.size());
  nextCode.assign(tokens.size() + 1, tokens.size());
  codeBefore.assign(tokens.size() + 1, tokens.size());
  for (size_t i = tokens.size(); i-- > 0;)
    nextCode[i] = tokens[i].isComment ? nextCode[i + 1] : i;
  for (size_t i = 0; i < tokens.size(); ++i)
    codeBefore[i + 1] = tokens[i].isComment ? codeBefore[i] : i;
  for (size_t i = 0; i < tokens.size();) {
    if (needsBreak(i)) {
      startLine(i);
    } else if (tokens[i].isComment) {
      lines.back().comment = tokens[i].text;
      lines.back().commentColumn = tokens[i].blanks > 1 ? tokens[i].column : 0;
      ++i;
      continue;
    }
    place(i);
    if (lines.back().indent + columns > maxWidth) {
      if (std::optional<size_t> back = goBack()) {
        i = *back;
        continue;
      }
    }
    ++i;
  }
  alignAssigns();
  alignComments();
  return std::move(lines);
}

std::string join(llvm::ArrayRef<Line> lines, llvm::StringRef original) {
  size_t firstEnd = original.find('\n');
  bool hasReturns = firstEnd != llvm::StringRef::npos && firstEnd != 0 &&
                    original[firstEnd - 1] == '\r';
  llvm::StringRef end = hasReturns ? "\r\n" : "\n";
  std::string text;
  if (original.starts_with("\xEF\xBB\xBF"))
    text = "\xEF\xBB\xBF";
  for (const Line &line : lines) {
    if (line.isBlankBefore)
      text += end;
    text.append(line.indent, ' ');
    text += line.code;
    text += end;
  }
  return text;
}

/// Whether a formatted text has the same tree, tokens and comments as the
/// original.
bool isSame(const ast::File &file, llvm::ArrayRef<FormatToken> tokens,
            const std::string &formatted) {
  SourceFile source(file.source.getName().str(), formatted);
  Diagnostics diagnostics;
  std::unique_ptr<ast::File> other = parse(source, diagnostics);
  if (diagnostics.hasErrors())
    return false;
  std::string before, after;
  llvm::raw_string_ostream beforeStream(before), afterStream(after);
  ast::print(file, beforeStream, /*places=*/false);
  ast::print(*other, afterStream, /*places=*/false);
  std::vector<FormatToken> otherTokens = takeApart(*other);
  return before == after &&
         llvm::equal(tokens, otherTokens,
                     [](const FormatToken &a, const FormatToken &b) {
                       return a.isComment == b.isComment && a.text == b.text;
                     });
}

} // namespace

std::optional<std::string> editor::format(const SourceFile &source,
                                          Diagnostics &diagnostics) {
  unsigned errorsBefore = diagnostics.getNumErrors();
  std::unique_ptr<ast::File> file = parse(source, diagnostics);
  if (diagnostics.getNumErrors() != errorsBefore)
    return std::nullopt;
  std::vector<FormatToken> tokens = takeApart(*file);
  std::vector<Line> lines = Formatter(tokens).run();
  std::string text = join(lines, source.getText());
  if (isSame(*file, tokens, text))
    return text;
  diagnostics.error("formatting '" + source.getName() +
                    "' would change what it says, so it is left as it is; "
                    "this is a fault of the formatter");
  return std::nullopt;
}
