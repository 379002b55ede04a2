//===- RankLaunch.cpp - Who started this process as a rank ----------------===//
//
// Reads and checks the variables of each launcher.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/RankLaunch.h"

#include "runtime/launch/HostList.h"
#include "runtime/team/Transport.h"

#include <charconv>
#include <cstdlib>

namespace ccn::runtime {

namespace {

constexpr int portsTried = 16;
constexpr int64_t lastPort = 65535;
/// The steps that Slurm numbers from the end on are no steps of srun: a batch
/// script, an interactive shell, and what Slurm runs itself.
constexpr int64_t firstSpecialStep = 0xfffffff0;

using Found = Result<std::optional<RankLaunch>>;

class Detection {
public:
  explicit Detection(const Variables &variables) : variables(variables) {}

  Found find() const;

private:
  bool isSet(const char *variable) const { return variables(variable); }
  std::string text(const char *variable) const {
    const char *value = variables(variable);
    return value ? value : "";
  }
  Result<int64_t> number(const char *variable, const char *what, int64_t least,
                         int64_t most) const;
  /// Nothing if it is not set.
  Result<std::optional<int>> optionalNumber(const char *variable,
                                            const char *what, int64_t least,
                                            int64_t most) const;
  Status readRanks(RankLaunch &launch, const char *rankVariable,
                   const char *ranksVariable) const;
  /// `hostRanksVariable` is how many ranks the host has; null where no variable
  /// says that.
  Status readLocalRank(RankLaunch &launch, const char *variable,
                       const char *hostRanksVariable) const;
  Status override(MeetingPlace &place) const;

  Found mpi(const char *rankVariable, const char *ranksVariable) const;
  Found anyMpi() const;
  Found torch() const;
  Found slurm() const;

