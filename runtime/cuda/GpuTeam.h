//===- GpuTeam.h - Memory of GPUs that all ranks can address ----*- C++ -*-===//
//
// Each rank takes symmetric memory from its device and learns where that of the
// others is: ranks of one process share addresses, those of others open a
// handle. The ranks must be on one host, and their devices must be able to
// access each other.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUTEAM_H
#define CCN_RUNTIME_CUDA_GPUTEAM_H

#include "runtime/GpuProgram.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/HostExchange.h"

#include <span>

namespace ccn::runtime {

class GpuTeam {
public:
  /// The size of the records that it exchanges.
  static int64_t recordBytes();

  /// Takes `bytes` bytes from the device, zeroes them, applies the fills, and
  /// exchanges addresses. All ranks call this at the same point; none may use
  /// the memory of another before they have met again. The context of `device`
  /// is current, here and when this is destroyed.
  static Result<std::unique_ptr<GpuTeam>>
  create(const GpuDevice &device, HostExchange &exchange, int rank,
         int64_t bytes, std::span<const GpuFill> fills);

  ~GpuTeam();
  GpuTeam(const GpuTeam &) = delete;
  GpuTeam &operator=(const GpuTeam &) = delete;

  /// The symmetric memory of each rank as this device sees it.
  CUdeviceptr address(int rank) const {
    return addresses[static_cast<size_t>(rank)];
  }
  /// The places in the memory of the ranks' devices that all agree to share, as
  /// this device sees them: each rank gives its own, 0 if it has none, in
  /// memory that stays until this is destroyed. Nothing, on all ranks, if a
  /// rank cannot access that of another: what cuMemAlloc gave it can, what was
  /// mapped otherwise only on its own device. All ranks call this at the same
  /// point.
  Result<std::optional<std::vector<CUdeviceptr>>>
  shareIfPossible(HostExchange &exchange, CUdeviceptr own);

  /// How many ranks are on this rank's device.
  int ranksOnDevice() const { return sharing; }

  /// Lets go of the others' memory: before they free it.
  void closePeers();

private:
  struct Record;

  GpuTeam(const GpuDevice &device, int rank) : device(device), rank(rank) {}
  Status prepareMemory(int64_t bytes, std::span<const GpuFill> fills);
  Result<Record> describe(CUdeviceptr address) const;
  /// What all ranks tell of their memory.
  Result<std::vector<Record>> describeAll(HostExchange &exchange,
                                          CUdeviceptr own) const;
  /// Where the ranks have memory of cuMemAlloc; and counts those on this
  /// device.
  Result<std::vector<CUdeviceptr>> share(HostExchange &exchange,
                                         CUdeviceptr own);
  bool isWithinReach(const Record &own, const Record &peer) const;
  Result<CUdeviceptr> reach(const Record &own, const Record &peer, int other);
  Result<CUdeviceptr> reachInProcess(const Record &peer);
  Result<CUdeviceptr> reachByHandle(const Record &own, const Record &peer);

  const GpuDevice &device;
  int rank;
  DeviceMemory memory;
  std::vector<CUdeviceptr> addresses, opened;
  /// Of ranks in this process.
  std::vector<std::unique_ptr<GpuDevice>> peers;
  int sharing = 1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUTEAM_H
