//===- LinkShared.h - From object files to a shared object ------*- C++ -*-===//
//
// Links object files with LLD as a library.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_LINKSHARED_H
#define CCN_CODEGEN_CPU_LINKSHARED_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ccn::codegen {

/// Links relocatable ELF objects, which may use libm, to a shared object that
/// exports their global symbols. Fails if a symbol is undefined. Several
/// threads may call this; they take turns.
llvm::Expected<std::string> linkShared(llvm::ArrayRef<std::string> objects);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_LINKSHARED_H
