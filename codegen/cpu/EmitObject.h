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

/// The object file of an optimized module; empty if LLVM cannot generate object
/// files for the target.
std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine);

/// LLD may run only while such an object exists, since LLD resets LLVM's
/// options, which are global. The constructor waits until no thread generates
/// code; the destructor sets our options again. Otherwise code that a process
/// compiles later would have other instructions than the code that it compiles
/// first.
class KeepOptions {
public:
  KeepOptions();
  ~KeepOptions();
  KeepOptions(const KeepOptions &) = delete;
  KeepOptions &operator=(const KeepOptions &) = delete;
};

} // namespace ccn::codegen

#endif // CCN_CODEGEN_CPU_EMITOBJECT_H
