//===- DiskCache.h - Results that outlive the compiler ----------*- C++ -*-===//
//
// What took long to find is kept on disk, by the content of the question.
// Processes may share the folder: an entry appears whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SYNTHESIS_DISKCACHE_H
#define CCN_LIB_SYNTHESIS_DISKCACHE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ccn {

class DiskCache {
public:
  /// In cacheFolder(). CCN_CACHE_DIR set to nothing turns the cache off.
  DiskCache();
  /// A folder, which is made when something is kept; empty: no cache.
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}

  /// The answer kept for a question; none if there is none, or if the entry is
  /// damaged.
  std::optional<std::string> find(llvm::StringRef question) const;
  /// Keeps an answer. Where that is not possible, nothing is kept.
  void keep(llvm::StringRef question, llvm::StringRef answer) const;

private:
  /// The entry's file: the hash of the question.
  std::string pathOf(llvm::StringRef question) const;

  std::string folder;
};

} // namespace ccn

#endif // CCN_LIB_SYNTHESIS_DISKCACHE_H
