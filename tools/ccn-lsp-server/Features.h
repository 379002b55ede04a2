//===- Features.h - What the server says of a place -------------*- C++ -*-===//
//
// Hovers and completion, and the words that there are.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCN_LSP_SERVER_FEATURES_H
#define CCN_TOOLS_CCN_LSP_SERVER_FEATURES_H

#include "lib/Frontend/Primitives.h"
#include "tools/ccn-lsp-server/Document.h"

namespace ccn::lsp {

/// The type of a program's value or argument; null if it is not known.
const ValueType *getType(const Document &document,
                         const editor::Symbol &symbol);

/// What a symbol is, on one line: "let y: f32[4]".
std::string describe(const Document &document, const editor::Symbol &symbol);

/// How a line of a schedule is written: "fuse v, w".
std::string getUsage(const frontend::ast::Primitive &primitive);

/// The name or word at a byte; empty if there is none.
SourceRange getWord(const SourceFile &source, uint32_t offset);

/// The reserved words; the names of algorithms.
std::vector<std::string> getKeywords();
std::vector<std::string> getAlgorithms();
/// All words of the language, in lists by their kind.
llvm::json::Value getWords();

/// The answers to the requests, as the protocol has them.
llvm::json::Value getHover(const Document &document, Position position);
llvm::json::Value getCompletion(const Document &document, Position position);

} // namespace ccn::lsp

#endif // CCN_TOOLS_CCN_LSP_SERVER_FEATURES_H
