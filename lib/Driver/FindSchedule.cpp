//===- FindSchedule.cpp - Schedules that nobody wrote ---------------------===//

#include "lib/Driver/FindSchedule.h"

#include "dialect/plan/Plan.h"
#include "lib/CostModel/ProgramTime.h"
#include "lib/Frontend/Parser.h"
#include "lib/Search/Search.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace ccn;
using namespace ccn::search;

/// What a search adds, and is called; what is applied where nothing is named.
static constexpr StringLiteral autoName = "auto", noneName = "none",
                               defaultName = "default";

/// The name of one of the next best.
static std::string otherName(size_t index) {
  return autoName.str() + std::to_string(index + 2);
}

using ScheduleItems = SmallVector<const frontend::ast::ScheduleItem *>;

/// The syntax tree of a text whose mistakes are reported elsewhere; null of IR.
static std::unique_ptr<frontend::ast::File>
parseSilently(const SourceFile &source) {
  Diagnostics silent;
  return isMlir(source) ? nullptr : frontend::parse(source, silent);
}

/// The schedules of a text for a program, or for any if that is empty.
static ScheduleItems itemsFor(StringRef program,
                              const frontend::ast::File *file) {
  ScheduleItems items;
  if (file)
    for (const frontend::ast::Item *item : file->items)
      if (auto *schedule = dyn_cast<frontend::ast::ScheduleItem>(item))
        if (program.empty() || schedule->program.text == program)
          items.push_back(schedule);
  return items;
}

/// The one of some schedules that has a name; null if none has.
static const frontend::ast::ScheduleItem *findNamed(const ScheduleItems &items,
                                                    StringRef name) {
  auto *found =
      llvm::find_if(items, [&](const frontend::ast::ScheduleItem *item) {
        return item->name.text == name;
      });
  return found == items.end() ? nullptr : *found;
}

/// Of a program's schedules, the one that it keeps where none is named; null if
/// a search is to find one.
static const frontend::ast::ScheduleItem *keptOf(const ScheduleItems &items) {
  auto *kept = findNamed(items, defaultName);
  return kept ? kept : findNamed(items, autoName);
}

ScheduleRequest ccn::readScheduleRequest(StringRef text,
                                         const SourceFile &source) {
  ScheduleRequest request;
  request.name = text.str();
  if (text != autoName && text != noneName) {
    request.isSearched = text.consume_back("+auto");
    request.name = text.str();
    return request;
  }
  std::unique_ptr<frontend::ast::File> file = parseSilently(source);
  if (findNamed(itemsFor("", file.get()), text))
    return request;
  request.name.clear();
  (text == autoName ? request.isSearched : request.isNone) = true;
  return request;
}

std::vector<std::string> ccn::schedulesFor(StringRef program,
                                           const SourceFile &source) {
  std::unique_ptr<frontend::ast::File> file = parseSilently(source);
  std::vector<std::string> names;
  for (const frontend::ast::ScheduleItem *item : itemsFor(program, file.get()))
    names.push_back(item->name.text.str());
  return names;
}

ScheduleRequest ccn::requestForGpus(const SourceFile &source, StringRef program,
                                    bool isOfOne) {
  ScheduleRequest request;
  // Lines cannot name what is in IR.
  std::unique_ptr<frontend::ast::File> file = parseSilently(source);
  if (!file)
    return request;
  std::set<StringRef> names;
  size_t numPrograms = 0;
  for (const frontend::ast::Item *item : file->items)
    if (auto *found = dyn_cast<frontend::ast::ProgramItem>(item);
        found && (program.empty() || found->name.text == program)) {
      auto *kept = keptOf(itemsFor(found->name.text, file.get()));
      names.insert(kept ? StringRef(kept->name.text) : "");
      ++numPrograms;
    }
  if (isOfOne && numPrograms > 1)
    return request;
  // Schedules of one name are applied by that.
  request.isSearched = request.keepsWritten =
      names.size() > 1 || names.count("") != 0;
  if (!request.isSearched && names.count(autoName) != 0)
    request.name = autoName.str();
  return request;
}

/// How many operations of single ranks a search plans: some 25,000 a second.
static constexpr double maxPlannedOps = 20'000;

namespace {

/// The words of a text, none of which a line may give as a name.
void addWords(StringRef text, llvm::StringSet<> &words) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    StringRef word = text.take_while(isPart);
    if (!word.empty())
      words.insert(word);
    text = text.drop_front(std::max<size_t>(1, word.size()));
  }
}

