//===- RemoteCopy.h - Strided parts of others' memory -----------*- C++ -*-===//
//
// Reads and writes strided parts of symmetric memory by the operations of
// RankMemory: what lies densely is viewed or put as one, so that the number of
// messages is small where memory is not shared, and nothing is copied twice
// where it is.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_REMOTECOPY_H
#define CCN_RUNTIME_REMOTECOPY_H

#include "runtime/RankMemory.h"
#include "runtime/Strided.h"
#include "runtime/Workspace.h"

namespace ccn::runtime {

/// A part of a rank's symmetric memory: the byte offset of index 0; strides are
/// with who uses it.
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
  /// Copies from `in` (inStride) to another's memory (outStride), no element of
  /// which is written twice.
  Status write(int elementSize, const CopyDims &dims, const std::byte *in,
               RemotePlace to);
  /// Copies between two others.
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

#endif // CCN_RUNTIME_REMOTECOPY_H
