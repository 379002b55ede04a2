//===- Driver.cpp - CUDA's driver -----------------------------------------===//
//
// Opened by the name that its package installs, as CUDA's runtime does.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Driver.h"

#include "runtime/cuda/Library.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ccn::runtime {

namespace {

#define CCN_NAME(function) #function
/// The name of the version that cuda.h declares.
#define CCN_VERSIONED_NAME(function) CCN_NAME(function)

/// Asks the driver for the largest possible number of queues per device. This
/// works only before the driver starts, and leaves a number alone that somebody
/// else has asked for. Returns how many queues there are.
int askForQueues(const Driver &driver) {
  constexpr const char *name = "CUDA_DEVICE_MAX_CONNECTIONS";
  constexpr int most = 32, byDefault = 8;
  int count = 0;
  bool hasStarted = driver.deviceGetCount(&count) != CUDA_ERROR_NOT_INITIALIZED;
  if (!hasStarted)
    (void)setenv(name, std::to_string(most).c_str(), /*overwrite=*/0);
  const char *text = std::getenv(name);
  return text ? std::clamp(std::atoi(text), 1, most) : byDefault;
}

Result<Driver> load() {
  Result<Library> library =
      Library::open("the driver of CUDA", {"libcuda.so.1", "libcuda.so"});
  if (!library)
    return error(library.message(),
                 "; a GPU of NVIDIA and its driver are needed");
  Driver driver;
  std::string missing;
  auto find = [&](auto &member, const char *name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(
        library->find(name));
    return member != nullptr;
  };
#define CCN_FIND(member, function)                                             \
  if (!find(driver.member, CCN_VERSIONED_NAME(function)))                      \
    missing += std::string(" ") + CCN_VERSIONED_NAME(function);
  CCN_DRIVER_FUNCTIONS(CCN_FIND)
#undef CCN_FIND
  if (!find(driver.eventElapsedTime, "cuEventElapsedTime"))
    missing += " cuEventElapsedTime";
  if (!missing.empty())
    return error("the driver of CUDA is too old: it lacks", missing);
  find(driver.funcLoad, "cuFuncLoad");
  find(driver.funcGetParamInfo, "cuFuncGetParamInfo");
  find(driver.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  driver.queues = askForQueues(driver);
  if (Status status = driver.check(driver.init(0), "cuInit"); !status)
    return status;
  return driver;
}

} // namespace

Result<const Driver *> Driver::get() {
  static const Result<Driver> driver = load();
  if (!driver)
    return driver.status();
  return &*driver;
}

Status Driver::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status();
  const char *name = nullptr, *text = nullptr;
  (void)getErrorName(result, &name);
  (void)getErrorString(result, &text);
  if (!name || !text)
    return error(call, " failed: error ", static_cast<int>(result));
  return error(call, " failed: ", text, " (", name, ")");
}

} // namespace ccn::runtime
