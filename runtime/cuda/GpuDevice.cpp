//===- GpuDevice.cpp - A device and what is taken from it -----------------===//
//
// Waits are loops that poll, since the driver's own waits cannot be
// interrupted.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuDevice.h"

#include "runtime/cuda/Compiler.h"

#include <chrono>
#include <map>
#include <thread>
#include <tuple>

namespace ccn::runtime {

/// The bytes that each new stream sets as its first work.
static constexpr size_t wordBytes = 8;

Result<int> gpuDeviceCount(const Driver &driver) {
  int count = 0;
  if (Status status =
          driver.check(driver.deviceGetCount(&count), "cuDeviceGetCount");
      !status)
    return status;
  if (count < 1)
    return error("there is no GPU that this process may use");
  return count;
}

Result<std::unique_ptr<GpuDevice>> GpuDevice::open(int number) {
  Result<const Driver *> driver = Driver::get();
  Result<int> count = driver ? gpuDeviceCount(**driver) : driver.status();
  if (!count)
    return count.status();
  if (number < 0 || number >= *count)
    return error("expected a GPU from 0 to ", *count - 1, ", found ", number);
  std::unique_ptr<GpuDevice> made(new GpuDevice(**driver));
  made->number = number;
  if (Status status = made->check((*driver)->deviceGet(&made->device, number),
                                  "cuDeviceGet");
      !status)
    return status;
  if (Status status =
          made->check((*driver)->deviceGetUuid(&made->uuid, made->device),
                      "cuDeviceGetUuid");
      !status)
    return status;
  if (Status status = made->check(
          (*driver)->devicePrimaryCtxRetain(&made->context, made->device),
          "cuDevicePrimaryCtxRetain");
      !status)
    return error("GPU ", number, ": ", status.message());
  return made;
}

Result<std::unique_ptr<GpuDevice>> GpuDevice::openForRank(int rank) {
  Result<const Driver *> driver = Driver::get();
  Result<int> count = driver ? gpuDeviceCount(**driver) : driver.status();
  if (!count)
    return count.status();
  return open(rank % *count);
}

GpuDevice::~GpuDevice() {
  if (setup || word) {
    CurrentContext current(driver, context);
    endSetup();
    if (word)
      (void)driver.memFree(word);
  }
  if (context)
    (void)driver.devicePrimaryCtxRelease(device);
}

Result<CUstream> GpuDevice::setupStream() const {
  if (setup)
    return setup;
  Result<Stream> made = createStream(*this);
  if (!made)
    return made.status();
  setup = made->release();
  return setup;
}

void GpuDevice::endSetup() const {
  if (setup)
    (void)driver.streamDestroy(setup);
  setup = nullptr;
}

std::unique_lock<std::mutex> GpuDevice::takeTurn() {
  static std::mutex turns;
  return std::unique_lock(turns);
}

Status GpuDevice::begin(CUstream stream) const {
  if (!word)
    if (Status status = check(driver.memAlloc(&word, wordBytes), "cuMemAlloc");
        !status)
      return status;
  std::unique_lock<std::mutex> turn = takeTurn();
  return check(driver.memsetD8Async(word, 0, wordBytes, stream),
               "cuMemsetD8Async");
}

Status GpuDevice::beginEmpty(CUstream stream) const {
  static const std::byte zeros[wordBytes] = {};
  if (Status status = begin(stream); !status)
    return status;
  std::unique_lock<std::mutex> turn = takeTurn();
  return check(driver.memcpyHtoDAsync(word, zeros, sizeof zeros, stream),
               "cuMemcpyHtoDAsync");
}

Result<int> GpuDevice::attribute(CUdevice_attribute which) const {
  int value = 0;
  if (Status status = check(driver.deviceGetAttribute(&value, which, device),
                            "cuDeviceGetAttribute");
      !status)
    return status;
  return value;
}

Result<std::string> GpuDevice::architecture() const {
  Result<int> major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  Result<int> minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (!major || !minor)
    return !major ? major.status() : minor.status();
  return architectureOf(*major, *minor);
}

Result<DeviceMemory> allocateMemory(const GpuDevice &device, int64_t bytes,
                                    const char *what) {
  CUdeviceptr address = 0;
  size_t size = bytes > 0 ? static_cast<size_t>(bytes) : 1;
  if (Status status =
          device.check(device.driver.memAlloc(&address, size), "cuMemAlloc");
      !status)
    return error("cannot take ", bytes, " bytes of GPU ", device.number,
                 " for ", what, ": ", status.message());
  return DeviceMemory(address, device.driver.memFree);
}

Status zeroMemory(const GpuDevice &device, const DeviceMemory &memory,
                  int64_t bytes) {
  if (bytes == 0)
    return Status();
  Result<CUstream> stream = device.setupStream();
  if (!stream)
    return stream.status();
  Status status =
      device.check(device.driver.memsetD8Async(
                       memory.get(), 0, static_cast<size_t>(bytes), *stream),
                   "cuMemsetD8Async");
  if (status)
    status = awaitStream(device, *stream);
  if (!status)
    device.endSetup();
  return status;
}

Result<Stream> createStream(const GpuDevice &device,
                            const std::function<Status()> &look) {
  CUstream stream = nullptr;
  if (Status status = device.check(
          device.driver.streamCreate(&stream, CU_STREAM_NON_BLOCKING),
          "cuStreamCreate");
      !status)
    return status;
  Stream made(stream, device.driver.streamDestroy);
  Status status = device.beginEmpty(stream);
  // The memory is given back when nothing writes there any more.
  Status ended = awaitStream(device, stream, look);
  if (!status || !ended)
    return status ? ended : status;
  return made;
}

std::shared_ptr<OwnStreams> OwnStreams::ofRank(const Transport &transport,
                                               int rank,
                                               const GpuDevice &device) {
  using Key = std::tuple<const Transport *, int, int>;
  static std::mutex mutex;
  static auto &all = *new std::map<Key, std::weak_ptr<OwnStreams>>;
  std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto &item) { return item.second.expired(); });
  std::weak_ptr<OwnStreams> &kept = all[{&transport, rank, device.number}];
  std::shared_ptr<OwnStreams> shared = kept.lock();
  if (!shared || shared->isGivenUp)
    kept = shared = std::make_shared<OwnStreams>(device);
  return shared;
}

Result<CUstream> OwnStreams::get(size_t index) {
  if (!device) {
    Result<std::unique_ptr<GpuDevice>> opened = GpuDevice::open(number);
    if (!opened)
      return opened.status();
    device = *std::move(opened);
  }
  while (streams.size() < index) {
    Result<Stream> made = createStream(*device);
    if (!made)
      return made.status();
    streams.push_back(*std::move(made));
  }
  return streams[index - 1].get();
}

Result<Event> createEvent(const GpuDevice &device, bool isTimed) {
  CUevent event = nullptr;
  if (Status status = device.check(
          device.driver.eventCreate(&event, isTimed ? CU_EVENT_DEFAULT
                                                    : CU_EVENT_DISABLE_TIMING),
          "cuEventCreate");
      !status)
    return status;
  return Event(event, device.driver.eventDestroy);
}

Status awaitStream(const GpuDevice &device, CUstream stream,
                   const std::function<Status()> &look) {
  constexpr int yields = 2000;
  for (int i = 0;; ++i) {
    CUresult result = device.driver.streamQuery(stream);
    if (result != CUDA_ERROR_NOT_READY)
      return device.check(result, "cuStreamQuery");
    if (look)
      if (Status status = look(); !status)
        return status;
    if (i < yields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

} // namespace ccn::runtime
