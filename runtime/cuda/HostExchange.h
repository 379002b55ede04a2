//===- HostExchange.h - What ranks tell each other first --------*- C++ -*-===//
//
// Small records from every rank to every other, and meetings, over the host's
// transport, when ranks set something up.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_HOSTEXCHANGE_H
#define CCN_RUNTIME_CUDA_HOSTEXCHANGE_H

#include "runtime/team/Protocols.h"
#include "runtime/team/RankMemory.h"

#include <memory>
#include <optional>
#include <span>

namespace ccn::runtime {

/// How far a rank has come. Other ranks report it if they wait for this one in
/// vain.
struct Progress {
  /// The run that it has started last, and how many of its launches its GPU was
  /// given.
  uint32_t run = 0, given = 0;
  /// If runs are traced: how many of the launches the GPU has begun and done,
  /// and the first that it has not done.
  uint32_t isTraced = 0, begun = 0, over = 0, first = 0;

  bool operator==(const Progress &) const = default;
};

/// The end of a rank in steps.
enum class EndStage : uint32_t {
  /// All that it has started is done.
  RunsAreOver = 1,
  /// It accesses no memory of others any more.
  PeersAreClosed = 2,
  /// Its memory is given back, which waits for the runs of others.
  MemoryIsBack = 3,
};

class HostExchange {
public:
  /// The symmetric memory of each of `ranks` ranks, for records of at most
  /// `recordBytes` bytes.
  static int64_t bytes(int ranks, int64_t recordBytes);

  /// All ranks of the team call this at the same point, as they do each of the
  /// others below. `transport` outlives this. `what` is what records are for,
  /// for messages: "set-up of GPUs".
  static Result<std::unique_ptr<HostExchange>>
  create(Transport &transport, int rank, double timeLimit, int64_t recordBytes,
         const char *what);

  /// The records of all ranks, of the same type.
  template <typename Record>
  Result<std::vector<Record>> gather(const Record &own) {
    Result<std::vector<Record>> all = gatherAll(std::span(&own, 1));
    return all;
  }
  /// Likewise of equally many records of each; those of a rank are next to each
  /// other.
  template <typename Record>
  Result<std::vector<Record>> gatherAll(std::span<const Record> own) {
    static_assert(std::is_trivially_copyable_v<Record>);
    std::vector<Record> all(own.size() * static_cast<size_t>(memory.ranks()));
    Status status =
        gatherBytes(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
    if (!status)
      return status;
    return all;
  }

  /// Nobody goes on before all have come. `name` is for messages.
  Status barrier(const char *name);

  /// Shows the others how far this rank is, for them to read at any time. Takes
  /// no time.
  void show(const Progress &own);
  /// What each rank has shown last; nothing for ranks whose memory is
  /// elsewhere.
  std::vector<std::optional<Progress>> progress();

  int rank() const { return memory.rank(); }
  /// How long a rank waits for another at a time, in seconds.
  double limit() const { return timeLimit; }
  /// Whether no rank has failed, left or ended.
  bool isWhole() const;

  /// Says that this rank has come to this stage of its end, and waits until the
  /// others have, or are gone: at most `graceSeconds` longer than the time
  /// limit or, if the team has failed, than its failure. Returns whether all
  /// have come; it never fails the team.
  bool meetAtEnd(EndStage stage, double graceSeconds);

private:
  HostExchange(Transport &transport, int rank, double timeLimit,
               const char *what);
  Status gatherBytes(std::span<const std::byte> own, std::span<std::byte> all);
  bool hasCome(int rank, EndStage stage);

  Transport &transport;
  RankMemory memory;
  Members members;
  double timeLimit;
  const char *what;
  Signals met{"meeting"}, ended{"end"};
  int64_t records = 0, recordBytes = 0;
  /// Where each rank has its Progress.
  int64_t shown = 0;
  Epoch epoch = 0;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_HOSTEXCHANGE_H
