//===- NcclCommand.cpp - ccsynth nccl -------------------------------------===//
//
// Rings for NCCL's channels, and a table for its tuner.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/interop/Nccl.h"

#include <algorithm>
#include <cstdio>

namespace ccn::synth {

int runNccl(const NcclCommand &c) {
  // NCCL has no more channels.
  constexpr int maxChannels = 32;
  if (int code = checkOutputs(c.graphs, "graphs", c.tuner, "tuner"))
    return code;
  Result<Fabric> fabric = c.problem.fabric(true);
  if (!fabric)
    return fail(fabric.status());
  int most = c.channels > 0 ? c.channels : maxChannels;
  Result<Rings> rings = packRings(*fabric, most, c.seed);
  if (!rings)
    return fail(rings.status());
  auto machines = std::max<int>(1, static_cast<int>(rings->machines.size()));
  if (c.machine >= machines)
    return fail("--machine: expected 0 to " + std::to_string(machines - 1) +
                ", found " + std::to_string(c.machine));
  NcclChannels channels = channelsOf(*rings, *fabric, most);
  double speed = rings->units * fabric->unitGBps;
  size_t count = rings->rings.size();
  size_t channelCount = count * static_cast<size_t>(channels.copies);
  std::fprintf(stderr,
               "%zu ring%s of %.6g GB/s, %.6g in all of at most %.6g; %zu "
               "channel%s\n",
               count, count == 1 ? "" : "s", speed,
               speed * static_cast<double>(count),
               rings->mostUnits * fabric->unitGBps, channelCount,
               channelCount == 1 ? "" : "s");
  if (!c.graphs.empty())
    if (int code =
            emit(c.graphs, writeNcclGraphs(channels, *fabric, c.machine)))
      return code;
  if (c.tuner.empty())
    return Done;
  Result<std::string> table = writeNcclTuner(channels, *fabric);
  return table ? emit(c.tuner, *table) : fail(table.status());
}

} // namespace ccn::synth
