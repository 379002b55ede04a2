//===- GpuDevice.h - A device and what is taken from it ---------*- C++ -*-===//
//
// A device with its primary context, which is also that of CUDA's runtime and
// so of PyTorch; and memory, streams and events that are freed when their
// objects are destroyed. Each belongs to one device and is used while that
// device's context is current.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUDEVICE_H
#define CCN_RUNTIME_CUDA_GPUDEVICE_H

#include "runtime/cuda/Driver.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ccn::runtime {

class Transport;

/// Keeps a device's primary context.
class GpuDevice {
public:
  /// The device of that number among those that this process sees.
  static Result<std::unique_ptr<GpuDevice>> open(int number);
  /// The device on which a rank runs by default: they take turns.
  static Result<std::unique_ptr<GpuDevice>> openForRank(int rank);

  ~GpuDevice();
  GpuDevice(const GpuDevice &) = delete;
  GpuDevice &operator=(const GpuDevice &) = delete;

  /// An attribute, such as the number of multiprocessors.
  Result<int> attribute(CUdevice_attribute which) const;
  /// "sm_90a".
  Result<std::string> architecture() const;
  Status check(CUresult result, const char *call) const {
    return driver.check(result, call);
  }
  /// The stream on which things are set up; the device's context is current.
  /// There is one for all, since streams that are made one after the other need
  /// not be independent.
  Result<CUstream> setupStream() const;
  /// Gives that stream back; after an error, something may still run in it.
  void endSetup() const;
  /// Begins to use a stream, by writing a word of this device's memory. CUDA
  /// then finds a queue for the stream. It puts streams that several threads
  /// begin to use at the same time into one queue, in which they wait for each
  /// other from then on: one of two ranks that share a device could then wait
  /// for the other, and neither would end. So the threads of a process do this
  /// one after the other. Does not wait for the device, as others may need
  /// their turn for what it does.
  Status begin(CUstream stream) const;
  /// The same for a stream that is empty. It also copies from the host's
  /// memory, which may wait for work before it.
  Status beginEmpty(CUstream stream) const;
  /// Such a turn of a thread. The first launches in a stream need one too. Keep
  /// it until they are submitted, and never while waiting for anything.
  static std::unique_lock<std::mutex> takeTurn();

  const Driver &driver;
  int number = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUuuid uuid{};

private:
  explicit GpuDevice(const Driver &driver) : driver(driver) {}

  mutable CUstream setup = nullptr;
  mutable CUdeviceptr word = 0;
};

/// How many devices this process sees, at least one.
Result<int> gpuDeviceCount(const Driver &driver);

/// A resource of a device, which a function of the driver frees. Move-only.
template <typename Handle> class DeviceObject {
public:
  using Free = CUresult (*)(Handle);

  DeviceObject() = default;
  DeviceObject(Handle handle, Free free) : handle(handle), free(free) {}
  DeviceObject(DeviceObject &&other) noexcept
      : handle(std::exchange(other.handle, Handle())), free(other.free) {}
  DeviceObject &operator=(DeviceObject &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(free, other.free);
    return *this;
  }
  ~DeviceObject() {
    if (handle)
      (void)free(handle);
  }

  Handle get() const { return handle; }
  explicit operator bool() const { return handle != Handle(); }
  /// Gives it up without giving it back.
  Handle release() { return std::exchange(handle, Handle()); }

private:
  Handle handle = Handle();
  Free free = nullptr;
};

using DeviceMemory = DeviceObject<CUdeviceptr>;
using Stream = DeviceObject<CUstream>;
using Event = DeviceObject<CUevent>;

/// Allocates memory of the device. Even no bytes have an address. `what` names
/// the memory in errors.
Result<DeviceMemory> allocateMemory(const GpuDevice &device, int64_t bytes,
                                    const char *what);

/// Fills its first bytes with zeros, and waits until it has.
Status zeroMemory(const GpuDevice &device, const DeviceMemory &memory,
                  int64_t bytes);

/// A stream that does not wait for the legacy default stream, and that has been
/// used. Streams that runs use are made when a program is set up, not while
/// kernels of other ranks wait: making one takes memory, and may wait for them.
/// Calls `look`, if there is one, while it waits, and ends with its error.
Result<Stream> createStream(const GpuDevice &device,
                            const std::function<Status()> &look = nullptr);

/// A rank's own streams, on which its plans run beside the callers' streams.
/// They are made in order, when they are first asked for.
class OwnStreams {
public:
  explicit OwnStreams(const GpuDevice &device) : number(device.number) {}

  /// The streams that all executors of a rank share if their runs follow each
  /// other: so together they need no more queues than one executor.
  static std::shared_ptr<OwnStreams> ofRank(const Transport &transport,
                                            int rank, const GpuDevice &device);

  /// Stream `number`, from 1 on; the device's context is current.
  Result<CUstream> get(size_t number);
  /// Called if something in the streams does not end: later executors get other
  /// streams.
  void giveUp() { isGivenUp = true; }

private:
  int number;
  /// The streams' own device, not that of an executor, as they outlive each.
  std::unique_ptr<GpuDevice> device;
  std::vector<Stream> streams;
  std::atomic<bool> isGivenUp = false;
};

/// An event; a timed one tells when it happened.
Result<Event> createEvent(const GpuDevice &device, bool isTimed);

/// Looks at a stream until all in it is done. Calls `look`, if there is one, in
/// between, and ends with its error.
Status awaitStream(const GpuDevice &device, CUstream stream,
                   const std::function<Status()> &look = nullptr);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUDEVICE_H