std::string us(double time) { return llvm::formatv("{0:f1} us", time); }

std::string textOf(const Move &move) {
  return llvm::join(
      llvm::map_range(move, [](const Line &line) { return line.text(); }),
      "; ");
}

/// Searches for the schedules of one file and writes them.
class Finder {
public:
  Finder(const SourceFile &source, const CompileOptions &options,
         const FindOptions &findOptions)
      : source(source), options(options), findOptions(findOptions),
        file(parseSilently(source)) {
    if (options.scheduleFile)
      scheduleFile = parseSilently(*options.scheduleFile);
    // Names of other schedules are no names of a program.
    for (const frontend::ast::Item *item :
         file ? ArrayRef(file->items) : ArrayRef<frontend::ast::Item *>()) {
      auto *schedule = dyn_cast<frontend::ast::ScheduleItem>(item);
      if (!schedule || schedule->name.text == options.lower.schedule)
        addWords(source.getText(item->range), taken);
    }
    if (options.scheduleFile)
      addWords(options.scheduleFile->getText(), taken);
  }

  /// Adds the schedule of the program, which is as its schedule by hand left
  /// it.
  void find(ProgramOp program);
  /// Adds the schedule that the file has for the program, if it keeps that.
  bool keep(StringRef program);
  void write(bool explains, Diagnostics &diagnostics, FoundSchedules &found);

private:
  struct Remark {
    /// Of the text.
    uint32_t line;
    std::string text;
  };

  void addLine(const Twine &line) {
    text += line.str() + "\n";
    numLines += StringRef(line.str()).count('\n') + 1;
  }
  void addByHand(StringRef program);
  void addLines(const frontend::ast::ScheduleItem &item,
                const SourceFile &from);
  void addOthers(StringRef program, ArrayRef<OtherSchedule> found);
  void addMove(const PricedMove &move);
  void explain(ProgramOp program, const SearchResult &result, uint32_t line);
  std::optional<double> price(ModuleOp module);

  const SourceFile &source;
  const CompileOptions &options;
  const FindOptions &findOptions;
  /// The syntax trees of the source and of the file of schedules, if there is
  /// one.
  std::unique_ptr<frontend::ast::File> file, scheduleFile;
  std::string text;
  uint32_t numLines = 0;
  /// Whether a schedule `auto` has any.
  bool hasLines = false;
  /// The names that lines may not give.
  llvm::StringSet<> taken;
  std::vector<Remark> remarks;
  std::vector<std::string> warnings;
  /// Why the last program could not be priced.
  std::string notPriced;
  /// The texts of the next best schedules.
  std::vector<std::string> others;
};

std::optional<double> Finder::price(ModuleOp module) {
  // As the phases do with a schedule.
  OwningOpRef<ModuleOp> scheduled(module.clone());
  PassManager after(module.getContext());
  OpPassManager unused;
  addPhasePasses(Phase::Schedule, options, unused, after);
  after.enableVerifier(options.verifiesPasses);
  if (failed(after.run(*scheduled)))
    return std::nullopt;
  OwningOpRef<ModuleOp> plans = planScheduled(*scheduled, options);
  if (!plans)
    return std::nullopt;
  ProgramOp program = *module.getOps<ProgramOp>().begin();
  Result<double> us = findOptions.price(*plans, program.getSymName());
  if (!us) {
    notPriced = us.message();
    return std::nullopt;
  }
  return *us;
}

void Finder::addLines(const frontend::ast::ScheduleItem &item,
                      const SourceFile &from) {
  hasLines |= !item.directives.empty();
  for (const frontend::ast::Directive *directive : item.directives)
    addLine("  " + from.getText(directive->range));
}

void Finder::addByHand(StringRef program) {
  if (options.unscheduled)
    return;
  // Of a file of schedules, the only one for the program or its default.
  ScheduleItems items =
      itemsFor(program, options.scheduleFile ? scheduleFile.get() : file.get());
  if (auto *item =
          options.scheduleFile && items.size() == 1
              ? items.front()
              : findNamed(items, options.scheduleFile ? StringRef(defaultName)
                                                      : options.lower.schedule))
    addLines(*item, options.scheduleFile ? *options.scheduleFile : source);
}

