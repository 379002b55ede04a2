//===- RemoteCopy.h - Strided parts of others' memory -----------*- C++ -*-===//
//
// Reads and writes strided parts of symmetric memory by the operations of
// RankMemory: what lies densely is viewed or put as one, so that messages are
// few where memory is not shared, and nothing is copied twice where it is.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_REMOTECOPY_H
#define CCN_RUNTIME_CPU_REMOTECOPY_H

#include "runtime/base/Workspace.h"
#include "runtime/team/RankMemory.h"
#include "runtime/tensor/Strided.h"

namespace ccn::runtime {

/// Where index 0 of a strided part is: a rank and a byte offset.
struct RemotePlace {
  int rank = 0;
  int64_t offset = 0;
};

class RemoteCopy {
public:
  /// Memory is viewed and put in pieces of at most this many bytes.
  static constexpr int64_t pieceBytes = 1 << 18;

  explicit RemoteCopy(RankMemory &memory) : memory(memory) {}

  /// Copies from another's memory (inStride) to `out` (outStride).
  Status read(int elementSize, const CopyDims &dims, RemotePlace from,
              std::byte *out);
  /// Copies from `in` (inStride) to another's memory (outStride).
  Status write(int elementSize, const CopyDims &dims, const std::byte *in,
               RemotePlace to);
  /// Copies from one rank's memory to another's.
  Status relay(int elementSize, const CopyDims &dims, RemotePlace from,
               RemotePlace to);

private:
  template <typename Gather>
  Status putPieces(int elementSize, const CopyDims &dims, RemotePlace to,
                   Gather gather);

  RankMemory &memory;
  Workspace viewed, staged;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CPU_REMOTECOPY_H
