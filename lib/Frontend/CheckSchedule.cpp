//===- CheckSchedule.cpp - Names in schedules -----------------------------===//
//
// Checks that a schedule names a program of the file, values of that program or
// of its own earlier lines, and numbers where numbers belong.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

namespace {

/// The names that a directive reads.
SmallVector<ast::Name> getTargets(const ast::Directive &directive) {
  using Kind = ast::Directive::Kind;
  auto list = [](ArrayRef<ast::Name> names) {
    return SmallVector<ast::Name>(names);
  };
  switch (directive.kind) {
  case Kind::Split:
    return {cast<ast::SplitDirective>(directive).target};
  case Kind::Reorder: {
    auto &reorder = cast<ast::ReorderDirective>(directive);
    SmallVector<ast::Name> names = {reorder.gather};
    llvm::append_range(names, reorder.after);
    return names;
  }
  case Kind::SliceState:
    return list(cast<ast::SliceStateDirective>(directive).targets);
  case Kind::Fuse:
    return list(cast<ast::FuseDirective>(directive).targets);
  case Kind::Overlap:
    return list(cast<ast::OverlapDirective>(directive).targets);
  case Kind::Algorithm:
    return {cast<ast::AlgorithmDirective>(directive).target};
  case Kind::Protocol:
    return {cast<ast::ProtocolDirective>(directive).target};
  case Kind::Sms:
    return {cast<ast::SmsDirective>(directive).target};
  case Kind::Bucket:
    return list(cast<ast::BucketDirective>(directive).targets);
  case Kind::Order:
    return list(cast<ast::OrderDirective>(directive).targets);
  }
  llvm_unreachable("all kinds are handled");
}

/// The number in a directive, with what it counts; null if it has none.
std::pair<const ast::Expr *, StringRef>
getNumber(const ast::Directive &directive) {
  using Kind = ast::Directive::Kind;
  switch (directive.kind) {
  case Kind::Overlap:
    return {cast<ast::OverlapDirective>(directive).chunks, "number of chunks"};
  case Kind::Sms:
    return {cast<ast::SmsDirective>(directive).count, "number of SMs"};
  case Kind::Bucket:
    return {cast<ast::BucketDirective>(directive).size, "size of a bucket"};
  default:
    return {nullptr, ""};
  }
}

/// How many values a split makes.
unsigned getNumParts(const ast::SplitDirective &split) {
  return split.form == ast::SplitForm::Hierarchical ? 3 : 2;
}

} // namespace

void FileLowering::checkAlgorithm(const ast::AlgorithmDirective &directive) {
  if (directive.source == ast::AlgorithmDirective::Source::Synth) {
    readSynthArgs(directive);
    return;
  }
  if (directive.source != ast::AlgorithmDirective::Source::Name ||
      directive.name.isMissing() || symbolizeAlgorithm(directive.name.text))
    return;
  SmallVector<StringRef> known;
  for (uint32_t i = 0;
       std::optional<Algorithm> algorithm = symbolizeAlgorithm(i); ++i)
    known.push_back(stringifyAlgorithm(*algorithm));
  error(directive.name.range, "unknown algorithm '" + directive.name.text +
                                  "', expected " + algorithmNames() +
                                  " or the file of a schedule in quotes" +
                                  didYouMean(directive.name.text, known));
}

void FileLowering::checkSchedule(const ast::ScheduleItem &item) {
  if (item.name.isMissing() || item.program.isMissing())
    return;
  auto values = programs.find(item.program.text);
  if (values == programs.end()) {
    // A program that could not be built has said so.
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
    for (const ast::Name &name : getTargets(*directive)) {
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
        error(name.range, "expected a tensor of program '" + item.program.text +
                              "', but '" + name.text + "' is a constant")
            .note(file.source, it->second.range, "defined here");
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
    if (auto *state = dyn_cast<ast::SliceStateDirective>(directive)) {
      for (const ast::Name &name : state->targets) {
        auto it = program.find(name.text);
        if (it != program.end() && it->second.isProgramValue &&
            !it->second.inout)
          error(name.range,
                "expected an inout argument, found '" + name.text + "'")
              .note(file.source, it->second.range, "defined here");
      }
    }
    auto [number, what] = getNumber(*directive);
    if (number) {
      std::optional<int64_t> value = evaluateInteger(number, what);
      if (value && *value < 1)
        error(number->range,
              "expected a " + what + " of at least 1, found " + Twine(*value));
    }
    if (auto *split = dyn_cast<ast::SplitDirective>(directive))
      if (!split->results.empty() &&
          split->results.size() != getNumParts(*split))
        error(split->range, "expected " + Twine(getNumParts(*split)) +
                                " names for what this split makes, found " +
                                Twine(split->results.size()));
    if (auto *algorithm = dyn_cast<ast::AlgorithmDirective>(directive))
      checkAlgorithm(*algorithm);
    for (const ast::Name &name : directive->results) {
      if (name.isMissing())
        continue;
      auto it = program.find(name.text);
      std::string taken = ("'" + name.text + "' is already defined").str();
      if (it != program.end())
        error(name.range, taken)
            .note(file.source, it->second.range, "the other definition");
      else if (auto [mine, fresh] = own.insert({name.text, name.range}); !fresh)
        error(name.range, taken)
            .note(*source, mine->second, "the other definition");
    }
  }
}
