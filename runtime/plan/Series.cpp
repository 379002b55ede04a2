//===- Series.cpp - Lists whose entries differ in numbers only ------------===//
//
// Entries are compared as what they are without their integers, and as lists of
// their integers.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Series.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace ccn::runtime {

using Json = nlohmann::json;

namespace {

/// Shorter series stay as they are: plans of few ranks can be read.
constexpr size_t fewestTimes = 16;
/// The most entries that repeat together: what the plans of one rank add to a
/// table.
constexpr size_t mostTogether = 128;

/// Calls body(number) for each integer in `json`, in order, until it returns
/// false; returns whether it never did. Body may change the number.
template <typename J, typename Body> bool forEachInteger(J &json, Body body) {
  if (json.is_structured())
    return std::all_of(json.begin(), json.end(), [&](auto &element) {
      return forEachInteger(element, body);
    });
  return !json.is_number_integer() || body(json);
}

/// Whether lists and objects are nested less than this deep: what follows would
/// take the stack.
bool isShallow(const Json &json, int depth = 64) {
  return !json.is_structured() ||
         (depth > 0 &&
          std::all_of(json.begin(), json.end(), [&](const Json &element) {
            return isShallow(element, depth - 1);
          }));
}

int64_t countValues(const Json &json) {
  int64_t count = 1;
  if (json.is_structured())
    for (const Json &element : json)
      count += countValues(element);
  return count;
}

/// An entry of a list.
struct Entry {
  /// Equal for entries that differ in integers only; none if an integer is
  /// beyond int64_t.
  int form = -1;
  std::vector<int64_t> integers;
};

class Packer {
public:
  explicit Packer(const Json &list) : list(list) {
    for (const Json &each : list)
      entries.push_back(take(each));
  }

  Json run() {
    Json packed = Json::array();
    for (size_t i = 0; i < entries.size();) {
      Found best;
      size_t most = std::min(mostTogether, (entries.size() - i) / fewestTimes);
      for (size_t together = 1; together <= most && best.times < fewestTimes;
           ++together)
        if (mayBegin(i, together))
          best = seriesAt(i, together);
      if (best.times < fewestTimes) {
        packed.push_back(list[i++]);
        continue;
      }
      Json first = Json::array();
      for (size_t j = 0; j < best.together; ++j)
        first.push_back(list[i + j]);
      packed.push_back({{"times", best.times},
                        {"entries", std::move(first)},
                        {"steps", std::move(best.steps)}});
      i += best.times * best.together;
    }
    return packed;
  }

private:
  struct Found {
    size_t times = 0, together = 1;
    std::vector<int64_t> steps;
  };

  Entry take(Json json) {
    Entry entry;
    constexpr auto largest = uint64_t(std::numeric_limits<int64_t>::max());
    bool fits = forEachInteger(json, [&](Json &number) {
      if (number.is_number_unsigned() && number.get<uint64_t>() > largest)
        return false;
      entry.integers.push_back(number.get<int64_t>());
      number = 0;
      return true;
    });
    if (fits)
      entry.form =
          forms.emplace(std::move(json), static_cast<int>(forms.size()))
              .first->second;
    return entry;
  }

  /// Whether entry `at` is `from` with so many times the steps that begin at
  /// `step`, which it passes.
  bool follows(size_t from, size_t at, int64_t times,
               const std::vector<int64_t> &steps, size_t &step) const {
    const Entry &first = entries[from], &next = entries[at];
    if (first.form < 0 || next.form != first.form)
      return false;
    for (size_t i = 0; i < first.integers.size(); ++i) {
      int64_t added = 0, value = 0;
      if (__builtin_mul_overflow(times, steps[step++], &added) ||
          __builtin_add_overflow(first.integers[i], added, &value) ||
          value != next.integers[i])
        return false;
    }
    return true;
  }

