//===- Format.cpp - .ccn text in its usual form ---------------------------===//
//
// Pieces become lines, one after the other. Where a line gets too long, it is
// broken at the best place so far and the rest is placed anew. Only then are
// the columns found that lines share. All decisions depend on what the result
// shows, so formatting it once more changes nothing.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/Format.h"

#include "lib/Editor/Pieces.h"
#include "lib/Frontend/Parser.h"

using namespace ccn;
using namespace ccn::editor;
using namespace ccn::frontend;

namespace {

constexpr unsigned step = 2;
/// Of a statement's further lines outside of brackets.
constexpr unsigned furtherLines = 4;

struct Line {
  unsigned indent = 0;
  std::string code;
  llvm::StringRef comment;
  /// Where a comment beside code stood; 0 if there was one blank before it.
  unsigned commentColumn = 0;
  bool isBlankBefore = false;
  /// Where `=` or `<-` of a statement stands in `code`, and the blanks before
  /// it; 0 if there is none.
  unsigned assign = 0;
  unsigned blanks = 1;
  /// The line with the bracket that this line's begin stands behind, or by
  /// whose line it is indented.
  std::optional<size_t> bracketLine;
  bool isBehind = false;

  unsigned width() const { return indent + countColumns(code); }
  /// Where the assignment stood.
  unsigned assignColumn() const { return indent + assign - 1 + blanks; }
};

/// An open `(` or `[`.
struct Bracket {
  size_t line;
  /// Of what follows it on its line.
  unsigned column;
  /// Of the line that it stands on.
  unsigned indent;
  /// Nothing follows it on its line.
  bool isLast = false;
};

class Formatter {
public:
  explicit Formatter(std::vector<Piece> pieces) : pieces(std::move(pieces)) {}
  std::vector<Line> run();

private:
  /// What was before a piece was placed, to go back to it.
  struct State {
    size_t piece;
    std::string code;
    std::vector<Bracket> brackets;
    unsigned depth;
    unsigned assign;
    /// How good it is to break the line here: less is better; none if it cannot
    /// be broken.
    std::optional<unsigned> rank;
  };

  bool needsBreak(size_t at) const;
  void startLine(size_t at);
  bool needsBlank(size_t at) const;
  std::optional<unsigned> getRank(size_t at) const;
  void place(size_t at);
  std::optional<size_t> goBack();
  void alignAssigns();
  void alignComments();

