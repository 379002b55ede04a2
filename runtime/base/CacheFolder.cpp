//===- CacheFolder.cpp - Keeps on disk what is costly to make -------------===//
//
// Follows the XDG base directory specification, unless CCN_CACHE_DIR is set.
// https://specifications.freedesktop.org/basedir-spec/latest/
//
//===----------------------------------------------------------------------===//

#include "runtime/base/CacheFolder.h"

#include "runtime/base/File.h"

#include <cstdlib>
#include <filesystem>
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

std::optional<std::string> readCached(const std::string &path, int64_t most) {
  int64_t size = 0;
  Result<FileDescriptor> file = openRegularFile(path, "a file", size);
  if (!file || size > most)
    return std::nullopt;
  std::string entry(static_cast<size_t>(size), '\0');
  if (readAt(file->get(), entry.data(), size, 0) != size)
    return std::nullopt;
  return entry;
}

Status writeCached(const std::string &path,
                   std::initializer_list<std::string_view> parts) {
  std::error_code failure;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      failure);
  if (failure)
    return error("cannot make the folder of '", path, "': ", failure.message());
  return replaceFileAtomically(path, parts);
}

} // namespace ccn
