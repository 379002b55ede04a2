//===- BlasLt.cpp - CUDA's library of matrix products ---------------------===//
//
// Opened by the name of the version whose header this was compiled with, since
// types differ between versions.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/BlasLt.h"

#include "runtime/cuda/Library.h"

#include <map>
#include <mutex>

namespace ccn::runtime {

static Result<BlasLt> load() {
  std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  Result<Library> library =
      Library::open("CUDA's library of matrix products",
                    {name, "/usr/local/cuda/lib64/" + name});
  if (!library)
    return library.status();
  BlasLt blas;
  std::string missing;
#define CCN_FIND(member, function)                                             \
  blas.member =                                                                \
      reinterpret_cast<decltype(blas.member)>(library->find(#function));       \
  if (!blas.member)                                                            \
    missing += " " #function;
  CCN_BLASLT_FUNCTIONS(CCN_FIND)
#undef CCN_FIND
  if (!missing.empty())
    return error("'", name, "' lacks", missing);
  return blas;
}

Result<const BlasLt *> BlasLt::get() {
  static const Result<BlasLt> blas = load();
  if (!blas)
    return blas.status();
  return &*blas;
}

Result<cublasLtHandle_t> BlasLt::handle(int device) const {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  std::lock_guard lock(mutex);
  cublasLtHandle_t &kept = handles[device];
  if (!kept)
    if (Status status = check(create(&kept), "cublasLtCreate"); !status)
      return status;
  return kept;
}

Status BlasLt::check(cublasStatus_t result, const char *call) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return Status();
  return error(call, " failed: ", getStatusString(result));
}

} // namespace ccn::runtime
