//===- ShareArguments.h - Arguments that other ranks access -----*- C++ -*-===//
//
// Plans copy what others read from an argument into symmetric memory, and what
// others have written from there into an argument. Where ranks can address each
// other's arguments, as GPUs of one host can, these copies are left out.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H
#define CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H

#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// Puts arguments in the place of symmetric buffers that are nothing but copies
/// of them, and drops the copies. Views of these arguments may then be in
/// another's memory. Returns which arguments ranks access of each other, by
/// number.
///
/// A buffer is a copy of an input if all that is written to it is copied from
/// the same place of the argument, which nobody writes; and of an output if all
/// of it is copied there, which is all that is written to the argument, and
/// what a rank reads there, anyone writes only afterwards: after a barrier or a
/// signal, or in a later launch (PartOrder.h), or in the same loop element by
/// element. Nobody writes into a rank's argument before it has come to the run,
/// as plans have ranks meet before they write into others' memory, nor after
/// that rank's last launch, as they meet afterwards too.
std::vector<int> shareArguments(runtime::Plan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_SHAREARGUMENTS_H
