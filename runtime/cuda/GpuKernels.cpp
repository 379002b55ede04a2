//===- GpuKernels.cpp - The kernels of a program on a device --------------===//
//
// Does everything in advance that the first launch of a kernel would otherwise
// do. Loading a kernel, or allocating its stack, may wait for kernels that are
// running, and these may be waiting for the very kernel that is to be launched.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuKernels.h"

#include "runtime/base/Parallel.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/cuda/KernelCache.h"
#include "runtime/plan/GpuAbi.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

/// Loads one kernel.
class Loader {
public:
  Loader(const GpuDevice &device, CUfunction function, const GpuKernel &kernel)
      : device(device), driver(device.driver), function(function),
        kernel(kernel) {}

  Status load() {
    if (Status status = checkDevice(); !status)
      return status;
    // Otherwise the kernel would be loaded at its first launch.
    if (driver.funcLoad)
      if (Status status = device.check(driver.funcLoad(function), "cuFuncLoad");
          !status)
        return status;
    int threads = 0;
    if (Status status = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, threads);
        !status)
      return status;
    if (kernel.threads > threads)
      return error("it can have blocks of at most ", threads,
                   " threads on this GPU, expected ", kernel.threads);
    if (kernel.sharedBytes > 0)
      if (Status status = device.check(
              driver.funcSetAttribute(
                  function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  static_cast<int>(kernel.sharedBytes)),
              "cuFuncSetAttribute");
          !status)
        return error(kernel.sharedBytes,
                     " bytes of shared memory: ", status.message());
    return get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, stackBytes);
  }

  /// Whether its parameters have the expected sizes, as far as the driver can
  /// tell.
  Status checkParameters(size_t arguments) {
    const size_t expected[] = {
        sizeof(CcnContext), sizeof(void *) * std::max<size_t>(arguments, 1),
        sizeof(int64_t) * static_cast<size_t>(kernel.numbers),
        sizeof(CcnTensorMap) * static_cast<size_t>(kernel.tensorMaps)};
    size_t count = kernel.tensorMaps > 0 ? 4 : 3;
    for (size_t i = 0; driver.funcGetParamInfo && i < count; ++i) {
      size_t offset = 0, size = 0;
      if (Status status =
              device.check(driver.funcGetParamInfo(function, i, &offset, &size),
                           "cuFuncGetParamInfo");
          !status)
        return error("parameter ", i, ": ", status.message());
      if (size != expected[i])
        return error("parameter ", i, ": expected ", expected[i],
                     " bytes, found ", size);
    }
    return Status();
  }

  Status countBlocks(int &blocks) {
    if (Status status = device.check(
            driver.occupancy(&blocks, function,
                             static_cast<int>(kernel.threads),
                             static_cast<size_t>(kernel.sharedBytes)),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        !status)
      return status;
    if (blocks < 1)
      return error("a block of ", kernel.threads, " threads and ",
                   kernel.sharedBytes,
                   " bytes of dynamic shared memory does not fit this GPU");
    return Status();
  }

  Status countClusters(ClusterCounts &counts) {
    Result<int> has = device.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
    if (!has || !*has || !kernel.clusters)
      return has.status();
    for (size_t i = 0; i < counts.size(); ++i) {
      int bits = static_cast<int>(i) + 1, count = 0;
      CUlaunchAttribute attribute;
      CUlaunchConfig config = launchConfig(
          1U << bits, CCN_CLUSTER_THREADS >> bits,
          static_cast<unsigned>(kernel.sharedBytes), bits, attribute);
      CUresult result = driver.activeClusters(&count, function, &config);
      // A part of a GPU may have no room for as many blocks together.
      if (result == CUDA_ERROR_INVALID_CLUSTER_SIZE)
        continue;
      if (Status status = device.check(result, "cuOccupancyMaxActiveClusters");
          !status)
        return status;
      counts[i] = count;
    }
    return Status();
  }

  int stackBytes = 0;

private:
  /// Whether the device can copy boxes of tensors, if the kernel does.
  Status checkDevice() {
    if (kernel.tensorMaps == 0)
      return Status();
    Result<int> major =
        device.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    if (major && *major < 9)
      return error("it copies boxes of tensors: expected a GPU of compute "
                   "capability 9.0 or later, found ",
                   *major, ".x");
    return major.status();
  }
  Status get(CUfunction_attribute which, int &value) {
    return device.check(driver.funcGetAttribute(&value, which, function),
                        "cuFuncGetAttribute");
  }

  const GpuDevice &device;
  const Driver &driver;
  CUfunction function;
  const GpuKernel &kernel;
};

