//===- MappedMemory.cpp - Memory that is apart from its addresses ---------===//
//
// The driver maps physical memory only from its beginning. For an address it
// tells which physical memory is mapped there, and where the mapping begins and
// ends.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/MappedMemory.h"

namespace ccn::runtime {

Result<PhysicalRange> findPhysical(const GpuDevice &device, CUdeviceptr address,
                                   uint64_t bytes) {
  const Driver &driver = device.driver;
  PhysicalRange range;
  CUdeviceptr end = address + bytes;
  for (CUdeviceptr at = address; at < end;) {
    CUmemGenericAllocationHandle handle = 0;
    if (Status status = device.check(driver.memRetainAllocationHandle(
                                         &handle, reinterpret_cast<void *>(at)),
                                     "cuMemRetainAllocationHandle");
        !status)
      return status;
    PhysicalMemory part{{handle, driver.memRelease}, 0};
    CUdeviceptr base = 0;
    if (Status status =
            device.check(driver.memGetAddressRange(&base, &part.bytes, at),
                         "cuMemGetAddressRange");
        !status)
      return status;
    bool isFirst = range.parts.empty();
    if (at - base >= part.bytes || (!isFirst && at != base))
      return error("expected a mapping that begins at ", at, ", found ",
                   part.bytes, " bytes from ", base);
    if (isFirst)
      range.offset = at - base;
    at = base + part.bytes;
    range.parts.push_back(std::move(part));
  }
  return range;
}

Result<FileDescriptor> exportPhysical(const GpuDevice &device,
                                      const PhysicalMemory &memory) {
  int file = -1;
  if (Status status =
          device.check(device.driver.memExportToShareableHandle(
                           &file, memory.handle.get(),
                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                       "cuMemExportToShareableHandle");
      !status)
    return status;
  return FileDescriptor(file);
}

Result<PhysicalMemory> importPhysical(const GpuDevice &device,
                                      const FileDescriptor &file,
                                      uint64_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  auto number = static_cast<uintptr_t>(file.get());
  if (Status status =
          device.check(device.driver.memImportFromShareableHandle(
                           &handle, reinterpret_cast<void *>(number),
                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                       "cuMemImportFromShareableHandle");
      !status)
    return status;
  return PhysicalMemory{{handle, device.driver.memRelease}, bytes};
}

Result<MappedMemory>
MappedMemory::create(const GpuDevice &device,
                     std::span<const PhysicalMemory> parts) {
  const Driver &driver = device.driver;
  size_t bytes = 0;
  for (const PhysicalMemory &part : parts)
    bytes += part.bytes;
  CUdeviceptr begin = 0;
  if (Status status =
          device.check(driver.memAddressReserve(&begin, bytes, 0, 0, 0),
                       "cuMemAddressReserve");
      !status)
    return status;
  MappedMemory made(AddressRange(begin, bytes, driver.memAddressFree));
  CUdeviceptr at = begin;
  for (const PhysicalMemory &part : parts) {
    if (Status status = device.check(
            driver.memMap(at, part.bytes, 0, part.handle.get(), 0), "cuMemMap");
        !status)
      return status;
    made.mapped.emplace_back(at, part.bytes, driver.memUnmap);
    at += part.bytes;
  }
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device.number;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  if (Status status = device.check(
          driver.memSetAccess(begin, bytes, &access, 1), "cuMemSetAccess");
      !status)
    return status;
  return made;
}

} // namespace ccn::runtime
