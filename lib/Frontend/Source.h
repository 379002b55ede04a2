//===- Source.h - The text of a .ccn file and places in it ------*- C++ -*-===//
//
// A source file is in memory once, and all places in it are byte offsets:
// tokens, tree nodes and diagnostics have a SourceRange, and only printing
// turns it into lines and columns. The tree's names point into the file's text,
// so a SourceFile must outlive the tree and the diagnostics made from it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_SOURCE_H
#define CCN_LIB_FRONTEND_SOURCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ccn {

/// The bytes [begin, end) of one file. An empty range is a point between bytes,
/// such as the end of the file.
struct SourceRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool operator==(const SourceRange &) const = default;

  /// The smallest range that contains both.
  static SourceRange join(SourceRange a, SourceRange b) {
    return {a.begin < b.begin ? a.begin : b.begin,
            a.end > b.end ? a.end : b.end};
  }
};

/// A place in a form for people. Both numbers count from 1; the column counts
/// bytes.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;

  bool operator==(const LineColumn &) const = default;
};

/// A file's name, as messages show it, and its text. Lines end at '\n'; a '\r'
/// before it belongs to the line end. A SourceFile cannot be copied or moved,
/// because the tree and the diagnostics point into it.
class SourceFile {
public:
  /// The largest text that the parser accepts, in bytes: offsets have 32 bits,
  /// of which one is kept free.
  static constexpr uint64_t maxSize = uint64_t(1) << 31;

  SourceFile(std::string name, std::string text);
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  llvm::StringRef getName() const { return name; }
  llvm::StringRef getText() const { return text; }
  llvm::StringRef getText(SourceRange range) const {
    return getText().slice(range.begin, range.end);
  }

  /// Line and column of a byte; offsets past the end count as the end.
  LineColumn getLineColumn(uint32_t offset) const;

  /// The offset of a line and column; places outside the file are moved to
  /// the nearest place in it.
  uint32_t getOffset(LineColumn place) const;

  uint32_t getNumLines() const { return lineBegins.size(); }

  /// The text of a line (counted from 1) without its line end; empty if there
  /// is no such line.
  llvm::StringRef getLine(uint32_t line) const;

private:
  std::string name;
  std::string text;
  std::vector<uint32_t> lineBegins;
};

} // namespace ccn

#endif // CCN_LIB_FRONTEND_SOURCE_H
