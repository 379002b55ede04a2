//===- GpuFault.cpp - What a kernel's fault means -------------------------===//
//
// A fault is read from memory that kernels write, so any number may be there.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuFault.h"

#include <sstream>

namespace ccn::runtime {

static std::string describeFailure(int code,
                                   std::span<const std::string> failures) {
  if (code == -1)
    return "an index is out of range of its table's rows";
  if (code > 0 && static_cast<size_t>(code) <= failures.size())
    return failures[static_cast<size_t>(code) - 1];
  return "failed with the unknown code " + std::to_string(code);
}

std::string describeFault(const CcnFault &fault,
                          std::span<const std::string> launches,
                          std::span<const std::string> failures,
                          double timeLimit) {
  std::ostringstream text;
  if (fault.launch >= 0 && static_cast<size_t>(fault.launch) < launches.size())
    text << "launch '" << launches[static_cast<size_t>(fault.launch)] << "': ";
  else
    text << "launch " << fault.launch << ": ";
  switch (fault.kind) {
  case CCN_TIMED_OUT:
    text << "waited " << timeLimit << " s for rank " << fault.peer << " (flag "
         << fault.flag << ": expected " << fault.expected << ", seen "
         << fault.seen << ")";
    break;
  case CCN_FAILED:
    text << describeFailure(fault.code, failures);
    break;
  case CCN_STOPPED:
    text << "was stopped";
    break;
  default:
    text << "unknown fault " << fault.kind;
  }
  return text.str();
}

std::string describeProgress(std::span<const std::optional<Progress>> ranks,
                             std::span<const std::string> launches) {
  std::ostringstream text;
  for (size_t rank = 0, next = 0; rank < ranks.size(); rank = next) {
    while (next < ranks.size() && ranks[next] == ranks[rank])
      ++next;
    if (!ranks[rank])
      continue;
    const Progress &progress = *ranks[rank];
    text << (text.tellp() > 0 ? "; " : "");
    if (next == rank + 1)
      text << "rank " << rank;
    else
      text << "ranks " << rank << " to " << next - 1;
    text << ": " << progress.given << " of " << launches.size()
         << " launches of run " << progress.run;
    if (!progress.isTraced)
      continue;
    text << ", " << progress.begun << " begun, " << progress.over << " over";
    if (progress.first < launches.size())
      text << ", not '" << launches[progress.first] << "'";
  }
  return text.str();
}

} // namespace ccn::runtime
