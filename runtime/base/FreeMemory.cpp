//===- FreeMemory.cpp - Limits on the memory of a process -----------------===//
//
// Reads the limits from Linux's files in /proc and /sys/fs/cgroup. If a file is
// missing, its limit does not exist.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FreeMemory.h"

#include "runtime/base/Hash.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace ccn {

namespace {

/// More than any machine has. Control groups of version 1 without a limit
/// report a number at least as large.
constexpr int64_t unlimited = int64_t(1) << 60;

/// Subtracts a reserve that other processes may need meanwhile.
int64_t withoutReserve(int64_t bytes) { return bytes - bytes / 32; }

std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The number after `key` in lines like "MemAvailable:  123 kB".
std::optional<int64_t> numberAfter(const std::string &text,
                                   const std::string &key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    int64_t number;
    if (words >> word && word == key && words >> number)
      return number;
  }
  return std::nullopt;
}

std::optional<int64_t> readNumber(const std::string &path) {
  std::ifstream file(path);
  int64_t number;
  return file >> number ? std::optional(number) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Control groups
//===----------------------------------------------------------------------===//

/// The names of a group's files.
struct GroupFiles {
  const char *limit, *used;
  /// The keys, in the group's statistics, of pages of files, which the system
  /// takes back when memory is needed.
  const char *active, *inactive;
};
constexpr GroupFiles version1 = {"/memory.limit_in_bytes",
                                 "/memory.usage_in_bytes", "total_active_file",
                                 "total_inactive_file"};
constexpr GroupFiles version2 = {"/memory.max", "/memory.current",
                                 "active_file", "inactive_file"};

/// Calls look(folder, files, limit) for each control group of this process that
/// has a limit.
template <typename Look> void forEachLimit(const std::string &root, Look look) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::istringstream lines(readText(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers =
        "," + line.substr(first + 1, second - first - 1) + ",";
    bool isSecond = controllers == ",,";
    if (!isSecond && controllers.find(",memory,") == std::string::npos)
      continue;
    const GroupFiles &files = isSecond ? version2 : version1;
    std::string top = mount;
    if (!isSecond)
      top += "/memory";
    else if (access((mount + "/unified").c_str(), F_OK) == 0)
      top += "/unified";
    // Groups are nested. In a container, the folder of the process's own group
    // may be missing, since the container sees that group as the topmost one.
    for (std::string path = line.substr(second + 1);;) {
      std::string folder = top + path;
      std::optional<int64_t> limit = readNumber(folder + files.limit);
      if (limit && *limit >= 0 && *limit < unlimited)
        look(folder, files, *limit);
      if (path.empty())
        break;
      path.resize(path.find_last_of('/') == std::string::npos
                      ? 0
                      : path.find_last_of('/'));
    }
  }
}

void findGroupLimit(const std::string &root, FreeMemory &free) {
  char space[64] = {};
  (void)!readlink("/proc/self/ns/cgroup", space, sizeof space - 1);
  forEachLimit(root, [&](const std::string &folder, const GroupFiles &files,
                         int64_t limit) {
    std::string statistics = readText(folder + "/memory.stat");
    int64_t used = readNumber(folder + files.used).value_or(0) -
                   numberAfter(statistics, files.active).value_or(0) -
                   numberAfter(statistics, files.inactive).value_or(0);
    int64_t left = withoutReserve(
        std::max<int64_t>(limit - std::max<int64_t>(used, 0), 0));
    if (left >= free.group)
      return;
    free.group = left;
    free.groupId = runtime::fnv1a(folder + space);
  });
}

//===----------------------------------------------------------------------===//
// The process
//===----------------------------------------------------------------------===//

/// The bytes left under a limit when `usedKiB` KiB are in use.
int64_t leftOf(int resource, std::optional<int64_t> usedKiB) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur > static_cast<rlim_t>(unlimited))
    return INT64_MAX;
  return std::max<int64_t>(
      static_cast<int64_t>(limit.rlim_cur) - usedKiB.value_or(0) * 1024, 0);
}

