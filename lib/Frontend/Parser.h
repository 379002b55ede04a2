//===- Parser.h - From text to syntax tree ----------------------*- C++ -*-===//
//
// The frontend's first half. parse() reads a whole file by the grammar of
// LANGUAGE.md, reports every syntax error it finds, and returns what it could
// read, so that the checker can go on and report more.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_PARSER_H
#define CCN_LIB_FRONTEND_PARSER_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Diagnostics.h"
#include <memory>

namespace ccn::frontend {

/// Reads a file, or standard input for "-", whole. Null, with an error
/// reported, if it cannot be read or is larger than SourceFile::maxSize.
std::unique_ptr<SourceFile> readSource(llvm::StringRef path,
                                       Diagnostics &diagnostics);

/// Parses `source`, which must outlive the result. Never null: on errors, which
/// `diagnostics` then has, the tree holds what could be read.
std::unique_ptr<ast::File> parse(const SourceFile &source,
                                 Diagnostics &diagnostics);

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_PARSER_H
