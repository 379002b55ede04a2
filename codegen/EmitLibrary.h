//===- EmitLibrary.h - Packages as libraries --------------------*- C++ -*-===//
//
// A static library that holds a package, for programs that are linked rather
// than loaded from files.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_EMITLIBRARY_H
#define CCN_CODEGEN_EMITLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ccn::codegen {

/// The bytes of an archive with one object file, for x86-64 and position
/// independent, that defines
///
///   const unsigned char PREFIX_package[];    (the package)
///   const uint64_t PREFIX_package_size;
///
/// as emitHeader declares them. Equal packages give equal bytes.
llvm::Expected<std::string> emitLibrary(llvm::StringRef prefix,
                                        llvm::StringRef package);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_EMITLIBRARY_H
