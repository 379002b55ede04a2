//===- RandomPrograms.cpp - Random programs under random schedules --------===//
//
// Makes valid programs at random and applies lines of schedules to them, legal
// and illegal ones. After each line that is accepted the program must compute
// what it did without the schedule; a line that is refused must say which
// condition does not hold and change nothing. What fails is printed with its
// seed and made smaller.
//
//   random-programs --count 500 --seed 1      seeds 1 to 500
//   random-programs --show 17                 the program of seed 17
//   random-programs --count 500 --write DIR   packages for GPUs, not run here
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "PackageRuns.h"
#include "ProgramGenerator.h"
#include "ScheduleGenerator.h"
#include "Session.h"
#include "Shrink.h"

#include "lib/Frontend/Primitives.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/wait.h>

using namespace ccn;
using namespace ccn::random;
using verify::ValueSet;

namespace cl = llvm::cl;

static cl::opt<uint64_t> numPrograms("count", cl::desc("How many programs"),
                                     cl::init(500));
static cl::opt<uint64_t> firstSeed("seed", cl::desc("The first seed"),
                                   cl::init(1));
static cl::opt<unsigned> numJobs("jobs", cl::desc("Processes at once"),
                                 cl::init(2));
static cl::opt<int64_t> shownSeed("show",
                                  cl::desc("Show the program of a seed, and "
                                           "what becomes of its schedule"),
                                  cl::init(-1));
static cl::opt<std::string>
    writtenTo("write",
              cl::desc("Write a package for GPUs of each program that "
                       "communicates, and its text, to a folder, and run none"),
              cl::value_desc("folder"));
static cl::opt<unsigned> timeLimit("time-limit",
                                   cl::desc("Seconds that a program may take"),
                                   cl::init(120));
static cl::opt<unsigned> mostFailures("failures",
                                      cl::desc("Stop after so many failures"),
                                      cl::init(5));
static cl::opt<bool> all("all", cl::desc("Fail unless every primitive is "
                                         "accepted and every condition of the "
                                         "passes' documentation is met"));

static cl::opt<bool>
    isLarge("large", cl::desc("Programs on 17 to 36 ranks, more than kernels "
                              "of GPUs address; with --gpu-every 0"));

static cl::opt<uint64_t>
    planEvery("plan-every",
              cl::desc("Compile every so many-th program to plans and execute "
                       "them; 0 is none"),
              cl::init(10));

static cl::opt<uint64_t>
    gpuEvery("gpu-every",
             cl::desc("Execute the kernels of every so many-th program, on "
                      "GPUs that are none; 0 is none"),
             cl::init(PackageRuns::hasGpus() ? 50 : 0));

/// What three of them say, which every program needs: LLD, which links what a
/// package holds, resets all options of the process.
static uint64_t executedEvery = 0, kernelsEvery = 0;
static unsigned secondsPerProgram = 0;
static std::string writesTo;

/// Programs that one process goes through.
static constexpr uint64_t batchSize = 25;

namespace {

mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

/// Tells what happens; the parent process reads it back.
class Log {
public:
  explicit Log(std::FILE *file) : file(file) {}

