//===- ccn-lsp-server.cpp - The language server's command line ------------===//
//
// Editors start it and talk to it through its standard streams.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Features.h"
#include "tools/ccn-lsp-server/Input.h"
#include "tools/ccn-lsp-server/Server.h"

#include "llvm/Support/LSP/Logging.h"

using namespace ccn;

static constexpr llvm::StringLiteral help =
    R"(A server of the language server protocol (3.17) for .ccn texts, which speaks
JSON-RPC over standard input and output: diagnostics, hovers, completion,
definitions, references, renaming, inlay hints, symbols and formatting.

Usage: ccn-lsp-server [OPTIONS]

OPTIONS:
  -h,     --help       Print this help message and exit
  --version            print the version, and end
  --words              print the words of the language, for editors' grammars
  --stdio              for editors that say so: it does nothing else

Exit codes: 0 after 'shutdown' and 'exit', 1 after an end without, 2 usage.
)";

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      llvm::outs() << help;
      return 0;
    }
    if (arg == "--version") {
      llvm::outs() << "ccn-lsp-server " CCN_VERSION "\n";
      return 0;
    }
    if (arg == "--words") {
      llvm::outs() << llvm::formatv("{0:2}\n", lsp::getWords());
      return 0;
    }
    if (arg != "--stdio") {
      llvm::errs() << "ccn-lsp-server: error: unknown argument '" << arg
                   << "'; see --help\n";
      return 2;
    }
  }
  llvm::lsp::Logger::setLogLevel(llvm::lsp::Logger::Level::Error);
  auto owned = std::make_unique<lsp::Input>(stdin);
  lsp::Input &input = *owned;
  llvm::lsp::JSONTransport transport(std::move(owned), llvm::outs());
  input.setTransport(transport);
  bool isExit = !llvm::errorToBool(lsp::serve(transport));
  return isExit && input.isShutDown() ? 0 : 1;
}
