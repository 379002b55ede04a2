//===- Bootstrap.h - How ranks that are launched find each other *- C++ -*-===//
//
// One call makes this process one of the ranks that a launcher, such as mpirun,
// torchrun or Slurm, has started on any hosts. They reach each other over
// shared memory if all are on one host, else by messages, over MPI or TCP;
// CCN_TRANSPORT chooses another way.
//
// Before anything runs, the ranks compare what they are about to run. Who dies
// later is named by the others, which end in a bounded time.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_BOOTSTRAP_H
#define CCN_RUNTIME_LAUNCH_BOOTSTRAP_H

#include "runtime/base/Environment.h"
#include "runtime/launch/RankLaunch.h"
#include "runtime/team/Transport.h"

#include <memory>
#include <vector>

namespace ccn::runtime {

/// The variants of a program that were measured to be the fastest; 0, the
/// default, if none was.
struct TunedVariants {
  /// For ranks on one host, and for ranks on several hosts, where GPUs send
  /// messages.
  int32_t oneHost = 0, severalHosts = 0;
};

struct TeamOptions {
  /// Who started this process, as which rank.
  RankLaunch launch;
  /// How many ranks the program has.
  int ranks = 1;
  /// The symmetric memory of each rank, and the other memory that this one will
  /// take.
  int64_t bytesPerRank = 0, otherBytes = 0;
  /// What is run, the same on all ranks: such as a hash of the package. At most
  /// RunIdentity::maxContent characters.
  std::string content;
  /// For each program, the variants that this rank would run; for programs
  /// after the first maxPrograms, 0 is assumed.
  std::vector<TunedVariants> variants;
  Environment environment;

  static constexpr size_t maxPrograms = 64;
};

class Team {
public:
  /// Makes this process part of the team of all processes that were launched;
  /// joined() says whether that succeeded. A failure names the ranks that are
  /// missing, that run something else, or that lack memory; no memory has been
  /// taken then.
  static std::unique_ptr<Team> join(const TeamOptions &options);

  /// Leaves the team.
  ~Team();

  const Status &joined() const;
  /// Whether joining failed because the launcher started another number of
  /// ranks than the program has.
  bool isWrongSize() const;
  /// Whether joining failed for lack of memory.
  bool lacksMemory() const;
  int rank() const;
  /// For each program of the options, the variant that all ranks would run; 0,
  /// the default, if they differ.
  const std::vector<int32_t> &variants() const;
  /// Whether all ranks are on one host, and so have one clock.
  bool isOneHost() const;
  /// For people: "4 processes of one host, over shared memory".
  const std::string &description() const;

  /// The transport of a team that has joined.
  Transport &transport() const;

  /// Whether the caller should tell the user why the team failed. A cause that
  /// all ranks know is told by the first rank that still can. Ask before
  /// leave(), and again after it: then it may turn out that the ranks before
  /// this one cannot. True only once.
  bool mayTell();

  /// Ends this process's part in the team: waits until all others have come to
  /// their end; if the team has failed, for some seconds only. Returns the
  /// failure of the team. After one the process should exit with status 4, and
  /// soon, since MPI has not ended if it is used.
  Status leave();

private:
  struct State;

  explicit Team(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_BOOTSTRAP_H