  void write(llvm::StringRef kind, llvm::StringRef text) {
    // A message of several lines is one record.
    std::string line;
    for (char c : text)
      line += c == '\n' ? '\t' : c;
    std::fprintf(file, "%s %s\n", kind.str().c_str(), line.c_str());
  }
  void write(const Program &program) {
    write("mesh", program.mesh);
    for (const std::string &function : program.functions)
      write("function", function);
    for (const std::string &argument : program.arguments)
      write("argument", argument);
    for (const std::string &statement : program.statements)
      write("statement", statement);
    for (const std::string &result : program.results)
      write("result", result);
  }
  /// What stands there is not lost if the process crashes.
  void flush() { std::fflush(file); }

private:
  std::FILE *file;
};

/// The sets of values after each line, and after the last.
const std::vector<ValueSet> quickSets = {ValueSet::Positive, ValueSet::Signed,
                                         ValueSet::Ties};
const std::vector<ValueSet> lastSets = {
    ValueSet::Positive, ValueSet::Signed, ValueSet::Wide,    ValueSet::Huge,
    ValueSet::Special,  ValueSet::Zero,   ValueSet::OneZero, ValueSet::Tiny};

/// Where the compiler's choice between algorithms and protocols lies: where it
/// does by itself, and such that it takes those of large arrays for all.
const std::vector<SelectLimits> selectLimits = {
    {}, {.ll = 0, .lamport = 0, .kernel = 0}, {0, 0, 0, 0}, {0, 0, 1 << 20, 0}};

/// Makes a program that is right.
void makeProgram(mlir::MLIRContext &context, Random &random, uint64_t seed,
                 Log log, std::optional<Session> &session) {
  while (!session || !session->getError().empty()) {
    Program program = ProgramGenerator(random, isLarge).generate();
    log.write("seed", std::to_string(seed));
    log.write(program);
    log.flush();
    session.emplace(context, program);
    if (!session->getError().empty())
      log.write("invalid", session->getError());
  }
}

/// One program: made, scheduled and written.
void writeProgram(mlir::MLIRContext &context, uint64_t seed, Log log) {
  Random random(seed);
  std::optional<Session> session;
  makeProgram(context, random, seed, log, session);
  ScheduleGenerator schedule(random, CCN_SCHEDULES);
  bool isScheduled = random.chance(0.6);
  for (int64_t i = random.between(2, 8); i > 0 && isScheduled; --i) {
    Outcome outcome = session->apply(schedule.next(session->current()));
    schedule.tell(outcome.kind == Outcome::Accepted);
  }
  std::string path = writesTo + "/random-" + std::to_string(seed), wrong;
  // Half of the others are as GPUs have them where no schedule is named.
  if (!isScheduled && seed % 2 == 0)
    for (const std::string &line :
         session->findLines(seed, /*isPredicted=*/true, wrong))
      session->apply(line);
  std::string text = session->getProgram().text();
  static const llvm::Regex moves(
      "(all_reduce|reduce_scatter|all_gather|all_to_all|send|broadcast)\\("),
      indices("(gather|scatter)_rows\\(");
  // Indices that are drawn by whoever runs it may be out of range.
  if (wrong.empty() && moves.match(text) && !indices.match(text)) {
    std::ofstream(path + ".ccn") << text;
    wrong = session->writePackage(
        path + ".ccnpkg",
        random.chance(0.3) ? size_t(random.between(1, 24)) : 0);
  }
  log.write(wrong.empty() ? "passed" : "failed", wrong);
  log.flush();
}

/// Applies a line that a generator has made, or, if that is null, a search: it
/// must be accepted then. Empty, or what is wrong.
std::string applyLine(Session &session, const std::string &line,
                      ScheduleGenerator *schedule, Random &random,
                      uint64_t seed, Log log) {
  log.write("line", line);
  log.flush();
  Outcome outcome = session.apply(line);
  if (schedule)
    schedule->tell(outcome.kind == Outcome::Accepted);
  switch (outcome.kind) {
  case Outcome::Accepted: {
    log.write("accepted", primitiveOf(line));
    if (!schedule)
      ++session.counts["found lines"];
    Depth depth = {{random.pick(quickSets)}};
    depth.proves = random.chance(0.1);
    return session.compare(depth, seed);
  }
  case Outcome::Refused:
    log.write("refused", primitiveOf(line) + ": " + outcome.why);
    return schedule ? "" : "a line that was found is refused: " + outcome.why;
  case Outcome::Wrong:
    return outcome.why;
  }
  llvm_unreachable("all outcomes are handled");
}

/// One program: made, scheduled and compared.
void runProgram(mlir::MLIRContext &context, uint64_t seed, Log log) {
  if (!writesTo.empty())
    return writeProgram(context, seed, log);
  Random random(seed);
  std::optional<Session> session;
  makeProgram(context, random, seed, log, session);
  ScheduleGenerator schedule(random, CCN_SCHEDULES);
  int64_t lines = random.between(2, 8);
  std::string wrong = session->compare({{random.pick(quickSets)}}, seed);
  // Some are scheduled by a search, from the beginning or from some line on.
  int64_t searchedAt = random.chance(0.12) ? random.below(3) : -1;
  for (int64_t i = 0; i < lines && wrong.empty() && i != searchedAt; ++i)
    wrong = applyLine(*session, schedule.next(session->current()), &schedule,
                      random, seed, log);
  if (wrong.empty() && searchedAt >= 0)
    for (const std::string &line :
         session->findLines(seed, /*isPredicted=*/seed % 2 == 0, wrong))
      if (wrong.empty())
        wrong = applyLine(*session, line, nullptr, random, seed, log);
  if (wrong.empty() && !session->getProgram().lines.empty())
    wrong = session->compare(
        {{random.pick(lastSets), random.pick(lastSets)}, random.chance(0.3)},
        seed + 1);
  Depth executed = {{random.pick(quickSets), random.pick(lastSets)}};
  executed.limits = {random.pick(selectLimits)};
  if (random.chance(0.3))
    executed.variant = size_t(random.between(1, 24));
  executed.runsProcesses = random.chance(0.1);
  if (wrong.empty() && executedEvery && seed % executedEvery == 0)
    wrong = session->comparePlans(executed, seed);
  if (wrong.empty() && kernelsEvery && seed % kernelsEvery == 0)
    wrong = session->compareKernels(executed, seed);
  if (wrong.empty())
    wrong = session->compileAll();
  for (const auto &[what, count] : session->counts)
    log.write("count", what + " = " + std::to_string(count));
  log.write(wrong.empty() ? "passed" : "failed", wrong);
  log.flush();
}

/// What came of many programs.
class Statistics {
public:
  /// Takes over what a process wrote; gives the seeds that it did not finish.
  void add(llvm::StringRef text, const std::string &failure);
  void print(llvm::raw_ostream &os) const;
  /// What was never accepted or met; empty if all was.
  std::string findMissing() const;

