//===- DiagnosticsRender.cpp - Showing diagnostics as text and JSON -------===//
//
// Source lines are untrusted: they may hold tabs, wide characters, control
// characters, bytes that are not UTF-8, or megabytes. So a line is cut into
// cells: one character each, with its width and the text that is printed for
// it. Only cells near the caret are kept, and the caret's line counts their
// widths.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Utf8.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include <algorithm>

using namespace ccn;

//===----------------------------------------------------------------------===//
// Characters
//===----------------------------------------------------------------------===//

namespace {

/// The output for one character of a source line.
struct Cell {
  uint32_t begin; ///< byte offset in the line
  unsigned width; ///< terminal columns
  std::string text;
};

} // namespace

/// Tab stops of the rendered source line.
static constexpr unsigned tabWidth = 8;
/// The most columns of a source line that are shown.
static constexpr unsigned maxColumns = 120;

/// The cell of the first character of `text`; sets `size` to the character's
/// size in bytes. The caller must handle tabs.
static Cell makeCell(llvm::StringRef text, uint32_t offset, unsigned &size) {
  Utf8Char character = decodeUtf8(text);
  size = character.size;
  Cell cell{offset, 1, ""};
  llvm::raw_string_ostream os(cell.text);
  if (!character.valid) {
    os << llvm::format("<%02X>", character.codePoint);
    cell.width = cell.text.size();
    return cell;
  }
  llvm::StringRef bytes = text.take_front(character.size);
  // Formatting characters are escaped too: some reverse the text after them, so
  // that the line would look like another one.
  int codePoint = static_cast<int>(character.codePoint);
  int width = llvm::sys::unicode::columnWidthUTF8(bytes);
  if (width < 0 || !llvm::sys::unicode::isPrintable(codePoint) ||
      llvm::sys::unicode::isFormatting(codePoint)) {
    os << llvm::format("<U+%04X>", character.codePoint);
    cell.width = cell.text.size();
    return cell;
  }
  os << bytes;
  cell.width = width;
  return cell;
}

std::string ccn::escapeForDisplay(llvm::StringRef text) {
  std::string result;
  uint32_t offset = 0;
  while (!text.empty()) {
    unsigned size = 1;
    result += makeCell(text, offset, size).text;
    text = text.drop_front(size);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {

/// Writes ANSI colours if `colour` is true.
class Painter {
public:
  Painter(llvm::raw_ostream &os, bool colour) : os(os), colour(colour) {}

  void paint(llvm::StringRef code, llvm::StringRef text) {
    if (colour)
      os << "\x1b[" << code << 'm';
    os << text;
    if (colour)
      os << "\x1b[0m";
  }

  llvm::raw_ostream &os;

private:
  bool colour;
};

} // namespace

static constexpr llvm::StringLiteral bold = "1";
static constexpr llvm::StringLiteral boldGreen = "1;32";

static llvm::StringRef getName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  return "error";
}

static llvm::StringRef getColour(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "1;31";
  case Severity::Warning:
    return "1;35";
  case Severity::Remark:
    return "1;34";
  case Severity::Note:
    return "1;36";
  }
  return "1";
}

/// The cells of the bytes [low, high) of `line`, with tabs expanded.
static std::vector<Cell> makeCells(llvm::StringRef line, size_t low,
                                   size_t high) {
  std::vector<Cell> cells;
  unsigned column = 0;
  for (size_t at = low; at < high;) {
    unsigned size = 1;
    Cell cell;
    if (line[at] == '\t') {
      unsigned width = tabWidth - column % tabWidth;
      cell = {static_cast<uint32_t>(at), width, std::string(width, ' ')};
    } else {
      cell = makeCell(line.drop_front(at), at, size);
    }
    column += cell.width;
    cells.push_back(std::move(cell));
    at += size;
  }
  return cells;
}

/// Prints `line` and, under its bytes [begin, end), a caret and tildes; then
/// the suggestion, if any, under the caret.
static void renderLine(Painter &painter, llvm::StringRef line, size_t begin,
                       size_t end, const std::optional<std::string> &fix) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());

  // A character has at most four bytes, so this many bytes on each side fill
  // all columns, except in strange lines with many characters of width 0.
  constexpr size_t reach = 4 * maxColumns;
  size_t low = begin > reach ? begin - reach : 0;
  auto isContinuation = [&](size_t at) {
    return (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80;
  };
  for (int i = 0; i < 3 && low > 0 && isContinuation(low); ++i)
    --low;
  size_t high = std::min(line.size(), begin + reach);
  std::vector<Cell> cells = makeCells(line, low, high);

  size_t caret = 0;
  unsigned total = 0;
  for (const Cell &cell : cells) {
    caret += cell.begin < begin;
    total += cell.width;
  }
  // If the caret is inside of a character, it points to that character, not to
  // the next one.
  if (caret < cells.size() && cells[caret].begin > begin && caret > 0)
    --caret;

  size_t first = 0, last = cells.size();
  if (total > maxColumns) {
    // A third of the columns show the text before the caret, or more if less
    // text follows.
    unsigned after = 0;
    for (size_t i = caret; i < cells.size(); ++i)
      after += cells[i].width;
    unsigned room = maxColumns - std::min(after, maxColumns * 2 / 3);
    unsigned used = 0;
    first = caret;
    while (first > 0 && used + cells[first - 1].width <= room)
      used += cells[--first].width;
    last = caret;
    while (last < cells.size() && used + cells[last].width <= maxColumns)
      used += cells[last++].width;
  }

  llvm::raw_ostream &os = painter.os;
  unsigned indent = 0, marked = 0;
  if (first > 0 || low > 0) {
    os << "...";
    indent += 3;
  }
  for (size_t i = first; i < last; ++i) {
    os << cells[i].text;
    if (i < caret)
      indent += cells[i].width;
    else if (cells[i].begin < end || i == caret)
      marked += cells[i].width;
  }
  if (last < cells.size() || high < line.size())
    os << "...";
  os << '\n';
  os.indent(indent);
  std::string marks(std::max(marked, 1u), '~');
  marks.front() = '^';
  painter.paint(boldGreen, marks);
  os << '\n';
  if (fix && !fix->empty()) {
    os.indent(indent);
    painter.paint(boldGreen, escapeForDisplay(*fix));
    os << '\n';
  }
}

