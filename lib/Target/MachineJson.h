//===- MachineJson.h - Fields of machines' files ----------------*- C++ -*-===//
//
// Functions that the readers of Machine.cpp and MachineRates.cpp share. They
// throw synth::JsonError.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_MACHINEJSON_H
#define CCN_LIB_TARGET_MACHINEJSON_H

#include "lib/Target/MachineRates.h"
#include "synth/Json.h"

namespace ccn {

/// Reads a text that is not empty.
std::string readFilled(const synth::JsonAt &at);
/// Reads a measured time or speed.
double readPositive(const synth::JsonAt &at);
/// Reads the field "rates".
MachineRates readRates(const synth::JsonAt &at);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINEJSON_H