  struct Failure {
    std::string seed, what;
    Program program;
  };
  std::vector<Failure> failures;
  std::set<uint64_t> finished;

private:
  int64_t passed = 0, invalid = 0;
  std::map<std::string, int64_t> accepted, counts;
  std::map<std::string, std::map<std::string, int64_t>> refused;
  std::map<std::string, int64_t> invalidReasons;
};

void Statistics::add(llvm::StringRef text, const std::string &failure) {
  Failure current;
  bool isOpen = false;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    auto [kind, what] = line.split(' ');
    if (kind == "seed") {
      current = {what.str(), "", {}};
      isOpen = true;
    } else if (kind == "mesh") {
      current.program.mesh = what.str();
    } else if (kind == "function") {
      current.program.functions.push_back(what.str());
    } else if (kind == "argument") {
      current.program.arguments.push_back(what.str());
    } else if (kind == "statement") {
      current.program.statements.push_back(what.str());
    } else if (kind == "result") {
      current.program.results.push_back(what.str());
    } else if (kind == "line") {
      current.program.lines.push_back(what.str());
    } else if (kind == "invalid") {
      ++invalid;
      // Without what differs from program to program.
      ++invalidReasons[what.substr(0, 60).str()];
    } else if (kind == "accepted") {
      ++accepted[what.str()];
    } else if (kind == "refused") {
      auto [primitive, why] = what.split(": ");
      ++refused[primitive.str()][why.str()];
    } else if (kind == "count") {
      auto [name, number] = what.split(" = ");
      int64_t value = 0;
      number.getAsInteger(10, value);
      counts[name.str()] += value;
    } else {
      isOpen = false;
      finished.insert(std::stoull(current.seed));
      if (kind == "passed") {
        ++passed;
        continue;
      }
      current.what = what.str();
      std::replace(current.what.begin(), current.what.end(), '\t', '\n');
      failures.push_back(current);
    }
  }
  if (isOpen && !failure.empty()) {
    finished.insert(std::stoull(current.seed));
    current.what = failure;
    failures.push_back(current);
  }
}

void Statistics::print(llvm::raw_ostream &os) const {
  os << passed << " programs passed, " << failures.size() << " failed; "
     << invalid << " were not valid and made anew\n";
  for (const auto &[reason, count] : invalidReasons)
    os << "  " << count << " " << reason << "\n";
  for (const auto &[what, count] : counts)
    os << what << ": " << count << "\n";
  std::set<std::string> primitives;
  for (const auto &[name, count] : accepted)
    primitives.insert(name);
  for (const auto &[name, reasons] : refused)
    primitives.insert(name);
  for (const std::string &name : primitives) {
    auto it = accepted.find(name);
    os << llvm::formatv("{0,-12} accepted {1}", name,
                        it == accepted.end() ? 0 : it->second);
    if (auto reasons = refused.find(name); reasons != refused.end()) {
      os << ", refused";
      for (const auto &[why, count] : reasons->second)
        os << " " << count << " " << why << ";";
    }
    os << "\n";
  }
}

std::string Statistics::findMissing() const {
  // `slice_state_c1` is for transform scripts: the checker asks the same of a
  // line of a .ccn file. `choose_c9` is the synthesizer's, which is not asked
  // here, and localizing is no primitive.
  static const std::set<std::string> unreachable = {
      "slice_state_c1", "choose_c9", "localize_c1", "localize_c2",
      "localize_c3",    "select_c1", "select_c2"};
  std::string missing;
  for (const frontend::ast::Primitive &primitive :
       frontend::ast::getPrimitives())
    if (!accepted.count(primitive.name.str()))
      missing += " " + primitive.name.str();
  std::set<std::string> met;
  for (const auto &[name, reasons] : refused)
    for (const auto &[why, count] : reasons)
      met.insert(why);
  for (const char *page : {CCN_PASSES, CCN_SCHEDULE_OPS}) {
    auto buffer = llvm::MemoryBuffer::getFile(page);
    if (!buffer)
      return std::string(" ") + page;
    llvm::StringRef text = (*buffer)->getBuffer();
    llvm::Regex condition("- `([a-z_]+_c[0-9]+)`");
    llvm::SmallVector<llvm::StringRef> groups;
    while (condition.match(text, &groups)) {
      if (!met.count(groups[1].str()) && !unreachable.count(groups[1].str()))
        missing += " " + groups[1].str();
      text = text.drop_front(groups[1].end() - text.begin());
    }
  }
  return missing;
}

