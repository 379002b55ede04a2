//===- ccn.hpp - Compiled programs in C++ -----------------------*- C++ -*-===//
//
// What ccn.h gives, as classes of C++17 that release what they hold. All code
// is in this header, on top of libccn's C functions; <ccn.h> says what they do.
//
//   auto adam = ccn::Program::load("adam.ccnpkg");
//   auto team = ccn::Team::create({adam});
//   team.run([&](ccn::Rank &rank) {        // in a thread for each rank
//     auto executor = rank.makeExecutor(adam);
//     executor.run({g, p, mom, var, 0.001f, 1.0f});
//   });
//
// Arrays are spans: std::vector, std::array, std::span, arrays of C and
// ccn::Span convert to them. A run compares their element types and sizes with
// the program's before it begins.
//
// A function that fails throws ccn::Error. Where exceptions are off
// (-fno-exceptions), or CCN_EXCEPTIONS is defined as 0 before the header is
// included, the same functions return ccn::Expected instead. Both may be in one
// program: the classes of each are in an inline namespace of their own.
//
// Objects can be moved, not copied. One that was moved from, or made without
// arguments, is empty: its functions fail with CCN_ERROR_ARGUMENT. A program is
// not needed any more once executors were made of it. A team outlives its
// ranks, and a rank its executors.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_HPP
#define CCN_HPP

#include <ccn_values.hpp>

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#ifndef CCN_EXCEPTIONS
#ifdef __cpp_exceptions
#define CCN_EXCEPTIONS 1
#else
#define CCN_EXCEPTIONS 0
#endif
#endif

