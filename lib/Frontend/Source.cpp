//===- Source.cpp - The text of a .ccn file and places in it --------------===//
//
// Finds the starts of lines once; then converts between offsets and lines and
// columns by binary search.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Source.h"
#include <algorithm>
#include <cstring>

using namespace ccn;

SourceFile::SourceFile(std::string fileName, std::string fileText)
    : name(std::move(fileName)), text(std::move(fileText)) {
  lineBegins.push_back(0);
  // Offsets past maxSize do not fit; the parser refuses such a file.
  size_t limit = std::min<uint64_t>(text.size(), maxSize);
  const char *begin = text.data(), *end = begin + limit;
  for (const char *at = begin; at != end;) {
    const void *newline = std::memchr(at, '\n', end - at);
    if (!newline)
      break;
    at = static_cast<const char *>(newline) + 1;
    lineBegins.push_back(at - begin);
  }
}

LineColumn SourceFile::getLineColumn(uint32_t offset) const {
  offset = std::min<uint64_t>(offset, text.size());
  auto next = std::upper_bound(lineBegins.begin(), lineBegins.end(), offset);
  uint32_t line = next - lineBegins.begin();
  return {line, offset - lineBegins[line - 1] + 1};
}

uint32_t SourceFile::getOffset(LineColumn place) const {
  uint32_t line = std::clamp<uint32_t>(place.line, 1, getNumLines());
  uint32_t column = std::max<uint32_t>(place.column, 1);
  uint32_t length = getLine(line).size();
  return lineBegins[line - 1] + std::min(column - 1, length);
}

llvm::StringRef SourceFile::getLine(uint32_t line) const {
  if (line == 0 || line > getNumLines())
    return {};
  uint64_t begin = lineBegins[line - 1];
  uint64_t end = line < getNumLines() ? lineBegins[line] - 1 : text.size();
  llvm::StringRef content = getText().slice(begin, end);
  content.consume_back("\r");
  return content;
}
