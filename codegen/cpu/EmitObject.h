//===- EmitObject.h - Machine code for the CPU ------------------*- C++ -*-===//
//
// How LLVM is asked for object files.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_EMITOBJECT_H
#define CCN_CODEGEN_CPU_EMITOBJECT_H

#include "lib/Target/Target.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace ccn::codegen {

/// Position independent, for Linux. Code that is rare is generated quickly.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const Target &target, bool isRare);

/// The object file of an optimized module; empty if the target has none.
std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Lets LLD run while this is there: LLD sets all options of LLVM, which are
/// global, to their defaults. Waits until no thread generates code, and gives
/// the options back to those that do. Without it, what a process compiles first
/// would have other instructions than what it compiles later.
class KeepOptions {
public:
  KeepOptions();
  ~KeepOptions();
  KeepOptions(const KeepOptions &) = delete;
  KeepOptions &operator=(const KeepOptions &) = delete;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_EMITOBJECT_H
