//===- ScheduleImport.h - Schedules in any format ---------------*- C++ -*-===//
//
// Reads a schedule in our format, an MSCCL program or an MSCCL++ plan.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_INTEROP_SCHEDULEIMPORT_H
#define CCN_SYNTH_INTEROP_SCHEDULEIMPORT_H

#include "synth/Schedule.h"

namespace ccn::synth {

/// Whether a text is XML, by its first character.
bool isXml(std::string_view text);

/// Our JSON, MSCCL's XML or an MSCCL++ plan, told by their content. An error
/// says where the text is wrong, or why a program is no schedule; whether the
/// schedule is right is left to check().
Result<Schedule> importSchedule(std::string_view text,
                                const std::string &where);

} // namespace ccn::synth

#endif // CCN_SYNTH_INTEROP_SCHEDULEIMPORT_H
