//===- CheckSchedule.cpp - Names in schedules -----------------------------===//
//
// Checks that a schedule names a program of the file, that its names are values
// of that program or of its own earlier lines, and that its numbers are valid.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

void FileLowering::checkAlgorithm(const ast::AlgorithmClause &algorithm) {
  if (algorithm.source == ast::AlgorithmClause::Source::Synth) {
    readSynthArgs(algorithm);
    return;
  }
  if (algorithm.source != ast::AlgorithmClause::Source::Name ||
      algorithm.name.isMissing() || symbolizeAlgorithm(algorithm.name.text))
    return;
  SmallVector<StringRef> known;
  for (uint32_t i = 0; std::optional<Algorithm> kind = symbolizeAlgorithm(i);
       ++i)
    known.push_back(stringifyAlgorithm(*kind));
  error(algorithm.name.range, "unknown algorithm '" + algorithm.name.text +
                                  "', expected " + algorithmNames() +
                                  " or the file of a schedule in quotes" +
                                  didYouMean(algorithm.name.text, known));
}

void FileLowering::noteDefinition(DiagnosticHandle handle, SourceRange range,
                                  StringRef message) const {
  if (range.begin != range.end)
    handle.note(file.source, range, message);
}

void FileLowering::checkSchedule(const ast::ScheduleItem &item) {
  if (item.name.isMissing() || item.program.isMissing())
    return;
  auto values = programs.find(item.program.text);
  if (values == programs.end()) {
    // A program that could not be built has already been reported.
    if (!programRanges.count(item.program.text) && !diagnostics.hasErrors()) {
      SmallVector<StringRef> candidates(programs.keys());
      unknownName("program", item.program.text, item.program.range, candidates);
    }
    return;
  }
  std::string key = (item.program.text + "." + item.name.text).str();
  auto [other, inserted] = scheduleRanges.try_emplace(key, item.name.range);
  if (!inserted)
    error(item.name.range, "schedule '" + item.name.text + "' for '" +
                               item.program.text + "' is already defined")
        .note(*source, other->second, "the other definition");

  Scope &program = values->second;
  llvm::MapVector<StringRef, SourceRange> own;
  for (const ast::Directive *directive : item.directives) {
    llvm::SmallDenseSet<StringRef> seen;
    const ast::Primitive &primitive = directive->primitive;
    SmallVector<ast::Name> read(directive->targets);
    llvm::append_range(read, directive->names);
    for (const ast::Name &name : read) {
      if (name.isMissing())
        continue;
      if (!seen.insert(name.text).second)
        error(name.range, "'" + name.text + "' is named twice");
      if (own.contains(name.text))
        continue;
      auto it = program.find(name.text);
      if (it != program.end() && it->second.isProgramValue)
        continue;
      if (it != program.end()) {
        noteDefinition(error(name.range, "expected a tensor of program '" +
                                             item.program.text + "', but '" +
                                             name.text + "' is a constant"),
                       it->second.range, "defined here");
        continue;
      }
      SmallVector<StringRef> candidates;
      for (auto &[value, declaration] : program)
        if (declaration.isProgramValue)
          candidates.push_back(value);
      for (auto &[value, range] : own)
        candidates.push_back(value);
      unknownName("value", name.text, name.range, candidates,
                  " of program '" + item.program.text + "'");
    }
    if (primitive.targets == ast::Primitive::Targets::InoutArguments) {
      for (const ast::Name &name : directive->targets) {
        auto it = program.find(name.text);
        std::string found =
            ("expected an inout argument, found '" + name.text + "'").str();
        if (it != program.end() && it->second.isProgramValue &&
            !it->second.inout)
          noteDefinition(error(name.range, found), it->second.range,
                         "defined here");
        else if (auto mine = own.find(name.text); mine != own.end())
          error(name.range, found).note(*source, mine->second, "defined here");
      }
    }
    if (const ast::Expr *number = directive->number) {
      std::optional<int64_t> value = evaluateInteger(number, primitive.what);
      if (value && *value < 1)
        error(number->range, "expected a " + primitive.what +
                                 " of at least 1, found " + Twine(*value));
    }
    unsigned made = primitive.getNumResults(directive->word);
    if (!directive->results.empty() && directive->results.size() != made)
      error(directive->range, "expected " + Twine(made) +
                                  " names for what this " + primitive.name +
                                  " makes, found " +
                                  Twine(directive->results.size()));
    if (directive->algorithm)
      checkAlgorithm(*directive->algorithm);
    for (const ast::Name &name : directive->results) {
      if (name.isMissing())
        continue;
      auto it = program.find(name.text);
      std::string taken = ("'" + name.text + "' is already defined").str();
      if (it != program.end())
        noteDefinition(error(name.range, taken), it->second.range,
                       "the other definition");
      else if (auto [mine, fresh] = own.insert({name.text, name.range}); !fresh)
        error(name.range, taken)
            .note(*source, mine->second, "the other definition");
    }
  }
}