  const Variables &variables;
};

Result<int64_t> Detection::number(const char *variable, const char *what,
                                  int64_t least, int64_t most) const {
  const char *value = variables(variable);
  auto expected = [&](const std::string &found) {
    return error(variable, ": expected ", what, " from ", least, " to ", most,
                 ", found ", found);
  };
  if (!value)
    return expected("that it is not set");
  std::string_view digits = value;
  const char *end = digits.data() + digits.size();
  int64_t result = 0;
  auto [rest, failed] = std::from_chars(digits.data(), end, result);
  if (failed != std::errc() || rest != end || result < least || result > most)
    return expected("'" + std::string(digits) + "'");
  return result;
}

Result<std::optional<int>> Detection::optionalNumber(const char *variable,
                                                     const char *what,
                                                     int64_t least,
                                                     int64_t most) const {
  if (!isSet(variable))
    return std::optional<int>();
  Result<int64_t> value = number(variable, what, least, most);
  if (!value)
    return value.status();
  return std::optional<int>(static_cast<int>(*value));
}

Status Detection::readRanks(RankLaunch &launch, const char *rankVariable,
                            const char *ranksVariable) const {
  constexpr int64_t most = Transport::maxRanks;
  Result<int64_t> rank = number(rankVariable, "a rank", 0, most - 1);
  if (!rank)
    return rank.status();
  Result<int64_t> ranks = number(ranksVariable, "a number of ranks", 1, most);
  if (!ranks)
    return ranks.status();
  launch.rank = static_cast<int>(*rank);
  launch.ranks = static_cast<int>(*ranks);
  return *rank < *ranks
             ? Status()
             : error(rankVariable, ": expected a rank below ", ranksVariable,
                     ", which is ", *ranks, ", found '", *rank, "'");
}

Status Detection::readLocalRank(RankLaunch &launch, const char *variable,
                                const char *hostRanksVariable) const {
  constexpr int64_t most = Transport::maxRanks;
  Result<std::optional<int>> local =
      optionalNumber(variable, "a rank of this host", 0, most - 1);
  if (!local)
    return local.status();
  launch.localRank = *local;
  if (!hostRanksVariable)
    return Status();
  Result<std::optional<int>> hosts =
      optionalNumber(hostRanksVariable, "a number of ranks", 1,
                     launch.ranks.value_or(static_cast<int>(most)));
  if (!hosts)
    return hosts.status();
  if (*hosts && *local && **local >= **hosts)
    return error(variable, ": expected a rank below ", hostRanksVariable,
                 ", which is ", **hosts, ", found '", **local, "'");
  return Status();
}

/// The ports that are tried, which begin again at 1024 after the last there is.
std::vector<uint16_t> portsFrom(int64_t first) {
  std::vector<uint16_t> ports;
  for (int64_t port = first; port < first + portsTried; ++port)
    ports.push_back(static_cast<uint16_t>(
        port <= lastPort ? port : port - lastPort - 1 + 1024));
  return ports;
}

Status Detection::override(MeetingPlace &place) const {
  if (isSet("CCN_MASTER_ADDR")) {
    place.host = text("CCN_MASTER_ADDR");
    // Ranks of one host may be in networks of their own.
    place.isOneHost = false;
    if (place.host.empty())
      return error("CCN_MASTER_ADDR: expected the host of rank 0, found ''");
  }
  Result<std::optional<int>> port =
      optionalNumber("CCN_MASTER_PORT", "a port", 1, lastPort);
  if (!port)
    return port.status();
  if (*port)
    place.ports = {static_cast<uint16_t>(**port)};
  return Status();
}

Found Detection::mpi(const char *rankVariable,
                     const char *ranksVariable) const {
  RankLaunch launch;
  // A launcher that does not say how many ranks there are leaves that to MPI
  // itself.
  if (isSet(ranksVariable)) {
    if (Status status = readRanks(launch, rankVariable, ranksVariable); !status)
      return status;
    if (*launch.ranks == 1)
      return std::optional<RankLaunch>();
  } else {
    Result<int64_t> rank =
        number(rankVariable, "a rank", 0, Transport::maxRanks - 1);
    if (!rank)
      return rank.status();
    launch.rank = static_cast<int>(*rank);
  }
  // The variables of Open MPI, of MPICH's launcher and of srun.
  for (const char *variable :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (isSet(variable)) {
      // Other launchers pass a batch script's variables of Slurm on.
      if (std::string_view(variable) == "SLURM_LOCALID") {
        Result<int64_t> own =
            number("SLURM_PROCID", "a rank", 0, Transport::maxRanks - 1);
        if (!own || *own != launch.rank)
          break;
      }
      if (Status status = readLocalRank(launch, variable, nullptr); !status)
        return status;
      break;
    }
  return std::optional<RankLaunch>(launch);
}

/// Open MPI's mpirun sets PMIx's variables too.
Found Detection::anyMpi() const {
  // PMIx has no variable for the number: Slurm has one of its own.
  constexpr const char *variables[][2] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};
  for (auto [rank, ranks] : variables)
    if (isSet(rank))
      return mpi(rank, ranks);
  return error("OMPI_COMM_WORLD_RANK: expected that a launcher of MPI sets it, "
               "PMI_RANK or PMIX_RANK, found none of them");
}

Found Detection::torch() const {
  RankLaunch launch;
  launch.launcher = Launcher::Torch;
  if (Status status = readRanks(launch, "RANK", "WORLD_SIZE"); !status)
    return status;
  if (Status status = readLocalRank(launch, "LOCAL_RANK", "LOCAL_WORLD_SIZE");
      !status)
    return status;
  if (*launch.ranks == 1)
    return std::optional<RankLaunch>();
  MeetingPlace &place = launch.place;
  Result<std::optional<int>> onHost = optionalNumber(
      "LOCAL_WORLD_SIZE", "a number of ranks", 1, Transport::maxRanks);
  place.isOneHost = onHost && *onHost == launch.ranks;
  place.host = place.isOneHost ? "127.0.0.1" : text("MASTER_ADDR");
  bool hasAgentStore = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  if (!isSet("CCN_MASTER_PORT") || isSet("MASTER_PORT")) {
    Result<int64_t> port = number("MASTER_PORT", "a port", 1, lastPort);
    if (!port)
      return port.status();
    place.ports = portsFrom(*port + (hasAgentStore ? 1 : 0));
  }
  if (Status status = override(place); !status)
    return status;
  if (place.host.empty())
    return error("MASTER_ADDR: expected the host of rank 0, found ",
                 isSet("MASTER_ADDR") ? "''" : "that it is not set");
  // Workers that are started again must not meet those before them. The run's
  // name comes last: it may be long.
  place.job =
      "torchrun, MASTER_PORT " + text("MASTER_PORT") + ", restart " +
      (isSet("TORCHELASTIC_RESTART_COUNT") ? text("TORCHELASTIC_RESTART_COUNT")
                                           : "0") +
      ", run '" + text("TORCHELASTIC_RUN_ID") + "'";
  return std::optional<RankLaunch>(launch);
}

Found Detection::slurm() const {
  RankLaunch launch;
  launch.launcher = Launcher::Slurm;
  constexpr int64_t most = 0xffffffff;
  Result<int64_t> step = number("SLURM_STEP_ID", "a step's number", 0, most);
  if (!step)
    return step.status();
  if (*step >= firstSpecialStep)
    return std::optional<RankLaunch>();
  const char *ranks =
      isSet("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  if (Status status = readRanks(launch, "SLURM_PROCID", ranks); !status)
    return status;
  if (Status status = readLocalRank(launch, "SLURM_LOCALID", nullptr); !status)
    return status;
  if (*launch.ranks == 1)
    return std::optional<RankLaunch>();
  Result<int64_t> job = number("SLURM_JOB_ID", "a job's number", 0, most);
  if (!job)
    return job.status();
  MeetingPlace &place = launch.place;
  place.job =
      "Slurm's job " + std::to_string(*job) + ", step " + std::to_string(*step);
  // Neighbouring steps and jobs, which may share a host, have other ports.
  constexpr int64_t firstPort = 16384, groups = 1000;
  place.ports =
      portsFrom(firstPort + portsTried * ((*job * 7 + *step) % groups));
  const char *list = isSet("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST"
                                                  : "SLURM_JOB_NODELIST";
  if (!isSet("CCN_MASTER_ADDR") || isSet(list)) {
    if (!isSet(list))
      return error("SLURM_STEP_NODELIST: expected the hosts of the step, found "
                   "that it is not set");
    Result<std::vector<std::string>> hosts = expandHostList(text(list));
    if (!hosts)
      return error(list, ": ", hosts.message(), ", in '", text(list), "'");
    place.isOneHost = hosts->size() == 1;
    place.host = place.isOneHost ? "127.0.0.1" : hosts->front();
  }
  if (Status status = override(place); !status)
    return status;
  return std::optional<RankLaunch>(launch);
}

Found Detection::find() const {
  std::string wanted =
      isSet("CCN_LAUNCHER") ? text("CCN_LAUNCHER") : std::string("auto");
  if (wanted == "none")
    return std::optional<RankLaunch>();
  if (wanted == "mpi")
    return anyMpi();
  if (wanted == "torchrun")
    return torch();
  if (wanted == "slurm")
    return slurm();
  if (wanted != "auto")
    return error("CCN_LAUNCHER: expected auto, mpi, torchrun, slurm or none, "
                 "found '",
                 wanted, "'");
  if (isSet("TORCHELASTIC_RUN_ID"))
    return torch();
  if (isSet("OMPI_COMM_WORLD_RANK") || isSet("PMI_RANK") || isSet("PMIX_RANK"))
    return anyMpi();
  if (isSet("RANK") && isSet("WORLD_SIZE"))
    return torch();
  if (isSet("SLURM_PROCID") && isSet("SLURM_STEP_ID"))
    return slurm();
  return std::optional<RankLaunch>();
}

} // namespace

std::string_view name(Launcher launcher) {
  switch (launcher) {
  case Launcher::Mpi:
    return "MPI";
  case Launcher::Torch:
    return "torchrun";
  case Launcher::Slurm:
    return "Slurm";
  }
  return "unknown";
}

std::string describe(Launcher launcher) {
  std::string text(name(launcher));
  return launcher == Launcher::Mpi ? "a launcher of " + text : text;
}

Result<std::optional<RankLaunch>> detectLaunch(const Variables &variables) {
  return Detection(variables).find();
}

Result<std::optional<RankLaunch>> detectLaunch() {
  return detectLaunch([](const char *name) { return std::getenv(name); });
}

} // namespace ccn::runtime
