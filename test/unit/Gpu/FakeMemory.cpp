//===- FakeMemory.cpp - Memory of the driver without GPUs -----------------===//
//
// Memory is a file without a name, which other processes open through /proc, or
// by a descriptor that they are passed if it was created apart from its
// addresses.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using fake::mutex;
using fake::objects;

namespace {

/// Of what is created apart from its addresses.
constexpr size_t granularity = size_t(2) << 20;

struct Allocation {
  size_t size;
  int file;
};
std::map<CUdeviceptr, Allocation> allocations;

/// What a handle of cuMemCreate means.
struct Physical {
  size_t size;
  int file;
  /// -1 of another process.
  int device;
  bool isExportable;
  /// Whether somebody has the handle, and what is mapped.
  int handles = 1, mappings = 0;
};
std::map<CUmemGenericAllocationHandle, Physical> physicals;
struct Mapping {
  size_t size;
  CUmemGenericAllocationHandle handle;
  /// Those that can access it.
  std::set<int> devices;
};
std::map<CUdeviceptr, Mapping> mappings;
std::map<CUdeviceptr, size_t> reservations;

/// What an address lies in; null if in none of these.
template <typename Ranges, typename Size>
auto *find(Ranges &ranges, CUdeviceptr address, Size sizeOf) {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin())
    return static_cast<decltype(&*after)>(nullptr);
  auto &range = *std::prev(after);
  return address - range.first < sizeOf(range.second) ? &range : nullptr;
}
auto *findAllocation(CUdeviceptr address) {
  return find(allocations, address, [](const Allocation &a) { return a.size; });
}
auto *findMapping(CUdeviceptr address) {
  return find(mappings, address, [](const Mapping &m) { return m.size; });
}
auto *findReservation(CUdeviceptr address) {
  return find(reservations, address, [](size_t size) { return size; });
}

int makeFile(size_t size) {
  int file = memfd_create("fake GPU", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0)
    return file;
  close(file);
  return -1;
}

CUresult map(int file, size_t size, CUdeviceptr &address) {
  void *memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  address = reinterpret_cast<CUdeviceptr>(memory);
  std::lock_guard lock(mutex);
  allocations[address] = {size, file};
  ++objects;
  return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr address) {
  std::lock_guard lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end())
    return CUDA_ERROR_INVALID_VALUE;
  munmap(reinterpret_cast<void *>(address), found->second.size);
  close(found->second.file);
  allocations.erase(found);
  --objects;
  return CUDA_SUCCESS;
}

/// What nobody uses any more goes.
void release(CUmemGenericAllocationHandle handle) {
  auto found = physicals.find(handle);
  if (found->second.handles > 0 || found->second.mappings > 0)
    return;
  close(found->second.file);
  physicals.erase(found);
}

CUmemGenericAllocationHandle add(const Physical &physical) {
  static CUmemGenericAllocationHandle next = 1;
  physicals[next] = physical;
  ++objects;
  return next++;
}

/// Everything else in the handle is zero.
struct Handle {
  int process, file;
  size_t size;
};

} // namespace

bool fake::isAccessible(CUdeviceptr address) {
  std::lock_guard lock(mutex);
  auto *mapping = findMapping(address);
  return mapping ? mapping->second.devices.contains(currentDevice())
                 : !findReservation(address);
}

