//===- Trace.cpp - What ran when ------------------------------------------===//
//
// Each event is one line, so that the lines of all ranks are put together as
// they are. Times are microseconds, as the format wants, from the first event.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Trace.h"

#include "tools/ccrun/RunMemory.h"
#include "tools/ccrun/TraceArrows.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace ccn;
using namespace ccn::runtime;
using Json = nlohmann::json;

namespace {

/// As one line; names that are no UTF-8 lose what is none.
std::string lineOf(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Arrows between what ran, as lines; times are from `first`.
std::string linesOfArrows(const Plan &plan, const std::vector<Json> &events,
                          int64_t first) {
  std::vector<TracedPart> parts;
  for (const Json &event : events) {
    const Json &args = event["args"];
    if (!args.contains("part"))
      continue;
    int64_t begin = event["ts"];
    parts.push_back({event["pid"], event["tid"], args["run"], args["index"],
                     args["part"], begin, begin + event["dur"].get<int64_t>()});
  }
  std::string lines;
  size_t number = 0;
  for (const TraceArrow &arrow : findArrows(plan, parts)) {
    auto add = [&](const char *kind, const TracedPart &at, int64_t time) {
      Json json = {{"ph", kind},
                   {"id", number},
                   {"name", "waits"},
                   {"cat", "waits"},
                   {"pid", at.rank},
                   {"tid", at.stream},
                   {"ts", static_cast<double>(time - first) / 1000}};
      // What the time is in, not what follows.
      if (kind[0] == 'f')
        json["bp"] = "e";
      lines += lineOf(json) + ",\n";
    };
    add("s", arrow.from, arrow.begin);
    add("f", arrow.to, arrow.end);
    ++number;
  }
  return lines;
}

} // namespace

void RankTrace::record(const TraceEvent &event) {
  std::lock_guard lock(mutex);
  events.push_back(event);
}

void RankTrace::finish(int64_t zero) {
  for (const TraceEvent &event : events) {
    bool isPart = event.partIndex >= 0;
    Json json = {{"ph", "X"},
                 {"pid", rank},
                 {"tid", event.stream},
                 {"name", isPart ? event.part : event.launch},
                 {"cat", isPart ? "part" : "launch"},
                 {"ts", event.beginNanoseconds - zero},
                 {"dur", event.endNanoseconds - event.beginNanoseconds},
                 {"args",
                  {{"run", event.run},
                   {"launch", event.launch},
                   {"index", event.index}}}};
    if (isPart)
      json["args"]["part"] = event.partIndex;
    lines += lineOf(json) + "\n";
  }
}

Result<Trace> Trace::create() {
  int file = memfd_create("ccrun trace", MFD_CLOEXEC);
  if (file < 0)
    return error("cannot trace: ", systemError());
  Trace trace(file);
  // Each rank adds at the end of what is there.
  if (fcntl(file, F_SETFL, O_APPEND) != 0)
    return error("cannot trace: ", systemError());
  return trace;
}

Status Trace::add(const std::string &lines) {
  // Threads share the lock of their process, and one write is whole by itself
  // unless memory runs out; the lock is for those that are not.
  static std::mutex threads;
  std::lock_guard guard(threads);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(file(), F_SETLKW, &lock) != 0 ||
      !writeAll(file(), lines.data(), static_cast<int64_t>(lines.size())))
    return error("cannot trace: ", systemError());
  lock.l_type = F_UNLCK;
  fcntl(file(), F_SETLK, &lock);
  return Status();
}

Result<std::string> Trace::text() const {
  struct stat info;
  if (fstat(file(), &info) != 0)
    return error("cannot trace: ", systemError());
  std::string lines(static_cast<size_t>(info.st_size), '\0');
  if (readAt(file(), lines.data(), info.st_size, 0) != info.st_size)
    return error("cannot trace: ", systemError());
  return lines;
}

Status Trace::write(const std::string &path, const Plan &plan) const {
  Result<std::string> added = text();
  if (!added)
    return added.status();
  const std::string &lines = *added;
  // By rank, stream and time; a launch before its parts.
  using Key = std::tuple<int, int, int64_t, int64_t, size_t>;
  std::vector<std::pair<Key, Json>> events;
  for (size_t begin = 0, end; begin < lines.size(); begin = end + 1) {
    end = lines.find('\n', begin);
    Json event = Json::parse(lines.substr(begin, end - begin));
    events.emplace_back(Key(event["pid"], event["tid"], event["ts"],
                            -event["dur"].get<int64_t>(), events.size()),
                        std::move(event));
  }
  std::sort(events.begin(), events.end(),
            [](const auto &a, const auto &b) { return a.first < b.first; });
  int64_t first = INT64_MAX;
  for (const auto &[key, event] : events)
    first = std::min(first, std::get<2>(key));

  std::string json = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  auto nameOf = [&](const char *kind, int rank, int stream,
                    const std::string &name) {
    json += lineOf({{"ph", "M"},
                    {"name", kind},
                    {"pid", rank},
                    {"tid", stream},
                    {"args", {{"name", name}}}}) +
            ",\n";
  };
  for (size_t i = 0; i < plan.ranks.size(); ++i) {
    int rank = static_cast<int>(i);
    nameOf("process_name", rank, 0, describeRank(plan, rank));
    for (int stream = 0; stream < plan.ranks[i].streams; ++stream)
      nameOf("thread_name", rank, stream, "stream " + std::to_string(stream));
  }
  std::vector<Json> sorted;
  for (auto &[key, event] : events)
    sorted.push_back(std::move(event));
  std::string arrows = linesOfArrows(plan, sorted, first);
  for (Json &event : sorted) {
    for (const char *time : {"ts", "dur"}) {
      int64_t nanoseconds = event[time].get<int64_t>();
      if (time[0] == 't')
        nanoseconds -= first;
      event[time] = static_cast<double>(nanoseconds) / 1000;
    }
    json += lineOf(event) + ",\n";
  }
  json += arrows;
  if (json.ends_with(",\n"))
    json.erase(json.size() - 2);
  json += "\n]}\n";
  return writeFileAtomically(path, {json});
}
