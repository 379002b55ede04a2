//===- EmitLayouts.h - A program's text with its layouts --------*- C++ -*-===//
//
// --emit layouts: what the compiler has inferred, where the user reads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H
#define CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H

#include "lib/Frontend/Source.h"

#include "mlir/IR/BuiltinOps.h"

namespace ccn {

/// The text, with the type of each value that a `let` of one of the module's
/// programs names as a comment at the end of its line: sizes and layouts as
/// written, and where the value has none of its own, as of another name, none.
/// `module` is what phase parse has made of the source, which is `.ccn` text
/// without errors.
std::string textWithLayouts(const SourceFile &source, mlir::ModuleOp module);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H
