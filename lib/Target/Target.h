//===- Target.h - What code is made for -------------------------*- C++ -*-===//
//
// A target is a CPU, or a CPU with GPUs of an architecture. It is decided once,
// from --target and --cpu, and passed to all code whose choices depend on it.
// Measured figures belong to a machine (Machine.h), not to a target.
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

/// The name of a level, for people and for LLVM, such as "x86-64-v3".
std::string_view cpuName(CpuLevel level);

/// The features that a CPU of a level must have, by their names in
/// /proc/cpuinfo.
std::vector<std::string> requiredFeatures(CpuLevel level);

/// An architecture of GPUs that kernels are made for.
struct GpuArch {
  /// NVRTC's name of the architecture.
  std::string_view name;
  /// The shared memory that a block may have, static and dynamic, in bytes.
  int64_t sharedBytes;

  /// The same for all architectures; codegen/gpu/device relies on it.
  static constexpr int64_t warpSize = 32;
};

/// The architectures, oldest first.
inline constexpr GpuArch gpuArchs[] = {{"sm_80", 163 * 1024},
                                       {"sm_90a", 227 * 1024}};

/// The CPU level and the GPU architecture that code is made for.
struct Target {
  /// The level that CPU code needs; packages for GPUs have CPU code too.
  CpuLevel cpu = CpuLevel::X86_64;
  /// Null if no GPU executes it.
  const GpuArch *gpu = nullptr;

  bool isGpu() const { return gpu != nullptr; }
  /// The target's name as in --target.
  std::string_view name() const { return gpu ? gpu->name : "cpu"; }

  /// The CPU alone, with the highest level that this machine supports.
  static Target host();
  /// GPUs of the newest architecture, for output that is the same for all
  /// architectures.
  static Target anyGpu(CpuLevel cpu = CpuLevel::X86_64) {
    return {cpu, std::end(gpuArchs) - 1};
  }
};

/// Parses "cpu" or the name of a GPU architecture. The result has the lowest
/// CPU level.
Result<Target> parseTarget(std::string_view text);
/// Parses a level's name; "native" is the highest level that this machine
/// supports.
Result<CpuLevel> parseCpu(std::string_view text);

} // namespace ccn

#endif // CCN_LIB_TARGET_TARGET_H