std::string withSizes(const MemoryNeeds &needs, int64_t found,
                      const char *where) {
  return "there is not enough memory: expected " + needs.text() + "; found " +
         std::to_string(found) + ", which " + where;
}

} // namespace

int64_t addSaturating(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t multiplySaturating(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

FreeMemory FreeMemory::now(const std::string &root) {
  FreeMemory free;
  std::string machine = readText(root + "/proc/meminfo");
  if (std::optional<int64_t> available = numberAfter(machine, "MemAvailable:"))
    free.machine = withoutReserve(*available * 1024);
  free.machineId =
      runtime::fnv1a(readText(root + "/proc/sys/kernel/random/boot_id"));
  findGroupLimit(root, free);
  std::string own = readText(root + "/proc/self/status");
  free.addresses = leftOf(RLIMIT_AS, numberAfter(own, "VmSize:"));
  free.data = leftOf(RLIMIT_DATA, numberAfter(own, "VmData:"));
  free.file = leftOf(RLIMIT_FSIZE, std::nullopt);
  return free;
}

int64_t machineMemory(const std::string &root) {
  int64_t bytes = INT64_MAX;
  if (std::optional<int64_t> total =
          numberAfter(readText(root + "/proc/meminfo"), "MemTotal:"))
    bytes = *total * 1024;
  forEachLimit(root, [&](const std::string &, const GroupFiles &,
                         int64_t limit) { bytes = std::min(bytes, limit); });
  return bytes;
}

void MemoryNeeds::add(const Item &more) {
  if (more.bytes == 0)
    return;
  for (Item &item : items)
    if (item.what == more.what && item.isShared == more.isShared) {
      item.bytes = addSaturating(item.bytes, more.bytes);
      return;
    }
  items.push_back(more);
}

void MemoryNeeds::add(const std::string &what, int64_t count, int64_t bytes) {
  add({what, multiplySaturating(count, bytes), /*isShared=*/false});
}

void MemoryNeeds::addShared(const std::string &what, int64_t count,
                            int64_t bytes) {
  add({what, multiplySaturating(count, bytes), /*isShared=*/true});
}

void MemoryNeeds::add(const MemoryNeeds &others) {
  for (const Item &item : others.items)
    add(item);
}

int64_t MemoryNeeds::total() const {
  int64_t sum = 0;
  for (const Item &item : items)
    sum = addSaturating(sum, item.bytes);
  return sum;
}

int64_t MemoryNeeds::ownTotal() const {
  int64_t sum = 0;
  for (const Item &item : items)
    if (!item.isShared)
      sum = addSaturating(sum, item.bytes);
  return sum;
}

std::string MemoryNeeds::text() const {
  auto number = [](int64_t bytes) {
    return (bytes == INT64_MAX ? "at least " : "") + std::to_string(bytes);
  };
  std::string text = number(total()) + " bytes";
  if (items.size() == 1)
    return text + " for " + items[0].what;
  for (size_t i = 0; i < items.size(); ++i)
    text +=
        (i ? ", " : ": ") + number(items[i].bytes) + " for " + items[i].what;
  return text;
}

Status checkMemory(const MemoryNeeds &needs, const FreeMemory &free) {
  int64_t wanted = needs.total();
  if (wanted > free.addresses)
    return Status::failure(withSizes(needs, free.addresses,
                                     "the limit of this process's addresses "
                                     "leaves (see 'ulimit -v')"));
  if (needs.ownTotal() > free.data)
    return Status::failure(withSizes(needs, free.data,
                                     "the limit of this process's data leaves "
                                     "(see 'ulimit -d')"));
  if (wanted > free.group)
    return Status::failure(withSizes(
        needs, free.group, "the limit of this process's control group leaves"));
  if (wanted > free.machine)
    return Status::failure(
        withSizes(needs, free.machine, "this machine has available"));
  return Status();
}

} // namespace ccn
