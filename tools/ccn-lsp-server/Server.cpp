//===- Server.cpp - The language server -----------------------------------===//
//
// One method for each request. Parameters that do not decode are answered by
// LLVM's handler.
//
//===----------------------------------------------------------------------===//

#include "tools/ccn-lsp-server/Server.h"

#include "lib/Editor/Format.h"
#include "lib/Editor/Walk.h"
#include "lib/Frontend/Lexer.h"
#include "tools/ccn-lsp-server/Features.h"

#include <map>

using namespace ccn;
using namespace ccn::lsp;
using namespace ccn::frontend;
using editor::Symbol;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::ObjectMapper;
using llvm::json::Value;
using llvm::lsp::ErrorCode;
using llvm::lsp::NoParams;
using Reply = llvm::lsp::Callback<Value>;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace ccn::lsp {

static bool fromJSON(const Value &value, Document::Edit &edit,
                     llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  return mapper && mapper.mapOptional("range", edit.range) &&
         mapper.map("text", edit.text);
}

namespace {

/// The parameters of a request about a text. Each has the text; most have one
/// of the others too.
struct TextParams {
  std::string uri;
  std::optional<int64_t> version;
  std::string text;
  Position position;
  Range range;
  std::string newName;
  bool includeDeclaration = true;
  std::vector<Document::Edit> edits;
};

struct OpenParams : TextParams {};
struct ChangeParams : TextParams {};
struct PlaceParams : TextParams {};
struct RangeParams : TextParams {};
struct RenameParams : TextParams {};
struct ReferencesParams : TextParams {};

/// The text that an object names.
bool readDocument(const Value &value, TextParams &params,
                  llvm::json::Path path) {
  const Object *object = value.getAsObject();
  const Object *document = object ? object->getObject("textDocument") : nullptr;
  std::optional<llvm::StringRef> uri =
      document ? document->getString("uri") : std::nullopt;
  if (!uri) {
    path.field("textDocument").report("expected an object with a uri");
    return false;
  }
  params.uri = uri->str();
  params.version = document->getInteger("version");
  return true;
}

bool fromJSON(const Value &value, TextParams &params, llvm::json::Path path) {
  return readDocument(value, params, path);
}

bool fromJSON(const Value &value, OpenParams &params, llvm::json::Path path) {
  if (!readDocument(value, params, path))
    return false;
  std::optional<llvm::StringRef> text =
      value.getAsObject()->getObject("textDocument")->getString("text");
  if (!text) {
    path.field("textDocument").field("text").report("expected a string");
    return false;
  }
  params.text = text->str();
  return true;
}

bool fromJSON(const Value &value, ChangeParams &params, llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  return readDocument(value, params, path) && mapper &&
         mapper.map("contentChanges", params.edits);
}

bool fromJSON(const Value &value, PlaceParams &params, llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  return readDocument(value, params, path) && mapper &&
         mapper.map("position", params.position);
}

bool fromJSON(const Value &value, RangeParams &params, llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  return readDocument(value, params, path) && mapper &&
         mapper.map("range", params.range);
}

bool fromJSON(const Value &value, RenameParams &params, llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  return readDocument(value, params, path) && mapper &&
         mapper.map("position", params.position) &&
         mapper.map("newName", params.newName);
}

bool fromJSON(const Value &value, ReferencesParams &params,
              llvm::json::Path path) {
  ObjectMapper mapper(value, path);
  if (!readDocument(value, params, path) || !mapper ||
      !mapper.map("position", params.position))
    return false;
  if (const Object *context = value.getAsObject()->getObject("context"))
    params.includeDeclaration =
        context->getBoolean("includeDeclaration").value_or(true);
  return true;
}

llvm::Error makeError(ErrorCode code, const llvm::Twine &message) {
  return llvm::make_error<llvm::lsp::LSPError>(message.str(), code);
}

bool overlaps(Range a, Range b) { return a.start <= b.end && b.start <= a.end; }

//===----------------------------------------------------------------------===//
// Server
//===----------------------------------------------------------------------===//

class Server {
public:
  explicit Server(llvm::lsp::JSONTransport &transport);
  llvm::Error run() { return transport.run(handler); }

private:
  void initialize(const NoParams &, Reply reply);
  void shutdown(const NoParams &, Reply reply) { reply(nullptr); }
  void ignore(const NoParams &) {}
  void open(const OpenParams &params);
  void change(const ChangeParams &params);
  void close(const TextParams &params);
  void hover(const PlaceParams &params, Reply reply);
  void complete(const PlaceParams &params, Reply reply);
  void define(const PlaceParams &params, Reply reply);
  void refer(const ReferencesParams &params, Reply reply);
  void prepareRename(const PlaceParams &params, Reply reply);
  void rename(const RenameParams &params, Reply reply);
  void hint(const RangeParams &params, Reply reply);
  void list(const TextParams &params, Reply reply);
  void format(const TextParams &params, Reply reply);
  void act(const RangeParams &params, Reply reply);

  void publish(const Document &document);
  /// Null, and answered with an error, if there is none.
  const Document *find(const TextParams &params, Reply &reply);
  Value locate(const Document &document, SourceRange range) const {
    return Object{{"uri", document.getUri()},
                  {"range", toRange(document.getSource(), range)}};
  }

  llvm::lsp::JSONTransport &transport;
  llvm::lsp::MessageHandler handler;
  std::map<std::string, Document> documents;
};

Server::Server(llvm::lsp::JSONTransport &transport)
    : transport(transport), handler(transport) {
  handler.method("initialize", this, &Server::initialize);
  handler.method("shutdown", this, &Server::shutdown);
  handler.notification("initialized", this, &Server::ignore);
  handler.notification("textDocument/didOpen", this, &Server::open);
  handler.notification("textDocument/didChange", this, &Server::change);
  handler.notification("textDocument/didSave", this, &Server::ignore);
  handler.notification("textDocument/didClose", this, &Server::close);
  handler.method("textDocument/hover", this, &Server::hover);
  handler.method("textDocument/completion", this, &Server::complete);
  handler.method("textDocument/definition", this, &Server::define);
  handler.method("textDocument/references", this, &Server::refer);
  handler.method("textDocument/prepareRename", this, &Server::prepareRename);
  handler.method("textDocument/rename", this, &Server::rename);
  handler.method("textDocument/inlayHint", this, &Server::hint);
  handler.method("textDocument/documentSymbol", this, &Server::list);
  handler.method("textDocument/formatting", this, &Server::format);
  handler.method("textDocument/codeAction", this, &Server::act);
}

void Server::initialize(const NoParams &, Reply reply) {
  Object capabilities{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync", Object{{"openClose", true}, {"change", 2}}},
      {"hoverProvider", true},
      {"completionProvider", Object{}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"renameProvider", Object{{"prepareProvider", true}}},
      {"inlayHintProvider", true},
      {"documentSymbolProvider", true},
      {"documentFormattingProvider", true},
      {"codeActionProvider", Object{{"codeActionKinds", Array{"quickfix"}}}}};
  reply(Object{{"serverInfo",
                Object{{"name", "ccn-lsp-server"}, {"version", CCN_VERSION}}},
               {"capabilities", std::move(capabilities)}});
}

const Document *Server::find(const TextParams &params, Reply &reply) {
  auto it = documents.find(params.uri);
  if (it != documents.end())
    return &it->second;
  reply(
      makeError(ErrorCode::InvalidParams, "'" + params.uri + "' is not open"));
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

void Server::open(const OpenParams &params) {
  documents.erase(params.uri);
  auto [it, inserted] = documents.try_emplace(params.uri, params.uri,
                                              params.text, params.version);
  publish(it->second);
}

void Server::change(const ChangeParams &params) {
  auto it = documents.find(params.uri);
  if (it == documents.end())
    return;
  it->second.change(params.edits, params.version);
  publish(it->second);
}

void Server::close(const TextParams &params) {
  documents.erase(params.uri);
  transport.notify("textDocument/publishDiagnostics",
                   Object{{"uri", params.uri}, {"diagnostics", Array{}}});
}

void Server::publish(const Document &document) {
  const SourceFile &source = document.getSource();
  Array diagnostics;
  for (const Diagnostic &diagnostic : document.get().diagnostics) {
    // What is in no line of the text is about all of it.
    SourceRange range =
        getRange(diagnostic.place, source).value_or(SourceRange());
    Array notes;
    for (const Diagnostic &note : diagnostic.notes)
      notes.push_back(Object{
          {"location",
           locate(document, getRange(note.place, source).value_or(range))},
          {"message", note.message}});
    int severity = diagnostic.severity == Severity::Error     ? 1
                   : diagnostic.severity == Severity::Warning ? 2
                                                              : 3;
    diagnostics.push_back(Object{{"range", toRange(source, range)},
                                 {"severity", severity},
                                 {"source", "ccn"},
                                 {"message", diagnostic.message},
                                 {"relatedInformation", std::move(notes)}});
  }
  Object params{{"uri", document.getUri()},
                {"diagnostics", std::move(diagnostics)}};
  if (document.getVersion())
    params["version"] = *document.getVersion();
  transport.notify("textDocument/publishDiagnostics", std::move(params));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void Server::hover(const PlaceParams &params, Reply reply) {
  if (const Document *document = find(params, reply))
    reply(getHover(*document, params.position));
}

void Server::complete(const PlaceParams &params, Reply reply) {
  if (const Document *document = find(params, reply))
    reply(getCompletion(*document, params.position));
}

static const Symbol *findSymbol(const Document &document, Position position,
                                SourceRange *place = nullptr) {
  return document.get().names->find(toOffset(document.getSource(), position),
                                    place);
}

void Server::define(const PlaceParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  const Symbol *symbol = findSymbol(*document, params.position);
  reply(symbol ? locate(*document, symbol->range) : Value(nullptr));
}

void Server::refer(const ReferencesParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  Array places;
  if (const Symbol *symbol = findSymbol(*document, params.position)) {
    if (params.includeDeclaration)
      places.push_back(locate(*document, symbol->range));
    for (SourceRange use : symbol->uses)
      places.push_back(locate(*document, use));
  }
  reply(std::move(places));
}

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

void Server::prepareRename(const PlaceParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  SourceRange place;
  const Symbol *symbol = findSymbol(*document, params.position, &place);
  reply(symbol ? Value(toRange(document->getSource(), place)) : nullptr);
}

/// Whether a text is one name, which is not reserved and has no other meaning.
static bool isFreeName(const std::string &name) {
  SourceFile source("", name);
  Diagnostics silent;
  Lexer lexer(source, silent);
  Token token = lexer.next();
  if (!token.is(TokenKind::Name) || token.range.size() != name.size() ||
      name.empty())
    return false;
  // A lone `local` may be a layout.
  return !ast::getLayoutStateKind(name) &&
         llvm::none_of(getBuiltinUsages(), [&](const auto &builtin) {
           return builtin.first == name;
         });
}

void Server::rename(const RenameParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  const Symbol *symbol = findSymbol(*document, params.position);
  const std::string &name = params.newName;
  auto refuse = [&](const llvm::Twine &why) {
    reply(makeError(ErrorCode::RequestFailed, why));
  };
  if (!symbol)
    return refuse("expected a name that the text defines");
  if (!isFreeName(name))
    return refuse("'" + name + "' is no name that is free");
  if (name != symbol->name && document->get().names->clashes(*symbol, name))
    return refuse("'" + name + "' is already defined");
  std::vector<SourceRange> places = symbol->uses;
  places.push_back(symbol->range);
  llvm::sort(places,
             [](SourceRange a, SourceRange b) { return a.begin > b.begin; });
  // A text without errors stays one.
  const SourceFile &source = document->getSource();
  std::string text = source.getText().str();
  Array edits;
  for (SourceRange place : places) {
    text.replace(place.begin, place.size(), name);
    edits.push_back(
        Object{{"range", toRange(source, place)}, {"newText", name}});
  }
  if (document->get().types && !analyze(source.getName().str(), text)->types)
    return refuse("'" + name + "' would make the text wrong");
  reply(Object{{"changes", Object{{document->getUri(), std::move(edits)}}}});
}

//===----------------------------------------------------------------------===//
// The whole text
//===----------------------------------------------------------------------===//

void Server::hint(const RangeParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  const SourceFile &source = document->getSource();
  Array hints;
  for (const Symbol &symbol : document->get().names->getSymbols()) {
    const ValueType *type = getType(*document, symbol);
    Position end = toPosition(source, symbol.range.end);
    if (type && symbol.kind == Symbol::Kind::Value &&
        overlaps({end, end}, params.range))
      hints.push_back(
          Object{{"position", end}, {"label", ": " + type->text}, {"kind", 1}});
  }
  reply(std::move(hints));
}

void Server::list(const TextParams &params, Reply reply) {
  using llvm::lsp::SymbolKind;
  const Document *document = find(params, reply);
  if (!document)
    return;
  const SourceFile &source = document->getSource();
  auto make = [&](const Symbol &symbol) {
    SymbolKind kinds[] = {SymbolKind::Constant, SymbolKind::Constant,
                          SymbolKind::Function, SymbolKind::Class,
                          SymbolKind::Method,   SymbolKind::Variable,
                          SymbolKind::Variable, SymbolKind::Variable};
    const ValueType *type = getType(*document, symbol);
    return Object{{"name", symbol.name},
                  {"detail", type ? type->text : ""},
                  {"kind", int(kinds[size_t(symbol.kind)])},
                  {"range", toRange(source, symbol.whole)},
                  {"selectionRange", toRange(source, symbol.range)}};
  };
  const auto &symbols = document->get().names->getSymbols();
  std::vector<const Symbol *> outer;
  for (const Symbol &symbol : symbols)
    if (!symbol.owner)
      outer.push_back(&symbol);
  Array result;
  for (const Symbol *symbol : outer) {
    Object entry = make(*symbol);
    Array children;
    for (const Symbol &child : symbols)
      if (child.owner && child.owner->name.range == symbol->range)
        children.push_back(make(child));
    if (!children.empty())
      entry["children"] = std::move(children);
    result.push_back(std::move(entry));
  }
  reply(std::move(result));
}

/// Nothing changes in a text with syntax errors, which are shown anyway.
void Server::format(const TextParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  const SourceFile &source = document->getSource();
  Diagnostics silent;
  std::optional<std::string> formatted = editor::format(source, silent);
  Array edits;
  if (formatted && *formatted != source.getText()) {
    // From the first line that differs to the last one.
    llvm::StringRef before = source.getText(), after = *formatted;
    auto differs =
        std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    size_t same = differs.first - before.begin();
    size_t lineBegin = before.take_front(same).rfind('\n');
    size_t begin = lineBegin == llvm::StringRef::npos ? 0 : lineBegin + 1;
    auto back = std::mismatch(before.rbegin(), before.rend(), after.rbegin(),
                              after.rend());
    size_t sameEnd = back.first - before.rbegin();
    sameEnd = std::min(sameEnd, std::min(before.size(), after.size()) - begin);
    // Nor a character, nor a line's end, is taken apart.
    size_t lineEnd = before.take_back(sameEnd).find('\n');
    sameEnd = lineEnd == llvm::StringRef::npos ? 0 : sameEnd - lineEnd - 1;
    uint32_t end = before.size() - sameEnd;
    edits.push_back(
        Object{{"range", toRange(source, {static_cast<uint32_t>(begin), end})},
               {"newText", after.drop_front(begin).drop_back(sameEnd)}});
  }
  reply(std::move(edits));
}

void Server::act(const RangeParams &params, Reply reply) {
  const Document *document = find(params, reply);
  if (!document)
    return;
  const SourceFile &source = document->getSource();
  Array actions;
  for (const Diagnostic &diagnostic : document->get().diagnostics) {
    std::optional<std::string> repair = getRepair(diagnostic, source);
    std::optional<SourceRange> place = getRange(diagnostic.place, source);
    if (!repair || !place || !overlaps(toRange(source, *place), params.range))
      continue;
    Object edit{{"range", toRange(source, *place)}, {"newText", *repair}};
    Object changes{{document->getUri(), Array{std::move(edit)}}};
    actions.push_back(
        Object{{"title", "replace by '" + *repair + "'"},
               {"kind", "quickfix"},
               {"isPreferred", true},
               {"edit", Object{{"changes", std::move(changes)}}}});
  }
  reply(std::move(actions));
}

} // namespace
} // namespace ccn::lsp

llvm::Error lsp::serve(llvm::lsp::JSONTransport &transport) {
  return Server(transport).run();
}