/// What is wrong with a program, found in a process of its own.
std::string checkApart(const Program &program, unsigned seconds) {
  Child child([&](std::FILE *file) {
    limitTime(seconds);
    // Crashes have been shown once.
    if (!std::freopen("/dev/null", "w", stderr))
      return;
    mlir::MLIRContext context(makeRegistry(),
                              mlir::MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    Depth depth = {quickSets, /*proves=*/true, /*executes=*/executedEvery != 0,
                   selectLimits,
                   /*runsKernels=*/kernelsEvery != 0};
    llvm::append_range(depth.sets, lastSets);
    std::string wrong = checkAll(context, program, depth);
    std::fputs(wrong.c_str(), file);
  });
  child.wait();
  std::string failure = child.getFailure();
  return failure.empty() ? child.read() : failure;
}

/// Prints a failure, and a smaller program that fails too.
void report(const Statistics::Failure &failure) {
  llvm::errs() << "seed " << failure.seed << ": " << failure.what << "\n"
               << failure.program.text();
  bool hangs = failure.what == "a hang";
  std::string smallest;
  Program small = shrink(
      failure.program,
      [&](const Program &program) {
        std::string wrong = checkApart(program, 30);
        if (wrong.empty() || (wrong == "a hang") != hangs)
          return false;
        smallest = wrong;
        return true;
      },
      hangs ? 40 : 500);
  if (smallest.empty())
    llvm::errs() << "does not fail by itself\n";
  else
    llvm::errs() << "smaller: " << smallest << "\n" << small.text();
}

void runBatch(uint64_t begin, uint64_t end, const std::set<uint64_t> &finished,
              std::FILE *file) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  for (uint64_t seed = begin; seed < end; ++seed) {
    if (finished.count(seed))
      continue;
    limitTime(secondsPerProgram);
    runProgram(context, seed, Log(file));
  }
}

/// Goes through all seeds in several processes at once.
void runAll(Statistics &statistics) {
  uint64_t next = firstSeed, end = firstSeed + numPrograms;
  struct Job {
    uint64_t begin, end;
    std::unique_ptr<Child> child;
  };
  std::map<int, Job> jobs;
  auto start = [&](uint64_t from, uint64_t to) {
    auto child = std::make_unique<Child>([&](std::FILE *file) {
      runBatch(from, to, statistics.finished, file);
    });
    int process = child->getProcess();
    jobs[process] = {from, to, std::move(child)};
  };
  while (next < end || !jobs.empty()) {
    bool isOver = statistics.failures.size() >= mostFailures;
    while (!isOver && next < end && jobs.size() < numJobs) {
      start(next, std::min(end, next + batchSize));
      next += batchSize;
    }
    if (isOver && jobs.empty())
      return;
    int status = 0;
    auto it = jobs.find(::wait(&status));
    if (it == jobs.end())
      continue;
    Job job = std::move(it->second);
    jobs.erase(it);
    job.child->setStatus(status);
    std::string failure = job.child->getFailure();
    size_t known = statistics.failures.size();
    size_t finished = statistics.finished.size();
    statistics.add(job.child->read(), failure);
    for (; known < statistics.failures.size(); ++known)
      report(statistics.failures[known]);
    // What came after a crash is done by another process.
    if (!failure.empty() && statistics.finished.size() > finished)
      start(job.begin, job.end);
  }
}

/// Shows one program and what becomes of it.
int show(uint64_t seed) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  runProgram(context, seed, Log(stdout));
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv,
                              "random programs under random schedules\n");
  executedEvery = planEvery;
  writesTo = writtenTo;
  kernelsEvery = gpuEvery;
  secondsPerProgram = timeLimit;
  if (kernelsEvery && !PackageRuns::hasGpus()) {
    llvm::errs() << "--gpu-every: this build has no CUDA headers\n";
    return 2;
  }
  if (shownSeed >= 0)
    return show(static_cast<uint64_t>(int64_t(shownSeed)));
  if (std::error_code error;
      !writesTo.empty() &&
      (std::filesystem::create_directories(writesTo, error), error)) {
    llvm::errs() << "--write: " << writesTo << ": " << error.message() << "\n";
    return 2;
  }
  auto start = std::chrono::steady_clock::now();
  Statistics statistics;
  runAll(statistics);
  statistics.print(llvm::outs());
  llvm::outs() << llvm::formatv(
      "{0:f1} s\n",
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count());
  if (!statistics.failures.empty())
    return 1;
  std::string missing = all ? statistics.findMissing() : std::string();
  if (missing.empty())
    return 0;
  llvm::errs() << "never accepted, or never met:" << missing << "\n";
  return 1;
}
