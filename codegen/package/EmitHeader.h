//===- EmitHeader.h - A program's functions for C and C++ -------*- C++ -*-===//
//
// A header with functions that have a program's own parameters, on top of the
// runtime's C API (runtime/api/ccn.h), which takes addresses only.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PACKAGE_EMITHEADER_H
#define CCN_CODEGEN_PACKAGE_EMITHEADER_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// What names in C of a program begin with, unless it is told otherwise: its
/// own name, or another if that could give names of the C API.
std::string cPrefix(const std::string &program);

/// 16 hexadecimal digits that programs of other signatures have others of.
std::string signatureTag(const std::string &program, const runtime::Plan &plan);

/// The text of the header, in which all names begin with `prefix`. Tensors are
/// pointers to the rank's part, scalars that are only read are values. An error
/// if a name is none that C can have, as that of a program in MLIR may be.
Result<std::string> emitHeader(const std::string &program,
                               const runtime::Plan &plan,
                               const std::string &prefix);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PACKAGE_EMITHEADER_H
