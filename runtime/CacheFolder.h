//===- CacheFolder.h - Where what is costly to make is kept -----*- C++ -*-===//
//
// Schedules that were searched for and kernels that were compiled, by what they
// were made of.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CACHEFOLDER_H
#define CCN_RUNTIME_CACHEFOLDER_H

#include <string>

namespace ccn {

/// The folder that the environment names: CCN_CACHE_DIR, else ccn in
/// XDG_CACHE_HOME, else .cache/ccn in the home folder. It may not exist yet.
/// Empty, as which CCN_CACHE_DIR can be set, keeps nothing.
std::string cacheFolder();

} // namespace ccn

#endif // CCN_RUNTIME_CACHEFOLDER_H