void Finder::addOthers(StringRef program, ArrayRef<OtherSchedule> found) {
  std::string best = std::exchange(text, "");
  uint32_t bestLines = numLines;
  for (const OtherSchedule &other : found) {
    addLine("// By prediction " + us(other.us));
    addLine("schedule " + otherName(others.size()) + " for " + program + " {");
    addByHand(program);
    for (const Line &line : other.lines)
      addLine("  " + line.text());
    addLine("}");
    others.push_back(std::exchange(text, ""));
  }
  text = std::move(best);
  numLines = bestLines;
}

void Finder::addMove(const PricedMove &move) {
  hasLines |= !move.lines.empty();
  for (const Line &line : move.lines) {
    std::string written = "  " + line.text();
    if (&line == &move.lines.back()) {
      constexpr size_t column = 42;
      if (written.size() < column)
        written.resize(column, ' ');
      written += " // " + us(move.before) + ", now " + us(move.after);
      remarks.push_back({numLines + 1, "predicted: " + us(move.before) +
                                           " without this line, " +
                                           us(move.after) + " with it"});
    }
    addLine(written);
  }
}

void Finder::explain(ProgramOp program, const SearchResult &result,
                     uint32_t line) {
  std::string name = "'" + program.getSymName().str() + "'";
  remarks.push_back(
      {line, "search: program " + name + " takes " + us(result.plain) +
                 " without the lines that were found, and " + us(result.found) +
                 " with them, by prediction on " + findOptions.machine + "; " +
                 std::to_string(result.priced) +
                 " ways to run it were priced, of which it is number " +
                 std::to_string(result.bestAt) +
                 (result.isCut ? ", all that the search may" : "") + ", " +
                 std::to_string(result.equal) +
                 " were equal to one of these, " +
                 std::to_string(result.refused) + " refused"});
  constexpr size_t maxShown = 3;
  for (const PricedMove &left :
       ArrayRef(result.left).take_front(std::min(maxShown, result.left.size())))
    remarks.push_back({line, "left: '" + textOf(left.lines) + "' next, as " +
                                 name + " would take " + us(left.after)});
}

/// With how many ranks an operation communicates beyond those that kernels
/// reach.
double membersBeyondKernels(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return 0;
  int64_t members = 1;
  for (StringAttr axis : collective.getMeshAxes().getNames())
    members *= getMesh(op).getAxisSize(axis);
  constexpr auto reached = static_cast<int64_t>(plan::kMaxKernelRanks);
  return static_cast<double>(std::max<int64_t>(members - reached, 0));
}

/// About how many operations of single ranks are planned to price a program:
/// those in a pipeline, for each of its chunks. In large groups, each member
/// counts: little, but in a pipeline it has flags of its own.
double plannedOps(ProgramOp program, size_t ranks) {
  double ops = 0;
  program.getBody().walk([&](Operation *op) {
    auto pipeline = op->getParentOfType<OverlappedOp>();
    double chunks = pipeline ? static_cast<double>(pipeline.getChunks()) : 1;
    ops += chunks * (1 + (pipeline ? 2 : 1.0 / 8) * membersBeyondKernels(op));
  });
  return ops * static_cast<double>(ranks);
}

bool Finder::keep(StringRef program) {
  auto *kept = findOptions.keepsWritten ? keptOf(itemsFor(program, file.get()))
                                        : nullptr;
  if (!kept)
    return false;
  addLine("schedule " + autoName + " for " + program + " {");
  addLines(*kept, source);
  addLine("}");
  return true;
}

/// Adds the names in a program, of which there is no text if it is IR.
static void addNames(ProgramOp program, llvm::StringSet<> &names) {
  for (unsigned i = 0; i < program.getNumArguments(); ++i)
    names.insert(program.getArgName(i));
  program.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(kLetAttr))
      names.insert(name.getValue());
  });
}

