//===- EmitLayouts.h - A program's text with its layouts --------*- C++ -*-===//
//
// --emit layouts: what the compiler has inferred, where the user reads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H
#define CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H

#include "lib/Frontend/Lower.h"

namespace ccn {

/// The text, with the type of each value that a `let` of one of the module's
/// programs names as a comment at the end of its line: sizes and layouts as
/// written. `module` has the programs that phase parse has made of the source,
/// which is `.ccn` text without errors, under `options`.
std::string textWithLayouts(const SourceFile &source,
                            const frontend::LowerOptions &options,
                            mlir::ModuleOp module);

} // namespace ccn

#endif // CCN_TOOLS_CCCOMPILE_EMITLAYOUTS_H
