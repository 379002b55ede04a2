//===- FakeCuda.cpp - A driver of CUDA without GPUs -----------------------===//
//
// Kernels are those of FakeKernels.cpp, or such as FakeNvrtc.cpp compiles;
// their blocks begin when the device has room for them.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "FakeKernels.h"
#include "FakeStreams.h"
#include "test/common/emulator/Kernels.h"
#include "test/common/emulator/TensorMap.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using fake::blocksEach;
using fake::multiprocessors;

// The driver's opaque types.
struct CUfunc_st {
  /// `number` counts its launches, each of which is in another order.
  std::function<void(unsigned blocks, unsigned threads, unsigned cluster,
                     unsigned number, ccn::emulator::Room &room,
                     const void *const *parameters)>
      run;
  /// 0 where there is no such parameter.
  std::array<size_t, 4> parameterBytes{};
  unsigned launches = 0;
};
struct CUmod_st {
  /// Of kernels that FakeNvrtc.cpp has compiled.
  std::unique_ptr<ccn::runtime::ObjectCode> code;
  std::map<std::string, CUfunc_st> functions;
};
std::mutex fake::mutex;
std::atomic<int> fake::objects{0};

using fake::mutex;
using fake::objects;

namespace {

std::string failingFunction;
int failingDevice = -1;
std::atomic<int> callsLeft{0};
/// For good, as their queues' threads are.
auto &contexts = *new std::array<CUctx_st, 16>;
thread_local std::vector<CUcontext> stack;

std::set<std::pair<CUcontext, CUcontext>> peerAccess;

std::atomic<bool> hasStarted{false};

int deviceCount() {
  const char *count = std::getenv("CCN_FAKE_GPUS");
  return count ? std::atoi(count) : 4;
}

} // namespace

bool fake::isFailing(std::string function) {
  function.resize(std::min(function.find("_v"), function.size()));
  std::lock_guard lock(mutex);
  if (failingFunction != function ||
      (failingDevice >= 0 && currentDevice() != failingDevice))
    return false;
  return callsLeft-- <= 0;
}
int fake::currentDevice() { return stack.empty() ? -1 : stack.back()->device; }
CUcontext fake::currentContext() { return stack.back(); }

