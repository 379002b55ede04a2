//===- SymmetricHeap.cpp - Memory that the ranks of a team share ----------===//
//
// Memory holds a control block, then the block of rank 0, of rank 1, and so on.
//
// A process that joins locks the byte at its rank in the shared memory's file.
// The system releases the lock when the process ends, even if the process was
// killed and its parent has not yet waited for it; its process id would still
// exist then.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/SymmetricHeap.h"

#include "runtime/base/FreeMemory.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace ccn::runtime {

namespace {

constexpr int64_t pageSize = 4096;

int64_t roundUp(int64_t bytes, int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

} // namespace

/// A time limit for polling.
class SymmetricHeap::Deadline {
public:
  explicit Deadline(double seconds)
      : seconds(seconds),
        end(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(seconds))) {}
  /// Sleeps for a moment; false when the time is over.
  bool sleep() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Clock::now() < end;
  }

  const double seconds;

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end;
};

namespace {

enum FailureState : uint32_t { NoFailure, FailureBeingWritten, Failed };

} // namespace

/// The state that the team shares. All bytes are zero at first.
struct SymmetricHeap::Control {
  struct RankState {
    std::atomic<uint32_t> joined;
    std::atomic<uint32_t> left;
    /// One more than the rank for which this one waits; 0 if it waits for none.
    std::atomic<int32_t> waitingFor;
    /// Written before `joined`.
    RunIdentity identity;
    // Only the rank itself uses the next two.
    int64_t allocated;
    int64_t allocations;
  };
  /// The n-th allocation, the same on all ranks: one more than its size, and
  /// one more than the rank that made it first. Both are in one word, so that
  /// they become visible together.
  struct Allocation {
    std::atomic<uint64_t> sizeAndRank;
  };

  std::atomic<uint32_t> failureState;
  char failureText[1024];
  RankState rank[maxRanks];
  Allocation allocation[maxAllocations];
};

int64_t SymmetricHeap::controlBytes() {
  return roundUp(sizeof(Control), pageSize);
}

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  std::atomic<uint32_t>::is_always_lock_free,
              "processes share these");

Status SymmetricHeap::size(int ranks, int64_t bytes) {
  if (ranks < 1 || ranks > maxRanks)
    return error("expected 1 to ", maxRanks, " ranks, found ", ranks);
  // The table of allocations has 48 bits for a size.
  int64_t all;
  if (bytes < 0 || bytes > maxBytes ||
      __builtin_mul_overflow(roundUp(bytes, pageSize), int64_t(ranks),
                             &totalBytes) ||
      __builtin_add_overflow(totalBytes, controlBytes(), &all))
    return error("cannot share ", bytes, " bytes of each of ", ranks, " ranks");
  bytesPerRank = roundUp(bytes, pageSize);
  blocks.resize(static_cast<size_t>(ranks));
  return Status();
}

/// Maps `bytes` of a file from `start`, or anonymous memory.
static Result<void *> mapMemory(int64_t bytes, int file, int64_t start) {
  int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void *mapped =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE,
           flags | MAP_NORESERVE, file, start);
  if (mapped == MAP_FAILED)
    return error("cannot share ", bytes, " bytes: ", systemError());
  return mapped;
}

Status SymmetricHeap::mapControl() {
  Result<void *> mapped = mapMemory(controlBytes(), file.get(), 0);
  if (mapped)
    control = static_cast<Control *>(*mapped);
  return mapped.status();
}

Status SymmetricHeap::mapBlocks() {
  if (totalBytes > 0) {
    Result<void *> mapped = mapMemory(totalBytes, file.get(), controlBytes());
    if (!mapped)
      return mapped.status();
    memory = static_cast<std::byte *>(*mapped);
  } else {
    // The block is empty, but a block without an address would count as a
    // remote one.
    memory = reinterpret_cast<std::byte *>(control);
  }
  for (size_t rank = 0; rank < blocks.size(); ++rank)
    blocks[rank] = memory + static_cast<int64_t>(rank) * bytesPerRank;
  return Status();
}

Result<std::unique_ptr<SymmetricHeap>> SymmetricHeap::create(int ranks,
                                                             int64_t bytes) {
  std::unique_ptr<SymmetricHeap> heap(new SymmetricHeap);
  if (Status status = heap->size(ranks, bytes); !status)
    return status;
  MemoryNeeds needs;
  needs.add("symmetric memory of " + std::to_string(ranks) + " ranks", 1,
            heap->totalBytes);
  if (Status status = checkMemory(needs); !status)
    return status;
  if (Status status = heap->mapControl(); !status)
    return status;
  if (Status status = heap->mapBlocks(); !status)
    return status;
  return heap;
}

Result<FileDescriptor> SymmetricHeap::makeFile() {
  FileDescriptor file(memfd_create("ccn-heap", MFD_CLOEXEC));
  if (file.get() < 0)
    return error("shared memory: cannot make it: ", systemError());
  return file;
}

