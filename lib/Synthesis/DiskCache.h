//===- DiskCache.h - Results that outlive the compiler ----------*- C++ -*-===//
//
// Keeps answers that took long to find on disk, under a hash of the question.
// Processes may share the folder: an entry appears whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SYNTHESIS_DISKCACHE_H
#define CCN_LIB_SYNTHESIS_DISKCACHE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ccn {

/// A folder of answers, by question.
class DiskCache {
public:
  /// Uses cacheFolder(); no cache if the environment variable CCN_CACHE_DIR is
  /// set to an empty string.
  DiskCache();
  /// Uses `folder`, which is created when the first answer is kept; no cache if
  /// it is empty.
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  /// The answer that was kept for a question; none if there is no entry or it
  /// is damaged.
  std::optional<std::string> find(llvm::StringRef question) const;
  /// Keeps an answer; does nothing if that is not possible.
  void keep(llvm::StringRef question, llvm::StringRef answer) const;

private:
  /// The entry's file, named by the hash of the question.
  std::string pathOf(llvm::StringRef question) const;

  std::string folder;
};

} // namespace ccn

#endif // CCN_LIB_SYNTHESIS_DISKCACHE_H
