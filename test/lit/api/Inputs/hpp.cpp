// Uses all of ccn.hpp. It is compiled twice, with exceptions and without, and
// both objects are linked with a main that calls both.
#include <ccn.hpp>

#include <array>
#include <cstdio>
#if __cplusplus >= 202002L
#include <span>
static_assert(std::is_constructible_v<ccn::Argument, std::span<const float>>);
#endif
#include <vector>

#if CCN_EXCEPTIONS
#define TEST testThrowing
using Done = void;
#define RETURN_DONE return
template <typename T> T &&take(T &&value) { return std::forward<T>(value); }
#define RUN(call) call
/// The error of a call that is wrong.
#define ERROR_OF(call)                                                         \
  [&]() -> ccn::Error {                                                        \
    try {                                                                      \
      (void)(call);                                                            \
    } catch (const ccn::Error &error) {                                        \
      return error;                                                            \
    }                                                                          \
    return {CCN_OK, "no error"};                                               \
  }()
#else
#define TEST testReturning
using Done = ccn::Expected<void>;
#define RETURN_DONE return Done()
template <typename T> T take(ccn::Expected<T> value) {
  if (!value)
    std::printf("%s\n", value.error().what());
  return std::move(value).value();
}
#define RUN(call)                                                              \
  if (Done done = call; !done)                                                 \
  return done.error()
#define ERROR_OF(call)                                                         \
  [&]() -> ccn::Error {                                                        \
    auto done = call;                                                          \
    return done ? ccn::Error(CCN_OK, "no error") : done.error();               \
  }()
#endif

static_assert(!std::is_copy_constructible_v<ccn::Program> &&
              std::is_nothrow_move_constructible_v<ccn::Program>);
static_assert(!std::is_copy_constructible_v<ccn::Team> &&
              std::is_nothrow_move_constructible_v<ccn::Team>);
static_assert(!std::is_copy_constructible_v<ccn::Rank> &&
              std::is_nothrow_move_constructible_v<ccn::Rank>);
static_assert(!std::is_copy_constructible_v<ccn::Executor> &&
              std::is_nothrow_move_constructible_v<ccn::Executor>);
// Nothing is guessed of pointers, and nothing becomes writable.
static_assert(!std::is_constructible_v<ccn::Argument, float *>);
static_assert(
    !std::is_constructible_v<ccn::Span<float>, std::vector<double> &>);
static_assert(
    !std::is_constructible_v<ccn::Span<float>, const std::vector<float> &>);
static_assert(
    std::is_constructible_v<ccn::Span<const float>, std::array<float, 2> &>);

namespace {

void print(const char *what, const ccn::Error &error) {
  std::printf("%s: %s: %s\n", what, ccn_status_name(error.status()),
              error.what());
}

struct Half {
  ccn_f16 bits;
};
constexpr ccn_f16 one = 0x3c00;

struct Arrays {
  explicit Arrays(int rank) : x(rank == 0 ? 3 : 2, 2.0f), y(5, 1), z(5) {
    g.add(whole);
    g.add(ccn::Span<const Half>(rest, 3));
  }

