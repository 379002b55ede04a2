//===- Diagnostics.h - Errors, warnings and notes ---------------*- C++ -*-===//
//
// Every phase of the compiler reports into one Diagnostics object, and the
// driver renders it once, as text for people or as JSON for programs. What is
// reported may lie in a SourceFile, at a file name, line and column that came
// from elsewhere (an MLIR location), or nowhere at all.
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

/// Where a diagnostic points. `file` is set for a range in a source file;
/// otherwise `fileName` (and `line`, `column` unless 0) for a place given from
/// outside; otherwise the diagnostic has no place.
struct DiagnosticPlace {
  const SourceFile *file = nullptr;
  SourceRange range;
  std::string fileName;
  uint32_t line = 0;
  uint32_t column = 0;

  bool operator==(const DiagnosticPlace &) const = default;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  DiagnosticPlace place;
  std::string message;
  /// Text that would put things right in place of `place.range`, when known.
  std::optional<std::string> suggestion;
  /// Severity::Note each, without notes of their own.
  std::vector<Diagnostic> notes;

  bool operator==(const Diagnostic &) const = default;
};

/// Attaches notes and a suggestion to what was just reported. Valid as long as
/// its Diagnostics; a default-constructed one swallows everything.
class DiagnosticHandle {
public:
  DiagnosticHandle() = default;
  explicit DiagnosticHandle(Diagnostic *diagnostic) : diagnostic(diagnostic) {}

  DiagnosticHandle &note(const SourceFile &file, SourceRange range,
                         const llvm::Twine &message);
  DiagnosticHandle &note(llvm::StringRef fileName, uint32_t line,
                         uint32_t column, const llvm::Twine &message);
  DiagnosticHandle &note(const llvm::Twine &message);
  /// Replacing the reported range by `text` would be right.
  DiagnosticHandle &suggest(const llvm::Twine &text);

private:
  Diagnostic *diagnostic = nullptr;
};

/// Collects diagnostics and renders them: sorted by file (in the order in
/// which files were first seen), line and column, reports at one place in the
/// order they came, those without a place last, exact duplicates dropped.
class Diagnostics {
public:
  /// Errors rendered before one line that says there are more.
  static constexpr unsigned maxShown = 20;
  /// Errors, warnings and remarks kept; later ones are only counted.
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
  /// An error with no place.
  DiagnosticHandle error(const llvm::Twine &message) {
    return report(Severity::Error, message);
  }

  DiagnosticHandle report(Severity severity, const SourceFile &file,
                          SourceRange range, const llvm::Twine &message);
  /// A place from outside, such as an MLIR FileLineColLoc. Line and column
  /// count from 1; 0 means unknown. When a file of that name was added, its
  /// line is shown.
  DiagnosticHandle report(Severity severity, llvm::StringRef fileName,
                          uint32_t line, uint32_t column,
                          const llvm::Twine &message);
  DiagnosticHandle report(Severity severity, const llvm::Twine &message);

  /// Lets places from outside that name this file show its lines. The parser
  /// adds what it parses.
  void addFile(const SourceFile &file);

  bool hasErrors() const { return numErrors != 0; }
  /// All errors reported, duplicates and those not kept included.
  unsigned getNumErrors() const { return numErrors; }

  /// What was kept, sorted and without duplicates, uncapped.
  std::vector<const Diagnostic *> getSorted() const;

  /// `file:line:column: error: message`, the source line, and a line with a
  /// caret and tildes under the range; then the notes the same way. The output
  /// is valid UTF-8 whatever the source holds.
  void renderText(llvm::raw_ostream &os, bool colour = false) const;

  /// One JSON array of objects {severity, file, line, column, endLine,
  /// endColumn, message, notes} and, when there is one, `suggestion`. Unknown
  /// places leave their keys out. The end is exclusive.
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
