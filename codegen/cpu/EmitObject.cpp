//===- EmitObject.cpp - Machine code for the CPU --------------------------===//
//
// LLVM's code generator.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/EmitObject.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"

#include <shared_mutex>

namespace ccn::codegen {

namespace {

/// Held by all who generate code, or by the one who links.
std::shared_mutex optionsMutex;

/// Loop strength reduction takes a third of the time of code generation, and
/// x86 addresses do without. Only a command line option can say so.
void setOptions() {
  if (llvm::cl::Option *option =
          llvm::cl::getRegisteredOptions().lookup("disable-lsr"))
    option->addOccurrence(0, "disable-lsr", "true");
}

} // namespace

KeepOptions::KeepOptions() { optionsMutex.lock(); }

KeepOptions::~KeepOptions() {
  setOptions();
  optionsMutex.unlock();
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const Target &target, bool isRare) {
  // Not std::call_once: compiled for executables, it makes libccn_compiler
  // refer to libstdc++'s thread-local variables in a way that the loader
  // refuses where another library, such as PyTorch, has used them.
  [[maybe_unused]] static const bool isInitialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    setOptions();
    return true;
  }();
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target *found =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!found)
    return llvm::createStringError("cannot generate code for this CPU: " +
                                   message);
  llvm::TargetOptions options;
  // The interpreter rounds each operation.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      triple, llvm::StringRef(cpuName(target.cpu)), "", options,
      llvm::Reloc::PIC_, std::nullopt,
      isRare ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Default));
}

std::string emitObject(llvm::Module &module, llvm::TargetMachine &machine) {
  std::shared_lock<std::shared_mutex> lock(optionsMutex);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return {};
  passes.run(module);
  return std::string(object.data(), object.size());
}

} // namespace ccn::codegen
