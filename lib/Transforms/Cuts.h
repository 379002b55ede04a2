//===- Cuts.h - Cuts values as early as possible ----------------*- C++ -*-===//
//
// Operations use slices of operands that are cut along fewer axes than they
// are, and programs extract ranges. Both cuts are moved as early as this costs
// nothing: a value of which only parts are needed is then only computed in
// parts. All decisions depend only on global shapes and layouts, so that all
// ranks do the same.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_CUTS_H
#define CCN_LIB_TRANSFORMS_CUTS_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// Makes explicit the slices that operations of a global program take of their
/// operands: one slice operation for all users of the same slice in a block.
void sliceOperands(ProgramOp program);

/// If only parts of an elementwise operation's result are used, and they are
/// together no larger than the result, cuts its operands instead of the result.
/// A division of integers is not changed, as it may fail.
void sinkCuts(ProgramOp program);

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_CUTS_H
