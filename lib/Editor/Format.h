//===- Format.h - .ccn text in its usual form -------------------*- C++ -*-===//
//
// What ccn-format and the language server write: a program's text with usual
// blanks and indentation. Line breaks within a statement stay where the user
// made them, and lines that are too long get more; comments, blank lines
// between statements (one at a time) and the columns that `=` and comments
// beside code share are kept.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_FORMAT_H
#define CCN_LIB_EDITOR_FORMAT_H

#include "lib/Frontend/Diagnostics.h"
#include <optional>
#include <string>

namespace ccn::editor {

/// Columns that code takes at most where it can be broken.
inline constexpr unsigned maxWidth = 120;

/// The formatted text, which has the same syntax tree and the same comments; it
/// keeps a byte order mark, and CR LF if its first line ends so. Nothing if the
/// text does not parse, which is reported.
std::optional<std::string> format(const SourceFile &source,
                                  Diagnostics &diagnostics);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_FORMAT_H
