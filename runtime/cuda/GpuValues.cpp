//===- GpuValues.cpp - Arguments that are passed by value -----------------===//
//
// Memsets write the values to the device. Unlike a copy from host memory, a
// memset holds its value in the stream, or in the graph that the stream
// captures, so the caller's value need not outlive the call. They are scalars
// of at most two words.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuState.h"

#include <cstring>

namespace ccn::runtime {

/// The bytes reserved for each value; whole words are written.
static constexpr size_t valueBytes = 8, wordBytes = 4;

Status GpuExecutor::State::prepareValues(const Plan &whole) {
  for (size_t i = 0; i < whole.arguments.size(); ++i)
    if (isValue(whole.arguments[i]))
      values.push_back(
          {i, static_cast<size_t>(sizeInBytes(whole.arguments[i].type))});
  placed.resize(argumentCount);
  if (values.empty())
    return Status();
  Result<DeviceMemory> taken = allocateMemory(
      *device, static_cast<int64_t>(values.size() * valueBytes), "values");
  if (!taken)
    return taken.status();
  valueMemory = *std::move(taken);
  for (size_t i = 0; i < values.size(); ++i)
    values[i].place = valueMemory.get() + i * valueBytes;
  return Status();
}

Status GpuExecutor::State::startWithValues(std::span<void *const> addresses,
                                           CUstream stream) {
  // What is wrong is found there.
  if (transport.failed() || addresses.size() != argumentCount)
    return start(addresses, stream);
  CurrentContext current(device->driver, device->context);
  Status status = current.status();
  if (status)
    status = beginStream(stream);
  if (status)
    status = pace(0, stream, values.size() * (valueBytes / wordBytes));
  std::copy(addresses.begin(), addresses.end(), placed.begin());
  for (const ValueArgument &value : values) {
    uint32_t words[valueBytes / wordBytes] = {};
    if (status && !addresses[value.number])
      status = error("value ", value.number, " is null");
    if (!status)
      break;
    std::memcpy(words, addresses[value.number], value.bytes);
    for (size_t at = 0; status && at < value.bytes; at += wordBytes)
      status =
          device->check(device->driver.memsetD32Async(
                            value.place + at, words[at / wordBytes], 1, stream),
                        "cuMemsetD32Async");
    placed[value.number] = reinterpret_cast<void *>(value.place);
  }
  return status ? start(placed, stream) : fail(status);
}

} // namespace ccn::runtime
