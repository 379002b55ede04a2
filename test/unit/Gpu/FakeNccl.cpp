//===- FakeNccl.cpp - NCCL without GPUs -----------------------------------===//
//
// A libnccl.so.2 for the streams of FakeCuda.cpp. Ranks, threads or processes,
// meet in a file that all map, in which every two have a box for what one
// sends the other: a part at a time. As with NCCL's own, what a group sends and
// receives goes on at once, in the stream, and messages that do not fit each
// other are not found out but wrong.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "runtime/cuda/Nccl.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace ccn::runtime;

namespace {

constexpr int mostRanks = 16;

/// From one rank to another.
struct Box {
  /// Whoever sends counts one, whoever receives the other.
  std::atomic<unsigned> sent, received;
  size_t size;
  std::byte data[1 << 14];
};
struct Meeting {
  std::atomic<int> come;
  std::atomic<bool> isAborted;
  Box boxes[mostRanks][mostRanks];
};

/// One message of a group.
struct Message {
  bool sends;
  std::byte *data;
  size_t size;
  int peer;
  size_t done = 0;
};

/// Messages of a group with one communicator; graphs do it often.
struct Work {
  NcclComm comm;
  CUstream_st *stream;
  std::vector<Message> messages;
};

} // namespace

struct ncclComm {
  int ranks, rank;
  Meeting *meeting;
  std::atomic<bool> isAborted{false};
  std::atomic<NcclResult> state{NcclSuccess};
  std::vector<std::unique_ptr<Work>> works{};
};

namespace {

constexpr auto invalidUsage = static_cast<NcclResult>(5);
constexpr auto remoteError = static_cast<NcclResult>(6);

/// Of the thread's open group.
thread_local std::vector<std::unique_ptr<Work>> group;
thread_local int depth = 0;

/// CCN_FAKE_NCCL_FAILS names a function.
bool isFailing(const char *function) {
  const char *failing = std::getenv("CCN_FAKE_NCCL_FAILS");
  return failing && std::strcmp(failing, function) == 0;
}

/// Moves a part of a message, if it can.
void step(NcclComm comm, Message &message) {
  Box &box = message.sends ? comm->meeting->boxes[comm->rank][message.peer]
                           : comm->meeting->boxes[message.peer][comm->rank];
  size_t size = std::min(sizeof box.data, message.size - message.done);
  bool isFull = box.sent.load() != box.received.load();
  if (isFull == message.sends)
    return;
  if (message.sends) {
    box.size = size;
    std::memcpy(box.data, message.data + message.done, size);
    ++box.sent;
  } else {
    // What does not fit each other shows.
    if (box.size != size)
      comm->state = invalidUsage;
    std::memcpy(message.data + message.done, box.data,
                std::min(size, box.size));
    ++box.received;
  }
  message.done += size;
}

void run(void *data) {
  auto *work = static_cast<Work *>(data);
  NcclComm comm = work->comm;
  for (Message &message : work->messages)
    message.done = 0;
  bool goesOn = true;
  while (goesOn && !comm->isAborted) {
    if (comm->meeting->isAborted) {
      // As a connection that is gone.
      comm->state = remoteError;
      std::this_thread::yield();
      continue;
    }
    goesOn = false;
    // Messages to or from one peer are in order.
    bool hasWaiting[2][mostRanks] = {};
    for (Message &message : work->messages) {
      bool &waits = hasWaiting[message.sends][message.peer];
      if (message.done == message.size || waits)
        continue;
      step(comm, message);
      waits = message.done < message.size;
      goesOn |= waits;
    }
    std::this_thread::yield();
  }
}

NcclResult add(bool sends, void *data, size_t size, int peer, NcclComm comm,
               CUstream_st *stream) {
  if (isFailing(sends ? "ncclSend" : "ncclRecv"))
    return invalidUsage;
  if (depth == 0 || peer < 0 || peer >= comm->ranks || peer == comm->rank)
    return invalidUsage;
  if (group.empty() || group.back()->comm != comm ||
      group.back()->stream != stream)
    group.emplace_back(new Work{comm, stream, {}});
  group.back()->messages.push_back(
      {sends, static_cast<std::byte *>(data), size, peer});
  return NcclSuccess;
}

} // namespace

