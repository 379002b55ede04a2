//===- Document.h - An open text --------------------------------*- C++ -*-===//
//
// A text as the editor has it, and what the compiler says of it. Editors count
// columns in UTF-16 units, the compiler bytes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCN_LSP_SERVER_DOCUMENT_H
#define CCN_TOOLS_CCN_LSP_SERVER_DOCUMENT_H

#include "lib/Editor/Names.h"
#include "lib/Frontend/Diagnostics.h"
#include "lib/Frontend/Lower.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LSP/Protocol.h"

namespace ccn::lsp {

using llvm::lsp::Position;
using llvm::lsp::Range;

/// The byte at a position; positions outside of the text are moved into it.
uint32_t toOffset(const SourceFile &source, Position position);
Position toPosition(const SourceFile &source, uint32_t offset);
Range toRange(const SourceFile &source, SourceRange range);

/// What a name of a program stands for.
struct ValueType {
  /// As the language writes it.
  std::string text;
  /// What a rank holds of it: the type and its bytes.
  std::string part;
};

/// Of each program, the types of its arguments and of what its lets name.
using Types = llvm::StringMap<llvm::StringMap<ValueType>>;

/// What the compiler says of a text.
struct Analysis {
  std::unique_ptr<SourceFile> source;
  /// In the order of the text.
  std::vector<Diagnostic> diagnostics;
  std::unique_ptr<frontend::ast::File> file;
  std::unique_ptr<editor::Names> names;
  /// None if there are errors.
  std::optional<Types> types;
  llvm::StringMap<std::string> params;
};

/// Parses and checks a text, and applies each of its schedules. `path` is what
/// paths in it are relative to.
std::unique_ptr<Analysis> analyze(std::string path, std::string text);

/// The text that would repair what a diagnostic points at: its suggestion, or
/// the name of its "did you mean".
std::optional<std::string> getRepair(const Diagnostic &diagnostic,
                                     const SourceFile &source);

/// Where a diagnostic is, if it is in the text: its range, or the word at its
/// line and column.
std::optional<SourceRange> getRange(const DiagnosticPlace &place,
                                    const SourceFile &source);

class Document {
public:
  Document(std::string uri, std::string text, std::optional<int64_t> version);

  const std::string &getUri() const { return uri; }
  std::optional<int64_t> getVersion() const { return version; }
  const Analysis &get() const { return *analysis; }
  const SourceFile &getSource() const { return *analysis->source; }
  /// Those of the last text without errors.
  const Types &getTypes() const { return types; }

  struct Edit {
    /// All of the text if it is left out.
    std::optional<Range> range;
    std::string text;
  };
  void change(llvm::ArrayRef<Edit> edits, std::optional<int64_t> newVersion);

private:
  void setText(std::string text);

  std::string uri;
  std::optional<int64_t> version;
  std::unique_ptr<Analysis> analysis;
  Types types;
};

} // namespace ccn::lsp

#endif // CCN_TOOLS_CCN_LSP_SERVER_DOCUMENT_H
