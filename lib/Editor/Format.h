//===- Format.h - .ccn text in its usual form -------------------*- C++ -*-===//
//
// Formats a program's text, with the usual blanks and indentation, for
// ccn-format and the language server. It keeps the user's line breaks within a
// statement, and breaks lines that are too long. It also keeps comments, blank
// lines between statements (at most one in a row), and alignment: columns that
// `=` or comments beside code share.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_FORMAT_H
#define CCN_LIB_EDITOR_FORMAT_H

#include "lib/Frontend/Diagnostics.h"
#include <optional>
#include <string>

namespace ccn::editor {

/// The most columns of a line of code, if it can be broken.
inline constexpr unsigned maxWidth = 120;

/// The formatted text, which has the same syntax tree and the same comments.
/// Keeps a byte order mark, and uses CR LF if the first line ends with it.
/// None, with errors reported, if the text does not parse.
std::optional<std::string> format(const SourceFile &source,
                                  Diagnostics &diagnostics);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_FORMAT_H
