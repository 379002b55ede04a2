//===- RankLaunchTest.cpp - Who started this process as a rank ------------===//
//
// Made-up environments of every launcher, of launchers within launchers, and
// such as no launcher makes.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/RankLaunch.h"

#include <gtest/gtest.h>

#include <map>

using namespace ccn;
using namespace ccn::runtime;

namespace {

using Values = std::map<std::string, std::string>;
using Ports = std::vector<uint16_t>;

Result<std::optional<RankLaunch>> detect(const Values &values) {
  return detectLaunch([&](const char *name) {
    auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  });
}

RankLaunch launchOf(const Values &values) {
  Result<std::optional<RankLaunch>> found = detect(values);
  EXPECT_TRUE(found.ok()) << found.message();
  EXPECT_TRUE(found && found->has_value());
  return found && *found ? **found : RankLaunch();
}

bool isAlone(const Values &values) {
  Result<std::optional<RankLaunch>> found = detect(values);
  EXPECT_TRUE(found.ok()) << found.message();
  return found && !found->has_value();
}

std::string mistake(const Values &values) {
  Result<std::optional<RankLaunch>> found = detect(values);
  EXPECT_FALSE(found.ok());
  return found.message();
}

/// `values` with some of them set anew, or not set where the new one is "-".
Values with(Values values, const Values &others) {
  for (const auto &[name, value] : others)
    if (value == "-")
      values.erase(name);
    else
      values[name] = value;
  return values;
}

Ports sixteenFrom(uint16_t first) {
  Ports ports;
  for (int i = 0; i < 16; ++i)
    ports.push_back(static_cast<uint16_t>(first + i));
  return ports;
}

const Values torchrun = {{"RANK", "5"},
                         {"WORLD_SIZE", "8"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "4"},
                         {"GROUP_RANK", "1"},
                         {"MASTER_ADDR", "gpu1.example.org"},
                         {"MASTER_PORT", "29500"},
                         {"TORCHELASTIC_RESTART_COUNT", "0"},
                         {"TORCHELASTIC_RUN_ID", "none"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Values slurm = {{"SLURM_PROCID", "3"},
                      {"SLURM_NTASKS", "8"},
                      {"SLURM_STEP_NUM_TASKS", "4"},
                      {"SLURM_LOCALID", "1"},
                      {"SLURM_JOB_ID", "1234"},
                      {"SLURM_STEP_ID", "2"},
                      {"SLURM_JOB_NODELIST", "login,gpu[01-04]"},
                      {"SLURM_STEP_NODELIST", "gpu[03-04]"},
                      {"SLURM_LAUNCH_NODE_IPADDR", "192.0.2.1"}};
const Values openMpi = {{"OMPI_COMM_WORLD_RANK", "2"},
                        {"OMPI_COMM_WORLD_SIZE", "3"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                        {"PMIX_RANK", "2"}};

} // namespace

TEST(RankLaunch, NobodyIsAlone) {
  EXPECT_TRUE(isAlone({}));
  EXPECT_TRUE(isAlone({{"RANK", "3"}}));
  EXPECT_TRUE(isAlone({{"WORLD_SIZE", "3"}}));
  EXPECT_TRUE(isAlone({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}));
}

TEST(RankLaunch, OfMpi) {
  RankLaunch launch = launchOf(openMpi);
  EXPECT_EQ(launch.launcher, Launcher::Mpi);
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.ranks, 3);
  EXPECT_EQ(launch.localRank, 0);
  launch = launchOf({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(launch.launcher, Launcher::Mpi);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.ranks, 2);
  EXPECT_EQ(launch.localRank, std::nullopt);
  launch = launchOf({{"PMIX_RANK", "1"}});
  EXPECT_EQ(launch.ranks, std::nullopt);
  EXPECT_EQ(launch.rank, 1);
  launch = launchOf(with(slurm, {{"PMIX_RANK", "3"}}));
  EXPECT_EQ(launch.launcher, Launcher::Mpi);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.localRank, 1);
  // Slurm's variables of another process, such as the batch script.
  launch = launchOf(with(slurm, {{"PMIX_RANK", "0"}}));
  EXPECT_EQ(launch.launcher, Launcher::Mpi);
  EXPECT_EQ(launch.localRank, std::nullopt);
  EXPECT_TRUE(isAlone({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}));
}

TEST(RankLaunch, OfTorchrun) {
  RankLaunch launch = launchOf(torchrun);
  EXPECT_EQ(launch.launcher, Launcher::Torch);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.ranks, 8);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.place.host, "gpu1.example.org");
  EXPECT_FALSE(launch.place.isOneHost);
  // The agent has the first.
  EXPECT_EQ(launch.place.ports, sixteenFrom(29501));
  for (const char *store : {"False", "-"})
    EXPECT_EQ(
        launchOf(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", store}}))
            .place.ports,
        sixteenFrom(29500));
  EXPECT_EQ(launchOf(with(torchrun, {{"MASTER_PORT", "65533"}})).place.ports,
            Ports({65534, 65535, 1024, 1025, 1026, 1027, 1028, 1029, 1030, 1031,
                   1032, 1033, 1034, 1035, 1036, 1037}));
  EXPECT_TRUE(isAlone(with(torchrun, {{"RANK", "0"},
                                      {"WORLD_SIZE", "1"},
                                      {"LOCAL_RANK", "0"},
                                      {"LOCAL_WORLD_SIZE", "1"},
                                      {"MASTER_PORT", "-"}})));
}

TEST(RankLaunch, TorchrunOnOneHostMeetsThere) {
  RankLaunch launch = launchOf(with(torchrun, {{"LOCAL_WORLD_SIZE", "8"}}));
  EXPECT_TRUE(launch.place.isOneHost);
  EXPECT_EQ(launch.place.host, "127.0.0.1");
}

TEST(RankLaunch, RunsAndRestartsOfTorchrunDiffer) {
  std::string job = launchOf(torchrun).place.job;
  for (const char *variable :
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT"})
    EXPECT_NE(launchOf(with(torchrun, {{variable, "7"}})).place.job, job);
  for (const char *variable :
       {"RANK", "LOCAL_RANK", "GROUP_RANK", "MASTER_ADDR"})
    EXPECT_EQ(launchOf(with(torchrun, {{variable, "0"}})).place.job, job);
}

TEST(RankLaunch, OthersThatSetTheVariablesOfTorchrun) {
  const Values few = {{"RANK", "1"},
                      {"WORLD_SIZE", "2"},
                      {"MASTER_ADDR", "a"},
                      {"MASTER_PORT", "29500"}};
  RankLaunch launch = launchOf(few);
  EXPECT_EQ(launch.launcher, Launcher::Torch);
  EXPECT_EQ(launch.localRank, std::nullopt);
  EXPECT_EQ(launch.place.host, "a");
  EXPECT_EQ(launch.place.ports, sixteenFrom(29500));
}

TEST(RankLaunch, OfSlurm) {
  RankLaunch launch = launchOf(slurm);
  EXPECT_EQ(launch.launcher, Launcher::Slurm);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.place.host, "gpu03");
  EXPECT_FALSE(launch.place.isOneHost);
  EXPECT_EQ(launch.place.job, "Slurm's job 1234, step 2");
  EXPECT_EQ(launch.place.ports,
            sixteenFrom(16384 + 16 * (1234 * 7 + 2 - 8000)));
  launch = launchOf(with(
      slurm, {{"SLURM_STEP_NUM_TASKS", "-"}, {"SLURM_STEP_NODELIST", "-"}}));
  EXPECT_EQ(launch.ranks, 8);
  EXPECT_EQ(launch.place.host, "login");
  launch = launchOf(with(slurm, {{"SLURM_STEP_NODELIST", "gpu7"}}));
  EXPECT_TRUE(launch.place.isOneHost);
  EXPECT_EQ(launch.place.host, "127.0.0.1");
  EXPECT_TRUE(isAlone(
      with(slurm, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}})));
}

