//===- GpuTeam.h - Memory of GPUs that all ranks can address ----*- C++ -*-===//
//
// Each rank takes symmetric memory from its device and learns where that of the
// others is: ranks of one process share addresses, those of other processes
// open a handle. Memory that was mapped (MappedMemory.h) is mapped once more by
// each rank, for its own device.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUTEAM_H
#define CCN_RUNTIME_CUDA_GPUTEAM_H

#include "runtime/base/Environment.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/cuda/HostExchange.h"
#include "runtime/cuda/MappedMemory.h"
#include "runtime/plan/GpuProgram.h"

#include <span>

namespace ccn::runtime {

/// Memory of all ranks, as the device of one of them sees it. The handles and
/// mappings for that are given back with it, while the device's context is
/// current.
class PeerMemory {
public:
  /// By rank.
  std::span<const CUdeviceptr> addresses() const { return places; }

private:
  friend class GpuTeam;

  std::vector<CUdeviceptr> places;
  // What comes later is given back first.
  /// Of ranks in this process.
  std::vector<std::unique_ptr<GpuDevice>> devices;
  std::vector<DeviceMemory> opened;
  std::vector<MappedMemory> mapped;
};

class GpuTeam {
public:
  /// The size of the records that it exchanges.
  static int64_t recordBytes();

  /// What is taken of the device for so many bytes of symmetric memory.
  static int64_t takenBytes(int64_t bytes);

  /// Takes `bytes` bytes from the device, zeroes them, applies the fills, and
  /// exchanges addresses. All ranks call this at the same point; none may use
  /// the memory of another before they have met again. The context of `device`
  /// is current, here and when this is destroyed.
  static Result<std::unique_ptr<GpuTeam>>
  create(const GpuDevice &device, HostExchange &exchange, int rank,
         int64_t bytes, std::span<const GpuFill> fills, GpuTransport transport);

  GpuTeam(const GpuTeam &) = delete;
  GpuTeam &operator=(const GpuTeam &) = delete;

  /// Whether ranks send each other messages: then of no other is the address
  /// known.
  bool sendsMessages() const { return byMessages; }
  /// The symmetric memory of each rank as this device sees it.
  CUdeviceptr address(int rank) const {
    return symmetric.places[static_cast<size_t>(rank)];
  }
  /// Where the memory is that all ranks agree to share, each `bytes` bytes from
  /// `own` on (of no bytes, nothing), which stay until what this returns is
  /// gone. Nothing, on all ranks, if a rank cannot access that of another: it
  /// can what cuMemAlloc gave or cuMemMap mapped, the latter of another process
  /// if it was created to be exported as a file. All ranks call this at the
  /// same point.
  Result<std::optional<PeerMemory>>
  shareIfPossible(HostExchange &exchange, CUdeviceptr own, int64_t bytes);

  /// How many ranks are on this rank's device, and how many of them in this
  /// process.
  int ranksOnDevice() const { return sharing; }
  int ranksOfProcess() const { return sharingInProcess; }

  /// Lets go of the others' symmetric memory: before they free it.
  void closePeers() { symmetric = PeerMemory(); }

private:
  struct Record;
  /// Own memory, as the others are told of it.
  struct Described;
  using Received = std::vector<std::vector<PhysicalMemory>>;

  GpuTeam(const GpuDevice &device, int rank) : device(device), rank(rank) {}
  Status prepareMemory(int64_t bytes, std::span<const GpuFill> fills);
  Described describe(CUdeviceptr address, int64_t bytes) const;
  /// Learns where the ranks have symmetric memory, or that messages are needed;
  /// and counts those on this device.
  Status share(HostExchange &exchange, int64_t bytes, GpuTransport transport);
  /// Why not all can send messages, if `reason` is why they must.
  Status checkMessages(const std::vector<Record> &all,
                       const std::string &reason) const;
  /// Passes what others must map, and gets, by rank, what this one must.
  Result<Received> passMapped(HostExchange &exchange, const Described &own,
                              std::span<const Record> all) const;
  /// Adds the memory of `other` to what this device sees.
  Status reach(const Record &own, const Record &peer, int other,
               std::span<const PhysicalMemory> received,
               PeerMemory &memory) const;
  Result<CUdeviceptr> reachInProcess(const Record &peer,
                                     PeerMemory &memory) const;
  Result<CUdeviceptr> reachByHandle(const Record &peer,
                                    PeerMemory &memory) const;
  Result<CUdeviceptr> map(std::span<const PhysicalMemory> parts,
                          uint64_t offset, PeerMemory &memory) const;

  const GpuDevice &device;
  int rank;
  DeviceMemory memory;
  PeerMemory symmetric;
  int sharing = 1, sharingInProcess = 1;
  bool byMessages = false;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUTEAM_H
