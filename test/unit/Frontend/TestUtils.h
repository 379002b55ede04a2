//===- TestUtils.h - Parsing snippets in tests ------------------*- C++ -*-===//
//
// Tests compare short texts: the errors of a snippet, one a line, or its tree.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_FRONTEND_TESTUTILS_H
#define CCN_TEST_UNIT_FRONTEND_TESTUTILS_H

#include "lib/Frontend/Parser.h"
#include <string>

namespace ccn::frontend::test {

/// A parsed snippet and all it points into.
struct Parsed {
  explicit Parsed(std::string text)
      : source("t.ccn", std::move(text)), file(parse(source, diagnostics)) {}

  SourceFile source;
  Diagnostics diagnostics;
  std::unique_ptr<ast::File> file;
};

/// One line an error, `line:column-endColumn message`, its notes indented
/// below; the range's end is left out when empty. A suggestion follows `=> `.
inline std::string showErrors(const Parsed &parsed) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto show = [&](const Diagnostic &diagnostic) {
    const SourceRange range = diagnostic.place.range;
    LineColumn begin = parsed.source.getLineColumn(range.begin);
    os << begin.line << ':' << begin.column;
    if (range.size())
      os << '-' << parsed.source.getLineColumn(range.end).column;
    os << ' ' << diagnostic.message;
    if (diagnostic.suggestion)
      os << " => " << *diagnostic.suggestion;
    os << '\n';
  };
  for (const Diagnostic *diagnostic : parsed.diagnostics.getSorted()) {
    show(*diagnostic);
    for (const Diagnostic &note : diagnostic->notes) {
      os << "  ";
      show(note);
    }
  }
  return text;
}

inline std::string errorsOf(std::string text) {
  return showErrors(Parsed(std::move(text)));
}

inline std::string showTree(const ast::File &file, bool places = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ast::print(file, os, places);
  return text;
}

/// The tree without places, errors first if there are any.
inline std::string treeOf(std::string text) {
  Parsed parsed(std::move(text));
  return showErrors(parsed) + showTree(*parsed.file);
}

inline std::string sourceOf(const ast::File &file) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ast::printSource(file, os);
  return text;
}

/// The tree of an expression, alone.
inline std::string exprOf(const std::string &text) {
  Parsed parsed("param x = " + text);
  std::string tree = showErrors(parsed) + showTree(*parsed.file);
  const std::string head = "param x\n";
  return tree.starts_with(head) ? tree.substr(head.size()) : tree;
}

/// A statement's errors, columns counted in the statement, which stands in a
/// program with an inout `p`; it is line 2.
inline std::string stmtErrors(const std::string &text) {
  return errorsOf("program q(inout p: f32) {\n" + text + "\n}\n");
}

/// A directive's errors; it is line 2.
inline std::string directiveErrors(const std::string &text) {
  return errorsOf("schedule s for p {\n" + text + "\n}\n");
}

} // namespace ccn::frontend::test

#endif // CCN_TEST_UNIT_FRONTEND_TESTUTILS_H
