//===- GpuKernels.h - The kernels of a program on a device ------*- C++ -*-===//
//
// Kernels that are compiled and loaded, with how many of their blocks fit the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUKERNELS_H
#define CCN_RUNTIME_CUDA_GPUKERNELS_H

#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/GpuGrid.h"
#include "runtime/plan/GpuProgram.h"

#include <vector>

namespace ccn::runtime {

/// The configuration of a launch. It refers to `attribute`, which gets the size
/// of clusters, 2 to the power of `clusterBits` blocks, and must live as long.
CUlaunchConfig launchConfig(unsigned blocks, unsigned threads,
                            unsigned sharedBytes, int clusterBits,
                            CUlaunchAttribute &attribute);

class GpuKernels {
public:
  struct Kernel {
    /// Null if it was left out.
    CUfunction function = nullptr;
    /// How many blocks a multiprocessor can hold, at least 1.
    int blocksEach = 0;
    /// How many clusters of 2, 4 and 8 blocks the device can hold, all 0 if it
    /// has no clusters, or the kernel is for none.
    ClusterCounts clusters{};
  };

  /// Loads the kernels of `program` for a transport, and a plan of `arguments`
  /// arguments. The
  /// device's context is current. An error if one does not compile, has other
  /// parameters than GpuAbi.h says, or needs more than the device has. Kernels
  /// that launches only prefer are left out unless the device is for them, and
  /// the transport.
  static Result<GpuKernels> load(const GpuDevice &device,
                                 const GpuProgram &program,
                                 KernelTransport transport, size_t arguments);

  const Kernel &kernel(int index) const {
    return kernels[static_cast<size_t>(index)];
  }
  int64_t multiprocessors() const { return processors; }
  /// Of a kernel that launches only prefer: they do without.
  void leaveOut(int index) {
    kernels[static_cast<size_t>(index)].function = nullptr;
  }

private:
  DeviceObject<CUmodule> module;
  std::vector<Kernel> kernels;
  int64_t processors = 1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUKERNELS_H
