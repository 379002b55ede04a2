//===- CollectiveTime.h - How long collectives take -------------*- C++ -*-===//
//
// Predicts times for a topology, so that algorithms can be compared before
// anything runs. The alpha-beta model (synth/Schedule.h) is precise enough to
// choose an algorithm, not to promise a time.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_COSTMODEL_COLLECTIVETIME_H
#define CCN_LIB_COSTMODEL_COLLECTIVETIME_H

#include "dialect/ccn/Ccn.h"
#include "synth/Groups.h"
#include "synth/Schedule.h"

namespace ccn {

/// Predicted microseconds of a collective by a built-in algorithm, `one_shot`,
/// `two_shot` or `direct`, if each of the groups of GPUs runs it at once.
/// `bytes` is what the rank that has or gets most, has or gets. Of B bytes on n
/// ranks,
///
/// - one_shot: each rank sends B to each other;
/// - two_shot: each sends B / n to each other, twice, one after the other;
/// - direct: reduce_scatter, all_gather and all_to_all as two_shot, but once;
///   broadcast and reduce send B, gather and scatter B / n, between the root
///   and each other rank.
///
/// Ranks without a link between them send through others. With the protocol
/// `simple`, all ranks meet before and after: each sends each other rank an
/// empty message. Fails if two ranks are not connected.
Result<double> predictBuiltin(Algorithm algorithm, Protocol protocol,
                              Collective collective, int root,
                              const synth::Fabric &fabric,
                              const synth::Groups &groups, double bytes);

} // namespace ccn

#endif // CCN_LIB_COSTMODEL_COLLECTIVETIME_H
