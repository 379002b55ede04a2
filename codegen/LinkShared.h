//===- LinkShared.h - From an object file to a shared object ----*- C++ -*-===//
//
// LLD as a library.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_LINKSHARED_H
#define CCN_CODEGEN_LINKSHARED_H

#include "llvm/Support/Error.h"

#include <string>

namespace ccn::codegen {

/// Links a relocatable ELF object, which may use libm, to a shared object that
/// exports its global symbols. Fails if a symbol is defined nowhere. May be
/// called by several threads, which take turns.
llvm::Expected<std::string> linkShared(llvm::StringRef object);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_LINKSHARED_H
