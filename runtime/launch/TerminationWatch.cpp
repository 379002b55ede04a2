//===- TerminationWatch.cpp - Why a launcher ends a rank ------------------===//
//
// The signal's handler writes to a pipe, from which a thread reads that may do
// what a handler may not. mpirun kills for good a second after SIGTERM, so all
// here takes less.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/TerminationWatch.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace ccn::runtime {

namespace {

/// Where the handler writes, and where the watch reads.
std::atomic<int> writeEnd{-1};
int readEnd = -1;

constexpr char terminated = 't', ended = 'e';

void onTerminate(int) {
  int saved = errno;
  ssize_t written = write(writeEnd.load(), &terminated, 1);
  (void)written;
  errno = saved;
}

void setHandler(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
}

} // namespace

std::unique_ptr<TerminationWatch>
TerminationWatch::start(Transport &transport, int rank,
                        std::function<bool(int)> hasEnded,
                        std::function<bool()> mayTell) {
  struct sigaction current{};
  int ends[2];
  if (sigaction(SIGTERM, nullptr, &current) != 0 ||
      current.sa_handler != SIG_DFL || pipe2(ends, O_CLOEXEC) != 0)
    return nullptr;
  readEnd = ends[0];
  writeEnd = ends[1];
  setHandler(onTerminate);
  return std::unique_ptr<TerminationWatch>(new TerminationWatch(
      transport, rank, std::move(hasEnded), std::move(mayTell)));
}

TerminationWatch::TerminationWatch(Transport &transport, int rank,
                                   std::function<bool(int)> hasEnded,
                                   std::function<bool()> mayTell)
    : transport(transport), rank(rank), hasEnded(std::move(hasEnded)),
      mayTell(std::move(mayTell)), thread([this] { watch(); }) {}

TerminationWatch::~TerminationWatch() {
  // The application may have set one of its own since.
  struct sigaction current{};
  if (sigaction(SIGTERM, nullptr, &current) == 0 &&
      current.sa_handler == onTerminate)
    setHandler(SIG_DFL);
  ssize_t written = write(writeEnd.load(), &ended, 1);
  (void)written;
  thread.join();
  close(writeEnd.exchange(-1));
  close(readEnd);
}

void TerminationWatch::watch() {
  char what = 0;
  ssize_t size;
  while ((size = read(readEnd, &what, 1)) != 1)
    if (size == 0 || errno != EINTR)
      return;
  if (what == terminated)
    explainAndEnd();
}

bool TerminationWatch::endsWithin(int milliseconds) {
  struct pollfd events{readEnd, POLLIN, 0};
  char what = 0;
  return poll(&events, 1, milliseconds) == 1 && read(readEnd, &what, 1) == 1 &&
         what == ended;
}

void TerminationWatch::explainAndEnd() {
  for (int i = 0; i < 15 && !transport.failed(); ++i) {
    for (int other = 0; other < transport.ranks(); ++other) {
      bool isLost = other != rank && !transport.hasLeft(other) &&
                    (transport.isGone(other) || (hasEnded && hasEnded(other)));
      if (isLost)
        (void)transport.fail(rank, "rank " + std::to_string(other) +
                                       " has ended: its process is gone");
    }
    if (!transport.failed() && endsWithin(20))
      return;
  }
  if (!transport.failed()) {
    // Somebody wants this process to end for another reason.
    setHandler(SIG_DFL);
    kill(getpid(), SIGTERM);
    return;
  }
  // Its threads learn of the failure and can end by themselves, unless they
  // compute for long.
  if (endsWithin(300))
    return;
  if (mayTell())
    std::fprintf(stderr, "%s: error: %s\n", program_invocation_short_name,
                 transport.failure().message().c_str());
  // So that the others know that it was said.
  transport.leave(rank);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  _exit(4);
}

} // namespace ccn::runtime
