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
                                   const synth::Fabric &fabric, double bytes) {
  std::vector<Message> all, toRoot, fromRoot;
  for (int src = 0; src < fabric.ranks; ++src)
    for (int dst = 0; dst < fabric.ranks; ++dst)
      if (src != dst)
        all.push_back({src, dst});
  for (int rank = 0; rank < fabric.ranks; ++rank)
    if (rank != root) {
      toRoot.push_back({rank, root});
      fromRoot.push_back({root, rank});
    }
  const std::vector<Message> *messages = &all;
  double part = bytes / fabric.ranks, times = 1;
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
