//===- Diagnostics.h - Errors, warnings and notes ---------------*- C++ -*-===//
//
// Every phase of the compiler reports to one Diagnostics object, and the driver
// renders it once, as text for people or as JSON for programs. The place of a
// diagnostic is a range in a SourceFile, or a file name, line and column that
// came from elsewhere (an MLIR location), or unknown.
//
// Messages are lower case, have no final period, and say what was expected and
// what was found.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_DIAGNOSTICS_H
#define CCN_LIB_FRONTEND_DIAGNOSTICS_H

#include "lib/Frontend/Source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ccn {

enum class Severity { Error, Warning, Remark, Note };

/// The place of a diagnostic. For a range in a source file, `file` is set; for
/// a place from elsewhere, `fileName` is set, and `line` and `column` if known,
/// else 0. If neither is set, the diagnostic has no place.
struct DiagnosticPlace {
  const SourceFile *file = nullptr;
  SourceRange range;
  std::string fileName;
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const DiagnosticPlace &) const = default;
};

/// A message with its place and notes.
struct Diagnostic {
  Severity severity = Severity::Error;
  DiagnosticPlace place;
  std::string message;
  /// Text that would correct the error if it replaced `place.range`, if known.
  std::optional<std::string> suggestion;
  /// Diagnostics of Severity::Note, which have no notes of their own.
  std::vector<Diagnostic> notes;

  bool operator==(const Diagnostic &) const = default;
};

/// Attaches notes and a suggestion to a diagnostic that was just reported.
/// Valid as long as its Diagnostics object; a default-constructed handle
/// ignores everything.
class DiagnosticHandle {
public:
  DiagnosticHandle() = default;
  explicit DiagnosticHandle(Diagnostic *diagnostic) : diagnostic(diagnostic) {}

  DiagnosticHandle &note(const SourceFile &file, SourceRange range,
                         const llvm::Twine &message);
  DiagnosticHandle &note(llvm::StringRef fileName, uint32_t line,
                         uint32_t column, const llvm::Twine &message);
  DiagnosticHandle &note(const llvm::Twine &message);
  /// Suggests to replace the reported range by `text`.
  DiagnosticHandle &suggest(const llvm::Twine &text);

private:
  Diagnostic *diagnostic = nullptr;
};

/// Collects diagnostics and renders them without exact duplicates, sorted by
/// file (in the order in which files were first seen), line and column.
/// Diagnostics at the same place keep their order; those without a place come
/// last.
class Diagnostics {
public:
  /// The most errors that are rendered; then a line says that there are more.
  static constexpr unsigned maxShown = 20;
  /// The most errors, warnings and remarks that are kept; later ones are only
  /// counted.
  static constexpr unsigned maxKept = 1000;

  Diagnostics() = default;
  Diagnostics(const Diagnostics &) = delete;
  Diagnostics &operator=(const Diagnostics &) = delete;

  DiagnosticHandle error(const SourceFile &file, SourceRange range,
                         const llvm::Twine &message) {
    return report(Severity::Error, file, range, message);
  }
  DiagnosticHandle warning(const SourceFile &file, SourceRange range,
                           const llvm::Twine &message) {
    return report(Severity::Warning, file, range, message);
  }
  /// Reports an error without a place.
  DiagnosticHandle error(const llvm::Twine &message) {
    return report(Severity::Error, message);
  }

  DiagnosticHandle report(Severity severity, const SourceFile &file,
                          SourceRange range, const llvm::Twine &message);
  /// Reports at a place from elsewhere, such as an MLIR FileLineColLoc. Line
  /// and column count from 1; 0 means unknown. If a file of that name was
  /// added, its line is shown.
  DiagnosticHandle report(Severity severity, llvm::StringRef fileName,
                          uint32_t line, uint32_t column,
                          const llvm::Twine &message);
  DiagnosticHandle report(Severity severity, const llvm::Twine &message);

  /// Makes the lines of a file known, for places from elsewhere that name it.
  /// The parser adds the files that it parses.
  void addFile(const SourceFile &file);

  /// Adds what another one has collected.
  void add(Diagnostics &&other);

  bool hasErrors() const { return numErrors != 0; }
  /// The number of all reported errors, including duplicates and errors that
  /// were not kept.
  unsigned getNumErrors() const { return numErrors; }

  /// All diagnostics that were kept, sorted and without duplicates.
  std::vector<const Diagnostic *> getSorted() const;

  /// Renders `file:line:column: error: message`, the source line, and a line
  /// with a caret and tildes under the range; then the notes in the same way.
  /// The output is valid UTF-8 even if the source is not.
  void renderText(llvm::raw_ostream &os, bool colour = false) const;

  /// Renders one JSON array of objects {severity, file, line, column, endLine,
  /// endColumn, message, notes}, with `suggestion` if there is one. Keys of
  /// unknown places are left out. The end is exclusive.
  void renderJson(llvm::raw_ostream &os) const;

private:
  std::vector<const Diagnostic *> getShown(bool &cut) const;
  DiagnosticHandle add(Severity severity, DiagnosticPlace place,
                       const llvm::Twine &message);
  unsigned rankFile(llvm::StringRef name) const;
  const SourceFile *findFile(llvm::StringRef name) const;
  void noteFileSeen(llvm::StringRef name);

  std::deque<Diagnostic> kept;
  std::vector<std::string> fileOrder;
  std::vector<const SourceFile *> files;
  unsigned numErrors = 0;
};

/// See runtime/base/Spelling.h.
llvm::StringRef closestName(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates);
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates);

/// `text` as valid UTF-8 on one line: control characters, line breaks and
/// stray bytes become `<U+000A>` and `<FF>`.
std::string escapeForDisplay(llvm::StringRef text);

} // namespace ccn

#endif // CCN_LIB_FRONTEND_DIAGNOSTICS_H
