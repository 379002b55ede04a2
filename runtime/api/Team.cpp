//===- Team.cpp - Teams of the C API --------------------------------------===//
//
// Since symmetric memory cannot grow, a team allocates the memory that the
// executors of all its programs need before anything runs.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/Hash.h"

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::runtime::api;

Status TeamState::checkRank(int rank) const {
  auto count = static_cast<int>(ranks.size());
  if (rank < 0 || rank >= count)
    return error("expected a rank from 0 to ", count - 1, ", found ", rank);
  if (int own = ownRank(); own >= 0 && rank != own)
    return error("expected rank ", own, ", which this process is, found ",
                 rank);
  return Status();
}

/// The most bytes that a rank tells the others in one exchange.
static constexpr int64_t recordBytes = sizeof(int32_t);

/// With so many runs, each still gets a multiprocessor on any device in use
/// today.
static constexpr int maxRunsAtOnce = 32;

int64_t TeamState::exchangeBytes(int ranks) {
  return HostExchange::bytes(ranks, recordBytes) + Transport::alignment;
}

Result<HostExchange *> TeamState::exchangeOf(int rank) {
  std::unique_ptr<HostExchange> &own =
      ranks[static_cast<size_t>(rank)].exchange;
  if (!own) {
    Result<std::unique_ptr<HostExchange>> made = HostExchange::create(
        transport(), rank, timeLimit, recordBytes, "making executors");
    if (!made)
      return made.status();
    own = *std::move(made);
  }
  return own.get();
}

