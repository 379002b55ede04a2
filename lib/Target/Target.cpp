//===- Target.cpp - What code is made for ---------------------------------===//
//
// The table of CPU features, and the names of targets.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Target.h"

#include "runtime/base/Spelling.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>

using namespace ccn;

namespace {

struct Feature {
  CpuLevel level;
  const char *llvmName, *procName;
};

/// The features that each level of the x86-64 psABI adds to the one before.
/// Some of the Linux kernel's names are older: pni is SSE3, abm includes LZCNT.
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

constexpr std::pair<CpuLevel, std::string_view> levels[] = {
    {CpuLevel::X86_64, "x86-64"},
    {CpuLevel::X86_64_V3, "x86-64-v3"},
    {CpuLevel::X86_64_V4, "x86-64-v4"}};

/// An error "expected 'a', 'b' or 'c', found 'd'", with a suggestion if one
/// name is similar.
Status expected(const std::vector<std::string_view> &known,
                std::string_view found) {
  std::string text;
  for (std::string_view name : known) {
    const char *before = name == known.front()  ? "'"
                         : name == known.back() ? "' or '"
                                                : "', '";
    text += before + std::string(name);
  }
  // A name with another number is probably meant as it is, so there is no
  // suggestion.
  bool hasNumber = found.find_first_of("0123456789") != found.npos;
  return error("expected ", text, "', found '", found, "'",
               hasNumber ? "" : didYouMean(found, known));
}

} // namespace

std::string_view ccn::cpuName(CpuLevel level) {
  for (auto [known, name] : levels)
    if (known == level)
      return name;
  return "";
}

std::vector<std::string> ccn::requiredFeatures(CpuLevel level) {
  std::vector<std::string> names;
  for (const Feature &feature : features)
    if (feature.level <= level)
      names.emplace_back(feature.procName);
  return names;
}

Target Target::host() {
  llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
  CpuLevel level = CpuLevel::X86_64_V4;
  for (const Feature &feature : features)
    if (!has.lookup(feature.llvmName))
      level = std::min(level, feature.level == CpuLevel::X86_64_V4
                                  ? CpuLevel::X86_64_V3
                                  : CpuLevel::X86_64);
  return {level};
}

Result<Target> ccn::parseTarget(std::string_view text) {
  std::vector<std::string_view> known = {"cpu"};
  if (text == known.front())
    return Target();
  for (const GpuArch &arch : gpuArchs) {
    known.push_back(arch.name);
    if (text == arch.name)
      return Target{.gpu = &arch};
  }
  return expected(known, text);
}

Result<CpuLevel> ccn::parseCpu(std::string_view text) {
  std::vector<std::string_view> known = {"native"};
  if (text == known.front())
    return Target::host().cpu;
  for (auto [level, name] : levels) {
    known.push_back(name);
    if (text == name)
      return level;
  }
  return expected(known, text);
}
