//===- CollectiveTime.cpp - How long collectives take ---------------------===//
//
// Models built-in algorithms as messages that start at the same time.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CollectiveTime.h"

using namespace ccn;
using synth::Message;

Result<double> ccn::predictBuiltin(Algorithm algorithm, Protocol protocol,
                                   Collective collective, int root,
                                   const synth::Fabric &fabric,
                                   const synth::Groups &groups, double bytes) {
  std::vector<Message> all, toRoot, fromRoot;
  for (const std::vector<int> &group : groups) {
    int itsRoot = group[static_cast<size_t>(root)];
    for (int src : group)
      for (int dst : group)
        if (src != dst)
          all.push_back({src, dst});
    for (int rank : group)
      if (rank != itsRoot) {
        toRoot.push_back({rank, itsRoot});
        fromRoot.push_back({itsRoot, rank});
      }
  }
  const std::vector<Message> *messages = &all;
  double part = bytes / static_cast<double>(groups.front().size()), times = 1;
  switch (collective) {
  case Collective::all_reduce:
    if (algorithm == Algorithm::one_shot)
      part = bytes;
    else
      times = 2;
    break;
  case Collective::broadcast:
    messages = &fromRoot;
    part = bytes;
    break;
  case Collective::scatter:
    messages = &fromRoot;
    break;
  case Collective::reduce:
    messages = &toRoot;
    part = bytes;
    break;
  case Collective::gather:
    messages = &toRoot;
    break;
  default:
    break;
  }
  Result<double> moved = synth::simulateMessages(*messages, fabric, part);
  if (!moved)
    return moved;
  double time = times * *moved;
  if (protocol == Protocol::ll || protocol == Protocol::lamport)
    return time;
  Result<double> meeting = synth::simulateMessages(all, fabric, 0);
  if (!meeting)
    return meeting;
  return time + 2 * *meeting;
}
