//===- RunMemory.cpp - What the parts of a run share ----------------------===//
//
// The memory holds the task, the reports, the times, and then the parts of
// arguments by rank and argument.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/RunMemory.h"

#include "runtime/base/FreeMemory.h"
#include "runtime/base/Parallel.h"
#include "runtime/plan/Signature.h"
#include "runtime/tensor/Strided.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t unit = 64;

/// Raises `offset` to a multiple of the unit, and then by `count` times `size`.
/// False if that overflows.
bool advance(int64_t &offset, int64_t count, int64_t size, int64_t &place) {
  int64_t bytes, end;
  place = offset;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      __builtin_add_overflow(offset, bytes, &end) || end > INT64_MAX - unit)
    return false;
  offset = (end + unit - 1) / unit * unit;
  return true;
}

/// The copy between a rank's part, row-major, and the external form.
CopyDims partDims(const Argument &argument, const Placement &placement,
                  int64_t &wholeFirst) {
  Shape strides = rowMajorStrides(argument.shape);
  Shape own = rowMajorStrides(placement.sizes);
  CopyDims dims;
  wholeFirst = 0;
  for (size_t dim = 0; dim < strides.size(); ++dim) {
    wholeFirst += placement.offsets[dim] * strides[dim];
    dims.push_back({placement.sizes[dim], own[dim], strides[dim]});
  }
  return mergeDims(dims);
}

/// copyStrided by as many threads as there are cores: most of its time goes
/// into pages that are accessed for the first time.
void copyInChunks(int size, const CopyDims &dims, const std::byte *in,
                  std::byte *out) {
  constexpr int64_t chunkBytes = int64_t(1) << 20;
  int64_t bytes = size;
  for (const CopyDim &dim : dims)
    bytes *= dim.size;
  int64_t chunks = bytes / chunkBytes;
  // The outermost that can be cut into as many.
  auto cut = std::find_if(dims.begin(), dims.end(), [&](const CopyDim &dim) {
    return dim.size >= chunks;
  });
  if (chunks < 2 || cut == dims.end())
    return copyStrided(size, dims, in, out);
  forEachChunk(cut->size, cut->size / chunks, [&](int64_t first, int64_t n) {
    CopyDims part = dims;
    part[static_cast<size_t>(cut - dims.begin())].size = n;
    copyStrided(size, part, in + first * cut->inStride * size,
                out + first * cut->outStride * size);
  });
}

} // namespace

Status RunMemory::layOut(const Plan &plan, int32_t timedRuns,
                         std::optional<int> only) {
  usedPlan = &plan;
  signature = signatureOf("", plan);
  auto ranks = static_cast<int64_t>(plan.ranks.size());
  int64_t offset = 0, place = 0;
  bool fits = advance(offset, 1, sizeof(RunTask), place) &&
              advance(offset, ranks, sizeof(RankReport), reportsOffset) &&
              advance(offset, ranks * timedRuns, sizeof(RunTime), timesOffset);
  for (size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    std::vector<Place> &own = parts.emplace_back();
    for (size_t i = 0; fits && i < plan.arguments.size(); ++i) {
      const Argument &argument = plan.arguments[i];
      Result<int64_t> count =
          elementCount(plan.ranks[rank].placements[i].sizes);
      if (!count)
        return error("argument '", argument.name, "': ", count.message());
      bool isHeld = !only || *only == static_cast<int>(rank) ||
                    (*only == 0 && argument.kind != ArgumentKind::Input);
      int64_t held = isHeld ? *count : 0;
      int64_t size = sizeInBytes(argument.type);
      fits = advance(offset, held, size, place);
      own.push_back({place, held * size});
    }
  }
  if (!fits)
    return error("the arguments of all ranks do not fit 64 bits");
  totalBytes = offset;
  return Status();
}

