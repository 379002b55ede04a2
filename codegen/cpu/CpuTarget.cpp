//===- CpuTarget.cpp - What machine code is generated for -----------------===//
//
// The table of features, and LLVM's code generator.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuTarget.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>
#include <shared_mutex>

namespace ccn::codegen {

namespace {

struct Feature {
  CpuLevel level;
  const char *llvmName, *procName;
};

/// What each level of the x86-64 psABI adds to the one before. Some names of
/// the kernel's are older: pni is SSE3, abm has LZCNT.
constexpr Feature features[] = {
    {CpuLevel::X86_64_V3, "cx16", "cx16"},
    {CpuLevel::X86_64_V3, "sahf", "lahf_lm"},
    {CpuLevel::X86_64_V3, "popcnt", "popcnt"},
    {CpuLevel::X86_64_V3, "sse3", "pni"},
    {CpuLevel::X86_64_V3, "ssse3", "ssse3"},
    {CpuLevel::X86_64_V3, "sse4.1", "sse4_1"},
    {CpuLevel::X86_64_V3, "sse4.2", "sse4_2"},
    {CpuLevel::X86_64_V3, "avx", "avx"},
    {CpuLevel::X86_64_V3, "avx2", "avx2"},
    {CpuLevel::X86_64_V3, "bmi", "bmi1"},
    {CpuLevel::X86_64_V3, "bmi2", "bmi2"},
    {CpuLevel::X86_64_V3, "f16c", "f16c"},
    {CpuLevel::X86_64_V3, "fma", "fma"},
    {CpuLevel::X86_64_V3, "lzcnt", "abm"},
    {CpuLevel::X86_64_V3, "movbe", "movbe"},
    {CpuLevel::X86_64_V4, "avx512f", "avx512f"},
    {CpuLevel::X86_64_V4, "avx512bw", "avx512bw"},
    {CpuLevel::X86_64_V4, "avx512cd", "avx512cd"},
    {CpuLevel::X86_64_V4, "avx512dq", "avx512dq"},
    {CpuLevel::X86_64_V4, "avx512vl", "avx512vl"},
};

llvm::StringRef cpuName(CpuLevel level) {
  switch (level) {
  case CpuLevel::X86_64:
    return "x86-64";
  case CpuLevel::X86_64_V3:
    return "x86-64-v3";
  case CpuLevel::X86_64_V4:
    return "x86-64-v4";
  }
  llvm_unreachable("all levels are handled");
}

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

CpuTarget CpuTarget::host() {
  llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
  CpuTarget target{CpuLevel::X86_64_V4};
  for (const Feature &feature : features)
    if (!has.lookup(feature.llvmName))
      target.level = std::min(target.level, feature.level == CpuLevel::X86_64_V4
                                                ? CpuLevel::X86_64_V3
                                                : CpuLevel::X86_64);
  return target;
}

std::vector<std::string> requiredFeatures(const CpuTarget &target) {
  std::vector<std::string> names;
  for (const Feature &feature : features)
    if (feature.level <= target.level)
      names.emplace_back(feature.procName);
  return names;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
makeTargetMachine(const CpuTarget &target, bool isRare) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    setOptions();
  });
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
      triple, cpuName(target.level), "", options, llvm::Reloc::PIC_,
      std::nullopt,
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