TEST(RankLaunch, PortsOfSlurmStayBelowThoseThatLinuxChooses) {
  for (int job : {0, 1, 999, 1000, 123456, 4294967})
    for (int step : {0, 1, 500, 999}) {
      Ports ports =
          launchOf(with(slurm, {{"SLURM_JOB_ID", std::to_string(job)},
                                {"SLURM_STEP_ID", std::to_string(step)}}))
              .place.ports;
      EXPECT_GE(ports.front(), 16384);
      EXPECT_LT(ports.back(), 32768);
    }
  // Steps that run side by side.
  Ports first = launchOf(slurm).place.ports,
        second = launchOf(with(slurm, {{"SLURM_STEP_ID", "3"}})).place.ports;
  EXPECT_NE(first, second);
}

TEST(RankLaunch, ABatchScriptIsNoStep) {
  // It is one process, whatever the job's number of tasks.
  EXPECT_TRUE(isAlone(with(slurm, {{"SLURM_PROCID", "0"},
                                   {"SLURM_STEP_ID", "-"},
                                   {"SLURM_STEP_NUM_TASKS", "-"},
                                   {"SLURM_STEP_NODELIST", "-"}})));
  EXPECT_TRUE(isAlone(
      with(slurm, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "4294967291"}})));
}

TEST(RankLaunch, TheInnermostLauncherIsBelieved) {
  auto all = [](const std::vector<Values> &several) {
    Values merged;
    for (const Values &one : several)
      merged.insert(one.begin(), one.end());
    return merged;
  };
  Values env = with(torchrun, {{"TORCHELASTIC_RUN_ID", "-"}});
  // mpirun in a job of Slurm; torchrun under srun or mpirun, one for each host.
  EXPECT_EQ(launchOf(all({openMpi, slurm})).launcher, Launcher::Mpi);
  EXPECT_EQ(launchOf(all({torchrun, slurm})).launcher, Launcher::Torch);
  EXPECT_EQ(launchOf(all({torchrun, openMpi, slurm})).launcher,
            Launcher::Torch);
  // What mpirun was told for others, and what srun was.
  EXPECT_EQ(launchOf(all({env, openMpi, slurm})).launcher, Launcher::Mpi);
  EXPECT_EQ(launchOf(all({env, slurm})).launcher, Launcher::Torch);
  Values everything = all({torchrun, openMpi, slurm});
  auto chosen = [&](const char *launcher) {
    return with(everything, {{"CCN_LAUNCHER", launcher}});
  };
  EXPECT_EQ(launchOf(chosen("auto")).launcher, Launcher::Torch);
  EXPECT_EQ(launchOf(chosen("mpi")).launcher, Launcher::Mpi);
  EXPECT_EQ(launchOf(chosen("torchrun")).launcher, Launcher::Torch);
  EXPECT_EQ(launchOf(chosen("slurm")).launcher, Launcher::Slurm);
  EXPECT_TRUE(isAlone(chosen("none")));
  EXPECT_EQ(mistake(chosen("pigeons")),
            "CCN_LAUNCHER: expected auto, mpi, torchrun, slurm or none, found "
            "'pigeons'");
  EXPECT_EQ(mistake({{"CCN_LAUNCHER", "mpi"}}),
            "OMPI_COMM_WORLD_RANK: expected that a launcher of MPI sets it, "
            "PMI_RANK or PMIX_RANK, found none of them");
  EXPECT_EQ(mistake({{"CCN_LAUNCHER", "torchrun"}}),
            "RANK: expected a rank from 0 to 1023, found that it is not set");
  EXPECT_EQ(mistake({{"CCN_LAUNCHER", "slurm"}}),
            "SLURM_STEP_ID: expected a step's number from 0 to 4294967295, "
            "found that it is not set");
}

