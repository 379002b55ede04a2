//===- GpuTeam.cpp - Memory of GPUs that all ranks can address ------------===//
//
// A process is identified by a random token, since another container may have a
// process of the same number; a host by its name and the id of its boot; a
// device by its UUID, since processes may number devices differently.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuTeam.h"

#include "runtime/cuda/DescriptorExchange.h"
#include "runtime/cuda/Nccl.h"

#include <cstring>
#include <fstream>
#include <random>
#include <unistd.h>

namespace ccn::runtime {

namespace {

/// The size to which allocations are rounded, so that nothing else lies in the
/// memory that others open with them.
constexpr int64_t granule = int64_t(2) << 20;

uint64_t processToken() {
  static const uint64_t token = [] {
    std::random_device random;
    return (uint64_t(random()) << 32 | random()) ^ uint64_t(getpid());
  }();
  return token;
}

/// At most `size` - 1 characters.
void hostIdentity(char *text, size_t size) {
  std::string boot, name(256, '\0');
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Containers on one host differ in their names, but share the boot.
  if (boot.empty() && gethostname(name.data(), name.size() - 1) == 0)
    boot = name.c_str();
  size_t length = std::min(boot.size(), size - 1);
  std::memcpy(text, boot.data(), length);
  text[length] = 0;
}

bool isSameText(const char (&a)[64], const char (&b)[64]) {
  return std::strncmp(a, b, sizeof a) == 0;
}
bool isSame(const CUuuid &a, const CUuuid &b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

} // namespace

/// The record that a rank sends the others.
struct GpuTeam::Record {
  /// How ranks of other processes and devices get to the memory.
  enum class Access : int {
    None,
    /// It is the allocator's, to which access between devices applies, and has
    /// a handle.
    ByHandle,
    /// It is mapped once more.
    ByMapping
  };

  char host[64];
  uint64_t process;
  CUuuid device;
  /// By this process's count.
  int deviceNumber;
  Access access;
  /// 0 if there is no memory.
  CUdeviceptr address;
  uint64_t bytes;
  /// How far `address` is from the beginning of its allocation, or of the first
  /// of so many parts that are mapped.
  uint64_t offset, parts;
  CUipcMemHandle handle;

