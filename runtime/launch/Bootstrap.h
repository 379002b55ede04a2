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
/// default, where none was.
struct TunedVariants {
  /// Where all ranks are on one host, and where they are on several, to which
  /// GPUs send messages.
  int32_t oneHost = 0, severalHosts = 0;
};

struct TeamOptions {
  /// Who started this process, as which rank.
  RankLaunch launch;
  /// How many ranks the program has.
  int ranks = 1;
  /// The symmetric memory of each, and what this one will take besides.
  int64_t bytesPerRank = 0, otherBytes = 0;
  /// What is run, the same on all ranks: such as a hash of the package. At most
  /// RunIdentity::maxContent characters.
  std::string content;
  /// Of each program what this rank would run; of those after the first
  /// mostPrograms it is taken to be 0.
  std::vector<TunedVariants> variants;
  Environment environment;

  static constexpr size_t mostPrograms = 64;
};

class Team {
public:
  /// Makes this process part of the team of all processes that were launched.
  /// joined() says whether it has. A failure names the ranks that are missing
  /// or that run something else, or for which there is not enough memory;
  /// nothing has been taken of it then.
  static std::unique_ptr<Team> join(const TeamOptions &options);

  /// Leaves.
  ~Team();

  const Status &joined() const;
  /// Whether it has not because another number of ranks was launched than the
  /// program has.
  bool isWrongSize() const;
  /// Whether it has not because there is not enough memory.
  bool lacksMemory() const;
  int rank() const;
  /// Of each program of the options the variant that all ranks would run; 0,
  /// the default, where they differ.
  const std::vector<int32_t> &variants() const;
  /// Whether all ranks are on one host, and so have one clock.
  bool isOneHost() const;
  /// For people: "4 processes of one host, over shared memory".
  const std::string &description() const;

  /// Of a team that has joined.
  Transport &transport() const;

  /// Whether the caller should tell the user why the team failed: what all know
  /// of is told by the first rank that still can. To be asked before leave(),
  /// and after it again, when it may have turned out that the ranks before this
  /// one cannot. True once.
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
