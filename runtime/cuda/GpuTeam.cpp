//===- GpuTeam.cpp - Memory of GPUs that all ranks can address ------------===//
//
// A process is known by a random token, as its number may be that of another in
// another container; a host by its name and the identity of its boot; a device
// by its UUID, as processes may number devices differently.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/GpuTeam.h"

#include <cstring>
#include <fstream>
#include <random>
#include <unistd.h>

namespace ccn::runtime {

namespace {

/// Of an allocation, so that nothing else lies in what others open with it.
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

} // namespace

/// What a rank tells the others.
struct GpuTeam::Record {
  char host[64];
  uint64_t process;
  CUuuid device;
  /// By this process's count.
  int deviceNumber;
  CUdeviceptr address;
  /// Whether there is a handle: of the allocation that `address` is in, so many
  /// bytes before.
  int isShareable;
  uint64_t offset;
  CUipcMemHandle handle;
};

int64_t GpuTeam::recordBytes() { return sizeof(Record); }

Status GpuTeam::prepareMemory(int64_t bytes, std::span<const GpuFill> fills) {
  bytes = std::max<int64_t>((bytes + granule - 1) / granule, 1) * granule;
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

Result<CUdeviceptr> GpuTeam::reachInProcess(const Record &peer) {
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
  CUresult result = device.driver.ctxEnablePeerAccess((*other)->context, 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
    if (Status status = device.check(result, "cuCtxEnablePeerAccess"); !status)
      return error("GPU ", device.number, " cannot access the memory of GPU ",
                   peer.deviceNumber, ": ", status.message());
  peers.push_back(*std::move(other));
  return peer.address;
}

Result<CUdeviceptr> GpuTeam::reachByHandle(const Record &own,
                                           const Record &peer) {
  if (!own.isShareable || !peer.isShareable)
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
  opened.push_back(address);
  return address + peer.offset;
}

Result<CUdeviceptr> GpuTeam::reach(const Record &own, const Record &peer,
                                   int other) {
  if (other == rank || peer.address == 0)
    return peer.address;
  if (std::strncmp(own.host, peer.host, sizeof own.host) != 0)
    return error("expected all ranks on one host, found rank ", other,
                 " on another; kernels of GPUs reach the memory of one host "
                 "only");
  Result<CUdeviceptr> address = own.process == peer.process
                                    ? reachInProcess(peer)
                                    : reachByHandle(own, peer);
  if (!address)
    return error("rank ", other, ": ", address.message());
  return address;
}

Result<std::unique_ptr<GpuTeam>>
GpuTeam::create(const GpuDevice &device, HostExchange &exchange, int rank,
                int64_t bytes, std::span<const GpuFill> fills) {
  std::unique_ptr<GpuTeam> team(new GpuTeam(device, rank));
  if (Status status = team->prepareMemory(bytes, fills); !status)
    return status;
  Result<std::vector<CUdeviceptr>> addresses =
      team->share(exchange, team->memory.get());
  if (!addresses)
    return addresses.status();
  team->addresses = *std::move(addresses);
  return team;
}

Result<GpuTeam::Record> GpuTeam::describe(CUdeviceptr address) const {
  Record record;
  std::memset(static_cast<void *>(&record), 0, sizeof record);
  hostIdentity(record.host, sizeof record.host);
  record.process = processToken();
  record.device = device.uuid;
  record.deviceNumber = device.number;
  record.address = address;
  if (address == 0)
    return record;
  CUdeviceptr base = 0;
  size_t size = 0;
  if (Status status =
          device.check(device.driver.memGetAddressRange(&base, &size, address),
                       "cuMemGetAddressRange");
      !status)
    return status;
  record.offset = address - base;
  record.isShareable =
      device.driver.ipcGetMemHandle(&record.handle, base) == CUDA_SUCCESS;
  return record;
}

Result<std::vector<GpuTeam::Record>>
GpuTeam::describeAll(HostExchange &exchange, CUdeviceptr address) const {
  Result<Record> own = describe(address);
  if (!own)
    return own.status();
  return exchange.gather(*own);
}

Result<std::vector<CUdeviceptr>> GpuTeam::share(HostExchange &exchange,
                                                CUdeviceptr address) {
  Result<std::vector<Record>> all = describeAll(exchange, address);
  if (!all)
    return all.status();
  const Record &own = (*all)[static_cast<size_t>(rank)];
  sharing = 0;
  std::vector<CUdeviceptr> reached;
  for (size_t other = 0; other < all->size(); ++other) {
    const Record &peer = (*all)[other];
    Result<CUdeviceptr> address = reach(own, peer, static_cast<int>(other));
    if (!address)
      return address.status();
    reached.push_back(*address);
    if (std::memcmp(&peer.device, &own.device, sizeof own.device) == 0)
      ++sharing;
  }
  return reached;
}

/// Whether memory that the caller has can be accessed: that which has a handle
/// is the allocator's, to which access between devices applies.
bool GpuTeam::isWithinReach(const Record &own, const Record &peer) const {
  bool isSameDevice =
      own.process == peer.process && own.deviceNumber == peer.deviceNumber;
  return peer.address == 0 || isSameDevice || peer.isShareable;
}

Result<std::optional<std::vector<CUdeviceptr>>>
GpuTeam::shareIfPossible(HostExchange &exchange, CUdeviceptr address) {
  Result<std::vector<Record>> all = describeAll(exchange, address);
  if (!all)
    return all.status();
  const Record &own = (*all)[static_cast<size_t>(rank)];
  std::optional<std::vector<CUdeviceptr>> reached;
  reached.emplace();
  for (size_t other = 0; other < all->size() && reached; ++other) {
    const Record &peer = (*all)[other];
    Result<CUdeviceptr> place = isWithinReach(own, peer)
                                    ? reach(own, peer, static_cast<int>(other))
                                    : error("no handle");
    if (place)
      reached->push_back(*place);
    else
      reached.reset();
  }
  // What one cannot access, none does.
  Result<std::vector<int>> possible =
      exchange.gather(static_cast<int>(reached.has_value()));
  if (!possible)
    return possible.status();
  for (int each : *possible)
    if (!each)
      reached.reset();
  return reached;
}

void GpuTeam::closePeers() {
  for (CUdeviceptr address : opened)
    (void)device.driver.ipcCloseMemHandle(address);
  opened.clear();
}

GpuTeam::~GpuTeam() { closePeers(); }

} // namespace ccn::runtime
