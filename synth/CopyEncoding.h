//===- CopyEncoding.h - Copying collectives as a Boolean model --*- C++ -*-===//
//
// The k-synchronous problem (SCCL, PPoPP'21) for a collective that combines
// nothing, with the rounds of every step given, and the schedule required to
// be invariant under a group. Variables exist for orbits of (chunk, edge) and
// (chunk, host) only, and only where distances allow them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_COPYENCODING_H
#define CCN_SYNTH_COPYENCODING_H

#include "synth/Sat.h"
#include "synth/Schedule.h"
#include "synth/Symmetry.h"

namespace ccn::synth {

class CopyEncoding {
public:
  /// All references must outlive the encoding. Chunks of what is forbidden
  /// have one source. The group must map the
  /// collective onto itself (chunkAction is not empty).
  CopyEncoding(const Fabric &fabric, const Collective &collective,
               const std::vector<int> &rounds, const Group &group,
               const Forbidden &forbidden);

  const Model &model() const { return m; }
  /// The schedule of an assignment, without sends that nobody needs.
  Schedule decode(const std::vector<char> &values) const;

private:
  int sendVar(int orbit, int step) const;
  int hasVar(int orbit, int step) const;
  void makeOrbits();
  void makeVariables();
  void makeArrivals();
  void makeCapacities();

  const Fabric &fabric;
  const Collective &coll;
  const std::vector<int> &rounds;
  const Group &group;
  const Forbidden &forbidden;
  int steps;
  Model m;
  /// The orbit of (chunk, edge) and of (chunk, host), by its least member.
  std::vector<int> edgeOrbit, hostOrbit;
  /// When a chunk can first be at a host, and how long from there to where it
  /// is needed; `never` where it cannot.
  std::vector<int> earliest, remaining;
  /// First variable of an orbit (-1: none) and its first step.
  std::vector<int> sendBase, sendFrom, sendTo, hasBase;
};

/// Removes copies that are neither needed nor passed on.
void dropUselessSends(Schedule &schedule);

} // namespace ccn::synth

#endif // CCN_SYNTH_COPYENCODING_H
