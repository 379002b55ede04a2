//===- GroupSchedules.h - Schedules of groups of ranks ----------*- C++ -*-===//
//
// A collective along some axes of a mesh runs in several groups of ranks at
// once, all by one schedule in which a rank is a position in its group. Here is
// the machine that such a schedule is looked for on, and what all groups
// together send.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SYNTHESIS_GROUPSCHEDULES_H
#define CCN_LIB_SYNTHESIS_GROUPSCHEDULES_H

#include "synth/Groups.h"
#include "synth/Schedule.h"

namespace ccn {

/// Whether the groups are all ranks of the fabric in their order, as one group.
bool isWhole(const synth::Groups &groups, const synth::Fabric &fabric);

/// A machine with a GPU for each position in a group. It has the links of one
/// of the groups, the one with the least capacity, and edges only between
/// positions that are joined in all groups. A link that several groups use
/// counts as shared equally among them. Fails where a link would be cut into
/// parts that are too small.
Result<synth::Fabric> fabricOfGroups(const synth::Fabric &fabric,
                                     const synth::Groups &groups);

/// What all groups send if each runs the schedule, for simulations on a machine
/// with so many hosts: as a collective of its own, whose buffer is a group's.
synth::Schedule inGroups(const synth::Schedule &schedule,
                         const synth::Groups &groups, int hosts);

} // namespace ccn

#endif // CCN_LIB_SYNTHESIS_GROUPSCHEDULES_H
