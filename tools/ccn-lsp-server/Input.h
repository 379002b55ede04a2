//===- Input.h - Messages from an editor ------------------------*- C++ -*-===//
//
// LLVM's transport stops at a malformed message, and does not check the order
// of messages. It reads from this input, which passes on only messages that are
// well formed and allowed at that time, and answers all others with an error.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCN_LSP_SERVER_INPUT_H
#define CCN_TOOLS_CCN_LSP_SERVER_INPUT_H

#include "llvm/Support/LSP/Transport.h"

namespace ccn::lsp {

class Input : public llvm::lsp::JSONTransportInput {
public:
  explicit Input(std::FILE *file) : file(file) {}

  /// Who answers; to be set before messages are read.
  void setTransport(llvm::lsp::JSONTransport &other) { transport = &other; }
  /// Whether the editor has asked to shut down.
  bool isShutDown() const { return state == State::ShutDown; }

  bool hasError() const final { return std::ferror(file); }
  bool isEndOfInput() const final { return std::feof(file); }
  llvm::LogicalResult readStandardMessage(std::string &json) final;
  llvm::LogicalResult readDelimitedMessage(std::string &json) final {
    return readStandardMessage(json);
  }

private:
  enum class State { Created, Initialized, ShutDown };

  bool readLine(std::string &line);
  std::optional<uint64_t> readHeader();
  bool readBody(uint64_t size, std::string &json);
  bool admit(llvm::StringRef json);
  bool admitMessage(const llvm::json::Object &message);
  /// Answers with an error; the result is false.
  bool refuse(llvm::json::Value id, llvm::lsp::ErrorCode code,
              const llvm::Twine &message);

  std::FILE *file;
  llvm::lsp::JSONTransport *transport = nullptr;
  State state = State::Created;
};

} // namespace ccn::lsp

#endif // CCN_TOOLS_CCN_LSP_SERVER_INPUT_H