  bool isSameProcess(const Record &other) const {
    return process == other.process;
  }
  bool isSameDevice(const Record &other) const {
    return isSameProcess(other) && deviceNumber == other.deviceNumber;
  }
};

struct GpuTeam::Described {
  Record record;
  /// The memory, if it is to be mapped.
  PhysicalRange physical;
};

int64_t GpuTeam::recordBytes() { return sizeof(Record); }

int64_t GpuTeam::takenBytes(int64_t bytes) {
  return std::max<int64_t>((bytes + granule - 1) / granule, 1) * granule;
}

Status GpuTeam::prepareMemory(int64_t bytes, std::span<const GpuFill> fills) {
  bytes = takenBytes(bytes);
  Result<DeviceMemory> taken =
      allocateMemory(device, bytes, "symmetric memory");
  if (!taken)
    return taken.status();
  memory = *std::move(taken);
  Result<CUstream> stream = device.setupStream();
  if (!stream)
    return stream.status();
  auto fill = [&](int64_t offset, int64_t size, int value) {
    if (size == 0)
      return Status();
    return device.check(device.driver.memsetD8Async(
                            memory.get() + static_cast<CUdeviceptr>(offset),
                            static_cast<unsigned char>(value),
                            static_cast<size_t>(size), *stream),
                        "cuMemsetD8Async");
  };
  Status status = fill(0, bytes, 0);
  for (const GpuFill &wanted : fills)
    if (status)
      status = fill(wanted.offset, wanted.bytes, wanted.value);
  if (status)
    status = awaitStream(device, *stream);
  if (!status)
    device.endSetup();
  return status;
}

Result<CUdeviceptr> GpuTeam::map(std::span<const PhysicalMemory> parts,
                                 uint64_t offset, PeerMemory &memory) const {
  Result<MappedMemory> mapped = MappedMemory::create(device, parts);
  if (!mapped)
    return mapped.status();
  memory.mapped.push_back(*std::move(mapped));
  return memory.mapped.back().address() + offset;
}

Result<CUdeviceptr> GpuTeam::reachInProcess(const Record &peer,
                                            PeerMemory &memory) const {
  if (peer.deviceNumber == device.number)
    return peer.address;
  Result<std::unique_ptr<GpuDevice>> other = GpuDevice::open(peer.deviceNumber);
  if (!other)
    return other.status();
  int canAccess = 0;
  if (Status status =
          device.check(device.driver.deviceCanAccessPeer(
                           &canAccess, device.device, (*other)->device),
                       "cuDeviceCanAccessPeer");
      !status)
    return status;
  if (!canAccess)
    return error("GPU ", device.number, " cannot access the memory of GPU ",
                 peer.deviceNumber);
  if (peer.access == Record::Access::ByMapping) {
    Result<PhysicalRange> found = [&] {
      CurrentContext current(device.driver, (*other)->context);
      return findPhysical(**other, peer.address, peer.bytes);
    }();
    return found ? map(found->parts, found->offset, memory) : found.status();
  }
  CUresult result = device.driver.ctxEnablePeerAccess((*other)->context, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    if (Status status = device.check(result, "cuCtxEnablePeerAccess"); !status)
      return error("GPU ", device.number, " cannot access the memory of GPU ",
                   peer.deviceNumber, ": ", status.message());
  memory.devices.push_back(*std::move(other));
  return peer.address;
}

Result<CUdeviceptr> GpuTeam::reachByHandle(const Record &peer,
                                           PeerMemory &memory) const {
  if (peer.access != Record::Access::ByHandle)
    return error("the memory of a GPU cannot be shared between processes here; "
                 "ranks that are threads of one process need no sharing");
  CUdeviceptr address = 0;
  Status status = device.check(
      device.driver.ipcOpenMemHandle(&address, peer.handle,
                                     CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
      "cuIpcOpenMemHandle");
  if (!status)
    return error("GPU ", device.number,
                 " cannot access the memory of a GPU of another process: ",
                 status.message(),
                 "; each process must see all GPUs (CUDA_VISIBLE_DEVICES)");
  memory.opened.emplace_back(address, device.driver.ipcCloseMemHandle);
  return address + peer.offset;
}

Status GpuTeam::reach(const Record &own, const Record &peer, int other,
                      std::span<const PhysicalMemory> received,
                      PeerMemory &memory) const {
  if (other == rank || peer.address == 0) {
    memory.places.push_back(peer.address);
    return Status();
  }
  if (!isSameText(own.host, peer.host))
    return error("rank ", other,
                 " is on another host, whose memory kernels cannot access");
  Result<CUdeviceptr> address = own.isSameProcess(peer)
                                    ? reachInProcess(peer, memory)
                                : peer.access == Record::Access::ByMapping
                                    ? map(received, peer.offset, memory)
                                    : reachByHandle(peer, memory);
  if (!address)
    return error("rank ", other, ": ", address.message());
  memory.places.push_back(*address);
  return Status();
}

Result<std::unique_ptr<GpuTeam>> GpuTeam::create(const GpuDevice &device,
                                                 HostExchange &exchange,
                                                 int rank, int64_t bytes,
                                                 std::span<const GpuFill> fills,
                                                 GpuTransport transport) {
  std::unique_ptr<GpuTeam> team(new GpuTeam(device, rank));
  if (Status status = team->prepareMemory(bytes, fills); !status)
    return status;
  if (Status status = team->share(exchange, bytes, transport); !status)
    return status;
  return team;
}

GpuTeam::Described GpuTeam::describe(CUdeviceptr address, int64_t bytes) const {
  Described own;
  Record &record = own.record;
  std::memset(static_cast<void *>(&record), 0, sizeof record);
  hostIdentity(record.host, sizeof record.host);
  record.process = processToken();
  record.device = device.uuid;
  record.deviceNumber = device.number;
  if (address == 0 || bytes <= 0)
    return own;
  record.address = address;
  record.bytes = static_cast<uint64_t>(bytes);
  CUdeviceptr base = 0;
  size_t size = 0;
  if (device.driver.memGetAddressRange(&base, &size, address) == CUDA_SUCCESS &&
      address - base + record.bytes <= size &&
      device.driver.ipcGetMemHandle(&record.handle, base) == CUDA_SUCCESS) {
    record.access = Record::Access::ByHandle;
    record.offset = address - base;
  } else if (Result<PhysicalRange> found =
                 findPhysical(device, address, record.bytes)) {
    record.access = Record::Access::ByMapping;
    record.offset = found->offset;
    record.parts = found->parts.size();
    own.physical = *std::move(found);
  }
  return own;
}

Status GpuTeam::checkMessages(const std::vector<Record> &all,
                              const std::string &reason) const {
  const std::string instead =
      reason + "; and NCCL, which would send messages instead, ";
  if (Result<const Nccl *> nccl = Nccl::get(); !nccl)
    return error(instead, "cannot be used: ", nccl.message());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (isSameText(all[i].host, all[j].host) &&
          isSame(all[i].device, all[j].device))
        return error(instead, "takes one rank on a GPU, found ranks ", j,
                     " and ", i, " on the same");
  return Status();
}

Status GpuTeam::share(HostExchange &exchange, int64_t bytes,
                      GpuTransport transport) {
  Described described = describe(memory.get(), std::max<int64_t>(bytes, 1));
  Result<std::vector<Record>> all = exchange.gather(described.record);
  if (!all)
    return all.status();
  const Record &own = described.record;
  sharing = sharingInProcess = 0;
  Status reached;
  for (size_t other = 0; other < all->size(); ++other) {
    const Record &peer = (*all)[other];
    sharing += isSame(peer.device, own.device);
    sharingInProcess += own.isSameDevice(peer);
    if (reached && transport != GpuTransport::Nccl)
      reached = reach(own, peer, static_cast<int>(other), {}, symmetric);
  }
  struct Choice {
    GpuTransport transport;
    int reaches;
  };
  Result<std::vector<Choice>> choices =
      exchange.gather(Choice{transport, static_cast<int>(bool(reached))});
  if (!choices)
    return choices.status();
  std::string reason = reached.message();
  for (size_t other = 0; other < choices->size(); ++other) {
    const Choice &choice = (*choices)[other];
    if (choice.transport != transport)
      return error("CCN_GPU_TRANSPORT: expected the same on all ranks, found ",
                   name(choice.transport), " on rank ", other, " and ",
                   name(transport), " on rank ", rank);
    if (!choice.reaches && reason.empty())
      reason = "rank " + std::to_string(other) +
               " cannot access the memory of all others";
  }
  if (transport == GpuTransport::Nccl)
    reason = "CCN_GPU_TRANSPORT is nccl";
  byMessages = !reason.empty();
  if (!byMessages)
    return Status();
  Status failed = transport == GpuTransport::Peer
                      ? error(reason, "; CCN_GPU_TRANSPORT is peer")
                      : checkMessages(*all, reason);
  if (!failed) {
    // A rank that cannot access the others says why.
    Status theirs;
    if (reached && transport != GpuTransport::Nccl)
      theirs = exchange.barrier("set-up of GPUs");
    return theirs ? failed : theirs;
  }
  symmetric = PeerMemory();
  symmetric.places.assign(all->size(), 0);
  symmetric.places[static_cast<size_t>(rank)] = memory.get();
  sharing = sharingInProcess = 1;
  return Status();
}

Result<GpuTeam::Received>
GpuTeam::passMapped(HostExchange &exchange, const Described &own,
                    std::span<const Record> all) const {
  Received received(all.size());
  auto isPassed = [](const Record &from, const Record &to) {
    return from.access == Record::Access::ByMapping && !from.isSameProcess(to);
  };
  bool isAnyPassed = false;
  for (const Record &from : all)
    for (const Record &to : all)
      isAnyPassed |= isPassed(from, to);
  if (!isAnyPassed)
    return received;
  DescriptorTraffic traffic;
  traffic.given = own.physical.parts.size();
  for (size_t other = 0; other < all.size(); ++other) {
    const Record &peer = all[other];
    if (isPassed(own.record, peer))
      traffic.receivers.push_back(static_cast<int>(other));
    traffic.expected.push_back(isPassed(peer, own.record) ? peer.parts : 0);
  }
  traffic.give = [&](size_t index) -> Result<PassedDescriptor> {
    const PhysicalMemory &part = own.physical.parts[index];
    Result<FileDescriptor> file = exportPhysical(device, part);
    if (!file)
      return file.status();
    return PassedDescriptor{*std::move(file), part.bytes};
  };
  traffic.take = [&](int from, PassedDescriptor passed) {
    Result<PhysicalMemory> part =
        importPhysical(device, passed.file, passed.about);
    if (!part)
      return part.status();
    received[static_cast<size_t>(from)].push_back(*std::move(part));
    return Status();
  };
  Status status = passDescriptors(exchange, traffic);
  if (!status)
    return status;
  return received;
}

Result<std::optional<PeerMemory>>
GpuTeam::shareIfPossible(HostExchange &exchange, CUdeviceptr address,
                         int64_t bytes) {
  Described described = describe(address, bytes);
  Result<std::vector<Record>> all = exchange.gather(described.record);
  if (!all)
    return all.status();
  const Record &own = described.record;
  std::optional<PeerMemory> memory;
  // All see this alike.
  for (const Record &from : *all)
    for (const Record &to : *all)
      if (from.address != 0 && !from.isSameDevice(to) &&
          from.access == Record::Access::None)
        return memory;
  Result<Received> received = passMapped(exchange, described, *all);
  if (received)
    memory.emplace();
  for (size_t other = 0; other < all->size() && memory; ++other)
    if (!reach(own, (*all)[other], static_cast<int>(other), (*received)[other],
               *memory))
      memory.reset();
  // If one rank cannot access it, no rank does.
  Result<std::vector<int>> possible =
      exchange.gather(static_cast<int>(memory.has_value()));
  if (!possible)
    return possible.status();
  for (int each : *possible)
    if (!each)
      memory.reset();
  return memory;
}

} // namespace ccn::runtime