TEST(RankLaunch, TheMeetingPlaceCanBeChosen) {
  const Values place = {{"CCN_MASTER_ADDR", "10.0.0.7"},
                        {"CCN_MASTER_PORT", "7000"}};
  for (const Values &values :
       {torchrun, slurm,
        with(torchrun, {{"MASTER_ADDR", "-"}, {"MASTER_PORT", "-"}}),
        with(torchrun, {{"LOCAL_WORLD_SIZE", "8"}}),
        with(slurm,
             {{"SLURM_STEP_NODELIST", "-"}, {"SLURM_JOB_NODELIST", "-"}})}) {
    RankLaunch launch = launchOf(with(values, place));
    EXPECT_EQ(launch.place.host, "10.0.0.7");
    EXPECT_EQ(launch.place.ports, Ports({7000}));
    EXPECT_FALSE(launch.place.isOneHost);
  }
  EXPECT_EQ(mistake(with(slurm, {{"CCN_MASTER_ADDR", ""}})),
            "CCN_MASTER_ADDR: expected the host of rank 0, found ''");
  EXPECT_EQ(mistake(with(torchrun, {{"CCN_MASTER_PORT", "0"}})),
            "CCN_MASTER_PORT: expected a port from 1 to 65535, found '0'");
}

TEST(RankLaunch, MistakesNameTheVariable) {
  for (const char *wrong : {"", "x", "1x", " 1", "+1", "0x1", "1.0", "-1",
                            "99999999999999999999", "1024"}) {
    std::string found = ", found '" + std::string(wrong) + "'";
    EXPECT_EQ(mistake(with(torchrun, {{"RANK", wrong}})),
              "RANK: expected a rank from 0 to 1023" + found);
    EXPECT_EQ(mistake(with(openMpi, {{"OMPI_COMM_WORLD_RANK", wrong}})),
              "OMPI_COMM_WORLD_RANK: expected a rank from 0 to 1023" + found);
    EXPECT_EQ(mistake(with(slurm, {{"SLURM_PROCID", wrong}})),
              "SLURM_PROCID: expected a rank from 0 to 1023" + found);
    EXPECT_EQ(mistake({{"PMIX_RANK", wrong}}),
              "PMIX_RANK: expected a rank from 0 to 1023" + found);
    EXPECT_EQ(mistake(with(torchrun, {{"LOCAL_RANK", wrong}})),
              "LOCAL_RANK: expected a rank of this host from 0 to 1023" +
                  found);
  }
  for (const char *wrong : {"0", "1025", "many"})
    EXPECT_EQ(mistake(with(torchrun, {{"WORLD_SIZE", wrong}})),
              "WORLD_SIZE: expected a number of ranks from 1 to 1024, found '" +
                  std::string(wrong) + "'");
  EXPECT_EQ(mistake(with(torchrun, {{"RANK", "8"}})),
            "RANK: expected a rank below WORLD_SIZE, which is 8, found '8'");
  EXPECT_EQ(mistake(with(torchrun, {{"LOCAL_RANK", "4"}})),
            "LOCAL_RANK: expected a rank below LOCAL_WORLD_SIZE, which is 4, "
            "found '4'");
  EXPECT_EQ(mistake(with(torchrun, {{"LOCAL_WORLD_SIZE", "9"}})),
            "LOCAL_WORLD_SIZE: expected a number of ranks from 1 to 8, found "
            "'9'");
  EXPECT_EQ(mistake(with(torchrun, {{"WORLD_SIZE", "-"}})),
            "WORLD_SIZE: expected a number of ranks from 1 to 1024, found that "
            "it is not set");
  EXPECT_EQ(mistake(with(torchrun, {{"MASTER_ADDR", "-"}})),
            "MASTER_ADDR: expected the host of rank 0, found that it is not "
            "set");
  EXPECT_EQ(mistake(with(torchrun, {{"MASTER_PORT", "65536"}})),
            "MASTER_PORT: expected a port from 1 to 65535, found '65536'");
  EXPECT_EQ(mistake(with(openMpi, {{"OMPI_COMM_WORLD_RANK", "3"}})),
            "OMPI_COMM_WORLD_RANK: expected a rank below OMPI_COMM_WORLD_SIZE, "
            "which is 3, found '3'");
  EXPECT_EQ(mistake(with(slurm, {{"SLURM_PROCID", "4"}})),
            "SLURM_PROCID: expected a rank below SLURM_STEP_NUM_TASKS, which "
            "is 4, found '4'");
  EXPECT_EQ(mistake(with(slurm, {{"SLURM_JOB_ID", "-"}})),
            "SLURM_JOB_ID: expected a job's number from 0 to 4294967295, found "
            "that it is not set");
  EXPECT_EQ(mistake(with(slurm, {{"SLURM_STEP_NODELIST", "gpu[1-"}})),
            "SLURM_STEP_NODELIST: expected a number at its end, in 'gpu[1-'");
  EXPECT_EQ(mistake(with(slurm, {{"SLURM_STEP_NODELIST", "-"},
                                 {"SLURM_JOB_NODELIST", "-"}})),
            "SLURM_STEP_NODELIST: expected the hosts of the step, found that "
            "it is not set");
}
