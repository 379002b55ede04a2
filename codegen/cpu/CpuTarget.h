//===- CpuTarget.h - What machine code is generated for ---------*- C++ -*-===//
//
// The CPUs, and how LLVM is asked for object files for them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_CPU_CPUTARGET_H
#define CCN_CODEGEN_CPU_CPUTARGET_H

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>
#include <vector>

namespace ccn::codegen {

/// The levels of the x86-64 psABI.
enum class CpuLevel : uint8_t { X86_64, X86_64_V3, X86_64_V4 };
struct CpuTarget {
  CpuLevel level = CpuLevel::X86_64;

  /// The highest level that this machine has.
  static CpuTarget host();
};

/// What a CPU must have to execute code for the target, by the names in
/// /proc/cpuinfo.
std::vector<std::string> requiredFeatures(const CpuTarget &target);

/// Position independent, for Linux. Code that is rare is generated quickly.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const CpuTarget &target, bool isRare);

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

#endif // CCN_CODEGEN_CPU_CPUTARGET_H
