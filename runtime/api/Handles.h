//===- Handles.h - The state behind the C API's handles ---------*- C++ -*-===//
//
// Handles share ownership of what they need, so they may be released in any
// order. No exception crosses the API: guarded() turns exceptions into
// statuses.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_API_HANDLES_H
#define CCN_RUNTIME_API_HANDLES_H

#include "runtime/api/RankCode.h"
#include "runtime/api/ccn.h"
#include "runtime/cuda/HostExchange.h"
#include "runtime/launch/Bootstrap.h"
#include "runtime/team/SymmetricHeap.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ccn::runtime::api {

/// Stores the text for ccn_last_error, and returns the status.
ccn_status fail(ccn_status status, std::string_view text);
inline ccn_status fail(ccn_status status, const Status &why) {
  return fail(status, why.message());
}
template <typename... Parts> ccn_status wrong(const Parts &...parts) {
  return fail(CCN_ERROR_ARGUMENT, error(parts...));
}

/// The number of an enumerator that a caller has passed; in C it may be any
/// number.
template <typename Enum> int numberOf(const Enum &value) {
  int number;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

/// Stores the text of the exception that is being handled, and returns its
/// status.
ccn_status failByException();

/// Calls body(), and turns what it throws into a status.
template <typename Body> ccn_status guarded(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    return failByException();
  }
}

/// A package. Once it was checked and loaded, nothing in it changes.
struct LoadedProgram {
  /// It has variants only as long as one may still be chosen.
  Package package;
  /// The number of the variant that `package.plan` is, and the variants that
  /// were measured to be the fastest here.
  size_t variant = 0;
  TunedVariants tuned;
  RankCode code;
  std::string signature;
  std::vector<ccn_mesh_axis> mesh;
  /// The bytes of symmetric memory that an executor needs, whichever variant it
  /// runs.
  int64_t symmetricBytes = 0;

  /// Chooses a variant. Called before the package is loaded.
  void take(size_t number) {
    if (number > 0)
      swapVariant(package, number);
    variant = number;
    package.variants.clear();
  }
  /// Checks the package and loads its code.
  ccn_status load(bool onGpus);

  bool isOnGpus() const { return code.gpu; }
  int ranks() const { return static_cast<int>(package.plan.ranks.size()); }
  /// An error if there is no argument with that index.
  Status checkIndex(int index) const;
  /// Whether both run the same package, which several threads may have loaded
  /// separately.
  bool isSame(const LoadedProgram &other) const {
    return package.hash == other.package.hash && variant == other.variant &&
           isOnGpus() == other.isOnGpus();
  }
};

/// The state of a team: of ranks that are threads of this process, or of one
/// rank that is this process.
struct TeamState {
  struct Rank {
    /// Set while a call for the rank is in progress.
    std::atomic<bool> isBusy = false;
    /// Only that call may use the fields below.
    bool hasLeft = false;
    int executors = 0;
    /// The exchange with which ranks meet; made when it is first needed.
    std::unique_ptr<HostExchange> exchange;
    /// For each entry of `programs`, whether the rank has made its executor.
    std::vector<bool> isUsed;
  };

  /// The programs of which ranks may make executors; and, for each, the variant
  /// that the team has chosen, which the executors run.
  std::vector<std::shared_ptr<const LoadedProgram>> programs, chosen;
  double timeLimit = 60;
  /// What computes matrix products on GPUs.
  ProductChoice products = ProductChoice::Auto;
  /// How many executors of a rank may have runs in progress at once on GPUs.
  std::atomic<int> runsAtOnce = 1;
  GpuTransport gpuTransport = GpuTransport::Auto;
  std::unique_ptr<SymmetricHeap> heap;
  std::unique_ptr<Team> launched;
  /// Whether this process has joined a team of which it is the only rank.
  bool isAlone = false;
  /// For a process that has joined: its number among the ranks of its host, if
  /// known.
  std::optional<int> localRank;
  std::vector<Rank> ranks;

  /// The bytes of symmetric memory of the exchange with which ranks meet.
  static int64_t exchangeBytes(int ranks);

  Transport &transport() const {
    return heap ? static_cast<Transport &>(*heap) : launched->transport();
  }
  /// -1 if all ranks are threads of this process.
  int ownRank() const { return launched ? launched->rank() : isAlone ? 0 : -1; }
  /// An error if this process does not run that rank.
  Status checkRank(int rank) const;
  /// The exchange with which ranks meet, for a call of `rank`. All ranks call
  /// this at the same point.
  Result<HostExchange *> exchangeOf(int rank);
};

/// Marks that a call for a rank is in progress. False if another one is.
class RankCall {
public:
  RankCall(TeamState &team, int rank)
      : flag(team.ranks[static_cast<size_t>(rank)].isBusy),
        isMine(!flag.exchange(true, std::memory_order_acquire)) {}
  ~RankCall() {
    if (isMine)
      flag.store(false, std::memory_order_release);
  }
  RankCall(const RankCall &) = delete;
  RankCall &operator=(const RankCall &) = delete;

  explicit operator bool() const { return isMine; }
  static ccn_status refuse(int rank) {
    return wrong("another call for rank ", rank, " is in progress");
  }

private:
  std::atomic<bool> &flag;
  bool isMine;
};

} // namespace ccn::runtime::api

struct ccn_program {
  std::shared_ptr<const ccn::runtime::api::LoadedProgram> loaded;
};

struct ccn_team {
  std::shared_ptr<ccn::runtime::api::TeamState> state;
};

#endif // CCN_RUNTIME_API_HANDLES_H
