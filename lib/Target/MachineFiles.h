//===- MachineFiles.h - The machines in the compiler ------------*- C++ -*-===//

#ifndef CCN_LIB_TARGET_MACHINEFILES_H
#define CCN_LIB_TARGET_MACHINEFILES_H

#include "llvm/ADT/StringRef.h"

namespace ccn {

/// The text of a file in machines/, by its name with ".json"; empty if there is
/// no such file.
llvm::StringRef machineFile(llvm::StringRef fileName);

} // namespace ccn

#endif // CCN_LIB_TARGET_MACHINEFILES_H
