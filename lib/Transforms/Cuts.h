//===- Cuts.h - Where values are cut ----------------------------*- C++ -*-===//
//
// Operations take slices of what is less cut than they are, and ranges that
// programs name. Both are cut as early as costs nothing: what is only needed in
// parts is then only made in parts. All follows from global shapes and layouts,
// so that all ranks do the same.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_CUTS_H
#define CCN_LIB_TRANSFORMS_CUTS_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// Makes the slices that operations of a global program take for free
/// operations of their own: of what stands in a block, one for all that take
/// it there.
void sliceOperands(ProgramOp program);

/// Cuts the operands of elementwise operations whose results are only used in
/// parts, rather than the results, if the parts together are no more than the
/// whole. A division of integers stays, as it may fail.
void sinkCuts(ProgramOp program);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_CUTS_H
