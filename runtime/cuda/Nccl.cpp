//===- Nccl.cpp - NVIDIA's library of collectives -------------------------===//
//
// Opened by the name that its packages install.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Nccl.h"

#include "runtime/cuda/Library.h"

namespace ccn::runtime {

static Result<Nccl> load() {
  Result<Library> library = Library::open(
      "NCCL", {"libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2"});
  if (!library)
    return library.status();
  Nccl nccl;
  std::string missing;
#define CCN_FIND(member, function)                                             \
  nccl.member =                                                                \
      reinterpret_cast<decltype(nccl.member)>(library->find(#function));       \
  if (!nccl.member)                                                            \
    missing += " " #function;
  CCN_NCCL_FUNCTIONS(CCN_FIND)
#undef CCN_FIND
  if (!missing.empty())
    return error("NCCL is too old: it lacks", missing);
  int version = 0;
  if (Status status = nccl.check(nccl.getVersion(&version), "ncclGetVersion");
      !status)
    return status;
  if (int least = static_cast<int>(NcclConfig().version); version < least)
    return error("expected NCCL of version ", least, " or newer, found ",
                 version);
  return nccl;
}

Result<const Nccl *> Nccl::get() {
  static const Result<Nccl> nccl = load();
  if (!nccl)
    return nccl.status();
  return &*nccl;
}

Status Nccl::check(NcclResult result, const char *call) const {
  if (result == NcclSuccess || result == NcclInProgress)
    return Status();
  const char *last = getLastError(nullptr);
  return error(call, " failed: ", getErrorString(result),
               last && *last ? std::string("; ") + last : "");
}

} // namespace ccn::runtime
