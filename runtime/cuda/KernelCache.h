//===- KernelCache.h - Compiled kernels, kept on disk -----------*- C++ -*-===//
//
// Compiling takes seconds and is done once for a source (but for its comments),
// an architecture and a version of the compiler. Processes and threads may
// share a cache.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_KERNELCACHE_H
#define CCN_RUNTIME_CUDA_KERNELCACHE_H

#include "runtime/cuda/Compiler.h"

#include <future>
#include <map>
#include <mutex>
#include <optional>

namespace ccn::runtime {

class KernelCache {
public:
  /// In `folder`, which is made when something is kept; empty keeps nothing.
  explicit KernelCache(std::string folder) : folder(std::move(folder)) {}

  /// Of this process, in cacheFolder().
  static KernelCache &shared();

  /// The result of compileKernels, from the cache if it is there. A damaged
  /// entry counts as none. If an entry cannot be written, it is compiled again
  /// next time. If several threads want the same entry at once, one of them
  /// compiles it.
  Result<CompiledKernels> get(const std::string &source,
                              std::string_view architecture);

  /// An entry that is there already. An error only if there is no compiler.
  Result<std::optional<CompiledKernels>>
  find(const std::string &source, std::string_view architecture) const;

  /// The file for a source and an architecture. An error as of find().
  Result<std::string> pathOf(const std::string &source,
                             std::string_view architecture) const;

private:
  std::string folder;
  /// The content of the entry in that file; compiles it if it is not there.
  Result<CompiledKernels> make(const std::string &path,
                               const std::string &source,
                               std::string_view architecture) const;

  using Future = std::shared_future<Result<CompiledKernels>>;

  std::mutex mutex;
  /// What this process has used or is compiling, by the entry's file.
  std::map<std::string, Future> used;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_KERNELCACHE_H