Result<FileDescriptor> SymmetricHeap::openFile(int64_t process, int number) {
  std::string path =
      "/proc/" + std::to_string(process) + "/fd/" + std::to_string(number);
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0)
    return error("shared memory: cannot open that of process ", process, ": ",
                 systemError());
  return file;
}

/// Reserves all of the memory now, as otherwise any later access could run out
/// of it. The control block is reserved first, since it tells the other ranks
/// the error if the rest cannot be reserved.
Status SymmetricHeap::reserve() {
  int64_t all = controlBytes() + totalBytes;
  FreeMemory free = FreeMemory::now();
  // A signal ends a process that makes a file larger than its limit.
  if (controlBytes() > free.file)
    return error("cannot share ", controlBytes(), " bytes: expected at most ",
                 free.file, ", the limit of a file's size (see 'ulimit -f')");
  if (int code = posix_fallocate(file.get(), 0, controlBytes())) {
    errno = code;
    return error("cannot share ", controlBytes(), " bytes: ", systemError());
  }
  if (Status status = mapControl(); !status)
    return status;
  MemoryNeeds needs;
  needs.addShared("symmetric memory of " + std::to_string(ranks()) + " ranks",
                  1, all);
  Status status = checkMemory(needs, free);
  if (status && all > free.file)
    status = error("cannot share ", all, " bytes: expected at most ", free.file,
                   ", the limit of a file's size (see 'ulimit -f')");
  if (status)
    if (int code = posix_fallocate(file.get(), 0, all)) {
      errno = code;
      status = error("cannot share ", all, " bytes: ", systemError());
    }
  return status ? status : fail(ownRank, status.message());
}

/// Waits until rank 0 has reserved the control block.
Status SymmetricHeap::awaitControl(const Member &member,
                                   const Deadline &deadline) {
  for (;;) {
    struct stat info{};
    if (fstat(file.get(), &info) == 0 && info.st_size >= controlBytes())
      return mapControl();
    if (member.hasEnded && member.hasEnded(0))
      return error("rank 0 has ended");
    if (!deadline.sleep())
      return error("rank 0 did not make it within ", member.timeLimit, " s");
  }
}

/// Describes the lock of a rank's byte.
static struct flock lockOf(int rank) {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return lock;
}

Status SymmetricHeap::takeRank() {
  struct flock lock = lockOf(ownRank);
  if (fcntl(file.get(), F_OFD_SETLK, &lock) == 0)
    return Status();
  return error(errno == EAGAIN ? "another process has the same rank"
                               : systemError());
}

