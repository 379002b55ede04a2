//===- RemoteCopy.h - Strided copies to and from other ranks ----*- C++ -*-===//
//
// Reads and writes strided parts of other ranks' symmetric memory by the
// operations of RankMemory. What lies densely there is viewed or put by one
// operation, so that few messages are sent where memory is not shared, and
// nothing is copied twice where it is shared.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CPU_REMOTECOPY_H
#define CCN_RUNTIME_CPU_REMOTECOPY_H

#include "runtime/base/Workspace.h"
#include "runtime/team/RankMemory.h"
#include "runtime/tensor/Strided.h"

namespace ccn::runtime {

/// The place of index 0 of a strided part: a rank and a byte offset in its
/// symmetric memory.
struct RemotePlace {
  int rank = 0;
  int64_t offset = 0;
};

class RemoteCopy {
public:
  /// The most bytes that one operation views or puts.
  static constexpr int64_t pieceBytes = 1 << 18;

  explicit RemoteCopy(RankMemory &memory) : memory(memory) {}

  /// Copies from another rank's memory (inStride) to `out` (outStride).
  Status read(int elementSize, const CopyDims &dims, RemotePlace from,
              std::byte *out);
  /// Copies from `in` (inStride) to another rank's memory (outStride).
  Status write(int elementSize, const CopyDims &dims, const std::byte *in,
               RemotePlace to);
  /// Copies from the memory of one other rank to that of another.
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
