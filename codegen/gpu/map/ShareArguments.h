//===- ShareArguments.h - Arguments that other ranks access -----*- C++ -*-===//
//
// Plans copy arguments that other ranks read into symmetric memory, and results
// that other ranks have written from symmetric memory into arguments. If ranks
// can address each other's arguments, as GPUs of one host can, these copies are
// left out.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H
#define CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H

#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// Replaces symmetric buffers that are only copies of arguments by these
/// arguments, and removes the copies. Views of these arguments may then be in
/// another rank's memory. Returns the numbers of the arguments that ranks
/// access in each other's memory.
///
/// A buffer is a copy of an input if everything written to it is copied from
/// the same place of the argument, and no part writes the argument.
///
/// A buffer is a copy of an output if the argument is completely copied from
/// the same places of it, and nothing else writes the argument. Also, if a rank
/// reads elements of the argument, every write of the same elements of the
/// buffer must come later: after a barrier or a signal, in a later launch
/// (PartOrder.h), or in the same loop, element by element.
///
/// No rank writes into another rank's argument before that rank has begun the
/// run or after its last launch, since in a plan ranks meet before and after
/// they write into other ranks' memory.
std::vector<int> shareArguments(runtime::Plan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H
