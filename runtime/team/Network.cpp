//===- Network.cpp - Carries messages between processes -------------------===//
//
// The exchange of texts, with which ranks begin.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/Network.h"

#include <chrono>
#include <thread>

namespace ccn::runtime {

Result<std::vector<std::string>>
exchange(Network &network, const std::string &own, double timeLimit) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  int ranks = network.ranks(), rank = network.rank();
  const auto *bytes = reinterpret_cast<const std::byte *>(own.data());
  std::vector<std::string> texts(static_cast<size_t>(ranks));
  std::vector<bool> sent(texts.size()), received(texts.size());
  auto self = static_cast<size_t>(rank);
  texts[self] = own;
  sent[self] = received[self] = true;
  for (;;) {
    int missing = -1;
    for (int other = 0; other < ranks; ++other) {
      auto index = static_cast<size_t>(other);
      if (!sent[index]) {
        Message message(bytes, bytes + own.size());
        Result<bool> taken = network.send(other, message);
        if (!taken)
          return taken.status();
        sent[index] = *taken;
      }
      if (!received[index]) {
        int from = other;
        Message message;
        Result<bool> arrived = network.receive(from, message);
        if (!arrived)
          return arrived.status();
        received[index] = *arrived;
        if (*arrived)
          texts[index].assign(reinterpret_cast<const char *>(message.data()),
                              message.size());
      }
      if (!sent[index] || !received[index])
        missing = other;
    }
    Result<bool> gone = network.allSent();
    if (!gone)
      return gone.status();
    if (missing < 0 && *gone)
      return texts;
    double waited = std::chrono::duration<double>(Clock::now() - start).count();
    if (waited > timeLimit)
      return missing < 0
                 ? error("what was sent to the other ranks did not leave "
                         "within ",
                         timeLimit, " s")
                 : error("rank ", missing, " did not join within ", timeLimit,
                         " s");
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

} // namespace ccn::runtime
