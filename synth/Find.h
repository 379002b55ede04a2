//===- Find.h - The fastest schedule for a size -----------------*- C++ -*-===//
//
// Runs every engine that fits a collective and a machine, side by side on all
// cores; simulates what they find for one size of the buffer and keeps the
// fastest, with how far it is from what no schedule can beat.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FIND_H
#define CCN_SYNTH_FIND_H

#include "synth/Groups.h"
#include "synth/Schedule.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ccn::synth {

/// The fastest of one engine.
struct FoundSchedule {
  /// "trees", and how: "trees, 8 pieces".
  std::string engine, method;
  /// Predicted microseconds: the better of the two simulations.
  double us = 0;
  Schedule schedule;
  /// The fabric that the schedule's edges belong to.
  std::shared_ptr<const Fabric> fabric;
};

/// What proves a bound: see Certificate.h.
struct BoundProof {
  std::vector<int> cut = {};
  bool countsSends = false;
  std::vector<int64_t> lengths = {}, prices = {};
  int latencyFrom = 0, latencyTo = 0;
};

struct FindProgress {
  double seconds = 0;
  /// Engines that run, in their order; and the best so far, if there is one.
  std::vector<std::string> running;
  std::string bestMethod;
  double bestUs = 0, boundUs = 0;
};

struct FindOptions {
  /// Of the buffer, as Collective::bufferChunks defines it.
  double bytes = 1e6;
  /// The engines' limits too. A search without a deadline ends when all engines
  /// have.
  Limits limits;
  /// Engines that run at once; 0: all, which share the cores.
  int threads = 0;
  uint64_t seed = 1;
  /// The groups that the collective is of, if it is of groups, and what each of
  /// them does.
  Groups groups;
  CollectiveKind groupKind = CollectiveKind::Custom;
  /// Called on the caller's thread several times a second.
  std::function<void(const FindProgress &)> progress;
};

struct FindResult {
  /// The best of each engine that found something: the one to take, which is
  /// the fastest, or of those that differ by 0.02 % that with the fewest sends;
  /// then the others by their times.
  std::vector<FoundSchedule> found;
  /// No schedule takes less, in microseconds, and why.
  double boundUs = 0;
  std::string bound;
  BoundProof proof;
  /// Whether engines were ended by the limits.
  bool outOfTime = false;
  /// Whether some have not yet ended even so; they end with the program, which
  /// should then leave without destroying what they may use (std::_Exit).
  bool stillRunning = false;
};

/// `collectiveOf(C)` is the collective with C chunks a node, which may fail for
/// some C. The search ends at once when a schedule reaches the bound, up to
/// 0.02 %. Every schedule found has passed its check; one that does not is a
/// bug and makes this fail.
Result<FindResult>
findSchedule(const Fabric &fabric,
             const std::function<Result<Collective>(int)> &collectiveOf,
             const FindOptions &options);

/// Which send of a step goes first where several could is free, and pays: the
/// schedule with the sends of all or some steps in another order, if one of
/// `tries` takes at least 0.1 % less time.
std::optional<Schedule> fasterOrder(const Schedule &schedule,
                                    const Fabric &fabric, double bytes,
                                    int tries, uint64_t seed,
                                    const Limits &limits);

/// What findSchedule's engines share.
class FindSearch;

/// One engine: its name and what it does, which is to offer schedules.
struct FindEngine {
  std::string name;
  std::function<void(FindSearch &)> run;
  /// Of those that take all the time there is, others find more for this size.
  bool givesWay = false;
};

/// The engines that fit a collective of so many bytes, quick ones first, for
/// that many cores.
std::vector<FindEngine> findEngines(const Fabric &fabric,
                                    const Collective &collective, double bytes,
                                    unsigned cores);

class FindSearch {
public:
  virtual ~FindSearch() = default;
  /// Checks and simulates a schedule whose edges belong to `machine`, and keeps
  /// it if it is the engine's fastest. Edges that are missing are added.
  /// Returns its time, or a negative number if it does not fit the machine.
  virtual double offer(const std::string &engine, const std::string &method,
                       Schedule schedule,
                       const std::shared_ptr<const Fabric> &machine) = 0;
  /// Raises the bound if this is more.
  virtual void raiseBound(double us, const std::string &why,
                          BoundProof proof) = 0;
  /// The fastest schedule so far, unless it takes `knownUs` or has more sends.
  virtual std::optional<FoundSchedule> fastest(double knownUs,
                                               int mostSends) = 0;
  /// Whether other engines may still find a faster one.
  virtual bool othersRun() = 0;
  /// The time of the fastest schedule so far; 0: none yet.
  virtual double bestUs() = 0;

  std::shared_ptr<const Fabric> fabric;
  /// With the fewest chunks there are.
  Collective collective;
  /// How many chunks a node these are, of which there are only multiples.
  int granule = 1;
  std::function<Result<Collective>(int)> collectiveOf;
  /// As in FindOptions.
  double bytes = 0;
  uint64_t seed = 1;
  Groups groups;
  CollectiveKind groupKind = CollectiveKind::Custom;
  Limits limits;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_FIND_H