extern "C" {

NcclResult ncclGetVersion(int *version) {
  const char *set = std::getenv("CCN_FAKE_NCCL_VERSION");
  *version = set ? std::atoi(set) : 22800;
  return NcclSuccess;
}
const char *ncclGetErrorString(NcclResult result) {
  return result == invalidUsage  ? "invalid usage"
         : result == remoteError ? "remote process exited"
                                 : "another error";
}
const char *ncclGetLastError(NcclComm) { return ""; }

NcclResult ncclGetUniqueId(NcclId *id) {
  static std::atomic<int> number{0};
  if (isFailing("ncclGetUniqueId"))
    return invalidUsage;
  std::memset(id->bytes, 0, sizeof id->bytes);
  std::snprintf(id->bytes, sizeof id->bytes, "/tmp/ccn-fake-nccl-%d-%d",
                getpid(), number++);
  return NcclSuccess;
}

NcclResult ncclCommInitRankConfig(NcclComm *made, int ranks, NcclId id,
                                  int rank, NcclConfig *config) {
  if (isFailing("ncclCommInitRankConfig") || ranks > mostRanks ||
      config->magic != NcclConfig().magic || config->blocking != 0)
    return invalidUsage;
  int file = open(id.bytes, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Meeting)) != 0)
    return invalidUsage;
  void *memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return invalidUsage;
  auto *comm = new ncclComm{ranks, rank, static_cast<Meeting *>(memory)};
  *made = comm;
  comm->state = NcclInProgress;
  ++comm->meeting->come;
  std::thread([comm, name = std::string(id.bytes)] {
    Meeting &meeting = *comm->meeting;
    while (meeting.come < comm->ranks && !comm->isAborted)
      std::this_thread::yield();
    unlink(name.c_str());
    comm->state = NcclSuccess;
  }).detach();
  return NcclInProgress;
}

NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *state) {
  *state =
      isFailing("ncclCommGetAsyncError") ? remoteError : comm->state.load();
  return NcclSuccess;
}

/// What others still do with it is left.
NcclResult ncclCommAbort(NcclComm comm) {
  static std::mutex mutex;
  static auto &kept = *new std::vector<NcclComm>;
  std::lock_guard lock(mutex);
  kept.push_back(comm);
  comm->isAborted = true;
  comm->meeting->isAborted = true;
  return NcclSuccess;
}
NcclResult ncclCommDestroy(NcclComm comm) {
  // It takes its time, and needs the device's context all the while.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (!fakeFunction<decltype(ccnFakeHasContext)>("ccnFakeHasContext")()) {
    std::fputs("ncclCommDestroy: no context\n", stderr);
    std::abort();
  }
  munmap(comm->meeting, sizeof(Meeting));
  delete comm;
  return NcclSuccess;
}

NcclResult ncclGroupStart() {
  ++depth;
  return NcclSuccess;
}
NcclResult ncclGroupEnd() {
  if (--depth > 0)
    return NcclSuccess;
  for (std::unique_ptr<Work> &work : group) {
    fakeFunction<decltype(ccnFakeEnqueue)>("ccnFakeEnqueue")(work->stream, run,
                                                             work.get());
    work->comm->works.push_back(std::move(work));
  }
  group.clear();
  return isFailing("ncclGroupEnd") ? invalidUsage : NcclInProgress;
}

NcclResult ncclSend(const void *data, size_t size, NcclType, int peer,
                    NcclComm comm, CUstream_st *stream) {
  return add(true, const_cast<void *>(data), size, peer, comm, stream);
}
NcclResult ncclRecv(void *data, size_t size, NcclType, int peer, NcclComm comm,
                    CUstream_st *stream) {
  return add(false, data, size, peer, comm, stream);
}
}
