//===- SymmetricHeap.cpp - Memory that the ranks of a team share ----------===//
//
// A control block, then the block of rank 0, of rank 1, ...
//
// A process that joins locks the byte of its number in the shared memory's
// file. The kernel drops the lock when the process ends, even when it is killed
// and nobody has waited for it, which a test of its process id would not see.
//
//===----------------------------------------------------------------------===//

#include "runtime/SymmetricHeap.h"

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
/// Each exchange of a plan takes one or two, in every layer and chunk.
constexpr int maxAllocations = 1 << 16;

int64_t roundUp(int64_t bytes, int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::string systemError() { return std::strerror(errno); }

} // namespace

/// A time limit for what is looked for again and again.
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

/// What the team shares. Zero bytes are its initial state.
struct SymmetricHeap::Control {
  struct RankState {
    std::atomic<uint32_t> joined;
    std::atomic<uint32_t> left;
    /// One more than the rank it waits for.
    std::atomic<int32_t> waitingFor;
    /// Written before `joined`.
    RunIdentity identity;
    // Only the rank itself uses these two.
    int64_t allocated;
    int64_t allocations;
  };
  /// The n-th allocation of all ranks: one more than its size, and one more
  /// than the rank that came first, in one word so that they appear together.
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
  // A word of a size in the table of allocations has 48 bits.
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
  Result<void *> mapped = mapMemory(controlBytes(), file, 0);
  if (mapped)
    control = static_cast<Control *>(*mapped);
  return mapped.status();
}

Status SymmetricHeap::mapBlocks() {
  if (totalBytes > 0) {
    Result<void *> mapped = mapMemory(totalBytes, file, controlBytes());
    if (!mapped)
      return mapped.status();
    memory = static_cast<std::byte *>(*mapped);
  } else {
    // Nothing is in it, but a block without an address would be a remote one.
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
  if (Status status = heap->mapControl(); !status)
    return status;
  if (Status status = heap->mapBlocks(); !status)
    return status;
  return heap;
}

/// Says what this rank runs and waits until all others have; an error if some
/// differ.
Status SymmetricHeap::meet(const RunIdentity &own, const Deadline &deadline) {
  Control::RankState &mine = control->rank[ownRank];
  mine.identity = own;
  mine.joined.store(1, std::memory_order_release);
  std::vector<RankIdentity> met;
  for (int other = 0; other < ranks(); ++other) {
    Control::RankState &state = control->rank[other];
    while (!state.joined.load(std::memory_order_acquire))
      if (!deadline.sleep()) {
        // Who is missing may be missing because others expect other ranks.
        for (int late = other + 1; late < ranks(); ++late)
          if (control->rank[late].joined.load(std::memory_order_acquire))
            met.push_back({late, control->rank[late].identity});
        Status status = compareIdentities(met);
        return status ? error("rank ", other, " did not join within ",
                              deadline.seconds, " s")
                      : status;
      }
    met.push_back({other, state.identity});
    // Others that do not exist for this one would be waited for in vain.
    if (state.identity.ranks != own.ranks)
      break;
  }
  return compareIdentities(met);
}

Result<std::unique_ptr<SymmetricHeap>>
SymmetricHeap::join(const std::string &name, int rank, int ranks, int64_t bytes,
                    double timeLimit, const std::string &content) {
  if (rank < 0 || rank >= ranks)
    return error("expected a rank from 0 to ", ranks - 1, ", found ", rank);
  auto fail = [&](const auto &...why) {
    return error("shared memory '", name, "': ", why...);
  };
  std::string path = "/" + name;
  std::unique_ptr<SymmetricHeap> heap(new SymmetricHeap);
  if (Status status = heap->size(ranks, bytes); !status)
    return fail(status.message());
  Result<RunIdentity> identity =
      RunIdentity::make(ranks, heap->bytesPerRank, content);
  if (!identity)
    return fail(identity.message());
  heap->ownRank = rank;
  int &file = heap->file;
  Deadline deadline(timeLimit);
  if (rank == 0) {
    file = shm_open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
      return fail("cannot make it: ", systemError());
  }
  /// The name goes when all have joined, or none can.
  struct Unlinker {
    std::string path;
    ~Unlinker() {
      if (!path.empty())
        shm_unlink(path.c_str());
    }
  } unlinker{rank == 0 ? path : ""};
  if (rank == 0) {
    // Reserves the memory, which otherwise could run out at any later access.
    int64_t all = controlBytes() + heap->totalBytes;
    if (int code = posix_fallocate(file, 0, all)) {
      errno = code;
      return fail("cannot share ", all, " bytes: ", systemError());
    }
  }
  struct stat info{};
  while (rank != 0) {
    if (file < 0)
      file = shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && errno != ENOENT)
      return fail("cannot open it: ", systemError());
    if (file >= 0 && fstat(file, &info) == 0 && info.st_size >= controlBytes())
      break;
    if (!deadline.sleep())
      return fail("rank 0 did not make it within ", timeLimit, " s");
  }
  if (Status status = heap->mapControl(); !status)
    return fail(status.message());
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  if (fcntl(file, F_OFD_SETLK, &lock) != 0)
    return fail(errno == EAGAIN ? "another process has the same rank"
                                : systemError());
  if (Status status = heap->meet(*identity, deadline); !status)
    return fail(status.message());
  // All have the same sizes, so the file has these.
  if (Status status = heap->mapBlocks(); !status)
    return fail(status.message());
  return heap;
}

SymmetricHeap::~SymmetricHeap() {
  if (control && ownRank >= 0)
    leave(ownRank);
  if (memory && totalBytes > 0)
    munmap(static_cast<void *>(memory), static_cast<size_t>(totalBytes));
  if (control)
    munmap(static_cast<void *>(control), static_cast<size_t>(controlBytes()));
  if (file >= 0)
    close(file);
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
  // Refused before it is compared, so that it fits the table's word.
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
  // The writer needs microseconds, unless it was killed in them.
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
  if (file < 0 || rank == ownRank)
    return false;
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = rank;
  lock.l_len = 1;
  return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
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
