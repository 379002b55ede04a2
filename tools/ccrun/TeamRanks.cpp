//===- TeamRanks.cpp - Ranks that a launcher started ----------------------===//
//
// Each process runs its rank with arguments that it reads or draws itself; what
// the ranks leave goes to rank 0.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Gather.h"
#include "tools/ccrun/RankRun.h"
#include "tools/ccrun/Ranks.h"

using namespace ccn;
using namespace ccn::runtime;

Result<int64_t> ccn::teamBytes(const Plan &plan, bool onGpus) {
  Result<int64_t> bytes = heapBytes(plan, onGpus);
  if (!bytes)
    return bytes;
  return *bytes + Gather::bytes(static_cast<int>(plan.ranks.size()));
}

static Status gather(RunMemory &memory, Transport &transport, int rank,
                     Trace &trace) {
  bool isTraced = memory.task().traced;
  RankMemory symmetric(transport, rank, memory.task().timeLimit);
  Result<std::unique_ptr<Gather>> made = Gather::create(symmetric);
  if (!made)
    return made.status();
  Gather &gather = **made;
  auto piece = [](auto &value) {
    return std::as_writable_bytes(std::span(&value, 1));
  };
  if (rank != 0) {
    Result<std::string> lines = isTraced ? trace.text() : std::string();
    if (!lines)
      return lines.status();
    auto size = static_cast<int64_t>(lines->size());
    if (Status status = gather.send({piece(size)}); !status)
      return status;
    Pieces pieces = memory.outcome(rank);
    pieces.push_back(std::as_writable_bytes(std::span(*lines)));
    return gather.send(pieces);
  }
  // How long the lines are that each has traced, and then all.
  std::vector<int64_t> sizes(static_cast<size_t>(symmetric.ranks()));
  std::vector<std::string> lines(sizes.size());
  if (Status status = gather.receive([&](int other) -> Pieces {
        return {piece(sizes[static_cast<size_t>(other)])};
      });
      !status)
    return status;
  for (size_t i = 1; i < sizes.size(); ++i)
    lines[i].resize(static_cast<size_t>(sizes[i]));
  if (Status status = gather.receive([&](int other) {
        Pieces pieces = memory.outcome(other);
        pieces.push_back(std::as_writable_bytes(
            std::span(lines[static_cast<size_t>(other)])));
        return pieces;
      });
      !status)
    return status;
  for (const std::string &text : lines)
    if (isTraced && !text.empty())
      if (Status status = trace.add(text); !status)
        return status;
  return Status();
}

Status ccn::runTeamRank(const Package &package, RunMemory &memory, Team &team,
                        Trace &trace) {
  int rank = team.rank();
  Transport &transport = team.transport();
  Result<RankCode> code = loadCode(package, memory.task().onGpus);
  if (!code)
    return transport.fail(rank, code.message());
  if (Status status = runRank(*code, memory, transport, rank, trace); !status)
    return status;
  Status status = gather(memory, transport, rank, trace);
  return status ? status : transport.fail(rank, status.message());
}
