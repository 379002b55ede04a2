//===- Document.cpp - An open text ----------------------------------------===//
//
// Positions and edits.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Document.h"

#include "lib/Frontend/Utf8.h"

using namespace ccn;
using namespace ccn::lsp;

/// How many UTF-16 units a character takes.
static unsigned countUnits(Utf8Char character) {
  return character.valid && character.codePoint > 0xFFFF ? 2 : 1;
}

uint32_t lsp::toOffset(const SourceFile &source, Position position) {
  if (position.line < 0)
    return 0;
  uint32_t line = static_cast<uint32_t>(position.line) + 1;
  if (line > source.getNumLines())
    return source.getText().size();
  uint32_t offset = source.getOffset({line, 1});
  int units = 0;
  for (llvm::StringRef rest = source.getLine(line);
       !rest.empty() && units < position.character;) {
    Utf8Char character = decodeUtf8(rest);
    units += countUnits(character);
    // Within a character is before it.
    if (units > position.character)
      break;
    offset += character.size;
    rest = rest.drop_front(character.size);
  }
  return offset;
}

Position lsp::toPosition(const SourceFile &source, uint32_t offset) {
  LineColumn place = source.getLineColumn(offset);
  int units = 0;
  for (llvm::StringRef rest =
           source.getLine(place.line).take_front(place.column - 1);
       !rest.empty();) {
    Utf8Char character = decodeUtf8(rest);
    units += countUnits(character);
    rest = rest.drop_front(character.size);
  }
  return {static_cast<int>(place.line) - 1, units};
}

Range lsp::toRange(const SourceFile &source, SourceRange range) {
  return {toPosition(source, range.begin), toPosition(source, range.end)};
}

Document::Document(std::string uri, std::string text,
                   std::optional<int64_t> version)
    : uri(std::move(uri)), version(version) {
  setText(std::move(text));
}

void Document::setText(std::string text) {
  std::string path = uri;
  if (llvm::Expected<llvm::lsp::URIForFile> file =
          llvm::lsp::URIForFile::fromURI(uri))
    path = file->file().str();
  else
    llvm::consumeError(file.takeError());
  analysis = analyze(std::move(path), std::move(text));
  if (analysis->types)
    types = *analysis->types;
}

void Document::change(llvm::ArrayRef<Edit> edits,
                      std::optional<int64_t> newVersion) {
  version = newVersion;
  std::string text = getSource().getText().str();
  for (const Edit &edit : edits) {
    if (!edit.range) {
      text = edit.text;
      continue;
    }
    SourceFile before("", text);
    uint32_t begin = toOffset(before, edit.range->start);
    uint32_t end = std::max(begin, toOffset(before, edit.range->end));
    text.replace(begin, end - begin, edit.text);
  }
  setText(std::move(text));
}