extern "C" {

void ccnFakeFail(const char *function, int device, int call) {
  std::lock_guard lock(mutex);
  failingFunction = function ? function : "";
  failingDevice = device;
  callsLeft = call;
}
int ccnFakeObjects() { return objects; }
int ccnFakeHasContext() {
  std::lock_guard lock(mutex);
  return !stack.empty() && contexts[stack.back()->device].users > 0;
}

CUresult cuInit(unsigned) {
  CCN_CALL(cuInit)
  (void)fake::countQueues();
  hasStarted = true;
  return deviceCount() ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuGetErrorString(CUresult result, const char **text) {
  *text = result == CUDA_ERROR_UNKNOWN ? "unknown error" : "another error";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult result, const char **name) {
  *name = result == CUDA_ERROR_UNKNOWN ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR";
  return CUDA_SUCCESS;
}

/// NVRTC looks for something of NVIDIA's own.
CUresult cuGetExportTable(const void **table, const CUuuid *) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

CUresult cuDeviceGet(CUdevice *device, int number) {
  CCN_CALL(cuDeviceGet)
  const char *broken = std::getenv("CCN_FAKE_BROKEN_GPU");
  *device = number;
  return broken && std::atoi(broken) == number ? CUDA_ERROR_DEVICE_UNAVAILABLE
                                               : CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) {
  CCN_CALL(cuDeviceGetCount)
  if (!hasStarted)
    return CUDA_ERROR_NOT_INITIALIZED;
  *count = deviceCount();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  std::strncpy(name, "fake", static_cast<size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice) {
  CCN_CALL(cuDeviceGetAttribute)
  const char *major = std::getenv("CCN_FAKE_CAPABILITY");
  *value = which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? multiprocessors
           : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
               ? major ? std::atoi(major) : 9
           : which == CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH ? 1
                                                         : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  CCN_CALL(cuDeviceGetUuid)
  std::memset(uuid, device + 1, sizeof *uuid);
  return CUDA_SUCCESS;
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) {
  CCN_CALL(cuDeviceCanAccessPeer)
  *can = std::getenv("CCN_FAKE_NO_PEERS") == nullptr;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  CCN_CALL(cuDevicePrimaryCtxRetain)
  std::lock_guard lock(mutex);
  if (contexts[device].users++ == 0)
    contexts[device].device = device;
  ++objects;
  *context = &contexts[device];
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  std::lock_guard lock(mutex);
  --contexts[device].users;
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  CCN_CALL(cuCtxPushCurrent)
  stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) {
  if (stack.empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  *context = stack.back();
  stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
  CCN_CONTEXT(cuCtxEnablePeerAccess)
  std::lock_guard lock(mutex);
  return peerAccess.emplace(stack.back(), peer).second
             ? CUDA_SUCCESS
             : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
CUresult cuCtxGetLimit(size_t *value, CUlimit) {
  CCN_CONTEXT(cuCtxGetLimit)
  *value = 1024;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetLimit(CUlimit, size_t) {
  CCN_UNCAPTURED(cuCtxSetLimit)
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// What streams do with memory
//===----------------------------------------------------------------------===//

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t size,
                         CUstream stream) {
  CCN_CONTEXT(cuMemsetD8Async)
  stream->add(
      [=] { std::memset(reinterpret_cast<void *>(address), value, size); });
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count,
                          CUstream stream) {
  CCN_CONTEXT(cuMemsetD32Async)
  stream->add([=] {
    std::fill_n(reinterpret_cast<unsigned *>(address), count, value);
  });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size,
                           CUstream stream) {
  CCN_CONTEXT(cuMemcpyHtoDAsync)
  stream->add([=] { std::memcpy(reinterpret_cast<void *>(to), from, size); });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size,
                           CUstream stream) {
  CCN_CONTEXT(cuMemcpyDtoHAsync)
  stream->add([=] {
    // A word may be looked at meanwhile.
    if (size == sizeof(unsigned))
      std::atomic_ref(*static_cast<unsigned *>(to))
          .store(*reinterpret_cast<const unsigned *>(from));
    else
      std::memcpy(to, reinterpret_cast<void *>(from), size);
  });
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size,
                           CUstream stream) {
  CCN_CONTEXT(cuMemcpyDtoDAsync)
  stream->add([=] {
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                size);
  });
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream) {
  CCN_CONTEXT(cuMemcpy2DAsync)
  stream->add([copy = *copy] {
    for (size_t row = 0; row < copy.Height; ++row)
      std::memcpy(
          reinterpret_cast<void *>(copy.dstDevice + row * copy.dstPitch),
          reinterpret_cast<void *>(copy.srcDevice + row * copy.srcPitch),
          copy.WidthInBytes);
  });
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What FakeNvrtc.cpp has compiled; null for an image of a GPU's.
static std::unique_ptr<ccn::runtime::ObjectCode> loadImage(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  size_t size = header.e_shoff + size_t(header.e_shentsize) * header.e_shnum;
  auto code =
      ccn::runtime::ObjectCode::load({static_cast<const char *>(image), size});
  return code ? *std::move(code) : nullptr;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  CCN_WAITING(cuModuleLoadData)
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return CUDA_ERROR_INVALID_IMAGE;
  *module = new CUmod_st{loadImage(image), {}};
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  fake::awaitDevice();
  delete module;
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  CCN_CONTEXT(cuModuleGetFunction)
  std::lock_guard lock(mutex);
  CUfunc_st &made = module->functions[name];
  *function = &made;
  if (module->code) {
    auto kernel = ccn::emulator::findKernel(*module->code, name);
    if (!kernel)
      return CUDA_ERROR_NOT_FOUND;
    made.parameterBytes = kernel->parameterBytes;
    made.run = [kernel = *kernel](unsigned blocks, unsigned threads,
                                  unsigned cluster, unsigned number,
                                  ccn::emulator::Room &room,
                                  const void *const *parameters) {
      kernel.run({.blocks = static_cast<int>(blocks),
                  .threads = static_cast<int>(threads),
                  .clusterBlocks = static_cast<int>(cluster),
                  .room = &room,
                  .seed = number * 1000},
                 parameters);
    };
    return CUDA_SUCCESS;
  }
  const FakeKernel *kernel = findFakeKernel(name);
  if (!kernel)
    return CUDA_ERROR_NOT_FOUND;
  // Its blocks follow each other.
  made.run = [kernel](unsigned blocks, unsigned threads, unsigned, unsigned,
                      ccn::emulator::Room &room,
                      const void *const *parameters) {
    ccn::emulator::Room::Place place(room);
    kernel->run(blocks, threads, parameters[0], parameters[1], parameters[2],
                parameters[3]);
  };
  std::copy(std::begin(kernel->parameterBytes),
            std::end(kernel->parameterBytes), made.parameterBytes.begin());
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction) {
  CCN_UNCAPTURED(cuFuncLoad)
  return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
                            size_t *size) {
  CCN_CONTEXT(cuFuncGetParamInfo)
  if (index >= function->parameterBytes.size() ||
      function->parameterBytes[index] == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  *size = function->parameterBytes[index];
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which,
                            CUfunction) {
  CCN_CONTEXT(cuFuncGetAttribute)
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 2048;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  CCN_CONTEXT(cuFuncSetAttribute)
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction,
                                                     int, size_t shared) {
  CCN_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor)
  constexpr size_t all = 228 * 1024, ofBlock = 227 * 1024, reserved = 1024;
  auto fitting = static_cast<int>(all / (shared + reserved));
  *blocks = shared > ofBlock ? 0 : std::min(fitting, blocksEach);
  return CUDA_SUCCESS;
}
/// The blocks of a cluster; 0 if there cannot be such ones.
static unsigned clusterOf(const CUlaunchConfig &config) {
  unsigned blocks = 1;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config.attrs[i];
    const auto &size = attribute.value.clusterDim;
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION || size.y != 1 ||
        size.z != 1)
      return 0;
    blocks = size.x;
  }
  const char *most = std::getenv("CCN_FAKE_CLUSTER");
  bool fits = blocks >= 1 &&
              blocks <= static_cast<unsigned>(most ? std::atoi(most) : 8) &&
              config.gridDimX % blocks == 0;
  return fits ? blocks : 0;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction,
                                      const CUlaunchConfig *config) {
  CCN_CONTEXT(cuOccupancyMaxActiveClusters)
  unsigned blocks = clusterOf(*config);
  if (blocks == 0)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *clusters = multiprocessors * blocksEach / static_cast<int>(blocks);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **) {
  CCN_CONTEXT(cuLaunchKernelEx)
  unsigned cluster = clusterOf(*config), blocks = config->gridDimX,
           threads = config->blockDimX;
  if (cluster == 0)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  CUstream stream = config->hStream;
  std::vector<std::string> copies;
  std::vector<CcnTensorMap> maps(function->parameterBytes[3] /
                                 sizeof(CcnTensorMap));
  for (size_t i = 0; i < 3; ++i)
    copies.emplace_back(static_cast<char *>(parameters[i]),
                        function->parameterBytes[i]);
  if (!maps.empty())
    std::memcpy(maps.data(), parameters[3], function->parameterBytes[3]);
  for (const CcnTensorMap &map : maps)
    if (!fake::isAccessible(
            reinterpret_cast<CUdeviceptr>(ccn::emulator::decode(&map).address)))
      return CUDA_ERROR_ILLEGAL_ADDRESS;
  auto *addresses = static_cast<const CUdeviceptr *>(parameters[1]);
  for (size_t i = 0; i < function->parameterBytes[1] / sizeof *addresses; ++i)
    if (!fake::isAccessible(addresses[i]))
      return CUDA_ERROR_ILLEGAL_ADDRESS;
  ccn::emulator::Room &room = stack.back()->room;
  unsigned number = ++function->launches;
  stream->add([=, &room] {
    const void *places[] = {copies[0].data(), copies[1].data(),
                            copies[2].data(), maps.data()};
    function->run(blocks, threads, cluster, number, room, places);
  });
  return CUDA_SUCCESS;
}

} // extern "C"