/// Whether no launch has only this kernel.
bool isOnlyPreferred(const GpuProgram &program, int kernel) {
  bool isPreferred = false;
  for (const std::vector<GpuLaunch> &ofRank : program.launches)
    for (const GpuLaunch &launch : ofRank) {
      if (launch.kernel == kernel)
        return false;
      for (const GpuLaunch &other : launch.preferred)
        isPreferred |= other.kernel == kernel;
    }
  return isPreferred;
}

/// Makes room for the stacks of all threads.
Status reserveStacks(const GpuDevice &device, size_t bytes) {
  size_t now = 0;
  if (Status status =
          device.check(device.driver.ctxGetLimit(&now, CU_LIMIT_STACK_SIZE),
                       "cuCtxGetLimit");
      !status || now >= bytes)
    return status;
  return device.check(device.driver.ctxSetLimit(CU_LIMIT_STACK_SIZE, bytes),
                      "cuCtxSetLimit");
}

} // namespace

CUlaunchConfig launchConfig(unsigned blocks, unsigned threads,
                            unsigned sharedBytes, int clusterBits,
                            CUlaunchAttribute &attribute) {
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.blockDimX = threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = sharedBytes;
  if (clusterBits > 0) {
    attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {1U << clusterBits, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  return config;
}

void compileAhead(std::span<const GpuProgram *const> programs,
                  GpuTransport by) {
  const KernelTransport transport = by == GpuTransport::Nccl
                                        ? KernelTransport::Messages
                                        : KernelTransport::Peers;
  // Devices of one machine are of one architecture; others compile their own.
  Result<std::string> architecture = gpuArchitecture(0);
  if (!architecture)
    return;
  forEachChunk(
      static_cast<int64_t>(programs.size()), 1, [&](int64_t number, int64_t) {
        const GpuProgram &program = *programs[static_cast<size_t>(number)];
        if (!program.kernels.empty())
          (void)KernelCache::shared().get(program.textFor(transport),
                                          *architecture);
      });
}

Result<GpuKernels> GpuKernels::load(const GpuDevice &device,
                                    const GpuProgram &program,
                                    KernelTransport transport,
                                    size_t arguments) {
  GpuKernels loaded;
  Result<int> processors =
      device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  if (!processors)
    return processors.status();
  loaded.processors = *processors;
  if (program.kernels.empty())
    return loaded;
  Result<std::string> architecture = device.architecture();
  if (!architecture)
    return architecture.status();
  Result<CompiledKernels> compiled =
      KernelCache::shared().get(program.textFor(transport), *architecture);
  if (!compiled)
    return compiled.status();
  CUmodule module = nullptr;
  if (Status status = device.check(
          device.driver.moduleLoadData(&module, compiled->cubin.data()),
          "cuModuleLoadData");
      !status)
    return error("cannot load the kernels for ", *architecture, ": ",
                 status.message());
  loaded.module = DeviceObject<CUmodule>(module, device.driver.moduleUnload);
  int stackBytes = 0;
  for (const GpuKernel &kernel : program.kernels) {
    Kernel &made = loaded.kernels.emplace_back();
    // Those that wait for other ranks access these ranks' memory.
    bool isForDevice =
        *architecture == "sm_90a" && device.driver.tensorMapEncodeTiled &&
        !(kernel.waits && transport == KernelTransport::Messages);
    if (!isForDevice &&
        isOnlyPreferred(program, static_cast<int>(loaded.kernels.size()) - 1))
      continue;
    Status status =
        device.check(device.driver.moduleGetFunction(&made.function, module,
                                                     kernel.name.c_str()),
                     "cuModuleGetFunction");
    if (status) {
      Loader loader(device, made.function, kernel);
      status = loader.load();
      if (status)
        status = loader.checkParameters(arguments);
      if (status)
        status = loader.countBlocks(made.blocksEach);
      if (status)
        status = loader.countClusters(made.clusters);
      stackBytes = std::max(stackBytes, loader.stackBytes);
    }
    if (!status)
      return error("kernel '", kernel.name, "': ", status.message());
  }
  if (Status status = reserveStacks(device, static_cast<size_t>(stackBytes));
      !status)
    return status;
  return loaded;
}

} // namespace ccn::runtime
