//===- KernelCache.cpp - Compiled kernels, kept on disk -------------------===//
//
// An entry is a line with the hash of what follows it, a line with the size of
// the log, the log, and the machine code. Its name is the hash of what it was
// made of, comments left out: kernels have the lines of their program in them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/KernelCache.h"

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Hash.h"

#include <charconv>

namespace ccn::runtime {

namespace {

/// What an entry holds; nothing if it is damaged.
std::optional<CompiledKernels> parseEntry(std::string_view entry) {
  size_t end = entry.find('\n');
  if (end == entry.npos)
    return std::nullopt;
  std::string_view hash = entry.substr(0, end), body = entry.substr(end + 1);
  if (toHex(sha256({body})) != hash)
    return std::nullopt;
  end = body.find('\n');
  if (end == body.npos)
    return std::nullopt;
  size_t size = 0;
  auto [rest, failed] = std::from_chars(body.data(), body.data() + end, size);
  body.remove_prefix(end + 1);
  if (failed != std::errc() || size > body.size())
    return std::nullopt;
  CompiledKernels kernels;
  kernels.log = body.substr(0, size);
  kernels.cubin = body.substr(size);
  return kernels;
}

std::optional<CompiledKernels> readEntry(const std::string &path) {
  constexpr int64_t maxBytes = int64_t(1) << 30;
  std::optional<std::string> entry = readCached(path, maxBytes);
  return entry ? parseEntry(*entry) : std::nullopt;
}

void writeEntry(const std::string &path, const CompiledKernels &kernels) {
  std::string head = std::to_string(kernels.log.size()) + "\n";
  std::string hash = toHex(sha256({head, kernels.log, kernels.cubin})) + "\n";
  (void)writeCached(path, {hash, head, kernels.log, kernels.cubin});
}

} // namespace

KernelCache &KernelCache::shared() {
  static KernelCache cache(cacheFolder());
  return cache;
}

Result<std::string> KernelCache::pathOf(const std::string &source,
                                        std::string_view architecture) const {
  Result<std::string> version = compilerVersion();
  if (!version)
    return version;
  std::string options;
  for (const std::string &option : compilerOptions(architecture))
    options += option + "\n";
  return folder + "/" +
         toHex(sha256({*version, "\n", options, withoutComments(source)})) +
         ".kernels";
}

Result<std::optional<CompiledKernels>>
KernelCache::find(const std::string &source,
                  std::string_view architecture) const {
  Result<std::string> path = pathOf(source, architecture);
  if (!path)
    return path.status();
  return folder.empty() ? std::nullopt : readEntry(*path);
}

Result<CompiledKernels> KernelCache::make(const std::string &path,
                                          const std::string &source,
                                          std::string_view architecture) const {
  if (!folder.empty())
    if (std::optional<CompiledKernels> kept = readEntry(path))
      return *std::move(kept);
  Result<CompiledKernels> made = compileKernels(source, architecture);
  if (made && !folder.empty())
    writeEntry(path, *made);
  return made;
}

Result<CompiledKernels> KernelCache::get(const std::string &source,
                                         std::string_view architecture) {
  Result<std::string> path = pathOf(source, architecture);
  if (!path)
    return path.status();
  std::promise<Result<CompiledKernels>> promise;
  std::unique_lock lock(mutex);
  auto [place, isNew] = used.try_emplace(*path);
  if (isNew)
    place->second = promise.get_future().share();
  Future future = place->second;
  lock.unlock();
  if (isNew) {
    Result<CompiledKernels> made = error("there is no memory for kernels");
    try {
      made = make(*path, source, architecture);
    } catch (const std::bad_alloc &) {
      // As said.
    }
    // What failed may be tried again.
    if (!made) {
      lock.lock();
      used.erase(*path);
      lock.unlock();
    }
    promise.set_value(std::move(made));
  }
  return future.get();
}

} // namespace ccn::runtime