namespace {

/// A team that is being made.
struct NewTeam {
  std::shared_ptr<TeamState> state = std::make_shared<TeamState>();
  Environment environment;
  int ranks = 0;
  int64_t bytes = 0;
};

Status collect(ccn_program *const *programs, size_t count, double timeLimit,
               NewTeam &made) {
  if (!programs || count == 0)
    return error("expected the programs that the team will run, found none");
  for (size_t i = 0; i < count; ++i) {
    if (!programs[i])
      return error("program ", i, " is null");
    const auto &loaded = programs[i]->loaded;
    if (i > 0 && loaded->ranks() != made.ranks)
      return error("program '", loaded->package.program, "' has ",
                   loaded->ranks(), " ranks, '",
                   programs[0]->loaded->package.program, "' has ", made.ranks);
    if (i == 0) {
      made.ranks = loaded->ranks();
      made.bytes = TeamState::exchangeBytes(made.ranks);
    }
    if (__builtin_add_overflow(made.bytes, loaded->symmetricBytes,
                               &made.bytes) ||
        __builtin_add_overflow(made.bytes, Transport::alignment, &made.bytes))
      return error("the symmetric memory of the programs overflows");
    made.state->programs.push_back(loaded);
  }
  // Also false for NaN.
  if (!(timeLimit >= 0 && timeLimit <= 1e6))
    return error("expected a time limit from 0 to 1e6 seconds, found ",
                 timeLimit);
  Result<Environment> environment = Environment::read();
  if (!environment)
    return environment.status();
  made.environment = *environment;
  if (timeLimit > 0)
    made.environment.timeLimit = timeLimit;
  made.state->timeLimit = made.environment.timeLimit;
  made.state->products = made.environment.products;
  made.state->gpuTransport = made.environment.gpuTransport;
  made.state->ranks =
      std::vector<TeamState::Rank>(static_cast<size_t>(made.ranks));
  for (TeamState::Rank &rank : made.state->ranks)
    rank.isUsed.resize(count);
  return Status();
}

/// A hash of what all processes must have in common: the packages, and what
/// executes them.
std::string contentOf(const TeamState &state) {
  std::string text;
  for (const auto &program : state.programs)
    text += program->package.hash + " " + std::to_string(program->variant) +
            (program->isOnGpus()
                 ? " cuda, products by " + std::string(name(state.products))
                 : " cpu") +
            "\n";
  return toHex(sha256({text}));
}

/// Chooses variant numberOf(i) for each program i that still has its variants.
template <typename NumberOf>
Status chooseVariants(TeamState &state, NumberOf numberOf) {
  state.chosen = state.programs;
  for (size_t i = 0; i < state.programs.size(); ++i) {
    const LoadedProgram &program = *state.programs[i];
    size_t number = numberOf(i);
    if (number == program.variant || program.package.variants.empty())
      continue;
    auto made = std::make_shared<LoadedProgram>();
    made->package = program.package;
    made->take(number);
    if (made->load(program.isOnGpus()) != CCN_OK)
      return Status::failure(ccn_last_error());
    state.chosen[i] = std::move(made);
  }
  return Status();
}

/// The bytes of host memory, without symmetric memory, that the executors of
/// all programs need on one rank.
int64_t privateBytesOf(const TeamState &state, int rank) {
  int64_t sum = 0;
  for (const auto &program : state.programs)
    sum = addSaturating(
        sum, privateBytes(program->package.plan, rank, program->isOnGpus()));
  return sum;
}

/// Finishes a team whose ranks are threads of this process.
ccn_status makeOfThreads(NewTeam &made, ccn_team **team) {
  MemoryNeeds needs;
  needs.add("symmetric memory", made.ranks, made.bytes);
  for (int rank = 0; rank < made.ranks; ++rank)
    needs.add("private memory", 1, privateBytesOf(*made.state, rank));
  if (Status status = checkMemory(needs); !status)
    return fail(CCN_ERROR_MACHINE, status);
  Result<std::unique_ptr<SymmetricHeap>> heap =
      SymmetricHeap::create(made.ranks, made.bytes);
  if (!heap)
    return fail(CCN_ERROR_MACHINE, heap.status());
  made.state->heap = *std::move(heap);
  if (Status status = chooseVariants(
          *made.state,
          [&](size_t i) {
            return static_cast<size_t>(made.state->programs[i]->tuned.oneHost);
          });
      !status)
    return fail(CCN_ERROR_MACHINE, status);
  *team = new ccn_team{std::move(made.state)};
  return CCN_OK;
}

/// Returns body(state) for a rank of the team. An error if another call for the
/// rank is in progress.
template <typename Body>
ccn_status asRank(ccn_team *team, int rank, Body body) {
  return guarded([&] {
    if (!team)
      return wrong("the team is null");
    TeamState &state = *team->state;
    if (Status status = state.checkRank(rank); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    RankCall call(state, rank);
    if (!call)
      return RankCall::refuse(rank);
    return body(state);
  });
}

} // namespace

ccn_status ccn_team_create(ccn_program *const *programs, size_t count,
                           double time_limit, ccn_team **team) {
  return guarded([&] {
    if (!team)
      return wrong("the place for the team is null");
    NewTeam made;
    if (Status status = collect(programs, count, time_limit, made); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    return makeOfThreads(made, team);
  });
}

ccn_status ccn_team_join(ccn_program *const *programs, size_t count,
                         double time_limit, ccn_team **team) {
  return guarded([&] {
    if (!team)
      return wrong("the place for the team is null");
    NewTeam made;
    if (Status status = collect(programs, count, time_limit, made); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    Result<std::optional<RankLaunch>> launch = detectLaunch();
    if (!launch)
      return fail(CCN_ERROR_ARGUMENT, launch.status());
    if (!*launch && made.ranks == 1) {
      made.state->isAlone = true;
      return makeOfThreads(made, team);
    }
    if (!*launch)
      return wrong("no launcher has started this process as one of several "
                   "ranks; expected mpirun, torchrun or Slurm");
    made.state->localRank = (*launch)->localRank;
    TeamOptions options;
    options.launch = **launch;
    options.ranks = made.ranks;
    options.bytesPerRank = made.bytes;
    // If the process's rank is not one of the programs' ranks, the error comes
    // when the ranks meet.
    if (int rank = options.launch.rank; rank >= 0 && rank < made.ranks)
      options.otherBytes = privateBytesOf(*made.state, rank);
    options.content = contentOf(*made.state);
    for (const auto &program : made.state->programs)
      options.variants.push_back(program->tuned);
    options.environment = made.environment;
    std::unique_ptr<Team> joined = Team::join(options);
    if (Status status = joined->joined(); !status) {
      ccn_status code = joined->isWrongSize()   ? CCN_ERROR_ARGUMENT
                        : joined->lacksMemory() ? CCN_ERROR_MACHINE
                                                : CCN_ERROR_TEAM;
      (void)joined->leave();
      return fail(code, status);
    }
    made.state->launched = std::move(joined);
    if (Status status = chooseVariants(
            *made.state,
            [&](size_t i) {
              return static_cast<size_t>(made.state->launched->variants()[i]);
            });
        !status)
      return fail(CCN_ERROR_TEAM, made.state->transport().fail(
                                      made.state->ownRank(), status.message()));
    *team = new ccn_team{std::move(made.state)};
    return CCN_OK;
  });
}

ccn_status ccn_team_describe(const ccn_team *team, int *ranks, int *own_rank) {
  return guarded([&] {
    if (!team)
      return wrong("the team is null");
    if (ranks)
      *ranks = static_cast<int>(team->state->ranks.size());
    if (own_rank)
      *own_rank = team->state->ownRank();
    return CCN_OK;
  });
}

ccn_status ccn_team_set_runs_at_once(ccn_team *team, int runs) {
  return guarded([&] {
    if (!team)
      return wrong("the team is null");
    if (runs < 1 || runs > maxRunsAtOnce)
      return wrong("expected from 1 to ", maxRunsAtOnce,
                   " runs at once, found ", runs);
    team->state->runsAtOnce = runs;
    return CCN_OK;
  });
}

ccn_status ccn_team_check(const ccn_team *team) {
  return guarded([&] {
    if (!team)
      return wrong("the team is null");
    Transport &transport = team->state->transport();
    return transport.failed() ? fail(CCN_ERROR_TEAM, transport.failure())
                              : CCN_OK;
  });
}

ccn_status ccn_team_meet(ccn_team *team, int rank) {
  return asRank(team, rank, [&](TeamState &state) {
    if (state.ranks[static_cast<size_t>(rank)].hasLeft)
      return wrong("rank ", rank, " has left its team");
    Status status = state.transport().failure();
    if (status) {
      Result<HostExchange *> exchange = state.exchangeOf(rank);
      status = exchange ? (*exchange)->barrier("meeting of the ranks")
                        : exchange.status();
    }
    return status ? CCN_OK : fail(CCN_ERROR_TEAM, status);
  });
}

ccn_status ccn_team_fail(ccn_team *team, int rank, const char *cause) {
  return guarded([&] {
    if (!team || !cause)
      return wrong(team ? "the cause is null" : "the team is null");
    if (Status status = team->state->checkRank(rank); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    (void)team->state->transport().fail(rank, cause);
    return CCN_OK;
  });
}

ccn_status ccn_team_leave(ccn_team *team, int rank) {
  return asRank(team, rank, [&](TeamState &state) {
    TeamState::Rank &own = state.ranks[static_cast<size_t>(rank)];
    if (own.executors > 0)
      return wrong("rank ", rank, " has ", own.executors,
                   " executors that are not released");
    Status status;
    if (state.launched) {
      status = state.launched->leave();
    } else {
      if (!own.hasLeft)
        state.heap->leave(rank);
      status = state.heap->failure();
    }
    own.hasLeft = true;
    return status ? CCN_OK : fail(CCN_ERROR_TEAM, status);
  });
}

void ccn_team_release(ccn_team *team) {
  (void)guarded([&] {
    delete team;
    return CCN_OK;
  });
}
