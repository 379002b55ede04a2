//===- Diagnostics.cpp - Collecting errors, warnings and notes ------------===//
//
// Keeps diagnostics, sorts them, and finds the names that were probably meant
// by misspelt ones. Rendering is in DiagnosticsRender.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Diagnostics.h"

#include "runtime/base/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <limits>
#include <tuple>

using namespace ccn;

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

static DiagnosticPlace makePlace(const SourceFile &file, SourceRange range) {
  DiagnosticPlace place;
  place.file = &file;
  place.range = range;
  return place;
}

static DiagnosticPlace makePlace(llvm::StringRef fileName, uint32_t line,
                                 uint32_t column) {
  DiagnosticPlace place;
  place.fileName = fileName.str();
  place.line = line;
  place.column = line ? column : 0;
  return place;
}

static void addNote(Diagnostic *diagnostic, DiagnosticPlace place,
                    const llvm::Twine &message) {
  if (!diagnostic)
    return;
  Diagnostic note;
  note.severity = Severity::Note;
  note.place = std::move(place);
  note.message = message.str();
  diagnostic->notes.push_back(std::move(note));
}

DiagnosticHandle &DiagnosticHandle::note(const SourceFile &file,
                                         SourceRange range,
                                         const llvm::Twine &message) {
  addNote(diagnostic, makePlace(file, range), message);
  return *this;
}

DiagnosticHandle &DiagnosticHandle::note(llvm::StringRef fileName,
                                         uint32_t line, uint32_t column,
                                         const llvm::Twine &message) {
  addNote(diagnostic, makePlace(fileName, line, column), message);
  return *this;
}

DiagnosticHandle &DiagnosticHandle::note(const llvm::Twine &message) {
  addNote(diagnostic, {}, message);
  return *this;
}

DiagnosticHandle &DiagnosticHandle::suggest(const llvm::Twine &text) {
  if (diagnostic)
    diagnostic->suggestion = text.str();
  return *this;
}

DiagnosticHandle Diagnostics::report(Severity severity, const SourceFile &file,
                                     SourceRange range,
                                     const llvm::Twine &message) {
  addFile(file);
  return add(severity, makePlace(file, range), message);
}

DiagnosticHandle Diagnostics::report(Severity severity,
                                     llvm::StringRef fileName, uint32_t line,
                                     uint32_t column,
                                     const llvm::Twine &message) {
  noteFileSeen(fileName);
  return add(severity, makePlace(fileName, line, column), message);
}

DiagnosticHandle Diagnostics::report(Severity severity,
                                     const llvm::Twine &message) {
  return add(severity, {}, message);
}

DiagnosticHandle Diagnostics::add(Severity severity, DiagnosticPlace place,
                                  const llvm::Twine &message) {
  if (severity == Severity::Error)
    ++numErrors;
  // A file of garbage causes endless errors, which nobody reads.
  if (kept.size() >= maxKept)
    return {};
  Diagnostic &diagnostic = kept.emplace_back();
  diagnostic.severity = severity;
  diagnostic.place = std::move(place);
  diagnostic.message = message.str();
  return DiagnosticHandle(&diagnostic);
}

void Diagnostics::addFile(const SourceFile &file) {
  if (llvm::is_contained(files, &file))
    return;
  files.push_back(&file);
  noteFileSeen(file.getName());
}

void Diagnostics::add(Diagnostics &&other) {
  for (const SourceFile *file : other.files)
    addFile(*file);
  for (const std::string &name : other.fileOrder)
    noteFileSeen(name);
  for (Diagnostic &diagnostic : other.kept)
    if (kept.size() < maxKept)
      kept.push_back(std::move(diagnostic));
  numErrors += other.numErrors;
}

void Diagnostics::noteFileSeen(llvm::StringRef name) {
  if (!name.empty() && !llvm::is_contained(fileOrder, name))
    fileOrder.push_back(name.str());
}

unsigned Diagnostics::rankFile(llvm::StringRef name) const {
  return llvm::find(fileOrder, name) - fileOrder.begin();
}

const SourceFile *Diagnostics::findFile(llvm::StringRef name) const {
  for (const SourceFile *file : files)
    if (file->getName() == name)
      return file;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

std::vector<const Diagnostic *> Diagnostics::getSorted() const {
  struct Entry {
    std::tuple<unsigned, uint32_t, uint32_t> key; // file, line, column
    size_t index; // keeps reports at one place in their order
    const Diagnostic *diagnostic;
  };
  std::vector<Entry> entries;
  entries.reserve(kept.size());
  for (const Diagnostic &diagnostic : kept) {
    const DiagnosticPlace &place = diagnostic.place;
    Entry entry{{std::numeric_limits<unsigned>::max(), 0, 0},
                entries.size(),
                &diagnostic};
    if (place.file) {
      LineColumn at = place.file->getLineColumn(place.range.begin);
      entry.key = {rankFile(place.file->getName()), at.line, at.column};
    } else if (!place.fileName.empty()) {
      entry.key = {rankFile(place.fileName), place.line, place.column};
    }
    entries.push_back(entry);
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.key, a.index) < std::tie(b.key, b.index);
  });

  std::vector<const Diagnostic *> sorted;
  size_t groupBegin = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].key != entries[i - 1].key)
      groupBegin = sorted.size();
    auto isSame = [&](const Diagnostic *other) {
      return *other == *entries[i].diagnostic;
    };
    if (std::none_of(sorted.begin() + groupBegin, sorted.end(), isSame))
      sorted.push_back(entries[i].diagnostic);
  }
  return sorted;
}

//===----------------------------------------------------------------------===//
// Misspelt names
//===----------------------------------------------------------------------===//

static std::vector<std::string_view>
viewsOf(llvm::ArrayRef<llvm::StringRef> names) {
  return {names.begin(), names.end()};
}

llvm::StringRef ccn::closestName(llvm::StringRef name,
                                 llvm::ArrayRef<llvm::StringRef> candidates) {
  return closestName(std::string_view(name), viewsOf(candidates));
}

std::string ccn::didYouMean(llvm::StringRef name,
                            llvm::ArrayRef<llvm::StringRef> candidates) {
  return didYouMean(std::string_view(name), viewsOf(candidates));
}
