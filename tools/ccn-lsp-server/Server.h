//===- Server.h - The language server ---------------------------*- C++ -*-===//
//
// The requests and notifications that the server takes, and its open texts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCN_LSP_SERVER_SERVER_H
#define CCN_TOOLS_CCN_LSP_SERVER_SERVER_H

#include "llvm/Support/LSP/Transport.h"

namespace ccn::lsp {

/// Serves what `transport` reads until it ends or the editor says exit.
llvm::Error serve(llvm::lsp::JSONTransport &transport);

} // namespace ccn::lsp

#endif // CCN_TOOLS_CCN_LSP_SERVER_SERVER_H
