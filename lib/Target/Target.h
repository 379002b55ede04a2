//===- Target.h - What code is made for -------------------------*- C++ -*-===//
//
// A CPU, or GPUs of an architecture beside it: decided once, from --target and
// --cpu, and passed to whoever's choices depend on it. What was measured on a
// machine is no fact of a target (Machine.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_TARGET_TARGET_H
#define CCN_LIB_TARGET_TARGET_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ccn {

/// The levels of the x86-64 psABI.
enum class CpuLevel : uint8_t { X86_64, X86_64_V3, X86_64_V4 };

/// The name of a level, for people and for LLVM: "x86-64-v3".
std::string_view cpuName(CpuLevel level);

/// What a CPU of a level must have, by the names in /proc/cpuinfo.
std::vector<std::string> requiredFeatures(CpuLevel level);

/// An architecture of GPUs that kernels are made for.
struct GpuArch {
  /// As NVRTC has it.
  std::string_view name;
  /// The shared memory that a block may have, static and dynamic, in bytes.
  int64_t sharedBytes;

  /// The same for all; codegen/gpu/device counts on it.
  static constexpr int64_t warpSize = 32;
};

/// From the oldest on.
inline constexpr GpuArch gpuArchs[] = {{"sm_80", 163 * 1024},
                                       {"sm_90a", 227 * 1024}};

struct Target {
  /// What code for the CPU is made for: packages for GPUs have it, too.
  CpuLevel cpu = CpuLevel::X86_64;
  /// Null if no GPU executes it.
  const GpuArch *gpu = nullptr;

  bool isGpu() const { return gpu != nullptr; }
  /// As --target has it.
  std::string_view name() const { return gpu ? gpu->name : "cpu"; }

  /// The CPU alone, of the highest level that this machine has.
  static Target host();
  /// GPUs of the newest architecture, where the text that is made is the same
  /// for all.
  static Target anyGpu(CpuLevel cpu = CpuLevel::X86_64) {
    return {cpu, std::end(gpuArchs) - 1};
  }
};

/// "cpu" or the name of an architecture of GPUs. The CPU is of any level.
Result<Target> parseTarget(std::string_view text);
/// A level's name; "native" is the highest that this machine has.
Result<CpuLevel> parseCpu(std::string_view text);

} // namespace ccn

#endif // CCN_LIB_TARGET_TARGET_H
