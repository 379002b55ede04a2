//===- Gather.cpp - Brings what ranks leave to rank 0 ---------------------===//
//
// In chunks, over a channel of two buffers for each sender.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Gather.h"

#include "runtime/cpu/CollectiveSupport.h"

#include <cstring>

using namespace ccn;
using namespace ccn::runtime;

namespace {

constexpr int64_t chunkBytes = 1 << 18;
constexpr const char *operation = "gathering results";

/// A position in a list of pieces, which moves forward.
class Cursor {
public:
  explicit Cursor(Pieces pieces) : pieces(std::move(pieces)) {
    for (std::span<std::byte> piece : this->pieces)
      left += static_cast<int64_t>(piece.size());
  }
  /// The bytes of the next chunk.
  int64_t next() const { return std::min(left, chunkBytes); }
  /// Calls copy(piece, bytes, done) for what the next `bytes` bytes consist of,
  /// of which `done` come before.
  template <typename Copy> void advance(int64_t bytes, Copy copy) {
    left -= bytes;
    for (int64_t done = 0; done < bytes;) {
      std::span<std::byte> &piece = pieces[index];
      int64_t n = std::min(bytes - done, static_cast<int64_t>(piece.size()));
      if (n > 0)
        copy(piece.data(), static_cast<size_t>(n), done);
      done += n;
      piece = piece.subspan(static_cast<size_t>(n));
      if (piece.empty())
        ++index;
    }
  }

private:
  Pieces pieces;
  size_t index = 0;
  int64_t left = 0;
};

} // namespace

int64_t Gather::bytes(int ranks) {
  return aligned(Signals::bytes(ranks)) + aligned(Signals::bytes(1)) +
         aligned(2 * chunkBytes);
}

Result<std::unique_ptr<Gather>> Gather::create(RankMemory &memory) {
  std::unique_ptr<Gather> gather(new Gather(memory));
  gather->chunks.resize(static_cast<size_t>(memory.ranks()));
  Result<int64_t> full = memory.allocate(Signals::bytes(memory.ranks()));
  if (!full)
    return full.status();
  Result<int64_t> free = memory.allocate(Signals::bytes(1));
  if (!free)
    return free.status();
  Result<int64_t> buffers = memory.allocate(2 * chunkBytes);
  if (!buffers)
    return buffers.status();
  gather->channel.full.offset = *full;
  gather->channel.free.offset = *free;
  gather->buffers = *buffers;
  return gather;
}

Status Gather::send(const Pieces &pieces) {
  int rank = memory.rank();
  Cursor cursor(pieces);
  Epoch &chunk = chunks[static_cast<size_t>(rank)];
  while (int64_t bytes = cursor.next()) {
    ++chunk;
    if (Status status = channel.awaitFree(memory, 0, 0, operation, chunk);
        !status)
      return status;
    std::byte *out =
        memory.at(rank, buffers + channel.buffer(chunk) * chunkBytes);
    cursor.advance(bytes, [&](std::byte *piece, size_t n, int64_t done) {
      std::memcpy(out + done, piece, n);
    });
    channel.signalFull(memory, 0, rank, chunk);
  }
  // Who leaves before all has been read takes it along.
  return channel.free.await(memory, 0, 0, operation, chunk);
}

Status Gather::receive(const std::function<Pieces(int rank)> &pieces) {
  std::vector<Cursor> cursors;
  for (int rank = 0; rank < memory.ranks(); ++rank)
    cursors.emplace_back(rank == 0 ? Pieces() : pieces(rank));
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (int rank = 1; rank < memory.ranks(); ++rank) {
      Cursor &cursor = cursors[static_cast<size_t>(rank)];
      int64_t bytes = cursor.next();
      if (bytes == 0)
        continue;
      isDone = false;
      Epoch &chunk = chunks[static_cast<size_t>(rank)];
      ++chunk;
      if (Status status =
              channel.awaitFull(memory, rank, rank, operation, chunk);
          !status)
        return status;
      const std::byte *in = memory.view(
          rank, buffers + channel.buffer(chunk) * chunkBytes, bytes, scratch);
      cursor.advance(bytes, [&](std::byte *piece, size_t n, int64_t done) {
        std::memcpy(piece, in + done, n);
      });
      channel.signalFree(memory, rank, 0, chunk);
    }
  }
  // What could not be viewed was zeros.
  return memory.failure();
}
