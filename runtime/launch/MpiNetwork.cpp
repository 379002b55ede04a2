//===- MpiNetwork.cpp - Messages by MPI -----------------------------------===//
//
// The module that calls MPI. Sends and receives are started and looked at
// again. A message is probed for, so that its size is known, and received into
// memory of that size.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/MpiNetwork.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace ccn::runtime {

namespace {

constexpr int tag = 1;
/// Messages that may be on their way to one rank, and that may be arriving.
constexpr int maxToOne = 4, maxArriving = 256;

std::string errorText(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int size = 0;
  if (MPI_Error_string(code, text, &size) != MPI_SUCCESS)
    return "error " + std::to_string(code);
  return std::string(text, static_cast<size_t>(size));
}

Status check(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return Status();
  return error("MPI: ", what, ": ", errorText(code));
}

class MpiNetwork : public Network {
public:
  explicit MpiNetwork(MPI_Comm comm) : comm(comm) {
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &count);
    onTheWay.resize(static_cast<size_t>(count));
    broken.resize(onTheWay.size());
  }

  int rank() const override { return own; }
  int ranks() const override { return count; }

  Result<bool> send(int to, Message &message) override {
    auto index = static_cast<size_t>(to);
    if (onTheWay[index] >= maxToOne)
      lookAtSends();
    if (!broken[index].ok())
      return broken[index];
    if (onTheWay[index] >= maxToOne)
      return false;
    auto sending = std::make_unique<Message>(std::move(message));
    MPI_Request request = MPI_REQUEST_NULL;
    if (Status status =
            check(MPI_Isend(sending->data(), static_cast<int>(sending->size()),
                            MPI_BYTE, to, tag, comm, &request),
                  "sending");
        !status)
      return broken[index] = status;
    message.clear();
    requests.push_back(request);
    sends.push_back({to, std::move(sending)});
    ++onTheWay[index];
    return true;
  }

  Result<bool> receive(int &from, Message &message) override {
    lookAtSends();
    while (arriving.size() < maxArriving) {
      int found = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      if (Status s = check(
              MPI_Improbe(MPI_ANY_SOURCE, tag, comm, &found, &handle, &status),
              "receiving");
          !s)
        return s;
      if (!found)
        break;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      arriving.push_back({status.MPI_SOURCE,
                          Message(static_cast<size_t>(bytes)),
                          MPI_REQUEST_NULL});
      Arrival &arrival = arriving.back();
      if (Status s = check(MPI_Imrecv(arrival.message.data(), bytes, MPI_BYTE,
                                      &handle, &arrival.request),
                           "receiving");
          !s)
        return s;
    }
    // One rank's messages in their order: none before an earlier one has come.
    std::vector<bool> waits(onTheWay.size());
    for (auto it = arriving.begin(); it != arriving.end(); ++it) {
      auto source = static_cast<size_t>(it->from);
      if (waits[source] || (from != anyRank && from != it->from))
        continue;
      int done = 0;
      if (Status s = check(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE),
                           "receiving");
          !s)
        return s;
      if (!done) {
        waits[source] = true;
        continue;
      }
      from = it->from;
      message = std::move(it->message);
      arriving.erase(it);
      return true;
    }
    return false;
  }

  Result<bool> allSent() override {
    lookAtSends();
    return requests.empty();
  }

private:
  struct Send {
    int to;
    std::unique_ptr<Message> message;
  };
  struct Arrival {
    int from;
    Message message;
    MPI_Request request;
  };

  /// Forgets what has been sent. What went wrong is told at the next send to
  /// the same rank.
  void lookAtSends() {
    if (requests.empty())
      return;
    auto size = static_cast<int>(requests.size());
    indices.resize(requests.size());
    statuses.resize(requests.size());
    int done = 0;
    int code = MPI_Testsome(size, requests.data(), &done, indices.data(),
                            statuses.data());
    if (done == MPI_UNDEFINED || done <= 0)
      return;
    for (int i = 0; i < done; ++i) {
      auto index = static_cast<size_t>(indices[static_cast<size_t>(i)]);
      auto to = static_cast<size_t>(sends[index].to);
      --onTheWay[to];
      sends[index].message = nullptr;
      if (code == MPI_ERR_IN_STATUS)
        if (Status status =
                check(statuses[static_cast<size_t>(i)].MPI_ERROR, "sending");
            !status)
          broken[to] = status;
    }
    size_t kept = 0;
    for (size_t i = 0; i < sends.size(); ++i) {
      if (!sends[i].message)
        continue;
      requests[kept] = requests[i];
      std::swap(sends[kept], sends[i]);
      ++kept;
    }
    requests.resize(kept);
    sends.resize(kept);
  }

  MPI_Comm comm;
  int own = 0, count = 1;
  /// By rank.
  std::vector<int> onTheWay;
  std::vector<Status> broken;
  /// Of the same length.
  std::vector<MPI_Request> requests;
  std::vector<Send> sends;
  std::list<Arrival> arriving;
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
};

/// Ends the process if it is still there after some seconds.
class Watchdog {
public:
  Watchdog(double seconds, const char *what)
      : thread([this, seconds, what] {
          std::unique_lock<std::mutex> lock(mutex);
          if (ended.wait_for(lock, std::chrono::duration<double>(seconds),
                             [this] { return done; }))
            return;
          std::fprintf(stderr, "%s: error: MPI: %s within %g s\n",
                       program_invocation_short_name, what, seconds);
          _exit(4);
        }) {}
  ~Watchdog() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      done = true;
    }
    ended.notify_one();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::thread thread;
};

class Session : public MpiSession {
public:
  Status start(double timeLimit) {
    Watchdog watchdog(timeLimit, "not all ranks that were started came to it");
    int isStarted = 0, provided = 0;
    MPI_Initialized(&isStarted);
    isOurs = !isStarted;
    if (Status status =
            check(isStarted ? MPI_Query_thread(&provided)
                            : MPI_Init_thread(nullptr, nullptr,
                                              MPI_THREAD_SERIALIZED, &provided),
                  "starting");
        !status)
      return status;
    if (provided < MPI_THREAD_SERIALIZED)
      return error("MPI: expected support of threads that use it in turn "
                   "(MPI_THREAD_SERIALIZED)");
    if (isOurs)
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (Status status = check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "starting");
        !status)
      return status;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return Status();
  }

  std::unique_ptr<Network> network() override {
    return std::make_unique<MpiNetwork>(comm);
  }

  void end(bool inGoodOrder) override {
    if (!inGoodOrder)
      return;
    constexpr double limit = 10;
    Watchdog watchdog(limit, "it did not end");
    MPI_Comm_free(&comm);
    if (isOurs)
      MPI_Finalize();
  }

private:
  bool isOurs = false;
  /// Our own, so that a program's messages do not meet ours.
  MPI_Comm comm = MPI_COMM_NULL;
};

} // namespace

} // namespace ccn::runtime

void ccnStartMpi(double timeLimit,
                 std::unique_ptr<ccn::runtime::MpiSession> *session,
                 ccn::Status *status) {
  auto started = std::make_unique<ccn::runtime::Session>();
  *status = started->start(timeLimit);
  if (*status)
    *session = std::move(started);
}
