//===- ScheduleImport.cpp - Schedules in any format -----------------------===//
//
// Tells the formats apart and reads each by its own reader.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/ScheduleImport.h"

#include "synth/interop/Msccl.h"
#include "synth/interop/Plan.h"

using namespace ccn;
using namespace ccn::synth;

bool ccn::synth::isXml(std::string_view text) {
  size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == '<';
}

/// The schedule that a program of another format is.
template <typename Program>
static Result<Schedule> convert(const Result<Program> &program,
                                const std::string &where,
                                Result<Schedule> (*import)(const Program &)) {
  if (!program)
    return program.status();
  Result<Schedule> schedule = import(*program);
  if (!schedule)
    return error(where + ": " + schedule.message());
  return schedule;
}

Result<Schedule> ccn::synth::importSchedule(std::string_view text,
                                            const std::string &where) {
  if (isPlan(text))
    return convert(parsePlan(text, where), where, importPlan);
  if (isXml(text))
    return convert(parseMsccl(text, where), where, importMsccl);
  return parseSchedule(text, where);
}
