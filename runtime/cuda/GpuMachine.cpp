//===- GpuMachine.cpp - The GPUs of this machine --------------------------===//

#include "runtime/cuda/GpuMachine.h"

#include "runtime/cuda/GpuDevice.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace ccn::runtime {

Status checkGpus() {
  Result<const Driver *> driver = Driver::get();
  return driver ? gpuDeviceCount(**driver).status() : driver.status();
}

Result<std::string> gpuArchitecture(int number) {
  Result<std::unique_ptr<GpuDevice>> device = GpuDevice::open(number);
  if (!device)
    return device.status();
  return (*device)->architecture();
}

Result<std::string> gpuMachine() {
  Result<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.status();
  int count = 0;
  if (Status status = (*driver)->check((*driver)->deviceGetCount(&count),
                                       "cuDeviceGetCount");
      !status)
    return status;
  // In the order of the first device of each kind.
  std::vector<std::pair<std::string, int>> kinds;
  for (int number = 0; number < count; ++number) {
    CUdevice device;
    char name[256] = {};
    Status status =
        (*driver)->check((*driver)->deviceGet(&device, number), "cuDeviceGet");
    if (status)
      status = (*driver)->check(
          (*driver)->deviceGetName(name, sizeof name - 1, device),
          "cuDeviceGetName");
    if (!status)
      return status;
    auto same = std::find_if(kinds.begin(), kinds.end(), [&](const auto &kind) {
      return kind.first == name;
    });
    if (same == kinds.end())
      kinds.emplace_back(name, 1);
    else
      ++same->second;
  }
  std::string text;
  for (const auto &[name, number] : kinds)
    text += (text.empty() ? "" : ", ") + std::to_string(number) + " x " + name;
  return text;
}

HeldGpus holdGpus(int first, int count) {
  auto devices = std::make_shared<std::vector<std::unique_ptr<GpuDevice>>>();
  for (int rank = first; rank < first + count; ++rank)
    if (auto device = GpuDevice::openForRank(rank))
      devices->push_back(*std::move(device));
  return devices;
}

bool areUsable(const HeldGpus &gpus) {
  using Clock = std::chrono::steady_clock;
  // What has failed may have left kernels that do not end.
  auto end = Clock::now() + std::chrono::seconds(10);
  auto look = [&]() -> Status {
    if (Clock::now() < end)
      return Status();
    return error("it does not end");
  };
  return std::all_of(gpus->begin(), gpus->end(), [&](const auto &device) {
    CurrentContext current(device->driver, device->context);
    return current.status().ok() && createStream(*device, look).ok();
  });
}

} // namespace ccn::runtime
