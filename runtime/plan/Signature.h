//===- Signature.h - The signature of a program -----------------*- C++ -*-===//
//
// The signature is a text in generated headers and in the C API. Programs that
// are called in the same way have equal signatures, whatever their schedules
// are.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SIGNATURE_H
#define CCN_RUNTIME_PLAN_SIGNATURE_H

#include "runtime/plan/Plan.h"

namespace ccn::runtime {

/// "adam (dp = 4): in g f16[8] local(dp), inout p f32[8], in lr f32, out s
/// f32".
std::string signatureOf(const std::string &program, const Plan &plan);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SIGNATURE_H
