//===- Nccl.h - NVIDIA's library of collectives -----------------*- C++ -*-===//
//
// The functions of libnccl.so that the runtime calls, found when it is opened,
// and their types: nothing of NCCL's is needed where ccn is built. They have
// been the same since version 2.17.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_NCCL_H
#define CCN_RUNTIME_CUDA_NCCL_H

#include "runtime/base/Status.h"

#include <climits>
#include <cstddef>

struct ncclComm;
struct CUstream_st;

namespace ccn::runtime {

using NcclComm = ncclComm *;

enum NcclResult : int { NcclSuccess = 0, NcclInProgress = 7 };
enum NcclType : int { NcclBytes = 1 };

struct NcclId {
  char bytes[128];
};

/// Of the version that `version` says; newer ones take it too.
struct NcclConfig {
  static constexpr int undefined = INT_MIN;

  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21700;
  int blocking = 0;
  int clusterSize = undefined;
  int leastBlocks = undefined, mostBlocks = undefined;
  const char *network = nullptr;
  int splitShare = undefined;
};

/// As NCCL declares them.
namespace nccl {
NcclResult ncclGetVersion(int *version);
NcclResult ncclGetUniqueId(NcclId *id);
NcclResult ncclCommInitRankConfig(NcclComm *comm, int ranks, NcclId id,
                                  int rank, NcclConfig *config);
NcclResult ncclCommGetAsyncError(NcclComm comm, NcclResult *state);
NcclResult ncclCommAbort(NcclComm comm);
NcclResult ncclCommDestroy(NcclComm comm);
NcclResult ncclGroupStart();
NcclResult ncclGroupEnd();
NcclResult ncclSend(const void *data, size_t count, NcclType type, int peer,
                    NcclComm comm, CUstream_st *stream);
NcclResult ncclRecv(void *data, size_t count, NcclType type, int peer,
                    NcclComm comm, CUstream_st *stream);
const char *ncclGetErrorString(NcclResult result);
const char *ncclGetLastError(NcclComm comm);
} // namespace nccl

/// X(member, function)
#define CCN_NCCL_FUNCTIONS(X)                                                  \
  X(getVersion, ncclGetVersion)                                                \
  X(getUniqueId, ncclGetUniqueId)                                              \
  X(commInit, ncclCommInitRankConfig)                                          \
  X(commGetAsyncError, ncclCommGetAsyncError)                                  \
  X(commAbort, ncclCommAbort)                                                  \
  X(commDestroy, ncclCommDestroy)                                              \
  X(groupStart, ncclGroupStart)                                                \
  X(groupEnd, ncclGroupEnd)                                                    \
  X(send, ncclSend)                                                            \
  X(receive, ncclRecv)                                                         \
  X(getErrorString, ncclGetErrorString)                                        \
  X(getLastError, ncclGetLastError)

struct Nccl {
  /// Opens the library, once in a process. An error, the same each time, if
  /// there is none or it is too old.
  static Result<const Nccl *> get();

#define CCN_MEMBER(member, function)                                           \
  decltype (&nccl::function)(member) = nullptr;
  CCN_NCCL_FUNCTIONS(CCN_MEMBER)
#undef CCN_MEMBER

  /// Success, of what goes on too, or an error with the call's name and the
  /// library's text.
  Status check(NcclResult result, const char *call) const;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_NCCL_H