  /// Whether the entry itself repeats often enough for a series to begin with
  /// it; this is seen faster than whether all entries do.
  bool mayBegin(size_t begin, size_t together) const {
    const std::vector<int64_t> &first = entries[begin].integers;
    const std::vector<int64_t> &next = entries[begin + together].integers;
    if (entries[begin].form < 0 ||
        entries[begin].form != entries[begin + together].form)
      return false;
    std::vector<int64_t> steps(first.size());
    for (size_t i = 0; i < first.size(); ++i)
      if (__builtin_sub_overflow(next[i], first[i], &steps[i]))
        return false;
    for (size_t times = 2; times < fewestTimes; ++times) {
      size_t step = 0;
      if (!follows(begin, begin + times * together, static_cast<int64_t>(times),
                   steps, step))
        return false;
    }
    return true;
  }

  /// The series that begins at an entry, of so many entries together.
  Found seriesAt(size_t begin, size_t together) const {
    Found found{0, together, {}};
    for (size_t j = begin; j < begin + together; ++j) {
      const Entry &first = entries[j], &next = entries[j + together];
      if (first.form < 0 || next.form != first.form)
        return found;
      for (size_t i = 0; i < first.integers.size(); ++i) {
        int64_t step = 0;
        if (__builtin_sub_overflow(next.integers[i], first.integers[i], &step))
          return found;
        found.steps.push_back(step);
      }
    }
    for (size_t times = 1; begin + (times + 1) * together <= entries.size();
         ++times) {
      found.times = times;
      size_t step = 0;
      for (size_t j = 0; j < together; ++j)
        if (!follows(begin + j, begin + times * together + j,
                     static_cast<int64_t>(times), found.steps, step))
          return found;
    }
    found.times = (entries.size() - begin) / together;
    return found;
  }

  const Json &list;
  std::map<Json, int> forms;
  std::vector<Entry> entries;
};

bool isSeries(const Json &json) {
  return json.is_object() && json.contains("times");
}

/// Appends the entries of a series.
Status unpack(const Json &series, Json &list, int64_t &left) {
  auto wrong = [] {
    return error("expected a series with times, entries and a step for each "
                 "integer, found another");
  };
  if (series.size() != 3 || !series.contains("entries") ||
      !series.contains("steps"))
    return wrong();
  const Json &times = series["times"], &entries = series["entries"],
             &steps = series["steps"];
  auto isInteger = [](const Json &json) {
    return json.is_number_integer() &&
           (!json.is_number_unsigned() ||
            json.get<uint64_t>() <=
                uint64_t(std::numeric_limits<int64_t>::max()));
  };
  if (!isInteger(times) || times.get<int64_t>() < 1 || !entries.is_array() ||
      entries.empty() || !steps.is_array() ||
      !std::all_of(steps.begin(), steps.end(), isInteger) ||
      !isShallow(entries))
    return wrong();
  size_t integers = 0;
  if (!forEachInteger(entries,
                      [&](const Json &number) {
                        ++integers;
                        return isInteger(number);
                      }) ||
      integers != steps.size())
    return wrong();
  int64_t values = countValues(entries);
  if (times.get<int64_t>() > left / values)
    return error("expected fewer values, with what is repeated, found more");
  left -= times.get<int64_t>() * values;
  for (int64_t k = 0; k < times.get<int64_t>(); ++k) {
    size_t step = 0;
    for (const Json &first : entries) {
      Json entry = first;
      bool fits = forEachInteger(entry, [&](Json &number) {
        int64_t added = 0, value = 0;
        if (__builtin_mul_overflow(k, steps[step++].get<int64_t>(), &added) ||
            __builtin_add_overflow(number.get<int64_t>(), added, &value))
          return false;
        number = value;
        return true;
      });
      if (!fits)
        return wrong();
      list.push_back(std::move(entry));
    }
  }
  return Status();
}

} // namespace

Json packSeries(const Json &list) { return Packer(list).run(); }

Status unpackSeries(Json &list, int64_t &valuesLeft) {
  if (!list.is_array() || std::none_of(list.begin(), list.end(), isSeries))
    return Status();
  Json unpacked = Json::array();
  for (Json &each : list) {
    if (!isSeries(each))
      unpacked.push_back(std::move(each));
    else if (Status status = unpack(each, unpacked, valuesLeft); !status)
      return status;
  }
  list = std::move(unpacked);
  return Status();
}

} // namespace ccn::runtime
