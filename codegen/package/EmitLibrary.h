//===- EmitLibrary.h - Packages as libraries --------------------*- C++ -*-===//
//
// A static library that holds a package, for programs that are linked rather
// than loaded from files.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PACKAGE_EMITLIBRARY_H
#define CCN_CODEGEN_PACKAGE_EMITLIBRARY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ccn::codegen {

/// The bytes of an archive with one object file, for x86-64 and position
/// independent, that defines
///
///   const unsigned char PREFIX_package[];    (the package)
///   const uint64_t PREFIX_package_size_TAG;
///
/// as emitHeader declares them, whose signatureTag the tag is: who includes the
/// headers of two programs of one prefix cannot link, as one of the libraries
/// would lack the one's tag, and two would both define the package. Equal
/// packages give equal bytes.
llvm::Expected<std::string> emitLibrary(llvm::StringRef prefix,
                                        llvm::StringRef tag,
                                        llvm::StringRef package);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PACKAGE_EMITLIBRARY_H
