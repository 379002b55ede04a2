//===- RankLaunch.h - Who started this process as a rank --------*- C++ -*-===//
//
// Each launcher tells the processes that it starts which rank they are, in
// environment variables of its own. This reads them into one form, and decides
// which launcher counts if several have set theirs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_RANKLAUNCH_H
#define CCN_RUNTIME_LAUNCH_RANKLAUNCH_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::runtime {

enum class Launcher {
  Mpi,   ///< mpirun or another launcher of MPI, over which ranks meet
  Torch, ///< torchrun, or who sets the same variables
  Slurm, ///< srun, without MPI
};

/// For people: "MPI", "torchrun", "Slurm".
std::string_view name(Launcher launcher);
/// "a launcher of MPI", "torchrun", "Slurm".
std::string describe(Launcher launcher);

/// Where ranks meet that no MPI connects.
struct MeetingPlace {
  /// Where rank 0 listens: a name or an address of its host, and the ports that
  /// it tries, in this order.
  std::string host;
  std::vector<uint16_t> ports;
  /// Tells ranks of this job from those of others that use the same ports.
  std::string job;
  /// Whether all ranks are known to be on one host: then nobody listens to
  /// other hosts.
  bool isOneHost = false;
};

/// What a launcher told this process.
struct RankLaunch {
  Launcher launcher = Launcher::Mpi;
  int rank = 0;
  /// How many processes it started; MPI's may not say so.
  std::optional<int> ranks;
  /// The number of this process among those of its host, if that is known.
  std::optional<int> localRank;
  /// Not set by MPI.
  MeetingPlace place;
};

/// The value of an environment variable, null if it is not set.
using Variables = std::function<const char *(const char *)>;

/// Nothing if no launcher has started this process, or only this one. An error
/// names a variable that is missing, is not what it must be, or contradicts
/// another.
///
/// The launcher is, in this order:
/// 1. what CCN_LAUNCHER says: mpi, torchrun, slurm, or none; `auto` is as if it
///    were not set
/// 2. torchrun, if TORCHELASTIC_RUN_ID is set: it starts its workers itself,
///    whatever started torchrun
/// 3. MPI's, by OMPI_COMM_WORLD_RANK (Open MPI), PMI_RANK or PMIX_RANK (others,
///    and srun where it is set up to start MPI programs)
/// 4. who sets both RANK and WORLD_SIZE, as torchrun does
/// 5. srun, if SLURM_PROCID and SLURM_STEP_ID are set. (A batch script has the
///    former only. It is no rank.)
///
/// Where ranks meet:
/// - torchrun: at MASTER_ADDR. Its agent listens at MASTER_PORT if
///   TORCHELASTIC_USE_AGENT_STORE is True, with a protocol that is its own and
///   not documented, so rank 0 takes the first free port of the 16 after it;
///   else of the 16 from it on. If LOCAL_WORLD_SIZE is WORLD_SIZE they meet on
///   this host.
/// - Slurm: at the first host of SLURM_STEP_NODELIST, where rank 0 is unless
///   SLURM_HOSTFILE says otherwise. (SLURM_LAUNCH_NODE_IPADDR is where srun
///   runs, perhaps outside of the step.) One of 16 ports below 32768, where
///   Linux's own choices begin, that follow from job and step.
/// - CCN_MASTER_ADDR and CCN_MASTER_PORT, each if it is set, replace the host,
///   which may be one of several then, and the ports by this one.
Result<std::optional<RankLaunch>> detectLaunch(const Variables &variables);

/// The same of this process's environment.
Result<std::optional<RankLaunch>> detectLaunch();

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_RANKLAUNCH_H
