//===- FindTrees.h - Engines of find with linear programs -------*- C++ -*-===//
//
// Two engines of findSchedule: trees weighted by linear programs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_FINDTREES_H
#define CCN_SYNTH_FINDTREES_H

#include "synth/Find.h"

namespace ccn::synth {

/// "3 chunks".
inline std::string counted(int count, const std::string &one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Trees weighted by a linear program, whose chunks follow each other as soon
/// as links are free. Raises the bound of an all_reduce, too.
void findWeightedTrees(FindSearch &search);

/// Trees with steps, over the ways that trees without steps use.
void findTimedTrees(FindSearch &search);

} // namespace ccn::synth

#endif // CCN_SYNTH_FINDTREES_H
