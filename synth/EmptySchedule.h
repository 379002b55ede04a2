//===- EmptySchedule.h - Schedules without steps ----------------*- C++ -*-===//
//
// What every engine begins with.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_EMPTYSCHEDULE_H
#define CCN_SYNTH_EMPTYSCHEDULE_H

#include "synth/Fabric.h"
#include "synth/Schedule.h"

namespace ccn::synth {

/// A schedule of the collective on this machine, without steps.
inline Schedule emptySchedule(const Collective &collective,
                              const Fabric &fabric) {
  Schedule schedule;
  schedule.collective = collective;
  schedule.topology = fabric.topology.name;
  schedule.hosts = fabric.hosts;
  return schedule;
}

} // namespace ccn::synth

#endif // CCN_SYNTH_EMPTYSCHEDULE_H