  std::vector<float> x;
  std::array<ccn_f16, 2> whole = {one, one};
  const Half rest[3] = {{one}, {one}, {one}};
  ccn::Scattered g;
  std::vector<float> y;
  std::vector<double> z;
};

/// What cannot be passed is said before anything runs.
void misuse(ccn::Executor &executor, Arrays &own) {
  // Lambdas of C++17 do not capture structured bindings.
  auto &x = own.x, &y = own.y;
  auto &whole = own.whole;
  auto &g = own.g;
  auto &z = own.z;
  const std::vector<float> fixed(5);
  std::vector<int> integers(5);
  int64_t n = 3;
  print("few", ERROR_OF(executor.run({1.0f, x})));
  print("size", ERROR_OF(executor.run({1.0f, y, g, n, y, true, z})));
  print("type", ERROR_OF(executor.run({1.0f, x, g, n, integers, true, z})));
  print("scalar", ERROR_OF(executor.run({1, x, g, n, y, true, z})));
  print("const", ERROR_OF(executor.run({1.0f, x, g, n, fixed, true, z})));
  print("value", ERROR_OF(executor.run({1.0f, x, g, n, 1.0f, true, z})));
  print("none", ERROR_OF(executor.run({1.0f, x, g, n, y, true, nullptr})));
  print("list", ERROR_OF(executor.run({1.0f, x, whole, n, y, true, z})));
  print("array", ERROR_OF(executor.run({1.0f, g, g, n, y, true, z})));
  print("both", ERROR_OF(executor.run(
                    {ccn::Span<float>(&x[0], 1), x, g, n, y, true, z})));
  print("copies", ERROR_OF(executor.copies(7)));
}

Done runRank(ccn::Rank &rank, const ccn::Program &program) {
  ccn::Executor made = take(rank.makeExecutor(program));
  ccn::Executor executor;
  executor = std::move(made);
  Arrays own(rank.index());
  auto &x = own.x, &y = own.y;
  auto &g = own.g;
  auto &z = own.z;
  if (rank.index() == 0) {
    misuse(executor, own);
    print("moved", ERROR_OF(made.run({})));
    std::printf("device %d, copies %d\n", take(executor.device()),
                take(executor.copies(1)));
  }
  RUN(rank.meet());
  RUN(executor.bind({1.0f, x, g, int64_t(3), y, true, z}));
  RUN(executor.run({1.0f, x, g, int64_t(3), y, true, z}));
  // Scalars where arrays are.
  float a = 0.5f;
  int64_t n[1] = {-1};
  bool h[1] = {false};
  std::vector<ccn::Argument> all = {ccn::Span<float>(&a, 1), x, g, n, y, h, z};
  RUN(executor.run(all));
  RUN(executor.synchronize());
  if (rank.index() == 0)
    for (size_t i = 0; i < y.size(); ++i)
      std::printf("%g %g\n", y[i], z[i]);
  RUN(executor.release());
  RETURN_DONE;
}

Done runAll(const char *path) {
  ccn::Program program = take(ccn::Program::load(std::string(path)));
  ccn::ProgramInfo info = take(program.describe());
  std::printf("%s, %s = %d\n", info.name, info.axes()[0].name,
              int(info.axes()[0].size));
  int index = take(program.find("x"));
  ccn::Part part = take(program.part(index, 1));
  std::printf("%s: %d from %d of %d\n", take(program.argument(index)).type_name,
              int(part.sizes()[0]), int(part.begins()[0]),
              int(take(program.argument(index)).sizes()[0]));
  RUN(program.check(info.signature));
  print("file", ERROR_OF(ccn::Program::load("none.ccnpkg")));
  print("bytes",
        ERROR_OF(ccn::Program::load(ccn::Span<const unsigned char>())));
  print("name", ERROR_OF(program.find("q")));
  print("empty", ERROR_OF(ccn::Program().describe()));
  print("no programs", ERROR_OF(ccn::Team::create({})));
  print("no launcher", ERROR_OF(ccn::Team::join({program})));

  ccn::Team team = take(ccn::Team::create({program}, 20));
  std::printf("%d ranks, own %d\n", take(team.ranks()), take(team.ownRank()));
  print("runs", ERROR_OF(team.setRunsAtOnce(0)));
  RUN(team.run([&](ccn::Rank &rank) { return runRank(rank, program); }));
  RUN(team.check());

  // A body may move its rank, which leaves with what it moved to.
  team = take(ccn::Team::create({program}, 20));
  RUN(team.run([](ccn::Rank &rank) -> Done {
    ccn::Rank own = std::move(rank);
    RETURN_DONE;
  }));
  RUN(team.check());

  // A rank fails while the other waits for it: nobody waits for long.
  team =
      take(ccn::Team::create(ccn::Span<const ccn::Program>(&program, 1), 20));
  auto failing = [&](ccn::Rank &rank) -> Done {
    ccn::Executor executor = take(rank.makeExecutor(program));
    if (rank.index() == 1) {
#if CCN_EXCEPTIONS
      throw std::runtime_error("out of luck");
#else
      return ccn::Error(CCN_OK, "out of luck");
#endif
    }
    Arrays own(0);
    ccn::Error stopped = ERROR_OF(
        executor.run({1.0f, own.x, own.g, int64_t(0), own.y, true, own.z}));
    std::printf("other rank: %s\n", ccn_status_name(stopped.status()));
    RETURN_DONE;
  };
#if CCN_EXCEPTIONS
  try {
    team.run(failing);
  } catch (const std::exception &error) {
    std::printf("cause: %s\n", error.what());
  }
#else
  std::printf("cause: %s\n", team.run(failing).error().what());
#endif
  print("team", ERROR_OF(team.check()));
  RETURN_DONE;
}

#ifdef OVERLOOK
void overlook(ccn::Team &team) { team.check(); }
#endif

} // namespace

int TEST(const char *path);
int TEST(const char *path) {
#if CCN_EXCEPTIONS
  runAll(path);
#else
  if (ccn::Expected<void> done = runAll(path); !done) {
    std::printf("%s\n", done.error().what());
    return 1;
  }
#endif
  return 0;
}
