//===- Passes.h - Passes over ccn programs ----------------------*- C++ -*-===//
//
// The generated declarations of the passes in Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TRANSFORMS_PASSES_H
#define CCN_LIB_TRANSFORMS_PASSES_H

#include "dialect/ccn/Ccn.h"
#include "lib/Target/PassOptions.h"

#include "mlir/Pass/Pass.h"

namespace ccn {

#define GEN_PASS_DECL
#include "lib/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "lib/Transforms/Passes.h.inc"

} // namespace ccn

#endif // CCN_LIB_TRANSFORMS_PASSES_H
