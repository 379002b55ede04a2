//===- MappedMemory.h - Memory that is apart from its addresses -*- C++ -*-===//
//
// Memory that cuMemCreate gave and cuMemMap mapped, as PyTorch's expandable
// segments and NCCL's ncclMemAlloc do. Unlike memory of cuMemAlloc, only the
// device for which it was mapped can access it. So a rank that is to access
// memory of another maps it once more, at addresses of its own.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_MAPPEDMEMORY_H
#define CCN_RUNTIME_CUDA_MAPPEDMEMORY_H

#include "runtime/base/File.h"
#include "runtime/cuda/GpuDevice.h"

#include <span>
#include <vector>

namespace ccn::runtime {

/// Physical memory, which may be mapped at several addresses.
struct PhysicalMemory {
  DeviceObject<CUmemGenericAllocationHandle> handle;
  size_t bytes = 0;
};

/// What is mapped at a range of addresses.
struct PhysicalRange {
  /// One after the other.
  std::vector<PhysicalMemory> parts;
  /// Where the range begins in the first.
  uint64_t offset = 0;
};

/// What is mapped at `bytes` bytes from `address` on, which the current context
/// can access. An error if any of it is memory of another kind.
Result<PhysicalRange> findPhysical(const GpuDevice &device, CUdeviceptr address,
                                   uint64_t bytes);

/// A descriptor by which another process can import it. An error if it was not
/// created for that.
Result<FileDescriptor> exportPhysical(const GpuDevice &device,
                                      const PhysicalMemory &memory);
Result<PhysicalMemory> importPhysical(const GpuDevice &device,
                                      const FileDescriptor &file,
                                      uint64_t bytes);

/// Addresses, given back by a function of the driver. Move-only.
class AddressRange {
public:
  using Free = CUresult (*)(CUdeviceptr, size_t);

  AddressRange(CUdeviceptr address, size_t bytes, Free free)
      : address(address, nullptr), bytes(bytes), free(free) {}
  AddressRange(AddressRange &&) = default;
  ~AddressRange() {
    if (CUdeviceptr begin = address.release())
      (void)free(begin, bytes);
  }

  CUdeviceptr get() const { return address.get(); }

private:
  DeviceObject<CUdeviceptr> address;
  size_t bytes;
  Free free;
};

/// Mappings of physical memory, one after the other, that a device can access.
/// They keep that memory.
class MappedMemory {
public:
  static Result<MappedMemory> create(const GpuDevice &device,
                                     std::span<const PhysicalMemory> parts);

  CUdeviceptr address() const { return reserved.get(); }

private:
  explicit MappedMemory(AddressRange reserved)
      : reserved(std::move(reserved)) {}

  // What comes later is given back first.
  AddressRange reserved;
  std::vector<AddressRange> mapped;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_MAPPEDMEMORY_H
