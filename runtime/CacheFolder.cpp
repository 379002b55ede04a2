//===- CacheFolder.cpp - Where what is costly to make is kept -------------===//
//
// As the XDG base directory specification says, below a variable of our own.
// https://specifications.freedesktop.org/basedir-spec/latest/
//
//===----------------------------------------------------------------------===//

#include "runtime/CacheFolder.h"

#include <cstdlib>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace ccn {

static std::string homeFolder() {
  if (const char *home = std::getenv("HOME"))
    return home;
  std::vector<char> names(16384);
  passwd user, *found = nullptr;
  if (getpwuid_r(getuid(), &user, names.data(), names.size(), &found) == 0 &&
      found && found->pw_dir)
    return found->pw_dir;
  return "";
}

std::string cacheFolder() {
  if (const char *own = std::getenv("CCN_CACHE_DIR"))
    return own;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base)
    return std::string(base) + "/ccn";
  std::string home = homeFolder();
  return home.empty() ? "" : home + "/.cache/ccn";
}

} // namespace ccn
