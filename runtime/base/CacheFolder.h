//===- CacheFolder.h - Where what is costly to make is kept -----*- C++ -*-===//
//
// Keeps on disk what is costly to make: schedules that were searched for, and
// kernels that were compiled. An entry is found by a hash of what it was made
// from.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_CACHEFOLDER_H
#define CCN_RUNTIME_BASE_CACHEFOLDER_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ccn {

/// The folder that the environment names: CCN_CACHE_DIR, else ccn in
/// XDG_CACHE_HOME, else .cache/ccn in the home folder. It may not exist yet.
/// Where CCN_CACHE_DIR is set to nothing the result is empty, and nothing is
/// kept.
std::string cacheFolder();

/// The content of an entry; nothing if it cannot be read, is not a regular file
/// or has more than `most` bytes. Never waits for the other end of a pipe.
std::optional<std::string> readCached(const std::string &path, int64_t most);

/// Writes an entry whole or not at all, and makes its folder. Replaces what is
/// there, also if that is a link or a pipe. Errors name the path.
Status writeCached(const std::string &path,
                   std::initializer_list<std::string_view> parts);

} // namespace ccn

#endif // CCN_RUNTIME_BASE_CACHEFOLDER_H
