//===- KernelCache.h - Compiled kernels, kept on disk -----------*- C++ -*-===//
//
// Compiling takes seconds and is done once for a source, an architecture and a
// version of the compiler. Processes and threads may share a cache.
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

  /// What compileKernels gives, from the cache if it is there. An entry that is
  /// damaged counts as none; one that cannot be written is compiled again next
  /// time. Of threads that want the same at once one compiles it.
  Result<CompiledKernels> get(const std::string &source,
                              std::string_view architecture);

  /// What is there already. An error only if there is no compiler.
  Result<std::optional<CompiledKernels>>
  find(const std::string &source, std::string_view architecture) const;

  /// The file for a source and an architecture. An error as of find().
  Result<std::string> pathOf(const std::string &source,
                             std::string_view architecture) const;

private:
  std::string folder;
  /// What the entry of that file holds, or should.
  Result<CompiledKernels> make(const std::string &path,
                               const std::string &source,
                               std::string_view architecture) const;

  using Future = std::shared_future<Result<CompiledKernels>>;

  std::mutex mutex;
  /// What this process has used, or will have, by the entry's file.
  std::map<std::string, Future> used;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_KERNELCACHE_H
