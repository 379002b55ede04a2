//===- RankNeeds.h - Whether ranks have the memory they need ----*- C++ -*-===//
//
// Before ranks that are processes take memory, each tells the others how much,
// and what is free where it runs. All then come to the same decision, so that
// none takes memory while another refuses.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_LAUNCH_RANKNEEDS_H
#define CCN_RUNTIME_LAUNCH_RANKNEEDS_H

#include "runtime/base/FreeMemory.h"

namespace ccn::runtime {

/// What one rank tells the others. Plain bytes.
struct RankNeeds {
  /// Its block of symmetric memory, and all else that it will take.
  int64_t symmetric = 0, other = 0;
  FreeMemory free;
};

/// Whether there is room for all: for the ranks of a machine, and of a control
/// group, together, and within each process's own limits. `isShared`: symmetric
/// memory is one file of all ranks, which are on one host; else each has its
/// own block. Ranks that know the same say the same.
Status checkNeeds(const std::vector<RankNeeds> &all, bool isShared);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_LAUNCH_RANKNEEDS_H