Status RunMemory::map() {
  void *memory = mmap(nullptr, static_cast<size_t>(totalBytes),
                      PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (memory == MAP_FAILED)
    return error("cannot map ", totalBytes,
                 " bytes for the arguments of all ranks: ", systemError());
  start = static_cast<std::byte *>(memory);
  header = reinterpret_cast<RunTask *>(start);
  reports = reinterpret_cast<RankReport *>(start + reportsOffset);
  times = reinterpret_cast<RunTime *>(start + timesOffset);
  return Status();
}

Result<int64_t> RunMemory::bytesFor(const Plan &plan, int32_t timedRuns,
                                    std::optional<int> only) {
  RunMemory memory;
  if (Status status = memory.layOut(plan, timedRuns, only); !status)
    return status;
  return memory.totalBytes;
}

Result<std::unique_ptr<RunMemory>> RunMemory::create(const Plan &plan,
                                                     const RunTask &task,
                                                     std::optional<int> only) {
  std::unique_ptr<RunMemory> memory(new RunMemory);
  if (Status status = memory->layOut(plan, task.timedRuns, only); !status)
    return status;
  MemoryNeeds needs;
  needs.addShared("arguments and results", 1, memory->totalBytes);
  FreeMemory free = FreeMemory::now();
  if (Status status = checkMemory(needs, free); !status)
    return status;
  if (memory->totalBytes > free.file)
    return error("cannot take ", needs.text(), ": expected at most ", free.file,
                 ", the limit of a file's size (see 'ulimit -f')");
  memory->descriptor = FileDescriptor(memfd_create("ccrun", MFD_CLOEXEC));
  // Reserves the memory, which could otherwise run out at any later access.
  int failed =
      memory->descriptor.get() < 0
          ? errno
          : posix_fallocate(memory->descriptor.get(), 0, memory->totalBytes);
  if (failed)
    return error(
        "cannot take ", memory->totalBytes,
        " bytes for the arguments of all ranks: ", std::strerror(failed));
  if (Status status = memory->map(); !status)
    return status;
  memory->setTask(task);
  return memory;
}

void RunMemory::setTask(const RunTask &task) {
  *header = task;
  header->ranks = static_cast<int32_t>(parts.size());
}

bool RunMemory::reuse(const Plan &plan, const RunTask &task) {
  RunMemory other;
  if (!other.layOut(plan, task.timedRuns, std::nullopt) ||
      other.signature != signature || other.parts != parts ||
      other.totalBytes > totalBytes)
    return false;
  usedPlan = &plan;
  setTask(task);
  // As those of new memory are.
  std::memset(start + reportsOffset, 0, parts.size() * sizeof(RankReport));
  return true;
}

Result<std::unique_ptr<RunMemory>> RunMemory::open(int file, int rank,
                                                   const Package &package) {
  std::unique_ptr<RunMemory> memory(new RunMemory);
  memory->descriptor = FileDescriptor(dup(file));
  RunTask task;
  struct stat info;
  if (fstat(file, &info) != 0 ||
      readAt(file, &task, sizeof task, 0) != int64_t(sizeof task) ||
      task.timedRuns < 0 || rank < 0 || rank >= task.ranks)
    return error("file ", file, " is no memory of a run of ccrun");
  task.packageHash[sizeof task.packageHash - 1] = 0;
  if (package.hash != task.packageHash)
    return error("rank ", rank, " was to run package ", task.packageHash,
                 ", found ", package.hash);
  const Plan *plan = &package.plan;
  if (task.plan == PlanKind::Reference && package.reference)
    plan = &*package.reference;
  if (task.plan == PlanKind::Bounds && package.bounds)
    plan = &*package.bounds;
  if (Status status = memory->layOut(*plan, task.timedRuns, std::nullopt);
      !status)
    return status;
  if (info.st_size != memory->totalBytes)
    return error("the memory of the run has ", info.st_size,
                 " bytes, this package needs ", memory->totalBytes);
  if (Status status = memory->map(); !status)
    return status;
  return memory;
}

int RunMemory::reportFailure(int file, int rank, const Status &cause) {
  // Where reports are does not depend on the plan.
  int64_t offset = (int64_t(sizeof(RunTask)) + unit - 1) / unit * unit +
                   rank * int64_t(sizeof(RankReport));
  std::string text = "rank " + std::to_string(rank) + ": " + cause.message();
  text.resize(std::min(text.size(), sizeof(RankReport::message) - 1));
  RankState state = RankState::Failed;
  bool written = pwrite(file, text.c_str(), text.size() + 1,
                        offset + int64_t(offsetof(RankReport, message))) > 0 &&
                 pwrite(file, &state, sizeof state,
                        offset + int64_t(offsetof(RankReport, state))) > 0;
  return written ? 4 : 2;
}

RunMemory::~RunMemory() {
  if (start)
    munmap(start, static_cast<size_t>(totalBytes));
}

std::vector<void *> RunMemory::arguments(int rank) const {
  std::vector<void *> addresses;
  for (const Place &place : parts[static_cast<size_t>(rank)])
    addresses.push_back(place.bytes ? start + place.offset : nullptr);
  return addresses;
}

void RunMemory::distribute(size_t argument, const HostTensor &whole) {
  for (size_t rank = 0; rank < parts.size(); ++rank)
    setPart(argument, static_cast<int>(rank), whole);
}

void RunMemory::setPart(size_t argument, int rank, const HostTensor &whole) {
  const Argument &described = usedPlan->arguments[argument];
  int size = sizeInBytes(described.type);
  const RankPlan &plan = usedPlan->ranks[static_cast<size_t>(rank)];
  int64_t first;
  CopyDims dims = partDims(described, plan.placements[argument], first);
  if (!isEmpty(dims))
    copyInChunks(size, dims, whole.data() + first * size,
                 part(argument, rank).data());
}

void RunMemory::fillPart(size_t argument, int rank, const HostTensor &own) {
  copyInChunks(sizeInBytes(own.type()), {{own.count(), 1, 1}}, own.data(),
               part(argument, rank).data());
}

std::span<std::byte> RunMemory::part(size_t argument, int rank) const {
  const Place &place = parts[static_cast<size_t>(rank)][argument];
  return {start + place.offset, static_cast<size_t>(place.bytes)};
}

std::vector<std::span<std::byte>> RunMemory::outcome(int rank) {
  std::vector<std::span<std::byte>> pieces;
  auto add = [&](auto *first, int32_t count) {
    pieces.push_back(
        std::as_writable_bytes(std::span(first, static_cast<size_t>(count))));
  };
  add(&report(rank).moved, 1);
  add(&report(rank).launchedSeconds, 1);
  if (header->timedRuns > 0)
    add(&time(rank, 0), header->timedRuns);
  for (size_t i = 0; i < usedPlan->arguments.size(); ++i)
    if (usedPlan->arguments[i].kind != ArgumentKind::Input)
      pieces.push_back(part(i, rank));
  return pieces;
}

Result<HostTensor> RunMemory::collect(size_t argument) const {
  const Argument &described = usedPlan->arguments[argument];
  Result<HostTensor> whole = HostTensor::zeros(described.type, described.shape);
  if (!whole)
    return whole;
  std::byte *out = whole->mutableData();
  int size = sizeInBytes(described.type);
  auto placementOf = [&](size_t rank) -> const Placement & {
    return usedPlan->ranks[rank].placements[argument];
  };
  auto partOf = [&](size_t rank) {
    const Place &place = parts[rank][argument];
    return HostTensor::fromBytes(described.type, placementOf(rank).sizes,
                                 start + place.offset, place.bytes);
  };
  for (size_t rank = 0; rank < parts.size(); ++rank) {
    const Placement &own = placementOf(rank);
    size_t first = 0;
    while (placementOf(first).offsets != own.offsets ||
           placementOf(first).sizes != own.sizes)
      ++first;
    int64_t begin;
    CopyDims dims = partDims(described, own, begin);
    if (isEmpty(dims))
      continue;
    if (first == rank) {
      for (CopyDim &dim : dims)
        std::swap(dim.outStride, dim.inStride);
      copyStrided(size, dims, start + parts[rank][argument].offset,
                  out + begin * size);
      continue;
    }
    Result<HostTensor> expected = partOf(first), found = partOf(rank);
    if (!expected || !found)
      return !expected ? expected : found;
    std::optional<int64_t> difference = firstDifference(*expected, *found);
    if (!difference)
      continue;
    Shape index;
    int64_t rest = *difference;
    Shape strides = rowMajorStrides(own.sizes);
    for (size_t dim = 0; dim < strides.size(); ++dim) {
      index.push_back(own.offsets[dim] + rest / strides[dim]);
      rest %= strides[dim];
    }
    return error("'", described.name, "' should be the same on ",
                 describeRank(*usedPlan, static_cast<int>(first)), " and ",
                 describeRank(*usedPlan, static_cast<int>(rank)),
                 ", but element ", describeIndex(index), " is ",
                 expected->textAt(*difference), " and ",
                 found->textAt(*difference));
  }
  return whole;
}

std::string ccn::describeRank(const Plan &plan, int rank) {
  std::string text = "rank " + std::to_string(rank);
  int64_t ranks = static_cast<int64_t>(plan.ranks.size()), rest = rank;
  for (size_t i = 0; i < plan.mesh.size(); ++i) {
    const MeshAxis &axis = plan.mesh[i];
    ranks /= std::max<int64_t>(axis.size, 1);
    text += (i ? ", " : " (") + axis.name + " = " +
            std::to_string(rest / std::max<int64_t>(ranks, 1));
    rest %= std::max<int64_t>(ranks, 1);
  }
  return text + (plan.mesh.empty() ? "" : ")");
}
