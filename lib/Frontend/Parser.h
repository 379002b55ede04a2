//===- Parser.h - From text to syntax tree ----------------------*- C++ -*-===//
//
// The first half of the frontend. parse() reads a whole file with the grammar
// of LANGUAGE.md, reports every syntax error that it finds, and returns
// everything that it could read, so that the checker can report more errors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_PARSER_H
#define CCN_LIB_FRONTEND_PARSER_H

#include "lib/Frontend/AST.h"
#include "lib/Frontend/Diagnostics.h"
#include <memory>

namespace ccn::frontend {

/// Reads a whole file, or standard input if `path` is "-". Null, with an error
/// reported, if it cannot be read or is larger than SourceFile::maxSize.
std::unique_ptr<SourceFile> readSource(llvm::StringRef path,
                                       Diagnostics &diagnostics);

/// Parses `source`, which must outlive the result. Never null: errors go to
/// `diagnostics`, and the tree then holds everything that could be read.
std::unique_ptr<ast::File> parse(const SourceFile &source,
                                 Diagnostics &diagnostics);

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_PARSER_H
