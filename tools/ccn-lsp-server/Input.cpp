//===- Input.cpp - Messages from an editor --------------------------------===//
//
// Framing, JSON, JSON-RPC and the order of messages, each checked.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Input.h"

using namespace ccn::lsp;
using llvm::lsp::ErrorCode;

/// The largest message in bytes; no program is as large.
static constexpr uint64_t maxMessage = uint64_t(1) << 30;
static constexpr size_t maxHeaderLine = 4096;
/// How deeply brackets may nest, since LLVM's parser recurses.
static constexpr unsigned maxNesting = 1000;

/// Whether brackets nest deeper than any message's.
static bool isTooDeep(llvm::StringRef json) {
  unsigned depth = 0;
  bool isString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    char c = json[i];
    if (isString) {
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxNesting)
        return true;
    } else if (c == ']' || c == '}') {
      depth -= depth != 0;
    }
  }
  return false;
}

bool Input::refuse(llvm::json::Value id, ErrorCode code,
                   const llvm::Twine &message) {
  transport->reply(std::move(id),
                   llvm::make_error<llvm::lsp::LSPError>(message.str(), code));
  return false;
}

/// Reads up to a line's end, which is dropped; false at the end of the input.
/// What is longer than any header is cut.
bool Input::readLine(std::string &line) {
  line.clear();
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (c == '\n') {
      if (!line.empty() && line.back() == '\r')
        line.pop_back();
      return true;
    }
    if (line.size() < maxHeaderLine)
      line += static_cast<char>(c);
  }
  return false;
}

/// Reads up to the empty line before a body, whose size is the result.
std::optional<uint64_t> Input::readHeader() {
  std::optional<uint64_t> size;
  bool isWrong = false, isEmpty = true;
  std::string line;
  while (readLine(line)) {
    if (line.empty()) {
      if (size && !isWrong)
        return size;
      // Empty lines between messages harm no one.
      if (!isEmpty)
        refuse(nullptr, ErrorCode::ParseError,
               "expected a header with one Content-Length and an empty line "
               "after it");
      size.reset();
      isWrong = false;
      isEmpty = true;
      continue;
    }
    isEmpty = false;
    auto [name, value] = llvm::StringRef(line).split(':');
    if (!name.trim().equals_insensitive("content-length"))
      continue;
    uint64_t number;
    isWrong |= size.has_value() || value.trim().getAsInteger(10, number);
    if (!isWrong)
      size = number;
  }
  return std::nullopt;
}

bool Input::readBody(uint64_t size, std::string &json) {
  json.clear();
  bool isKept = size <= maxMessage;
  char buffer[1 << 16];
  for (uint64_t left = size; left != 0;) {
    size_t count =
        std::fread(buffer, 1, std::min<uint64_t>(left, sizeof(buffer)), file);
    if (count == 0)
      return false;
    left -= count;
    if (isKept)
      json.append(buffer, count);
  }
  if (!isKept)
    return refuse(nullptr, ErrorCode::InvalidRequest,
                  "message of " + llvm::Twine(size) + " bytes is too large");
  return true;
}

bool Input::admitMessage(const llvm::json::Object &message) {
  const llvm::json::Value *id = message.get("id");
  bool isIdWrong =
      id && !id->getAsString() && !id->getAsInteger() && !id->getAsNull();
  llvm::json::Value answerTo = id && !isIdWrong ? *id : nullptr;
  if (message.getString("jsonrpc") != "2.0")
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "expected \"jsonrpc\": \"2.0\"");
  if (isIdWrong)
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "expected an integer or a string as id");
  std::optional<llvm::StringRef> method = message.getString("method");
  if (!method) {
    // The server asks nothing, so an answer is for no one.
    if (id && (message.get("result") || message.get("error")))
      return false;
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "expected a string as method");
  }
  const llvm::json::Value *params = message.get("params");
  if (params && !params->getAsObject() && !params->getAsArray() &&
      params->kind() != llvm::json::Value::Null)
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "expected an object as params");
  if (!id)
    return *method == "exit" || state == State::Initialized;
  if (state == State::ShutDown)
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "the server is shut down");
  bool isInitialize = *method == "initialize";
  if (state == State::Created && !isInitialize)
    return refuse(answerTo, ErrorCode::ServerNotInitialized,
                  "expected 'initialize' first");
  if (state == State::Initialized && isInitialize)
    return refuse(answerTo, ErrorCode::InvalidRequest,
                  "the server is initialized already");
  if (isInitialize)
    state = State::Initialized;
  else if (*method == "shutdown")
    state = State::ShutDown;
  return true;
}

/// Whether a message is to be passed on; if not, it was answered.
bool Input::admit(llvm::StringRef json) {
  if (isTooDeep(json))
    return refuse(nullptr, ErrorCode::ParseError, "message nests too deep");
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value)
    return refuse(nullptr, ErrorCode::ParseError,
                  "message is not JSON: " + toString(value.takeError()));
  const llvm::json::Object *message = value->getAsObject();
  if (!message)
    return refuse(nullptr, ErrorCode::InvalidRequest,
                  "expected an object as message");
  return admitMessage(*message);
}

llvm::LogicalResult Input::readStandardMessage(std::string &json) {
  while (std::optional<uint64_t> size = readHeader())
    if (readBody(*size, json) && admit(json))
      return llvm::success();
  return llvm::failure();
}