/// Whether the process of another rank holds the lock of its byte.
bool SymmetricHeap::hasLock(int rank) const {
  struct flock lock = lockOf(rank);
  return fcntl(file.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool SymmetricHeap::hasJoined(int rank) const {
  return control->rank[rank].joined.load(std::memory_order_acquire) != 0;
}

/// Publishes what this rank runs and waits until all others have done so too.
/// An error if ranks differ or one has ended.
Status SymmetricHeap::meet(const RunIdentity &own, const Member &member,
                           const Deadline &deadline) {
  Control::RankState &mine = control->rank[ownRank];
  mine.identity = own;
  mine.joined.store(1, std::memory_order_release);
  std::vector<RankIdentity> met;
  for (int other = 0; other < ranks(); ++other) {
    if (Status status = awaitJoined(other, member, deadline); !status) {
      // Perhaps `other` is missing because ranks disagree about how many there
      // are. That is the better error.
      for (int late = other + 1; late < ranks(); ++late)
        if (hasJoined(late))
          met.push_back({late, control->rank[late].identity});
      Status differ = compareIdentities(met);
      return differ ? status : differ;
    }
    const RunIdentity &identity = control->rank[other].identity;
    met.push_back({other, identity});
    // With another number of ranks, this rank might wait for ranks that do not
    // exist.
    if (identity.ranks != own.ranks)
      break;
  }
  return compareIdentities(met);
}

Status SymmetricHeap::awaitJoined(int other, const Member &member,
                                  const Deadline &deadline) {
  // No rank leaves in good order before all have joined, and a process locks
  // its byte before it joins.
  auto isLost = [&](int rank) {
    if (hasJoined(rank))
      return isGone(rank);
    return rank != ownRank && member.hasEnded && member.hasEnded(rank);
  };
  constexpr int looksPerCheck = 20;
  for (int look = 0; !hasJoined(other); ++look) {
    if (failed())
      return failure();
    for (int rank = 0; look % looksPerCheck == 0 && rank < ranks(); ++rank)
      // Since the last check of `other`, all may have joined and some may have
      // left.
      if (isLost(rank) && !hasJoined(other))
        return error("rank ", rank, " has ended before all ranks had joined");
    if (!deadline.sleep())
      return error("rank ", other, " did not join within ", member.timeLimit,
                   " s");
  }
  return Status();
}

Result<std::unique_ptr<SymmetricHeap>>
SymmetricHeap::join(FileDescriptor file, const Member &member) {
  auto fail = [](const Status &why) {
    return error("shared memory: ", why.message());
  };
  if (member.rank < 0 || member.rank >= member.ranks)
    return error("expected a rank from 0 to ", member.ranks - 1, ", found ",
                 member.rank);
  std::unique_ptr<SymmetricHeap> heap(new SymmetricHeap);
  if (Status status = heap->size(member.ranks, member.bytesPerRank); !status)
    return fail(status);
  Result<RunIdentity> identity =
      RunIdentity::make(member.ranks, heap->bytesPerRank, member.content);
  if (!identity)
    return fail(identity.status());
  heap->file = std::move(file);
  heap->ownRank = member.rank;
  Deadline deadline(member.timeLimit);
  Status status =
      member.rank == 0 ? heap->reserve() : heap->awaitControl(member, deadline);
  if (status)
    status = heap->takeRank();
  if (status)
    status = heap->meet(*identity, member, deadline);
  // All ranks agree on the sizes, so the file has them.
  if (status)
    status = heap->mapBlocks();
  if (!status)
    return fail(status);
  return heap;
}

SymmetricHeap::~SymmetricHeap() {
  if (control && ownRank >= 0)
    leave(ownRank);
  if (memory && totalBytes > 0)
    munmap(static_cast<void *>(memory), static_cast<size_t>(totalBytes));
  if (control)
    munmap(static_cast<void *>(control), static_cast<size_t>(controlBytes()));
}

Result<int64_t> SymmetricHeap::allocate(int rank, int64_t bytes) {
  Control::RankState &own = control->rank[rank];
  if (failed())
    return failure();
  if (bytes < 0)
    return fail(rank, "cannot allocate " + std::to_string(bytes) + " bytes");
  if (own.allocations == maxAllocations)
    return fail(rank, "more than " + std::to_string(maxAllocations) +
                          " symmetric allocations");
  // Checked before the sizes are compared, so that this one fits the table's
  // word.
  int64_t offset = own.allocated;
  if (bytes > bytesPerRank - offset)
    return fail(rank, "out of symmetric memory: " + std::to_string(bytes) +
                          " bytes do not fit the " +
                          std::to_string(bytesPerRank - offset) +
                          " that are left of " + std::to_string(bytesPerRank));
  uint64_t mine =
      static_cast<uint64_t>(bytes + 1) << 16 | static_cast<uint64_t>(rank + 1);
  uint64_t found = 0;
  auto &entry = control->allocation[own.allocations].sizeAndRank;
  if (!entry.compare_exchange_strong(found, mine, std::memory_order_acq_rel) &&
      found >> 16 != mine >> 16)
    return fail(rank, "symmetric allocation " +
                          std::to_string(own.allocations + 1) + " is of " +
                          std::to_string(bytes) + " bytes, that of rank " +
                          std::to_string((found & 0xffff) - 1) + " of " +
                          std::to_string((found >> 16) - 1));
  ++own.allocations;
  own.allocated = std::min(roundUp(offset + bytes, alignment), bytesPerRank);
  return offset;
}

Status SymmetricHeap::fail(int rank, const std::string &cause) {
  uint32_t state = NoFailure;
  if (control->failureState.compare_exchange_strong(
          state, FailureBeingWritten, std::memory_order_acq_rel)) {
    std::string text = "rank " + std::to_string(rank) + ": " + cause;
    size_t size = std::min(text.size(), sizeof control->failureText - 1);
    std::memcpy(control->failureText, text.data(), size);
    control->failureText[size] = 0;
    control->failureState.store(Failed, std::memory_order_release);
  }
  return failure();
}

Status SymmetricHeap::failure() const {
  uint32_t state = control->failureState.load(std::memory_order_acquire);
  if (state == NoFailure)
    return Status();
  // Writing the text takes microseconds, unless the writer was killed.
  for (int i = 0; state == FailureBeingWritten && i < 1000; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    state = control->failureState.load(std::memory_order_acquire);
  }
  if (state != Failed)
    return error("a rank failed and ended before it could say why");
  return Status::failure(control->failureText);
}

bool SymmetricHeap::failed() const {
  return control->failureState.load(std::memory_order_relaxed) != NoFailure;
}

void SymmetricHeap::leave(int rank) {
  control->rank[rank].left.store(1, std::memory_order_release);
}

bool SymmetricHeap::isGone(int rank) const {
  if (hasLeft(rank))
    return true;
  return file.get() >= 0 && rank != ownRank && !hasLock(rank);
}

bool SymmetricHeap::hasLeft(int rank) const {
  return control->rank[rank].left.load(std::memory_order_acquire) != 0;
}

void SymmetricHeap::setWaitingFor(int rank, int other) {
  control->rank[rank].waitingFor.store(other + 1, std::memory_order_relaxed);
}

int SymmetricHeap::waitingFor(int rank) const {
  return control->rank[rank].waitingFor.load(std::memory_order_relaxed) - 1;
}

} // namespace ccn::runtime