extern "C" {

CUresult cuMemAlloc(CUdeviceptr *address, size_t size) {
  CCN_WAITING(cuMemAlloc)
  int file = makeFile(size);
  if (file < 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult result = map(file, size, *address);
  if (result == CUDA_SUCCESS)
    // What was not zeroed shows.
    std::memset(reinterpret_cast<void *>(*address), 0xa5, size);
  return result;
}
/// As much as nobody needs, unless a test says otherwise. What is taken counts
/// for nothing.
static std::atomic<size_t> freeBytes{size_t(1) << 50};
void ccnFakeFree(size_t bytes) { freeBytes = bytes; }
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  CCN_CONTEXT(cuMemGetInfo)
  *free = freeBytes;
  *total = size_t(1) << 50;
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  fake::awaitDevice();
  return unmap(address);
}
CUresult cuMemHostAlloc(void **address, size_t size, unsigned) {
  CCN_WAITING(cuMemHostAlloc)
  *address = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void *address) {
  fake::awaitDevice();
  std::free(address);
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *host, unsigned) {
  CCN_CONTEXT(cuMemHostGetDevicePointer)
  *address = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size,
                              CUdeviceptr address) {
  CCN_CONTEXT(cuMemGetAddressRange)
  std::lock_guard lock(mutex);
  if (auto *allocation = findAllocation(address)) {
    *base = allocation->first;
    *size = allocation->second.size;
  } else if (auto *mapping = findMapping(address)) {
    *base = mapping->first;
    *size = mapping->second.size;
  } else {
    return CUDA_ERROR_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Handles of allocations
//===----------------------------------------------------------------------===//

CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address) {
  CCN_CONTEXT(cuIpcGetMemHandle)
  std::lock_guard lock(mutex);
  auto found = allocations.find(address);
  if (found == allocations.end())
    return CUDA_ERROR_INVALID_VALUE;
  Handle handle{getpid(), found->second.file, found->second.size};
  std::memset(out, 0, sizeof *out);
  std::memcpy(out, &handle, sizeof handle);
  return CUDA_SUCCESS;
}
CUresult cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle in, unsigned) {
  CCN_UNCAPTURED(cuIpcOpenMemHandle)
  Handle handle;
  std::memcpy(&handle, &in, sizeof handle);
  if (handle.process == getpid())
    return CUDA_ERROR_INVALID_CONTEXT;
  std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" +
                     std::to_string(handle.file);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  return file < 0 ? CUDA_ERROR_INVALID_VALUE : map(file, handle.size, *address);
}
CUresult cuIpcCloseMemHandle(CUdeviceptr address) { return unmap(address); }

//===----------------------------------------------------------------------===//
// Memory apart from its addresses
//===----------------------------------------------------------------------===//

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *properties,
                     unsigned long long) {
  CCN_CALL(cuMemCreate)
  if (size == 0 || size % granularity != 0 ||
      properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  int file = makeFile(size);
  if (file < 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::lock_guard lock(mutex);
  *handle = add({size, file, properties->location.id,
                 properties->requestedHandleTypes ==
                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  std::lock_guard lock(mutex);
  auto found = physicals.find(handle);
  if (found == physicals.end() || found->second.handles == 0)
    return CUDA_ERROR_INVALID_VALUE;
  --found->second.handles;
  --objects;
  release(handle);
  return CUDA_SUCCESS;
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
                                     void *address) {
  CCN_CALL(cuMemRetainAllocationHandle)
  std::lock_guard lock(mutex);
  auto *mapping = findMapping(reinterpret_cast<CUdeviceptr>(address));
  if (!mapping)
    return CUDA_ERROR_INVALID_VALUE;
  *handle = mapping->second.handle;
  ++physicals[*handle].handles;
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuMemExportToShareableHandle(void *out,
                                      CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type,
                                      unsigned long long) {
  CCN_CALL(cuMemExportToShareableHandle)
  std::lock_guard lock(mutex);
  auto found = physicals.find(handle);
  if (found == physicals.end() || !found->second.isExportable ||
      type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  int file = fcntl(found->second.file, F_DUPFD_CLOEXEC, 0);
  std::memcpy(out, &file, sizeof file);
  return file < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
                                        void *in,
                                        CUmemAllocationHandleType type) {
  CCN_CALL(cuMemImportFromShareableHandle)
  struct stat about;
  auto passed = static_cast<int>(reinterpret_cast<uintptr_t>(in));
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
      fstat(passed, &about) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  int file = fcntl(passed, F_DUPFD_CLOEXEC, 0);
  if (file < 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  std::lock_guard lock(mutex);
  *handle = add({static_cast<size_t>(about.st_size), file, -1, true});
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t,
                             CUdeviceptr, unsigned long long) {
  CCN_CALL(cuMemAddressReserve)
  if (size == 0 || size % granularity != 0)
    return CUDA_ERROR_INVALID_VALUE;
  void *begin = mmap(nullptr, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(begin);
  std::lock_guard lock(mutex);
  reservations[*address] = size;
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
  std::lock_guard lock(mutex);
  auto found = reservations.find(address);
  auto next = mappings.lower_bound(address);
  if (found == reservations.end() || found->second != size ||
      (next != mappings.end() && next->first < address + size))
    return CUDA_ERROR_INVALID_VALUE;
  munmap(reinterpret_cast<void *>(address), size);
  reservations.erase(found);
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long) {
  CCN_CALL(cuMemMap)
  std::lock_guard lock(mutex);
  auto *reservation = findReservation(address);
  auto physical = physicals.find(handle);
  auto next = mappings.lower_bound(address);
  if (!reservation || physical == physicals.end() || size == 0 ||
      size % granularity != 0 || offset != 0 || size > physical->second.size ||
      (address - reservation->first) % granularity != 0 ||
      address + size > reservation->first + reservation->second ||
      findMapping(address) ||
      (next != mappings.end() && next->first < address + size))
    return CUDA_ERROR_INVALID_VALUE;
  if (mmap(reinterpret_cast<void *>(address), size, PROT_NONE,
           MAP_SHARED | MAP_FIXED, physical->second.file, 0) == MAP_FAILED)
    return CUDA_ERROR_OUT_OF_MEMORY;
  mappings[address] = {size, handle, {}};
  ++physical->second.mappings;
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
  std::lock_guard lock(mutex);
  auto found = mappings.find(address);
  if (found == mappings.end() || found->second.size != size)
    return CUDA_ERROR_INVALID_VALUE;
  mmap(reinterpret_cast<void *>(address), size, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  CUmemGenericAllocationHandle handle = found->second.handle;
  mappings.erase(found);
  --physicals[handle].mappings;
  --objects;
  release(handle);
  return CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr address, size_t size,
                        const CUmemAccessDesc *access, size_t count) {
  CCN_CALL(cuMemSetAccess)
  std::lock_guard lock(mutex);
  if (count != 1 || access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
      access->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return CUDA_ERROR_INVALID_VALUE;
  CUdeviceptr end = address + size;
  for (CUdeviceptr at = address; at < end;) {
    auto found = mappings.find(at);
    if (found == mappings.end() || at + found->second.size > end)
      return CUDA_ERROR_INVALID_VALUE;
    if (std::getenv("CCN_FAKE_NO_PEERS") &&
        physicals[found->second.handle].device != access->location.id)
      return CUDA_ERROR_INVALID_DEVICE;
    at += found->second.size;
  }
  mprotect(reinterpret_cast<void *>(address), size, PROT_READ | PROT_WRITE);
  for (auto it = mappings.find(address);
       it != mappings.end() && it->first < end; ++it)
    it->second.devices.insert(access->location.id);
  return CUDA_SUCCESS;
}

} // extern "C"