/// Prints `name:line:column: `, as far as known.
static void renderPlace(Painter &painter, llvm::StringRef fileName,
                        uint32_t line, uint32_t column) {
  std::string text = escapeForDisplay(fileName) + ":";
  if (line)
    text += std::to_string(line) + ":";
  if (line && column)
    text += std::to_string(column) + ":";
  painter.paint(bold, text);
  painter.os << ' ';
}

static void
renderOne(Painter &painter, const Diagnostic &diagnostic,
          llvm::function_ref<const SourceFile *(llvm::StringRef)> findFile) {
  const DiagnosticPlace &place = diagnostic.place;
  const SourceFile *file = place.file;
  SourceRange range = place.range;
  LineColumn at{place.line, place.column};
  if (file) {
    at = file->getLineColumn(range.begin);
    renderPlace(painter, file->getName(), at.line, at.column);
  } else if (!place.fileName.empty()) {
    renderPlace(painter, place.fileName, place.line, place.column);
    file = place.line ? findFile(place.fileName) : nullptr;
    if (file && place.line > file->getNumLines())
      file = nullptr;
    if (file)
      range.begin = range.end = file->getOffset(at);
  }

  painter.paint(getColour(diagnostic.severity),
                (getName(diagnostic.severity) + ":").str());
  painter.os << ' ';
  painter.paint(bold, escapeForDisplay(diagnostic.message));
  painter.os << '\n';

  if (file) {
    LineColumn begin = file->getLineColumn(range.begin);
    LineColumn end = file->getLineColumn(range.end);
    llvm::StringRef line = file->getLine(begin.line);
    renderLine(painter, line, begin.column - 1,
               end.line == begin.line ? end.column - 1 : line.size(),
               diagnostic.suggestion);
  }
  for (const Diagnostic &note : diagnostic.notes)
    renderOne(painter, note, findFile);
}

/// The sorted diagnostics up to the last error that is shown. `cut` says
/// whether errors are left out.
std::vector<const Diagnostic *> Diagnostics::getShown(bool &cut) const {
  std::vector<const Diagnostic *> shown;
  unsigned errors = 0;
  cut = false;
  for (const Diagnostic *diagnostic : getSorted()) {
    if (diagnostic->severity == Severity::Error && ++errors > maxShown) {
      cut = true;
      break;
    }
    shown.push_back(diagnostic);
  }
  cut |= numErrors >
         static_cast<unsigned>(llvm::count_if(kept, [](const Diagnostic &d) {
           return d.severity == Severity::Error;
         }));
  return shown;
}

static constexpr llvm::StringLiteral cutMessage =
    "too many errors; the rest are not shown";

void Diagnostics::renderText(llvm::raw_ostream &os, bool colour) const {
  Painter painter(os, colour);
  bool cut = false;
  for (const Diagnostic *diagnostic : getShown(cut))
    renderOne(painter, *diagnostic,
              [this](llvm::StringRef name) { return findFile(name); });
  if (!cut)
    return;
  Diagnostic last;
  last.message = cutMessage.str();
  renderOne(painter, last, [](llvm::StringRef) { return nullptr; });
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeJson(llvm::json::OStream &json, const Diagnostic &diagnostic) {
  auto text = [&](llvm::StringRef key, llvm::StringRef value) {
    json.attribute(key, llvm::json::fixUTF8(value));
  };
  const DiagnosticPlace &place = diagnostic.place;
  json.objectBegin();
  text("severity", getName(diagnostic.severity));
  if (place.file) {
    LineColumn begin = place.file->getLineColumn(place.range.begin);
    LineColumn end = place.file->getLineColumn(place.range.end);
    text("file", place.file->getName());
    json.attribute("line", begin.line);
    json.attribute("column", begin.column);
    json.attribute("endLine", end.line);
    json.attribute("endColumn", end.column);
  } else if (!place.fileName.empty()) {
    text("file", place.fileName);
    if (place.line)
      json.attribute("line", place.line);
    if (place.column)
      json.attribute("column", place.column);
    if (place.line)
      json.attribute("endLine", place.line);
    if (place.column)
      json.attribute("endColumn", place.column);
  }
  text("message", diagnostic.message);
  if (diagnostic.suggestion)
    text("suggestion", *diagnostic.suggestion);
  if (diagnostic.severity != Severity::Note)
    json.attributeArray("notes", [&] {
      for (const Diagnostic &note : diagnostic.notes)
        writeJson(json, note);
    });
  json.objectEnd();
}

void Diagnostics::renderJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  bool cut = false;
  json.arrayBegin();
  for (const Diagnostic *diagnostic : getShown(cut))
    writeJson(json, *diagnostic);
  if (cut) {
    Diagnostic last;
    last.message = cutMessage.str();
    writeJson(json, last);
  }
  json.arrayEnd();
  os << '\n';
}
