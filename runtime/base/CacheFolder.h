//===- CacheFolder.h - Keeps on disk what is costly to make -----*- C++ -*-===//
//
// The cache folder holds what is costly to make: schedules that a search found,
// compiled kernels, and which variant of a package is fastest. The name of an
// entry is a hash of what the entry was made from.
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

/// The cache folder, which may not exist yet: CCN_CACHE_DIR, else ccn in
/// XDG_CACHE_HOME, else .cache/ccn in the home folder. Empty, so that nothing
/// is kept, if CCN_CACHE_DIR is set to an empty text.
std::string cacheFolder();

/// The content of an entry; nothing if the file cannot be read, is not a
/// regular file or has more than `most` bytes. Never waits for the other end of
/// a pipe.
std::optional<std::string> readCached(const std::string &path, int64_t most);

/// Writes a whole entry or, on failure, nothing. Makes the folder if needed.
/// Replaces what is at the path, even a link or a pipe. Errors name the path.
Status writeCached(const std::string &path,
                   std::initializer_list<std::string_view> parts);

} // namespace ccn

#endif // CCN_RUNTIME_BASE_CACHEFOLDER_H