  std::vector<Piece> pieces;
  std::vector<Line> lines;
  /// Of the pieces of the last line.
  std::vector<State> states;
  std::vector<Bracket> brackets;
  /// Pieces before which a line was broken because it was too long.
  std::vector<bool> isBroken;
  unsigned depth = 0;
};

/// Whether a piece stands on a line of its own or begins one.
bool Formatter::needsBreak(size_t at) const {
  const Piece &piece = pieces[at];
  if (at == 0 || isBroken[at])
    return true;
  const Piece &before = pieces[at - 1];
  if (piece.isComment)
    return !piece.isTrailing();
  if (before.isComment)
    return true;
  if (piece.is(TokenKind::LBrace))
    return false;
  if (before.is(TokenKind::LBrace))
    return !before.isOneLine;
  if (piece.is(TokenKind::RBrace)) {
    size_t open = at;
    while (!pieces[open].is(TokenKind::LBrace))
      --open;
    return !pieces[open].isOneLine;
  }
  return piece.isFirst || piece.newlines != 0;
}

/// Where what begins a line stands, and whether a blank line stays before it.
void Formatter::startLine(size_t at) {
  const Piece &piece = pieces[at];
  Line line;
  bool isAfterBrace = at != 0 && pieces[at - 1].is(TokenKind::LBrace);
  line.isBlankBefore = piece.newlines > 1 && at != 0 && !isAfterBrace &&
                       !piece.is(TokenKind::RBrace);
  // A comment stands as what it is about.
  size_t next = at;
  while (next < pieces.size() && pieces[next].isComment)
    ++next;
  bool beginsStatement = next == pieces.size() || pieces[next].isFirst ||
                         pieces[next].is(TokenKind::LBrace) ||
                         pieces[next].is(TokenKind::RBrace);
  if (piece.is(TokenKind::RBrace)) {
    line.indent = step * (depth - 1);
  } else if (beginsStatement) {
    line.indent = step * depth;
  } else if (brackets.empty()) {
    line.indent = step * depth + furtherLines;
  } else {
    size_t before = at - 1;
    while (pieces[before].isComment)
      --before;
    Bracket &bracket = brackets.back();
    bracket.isLast |= pieces[before].is(TokenKind::LParen) ||
                      pieces[before].is(TokenKind::LSquare);
    bool isClosing =
        piece.is(TokenKind::RParen) || piece.is(TokenKind::RSquare);
    line.indent = bracket.isLast ? bracket.indent + (isClosing ? 0 : step)
                                 : bracket.column;
    line.bracketLine = bracket.line;
    line.isBehind = !bracket.isLast;
  }
  lines.push_back(line);
  states.clear();
}

bool Formatter::needsBlank(size_t at) const {
  const Piece &piece = pieces[at], &before = pieces[at - 1];
  switch (piece.kind) {
  case TokenKind::RParen:
  case TokenKind::RSquare:
  case TokenKind::Comma:
  case TokenKind::Colon:
    return false;
  case TokenKind::RBrace:
    return !before.is(TokenKind::LBrace);
  default:
    return !piece.isTight && !before.isSign && !before.is(TokenKind::LParen) &&
           !before.is(TokenKind::LSquare);
  }
}

/// How good it is to break a line before a piece, from what stands before it.
std::optional<unsigned> Formatter::getRank(size_t at) const {
  const Piece &before = pieces[at - 1];
  if (before.is(TokenKind::LBrace) && before.isOneLine)
    return 0;
  unsigned level = 1 + 2 * brackets.size();
  if (before.is(TokenKind::Comma))
    return level;
  bool isAssign = before.is(TokenKind::Assign) || before.is(TokenKind::Store);
  if (isAssign && brackets.empty())
    return std::numeric_limits<unsigned>::max();
  bool isOperator = before.kind >= TokenKind::Plus &&
                    before.kind <= TokenKind::GreaterEqual && !before.isSign &&
                    !before.isComment;
  if (isOperator)
    return level + 1;
  return std::nullopt;
}

/// Adds a piece to the last line.
void Formatter::place(size_t at) {
  const Piece &piece = pieces[at];
  Line &line = lines.back();
  bool isFirst = states.empty();
  states.push_back({at, line.code, brackets, depth, line.assign,
                    isFirst ? std::nullopt : getRank(at)});
  if (!isFirst && needsBlank(at))
    line.code += ' ';
  bool isAssign = piece.is(TokenKind::Assign) || piece.is(TokenKind::Store);
  if (isAssign && brackets.empty() && !line.assign && !isFirst &&
      pieces[states.front().piece].isFirst) {
    line.assign = line.code.size();
    line.blanks = piece.newlines ? 1 : std::max(piece.blanks, 1u);
  }
  line.code += piece.text;
  if (piece.isComment)
    return;
  switch (piece.kind) {
  case TokenKind::LParen:
  case TokenKind::LSquare:
    brackets.push_back({lines.size() - 1, line.width(), line.indent});
    break;
  case TokenKind::RParen:
  case TokenKind::RSquare:
    brackets.pop_back();
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

/// Breaks the last line, which is too long, at the best place; the result is
/// the piece that the next one starts with, if there is such a place.
std::optional<size_t> Formatter::goBack() {
  const State *best = nullptr;
  for (const State &state : states)
    if (state.rank && (!best || *state.rank <= *best->rank))
      best = &state;
  if (!best)
    return std::nullopt;
  State state = *best;
  if (*state.rank == 0)
    pieces[state.piece - 1].isOneLine = false;
  isBroken[state.piece] = true;
  lines.back().code = state.code;
  lines.back().assign = state.assign;
  brackets = state.brackets;
  depth = state.depth;
  return state.piece;
}

/// Keeps what the user aligned: blanks before an assignment that bring it below
/// or above another one. Lines behind brackets move along.
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
  // By how much lines move, and what stands in them behind an assignment.
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

/// Comments beside code on lines that follow each other share a column: the
/// rightmost that one had, if there is room.
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
  isBroken.resize(pieces.size());
  for (size_t i = 0; i < pieces.size();) {
    if (needsBreak(i)) {
      startLine(i);
    } else if (pieces[i].isComment) {
      lines.back().comment = pieces[i].text;
      lines.back().commentColumn = pieces[i].blanks > 1 ? pieces[i].column : 0;
      ++i;
      continue;
    }
    place(i);
    if (lines.back().width() > maxWidth) {
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

/// Whether a formatted text has the tree, the tokens and the comments of the
/// original.
bool isSame(const ast::File &file, llvm::ArrayRef<Piece> pieces,
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
  std::vector<Piece> otherPieces = takeApart(*other);
  return before == after &&
         llvm::equal(pieces, otherPieces, [](const Piece &a, const Piece &b) {
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
  std::vector<Piece> pieces = takeApart(*file);
  std::vector<Line> lines = Formatter(pieces).run();
  std::string text = join(lines, source.getText());
  if (isSame(*file, pieces, text))
    return text;
  diagnostics.error("formatting '" + source.getName() +
                    "' would change what it says, so it is left as it is; "
                    "this is a fault of the formatter");
  return std::nullopt;
}