void Finder::find(ProgramOp program) {
  notPriced.clear();
  addNames(program, taken);
  OwningOpRef<ModuleOp> module(program->getParentOfType<ModuleOp>().clone());
  for (auto other : llvm::make_early_inc_range(module->getOps<ProgramOp>()))
    if (other.getSymName() != program.getSymName())
      other.erase();
  SearchOptions searchOptions;
  searchOptions.price = [&](ModuleOp changed) { return price(changed); };
  searchOptions.estimate = [&](ProgramOp changed) {
    return estimateUs(changed, findOptions.rates);
  };
  for (const std::string &state : findOptions.states)
    searchOptions.states.insert(state);
  if (findOptions.maxPriced) {
    searchOptions.maxPriced = *findOptions.maxPriced;
  } else {
    // Moves change little of which ranks those are.
    size_t ranks = plannedRanks(*module, options).size();
    searchOptions.workOf = [ranks](ProgramOp changed) {
      return plannedOps(changed, ranks);
    };
    searchOptions.maxWork = maxPlannedOps;
  }
  searchOptions.taken = taken;
  searchOptions.maxOthers = findOptions.maxOthers;
  FailureOr<SearchResult> result = searchSchedule(*module, searchOptions);
  uint32_t line = numLines + 1;
  addLine("schedule " + autoName + " for " + program.getSymName() + " {");
  addByHand(program.getSymName());
  if (succeeded(result)) {
    for (const PricedMove &move : result->moves)
      addMove(move);
    explain(program, *result, line);
    addOthers(program.getSymName(), result->others);
  } else {
    std::string name = "'" + program.getSymName().str() + "'",
                why = notPriced.empty() ? "" : ": " + notPriced;
    warnings.push_back(
        (findOptions.keepsWritten
             ? "program " + name +
                   " is compiled as written, since no times can be predicted"
             : "--schedule: expected a program of which times can be "
               "predicted, found " +
                   name) +
        why);
  }
  addLine("}");
}

void Finder::write(bool explains, Diagnostics &diagnostics,
                   FoundSchedules &found) {
  const SourceFile &from =
      options.scheduleFile ? *options.scheduleFile : source;
  // In the same folder, as lines by hand may name files.
  auto newFile = [&](StringRef schedule, std::string contents) {
    auto file = std::make_unique<SourceFile>(
        (from.getName() + " (schedule " + schedule + ")").str(),
        std::move(contents));
    diagnostics.addFile(*file);
    return file;
  };
  std::unique_ptr<SourceFile> &file = found.best;
  file = newFile(autoName, std::move(text));
  found.hasLines = hasLines;
  for (auto [i, other] : llvm::enumerate(others))
    found.others.push_back(newFile(otherName(i), std::move(other)));
  for (const std::string &warning : warnings)
    diagnostics.report(Severity::Warning, warning);
  if (explains)
    for (const Remark &remark : remarks)
      diagnostics.report(Severity::Remark, file->getName(), remark.line, 1,
                         remark.text);
}

} // namespace

/// Whether there is an inout argument of each name.
static CompileStatus checkStates(ModuleOp module, ArrayRef<std::string> states,
                                 Diagnostics &diagnostics) {
  SmallVector<StringRef> known;
  for (ProgramOp program : module.getOps<ProgramOp>())
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      if (program.isInout(i))
        known.push_back(program.getArgName(i));
  for (const std::string &state : states)
    if (!llvm::is_contained(known, state)) {
      diagnostics.error("--slice-state: expected the name of an inout "
                        "argument, found '" +
                        state + "'" + didYouMean(state, known));
      return CompileStatus::WrongUsage;
    }
  return CompileStatus::Done;
}

CompileStatus ccn::findSchedule(const SourceFile &source, MLIRContext *context,
                                const CompileOptions &options,
                                const FindOptions &findOptions,
                                Diagnostics &diagnostics,
                                FoundSchedules &found) {
  CompileOptions silent = options;
  silent.stopAfter = Phase::Schedule;
  silent.dumpFolder.clear();
  silent.explain = false;
  silent.configure = {};
  silent.verifiesPasses = false;
  OwningOpRef<ModuleOp> byHand, unused;
  CompileOptions first = silent;
  first.onScheduled = [&](ModuleOp module) { byHand = module.clone(); };
  if (CompileStatus status =
          compile(source, context, first, diagnostics, unused);
      status != CompileStatus::Done)
    return status;
  if (!byHand) {
    diagnostics.error(
        "--schedule: expected a program without a schedule, found "
        "'" +
        source.getName() + "', which is scheduled already");
    return CompileStatus::WrongUsage;
  }
  if (CompileStatus status =
          checkStates(*byHand, findOptions.states, diagnostics);
      status != CompileStatus::Done)
    return status;
  Finder finder(source, silent, findOptions);
  for (ProgramOp program : byHand->getOps<ProgramOp>())
    if (!finder.keep(program.getSymName()))
      finder.find(program);
  finder.write(options.explain, diagnostics, found);
  return CompileStatus::Done;
}