namespace ccn {

//===----------------------------------------------------------------------===//
// What functions return
//===----------------------------------------------------------------------===//

#if CCN_EXCEPTIONS
inline namespace throwing {

/// What a function returns that can fail: the value, or it throws an Error.
template <typename T> using Returned = T;

namespace detail {
template <typename T> [[noreturn]] inline T failure(Error error) {
  throw error;
}
template <typename T> T result(ccn_status status, T value) {
  if (status != CCN_OK)
    throw Error::last(status);
  return value;
}
inline void result(ccn_status status) {
  if (status != CCN_OK)
    throw Error::last(status);
}
} // namespace detail
#else
inline namespace returning {

/// What a function returns that can fail.
template <typename T> using Returned = Expected<T>;

namespace detail {
template <typename T> Expected<T> failure(Error error) { return error; }
template <typename T> Expected<T> result(ccn_status status, T value) {
  if (status != CCN_OK)
    return Error::last(status);
  return Expected<T>(std::move(value));
}
inline Expected<void> result(ccn_status status) {
  if (status != CCN_OK)
    return Error::last(status);
  return {};
}
} // namespace detail
#endif

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// See ccn_program_info; strings and arrays live as long as the program.
struct ProgramInfo : ccn_program_info {
  Span<const ccn_mesh_axis> axes() const {
    return {mesh, static_cast<size_t>(mesh_axes)};
  }
};

/// See ccn_argument.
struct ArgumentInfo : ccn_argument {
  Span<const int64_t> sizes() const {
    return {shape, static_cast<size_t>(dims)};
  }
};

/// See ccn_part.
struct Part : ccn_part {
  Span<const int64_t> begins() const {
    return {offset, static_cast<size_t>(dims)};
  }
  Span<const int64_t> sizes() const {
    return {shape, static_cast<size_t>(dims)};
  }
};

/// A package, ready to be run by this process.
class Program {
public:
  Program() = default;
  /// Takes over what a function of C has made.
  explicit Program(ccn_program *handle) : owned(handle) {}

  static Returned<Program> load(const char *path,
                                ccn_target target = CCN_TARGET_DEFAULT) {
    ccn_program *made = nullptr;
    ccn_status status = ccn_program_load(path, target, &made);
    return detail::result(status, Program(made));
  }
  static Returned<Program> load(const std::string &path,
                                ccn_target target = CCN_TARGET_DEFAULT) {
    return load(path.c_str(), target);
  }
  /// From a package in memory, which is not needed afterwards.
  static Returned<Program> load(Span<const unsigned char> bytes,
                                ccn_target target = CCN_TARGET_DEFAULT) {
    ccn_program *made = nullptr;
    ccn_status status =
        ccn_program_load_memory(bytes.data(), bytes.size(), target, &made);
    return detail::result(status, Program(made));
  }

  /// That which is linked here, by the function of its own header: adam_load.
  static Returned<Program> load(ccn_status (*loadLinked)(ccn_target,
                                                         ccn_program **),
                                ccn_target target = CCN_TARGET_DEFAULT) {
    ccn_program *made = nullptr;
    ccn_status status = loadLinked(target, &made);
    return detail::result(status, Program(made));
  }

  Returned<ProgramInfo> describe() const {
    ProgramInfo info{};
    ccn_status status = ccn_program_describe(handle(), &info);
    return detail::result(status, info);
  }
  /// Fails with CCN_ERROR_PACKAGE unless the program has this signature.
  Returned<void> check(const char *signature) const {
    return detail::result(ccn_program_check(handle(), signature));
  }
  Returned<ArgumentInfo> argument(int index) const {
    ArgumentInfo info{};
    ccn_status status = ccn_program_argument(handle(), index, &info);
    return detail::result(status, info);
  }
  Returned<int> find(const char *name) const {
    int index = 0;
    ccn_status status = ccn_program_find(handle(), name, &index);
    return detail::result(status, index);
  }
  Returned<Part> part(int index, int rank) const {
    Part part{};
    ccn_status status = ccn_program_part(handle(), index, rank, &part);
    return detail::result(status, part);
  }

  explicit operator bool() const { return owned != nullptr; }
  ccn_program *handle() const { return owned.get(); }

private:
  struct Release {
    void operator()(ccn_program *program) const {
      ccn_program_release(program);
    }
  };
  std::unique_ptr<ccn_program, Release> owned;
};

//===----------------------------------------------------------------------===//
// Executors
//===----------------------------------------------------------------------===//

namespace detail {
struct ReleaseExecutor {
  ccn_team *team = nullptr;
  int rank = 0, exceptions = 0;

  void operator()(ccn_executor *executor) const {
    if (std::uncaught_exceptions() > exceptions)
      (void)ccn_team_fail(team, rank, "the rank ended by an exception");
    (void)ccn_executor_release(executor);
  }
};
} // namespace detail

/// A program that one rank is ready to run; Rank::makeExecutor makes it. Where
/// an exception destroys one, its team fails, so that no rank waits for this.
class Executor {
public:
  Executor() = default;

  /// Runs the program once, on arrays and values for each argument and result:
  /// see ccn_executor_run. Scalars that are only read are all passed by value
  /// or, on GPUs for graphs that find others there, all as arrays.
  Returned<void> run(std::initializer_list<Argument> arguments,
                     void *stream = nullptr) {
    return run({arguments.begin(), arguments.size()}, stream);
  }
  Returned<void> run(Span<const Argument> arguments, void *stream = nullptr) {
    int values = 0, scalars = 0;
    std::string why = place(arguments);
    for (size_t i = 0; why.empty() && i < parameters.size(); ++i) {
      scalars += parameters[i].isReadScalar();
      values += Parameter::isValue(arguments[i]);
    }
    if (why.empty() && values > 0 && values < scalars)
      why = "expected all scalars that are only read as values, or all as "
            "arrays, found both";
    if (!why.empty())
      return detail::failure<void>({CCN_ERROR_ARGUMENT, why});
    auto *call = values > 0 ? ccn_executor_run_values : ccn_executor_run;
    return detail::result(
        call(handle(), addresses.data(), addresses.size(), stream));
  }
  /// Lets other ranks access arrays where they are: see ccn_executor_bind. It
  /// takes what run takes; values are left out.
  Returned<void> bind(std::initializer_list<Argument> arguments) {
    return bind({arguments.begin(), arguments.size()});
  }
  Returned<void> bind(Span<const Argument> arguments) {
    if (std::string why = place(arguments); !why.empty())
      return detail::failure<void>({CCN_ERROR_ARGUMENT, why});
    for (size_t i = 0; i < addresses.size(); ++i)
      if (Parameter::isValue(arguments[i]))
        addresses[i] = nullptr;
    return detail::result(
        ccn_executor_bind(handle(), addresses.data(), addresses.size()));
  }
  /// Whether runs copy an argument: see ccn_executor_copies.
  Returned<bool> copies(int index) const {
    int copies = 0;
    ccn_status status = ccn_executor_copies(handle(), index, &copies);
    return detail::result(status, copies != 0);
  }
  Returned<void> synchronize(void *stream = nullptr) {
    return detail::result(ccn_executor_synchronize(handle(), stream));
  }
  /// The number of the rank's GPU; -1 on the CPU.
  Returned<int> device() const {
    int device = -1;
    ccn_status status = ccn_executor_device(handle(), &device);
    return detail::result(status, device);
  }
  /// What the destructor does too, which cannot say that it failed.
  Returned<void> release() {
    ccn_status status = ccn_executor_release(handle());
    if (status == CCN_OK)
      (void)owned.release();
    return detail::result(status);
  }

  explicit operator bool() const { return owned != nullptr; }
  ccn_executor *handle() const { return owned.get(); }
  /// For the functions of a program's header: as<adam_executor>().
  template <typename Named> Named *as() const {
    return reinterpret_cast<Named *>(handle());
  }

private:
  friend class Rank;

  /// Sets the addresses that are passed; else says what is wrong.
  std::string place(Span<const Argument> arguments) {
    if (!owned)
      return "the executor is empty";
    if (arguments.size() != parameters.size())
      return "expected " + std::to_string(parameters.size()) +
             " arguments and results, found " +
             std::to_string(arguments.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (std::string why = parameters[i].refuse(arguments[i]); !why.empty())
        return why;
      addresses[i] = Parameter::address(arguments[i]);
    }
    return "";
  }

  using Owned = std::unique_ptr<ccn_executor, detail::ReleaseExecutor>;
  Owned owned;
  std::vector<Parameter> parameters;
  /// Of a run; kept, so that runs allocate nothing.
  std::vector<void *> addresses;
};

//===----------------------------------------------------------------------===//
// Teams
//===----------------------------------------------------------------------===//

namespace detail {
class RankRuns;
}

/// One rank of a team, which leaves it at the end. Its thread has it.
class Rank {
public:
  Rank() = default;
  /// Of a team that outlives it.
  Rank(ccn_team *handle, int index) : team(handle), number(index) {}
  Rank(Rank &&other) noexcept
      : team(std::exchange(other.team, nullptr)), number(other.number) {}
  Rank &operator=(Rank &&other) noexcept {
    Rank before(std::move(*this));
    team = std::exchange(other.team, nullptr);
    number = other.number;
    return *this;
  }
  ~Rank() {
    if (team)
      (void)ccn_team_leave(team, number);
  }

  int index() const { return number; }
  /// Makes a program ready to run, as all ranks do at the same point.
  Returned<Executor> makeExecutor(const Program &program,
                                  int device = CCN_ANY_DEVICE) {
    Executor made;
    ccn_status status = read(program.handle(), made.parameters);
    ccn_executor *handle = nullptr;
    if (status == CCN_OK)
      status =
          ccn_executor_create(team, program.handle(), number, device, &handle);
    made.addresses.resize(made.parameters.size());
    made.owned =
        Executor::Owned(handle, {team, number, std::uncaught_exceptions()});
    return detail::result(status, std::move(made));
  }
  /// Waits for all ranks: see ccn_team_meet.
  Returned<void> meet() { return detail::result(ccn_team_meet(team, number)); }
  /// Fails the team, so that no rank waits for this one.
  Returned<void> fail(const std::string &cause) {
    return detail::result(ccn_team_fail(team, number, cause.c_str()));
  }
  /// What the destructor does too, which cannot tell of the team's failure.
  Returned<void> leave() {
    ccn_status status = ccn_team_leave(team, number);
    if (status != CCN_ERROR_ARGUMENT)
      team = nullptr;
    return detail::result(status);
  }

private:
  friend class detail::RankRuns;

  /// Another object is this rank.
  void forget() { team = nullptr; }
  /// What the program's arguments and results are for this rank.
  ccn_status read(const ccn_program *program, std::vector<Parameter> &all) {
    ccn_program_info info;
    ccn_status status = ccn_program_describe(program, &info);
    for (int i = 0; status == CCN_OK && i < info.arguments; ++i) {
      ccn_argument argument;
      ccn_part part;
      status = ccn_program_argument(program, i, &argument);
      if (status == CCN_OK)
        status = ccn_program_part(program, i, number, &part);
      if (status == CCN_OK)
        all.push_back({argument.name, argument.kind, argument.type,
                       static_cast<size_t>(part.count), argument.dims == 0,
                       argument.is_scattered != 0});
    }
    return status;
  }

  ccn_team *team = nullptr;
  int number = 0;
};

namespace detail {

/// Runs bodies of ranks, and keeps what the first rank failed with.
class RankRuns {
public:
  /// Runs body(rank), and fails the team if it fails.
  template <typename Body> void run(Rank rank, Body &body) {
#if CCN_EXCEPTIONS
    try {
      body(rank);
      if (rank.team) // The body has not moved it.
        rank.leave();
    } catch (const Error &error) {
      take(rank, std::current_exception(), error.status(), error.what());
    } catch (const std::exception &error) {
      take(rank, std::current_exception(), CCN_OK, error.what());
    } catch (...) {
      take(rank, std::current_exception(), CCN_OK, "an unknown exception");
    }
#else
    Expected<void> done = body(rank);
    if (done && rank.team) // The body has not moved it.
      done = rank.leave();
    if (!done)
      take(rank, done.error(), done.error().status(), done.error().what());
#endif
  }
  /// Runs them in a thread each. Those of which the thread cannot be started
  /// leave, and fail the team.
  template <typename Body> void runAll(ccn_team *team, int count, Body &body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      Rank rank(team, i);
#if CCN_EXCEPTIONS
      try {
#endif
        threads.emplace_back(
            [this, team, i, &body] { run(Rank(team, i), body); });
#if CCN_EXCEPTIONS
      } catch (const std::exception &error) {
        take(rank, std::current_exception(), CCN_OK, error.what());
        continue;
      }
#endif
      rank.forget();
    }
    for (std::thread &thread : threads)
      thread.join();
  }
  Returned<void> finish() {
#if CCN_EXCEPTIONS
    if (first)
      std::rethrow_exception(*first);
#else
    if (first)
      return *first;
    return {};
#endif
  }

private:
#if CCN_EXCEPTIONS
  using Failure = std::exception_ptr;
#else
  using Failure = Error;
#endif

  /// What only says that the team failed gives way to the cause.
  void take(Rank &rank, Failure failure, ccn_status status, const char *cause) {
    (void)ccn_team_fail(rank.team, rank.number, cause);
    std::lock_guard<std::mutex> lock(mutex);
    if (!first || (isConsequence && status != CCN_ERROR_TEAM)) {
      first = std::move(failure);
      isConsequence = status == CCN_ERROR_TEAM;
    }
  }

  std::mutex mutex;
  std::optional<Failure> first;
  bool isConsequence = false;
};

} // namespace detail

/// The ranks that run programs together.
class Team {
public:
  using Programs = std::initializer_list<std::reference_wrapper<const Program>>;

  Team() = default;
  explicit Team(ccn_team *handle) : owned(handle) {}

  /// Ranks are threads of this process: see ccn_team_create.
  static Returned<Team> create(Programs programs, double timeLimit = 0) {
    return make(ccn_team_create, handles(programs), timeLimit);
  }
  static Returned<Team> create(Span<const Program> programs,
                               double timeLimit = 0) {
    return make(ccn_team_create, handles(programs), timeLimit);
  }
  /// This process is one of those that a launcher has started: see
  /// ccn_team_join.
  static Returned<Team> join(Programs programs, double timeLimit = 0) {
    return make(ccn_team_join, handles(programs), timeLimit);
  }
  static Returned<Team> join(Span<const Program> programs,
                             double timeLimit = 0) {
    return make(ccn_team_join, handles(programs), timeLimit);
  }

  /// Calls body(rank) for each rank of this process, with a Rank &: in a thread
  /// each, or in this one if the process is a rank. Each leaves the team at the
  /// end, so this is called once.
  ///
  /// body fails as all here does, by an exception or an Expected<void>. Then
  /// this fails with that text, and so does the team unless an executor that
  /// ended before has failed it. A body that returns an
  /// error calls Rank::fail before its executors end, which may wait for other
  /// ranks.
  template <typename Body> Returned<void> run(Body body) {
    int ranks = 0, own = 0;
    ccn_status status = ccn_team_describe(handle(), &ranks, &own);
    if (status != CCN_OK)
      return detail::result(status);
    detail::RankRuns runs;
    if (own >= 0)
      runs.run(rank(own), body);
    else
      runs.runAll(handle(), ranks, body);
    return runs.finish();
  }
  /// For a thread of the caller's.
  Rank rank(int number) { return Rank(handle(), number); }

  Returned<int> ranks() const {
    int ranks = 0;
    ccn_status status = ccn_team_describe(handle(), &ranks, nullptr);
    return detail::result(status, ranks);
  }
  /// The rank that this process is; -1 if ranks are threads of it.
  Returned<int> ownRank() const {
    int own = -1;
    ccn_status status = ccn_team_describe(handle(), nullptr, &own);
    return detail::result(status, own);
  }
  /// See ccn_team_set_runs_at_once.
  Returned<void> setRunsAtOnce(int runs) {
    return detail::result(ccn_team_set_runs_at_once(handle(), runs));
  }
  /// Fails if the team has failed.
  Returned<void> check() const {
    return detail::result(ccn_team_check(handle()));
  }

  explicit operator bool() const { return owned != nullptr; }
  ccn_team *handle() const { return owned.get(); }

private:
  struct Release {
    void operator()(ccn_team *team) const { ccn_team_release(team); }
  };

  template <typename List>
  static std::vector<ccn_program *> handles(const List &programs) {
    std::vector<ccn_program *> all;
    for (const Program &program : programs)
      all.push_back(program.handle());
    return all;
  }
  static Returned<Team> make(decltype(ccn_team_create) *create,
                             const std::vector<ccn_program *> &programs,
                             double timeLimit) {
    ccn_team *made = nullptr;
    ccn_status status =
        create(programs.data(), programs.size(), timeLimit, &made);
    return detail::result(status, Team(made));
  }

  std::unique_ptr<ccn_team, Release> owned;
};

} // namespace throwing or returning
} // namespace ccn

#endif // CCN_HPP
