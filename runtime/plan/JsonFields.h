//===- JsonFields.h - Structs to and from JSON ------------------*- C++ -*-===//
//
// Writes and reads structs for which there is a function fields(archive,
// struct) that lists the fields (see PlanFields.h). The reader accepts any
// JSON: it stops at the first error and says where it is and what was expected.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_JSONFIELDS_H
#define CCN_RUNTIME_PLAN_JSONFIELDS_H

#include "runtime/base/Status.h"
#include "runtime/plan/PlanFields.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <map>
#include <tuple>

namespace ccn::runtime {

using Json = nlohmann::json;

/// A field that is kept as JSON.
struct RawJson {
  const Json *json = nullptr;
};

template <typename T> inline constexpr bool isVector = false;
template <typename T> inline constexpr bool isVector<std::vector<T>> = true;
template <typename T> inline constexpr bool isOptional = false;
template <typename T> inline constexpr bool isOptional<std::optional<T>> = true;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Values that are written once and referred to by index.
class WriteTable {
public:
  int add(Json value) {
    auto [place, isNew] = index.emplace(std::move(value), list.size());
    if (isNew)
      list.push_back(place->first);
    return place->second;
  }
  Json take() { return std::move(list); }

private:
  std::map<Json, int> index;
  Json list = Json::array();
};

class JsonWriter {
public:
  template <typename T> Json write(const T &value) {
    if constexpr (std::is_enum_v<T>) {
      return names<T>[static_cast<size_t>(value)];
    } else if constexpr (std::is_same_v<T, RawJson>) {
      return *value.json;
    } else if constexpr (std::is_same_v<T, Part>) {
      Json json =
          std::visit([&](const auto &part) { return write(part); }, value);
      json["kind"] = names<Part>[value.index()];
      return json;
    } else if constexpr (isVector<T>) {
      Json json = Json::array();
      for (const auto &element : value)
        json.push_back(write(element));
      return json;
    } else if constexpr (isOptional<T>) {
      return value ? write(*value) : Json();
    } else if constexpr (std::is_arithmetic_v<T> ||
                         std::is_same_v<T, std::string>) {
      return value;
    } else {
      Object object{*this};
      fields(object, value);
      return std::move(object.json);
    }
  }

  /// The table of values of type T.
  template <typename T> WriteTable &table() {
    return std::get<TableOf<T>>(tables);
  }

private:
  template <typename T> struct TableOf : WriteTable {};

  struct Object {
    JsonWriter &writer;
    Json json = Json::object();

    template <typename T> void operator()(const char *name, const T &value) {
      json[name] = writer.write(value);
    }
    template <typename T> void shared(const char *name, const T &value) {
      json[name] = writer.table<T>().add(writer.write(value));
    }
    template <typename T>
    void sharedEach(const char *name, const std::vector<T> &values) {
      Json list = Json::array();
      for (const T &value : values)
        list.push_back(writer.table<T>().add(writer.write(value)));
      json[name] = std::move(list);
    }
  };

  std::tuple<TableOf<std::vector<Buffer>>, TableOf<Launch>, TableOf<RankPlan>>
      tables;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

class JsonReader {
public:
  explicit JsonReader(std::string where) : where(std::move(where)) {}

  /// Success, or the first error.
  const Status &status() const { return failure; }

  template <typename T> void read(const Json &json, T &value) {
    if (!count(1))
      return;
    // Launches may hold launches, so that a damaged file could end the stack.
    constexpr size_t maxDepth = 64;
    if (!expect(way.size() < maxDepth, json, "values that are nested less"))
      return;
    if constexpr (std::is_enum_v<T>) {
      if (auto index = oneOf(json, names<T>))
        value = static_cast<T>(*index);
    } else if constexpr (std::is_same_v<T, RawJson>) {
      value.json = &json;
    } else if constexpr (std::is_same_v<T, Part>) {
      readPart(json, value);
    } else if constexpr (isVector<T>) {
      if (!expect(json.is_array(), json, "a list"))
        return;
      for (const Json &element : json) {
        Step step(*this, nullptr, value.size());
        read(element, value.emplace_back());
        if (!failure)
          return;
      }
    } else if constexpr (isOptional<T>) {
      if (!json.is_null())
        read(json, value.emplace());
    } else if constexpr (std::is_same_v<T, bool>) {
      if (expect(json.is_boolean(), json, "true or false"))
        value = json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      readInteger(json, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!expect(json.is_string(), json, "a text"))
        return;
      value = json.get_ref<const std::string &>();
      count(static_cast<int64_t>(value.size()) / 8);
    } else {
      readObject(json, value, {});
    }
  }

  /// Reads an object whose members are the fields of `value`, and `others`,
  /// which the caller reads.
  template <typename T>
  void readObject(const Json &json, T &value,
                  std::vector<std::string_view> others) {
    if (!expect(json.is_object(), json, "an object"))
      return;
    Object object{*this, json, std::move(others)};
    fields(object, value);
    object.finish();
  }

  /// Reads the table of values of type T from the member `name`.
  template <typename T> void readTable(const Json &object, const char *name) {
    Table<T> &table = std::get<Table<T>>(tables);
    const Json *list = member(object, name);
    if (!list)
      return;
    Step step(*this, name);
    if (!expect(list->is_array(), *list, "a list"))
      return;
    for (const Json &element : *list) {
      Step inner(*this, nullptr, table.size());
      int64_t before = nodes;
      T value;
      read(element, value);
      if (!failure)
        return;
      table.emplace_back(std::move(value), nodes - before);
    }
  }

private:
  /// Each value, and the number of JSON values in it (see count()).
  template <typename T> struct Table : std::vector<std::pair<T, int64_t>> {};

  /// One step of the path to the value that is being read.
  struct Step {
    Step(JsonReader &reader, const char *name, size_t index = 0)
        : reader(reader) {
      reader.way.emplace_back(name, index);
    }
    ~Step() { reader.way.pop_back(); }
    JsonReader &reader;
  };

  struct Object {
    JsonReader &reader;
    const Json &json;
    std::vector<std::string_view> seen;

    template <typename T> void operator()(const char *name, T &value) {
      take(name, [&](const Json &json) { reader.read(json, value); });
    }
    template <typename T> void shared(const char *name, T &value) {
      take(name, [&](const Json &json) { reader.readShared(json, value); });
    }
    template <typename T>
    void sharedEach(const char *name, std::vector<T> &values) {
      take(name, [&](const Json &json) {
        if (!reader.expect(json.is_array(), json, "a list"))
          return;
        for (const Json &element : json) {
          Step step(reader, nullptr, values.size());
          reader.readShared(element, values.emplace_back());
          if (!reader.failure)
            return;
        }
      });
    }
    template <typename Body> void take(const char *name, Body body) {
      const Json *value = reader.member(json, name);
      if (!value)
        return;
      Step step(reader, name);
      seen.push_back(name);
      body(*value);
    }
    /// Refuses members that are not fields.
    void finish() {
      if (!reader.failure || json.size() == seen.size())
        return;
      for (const auto &[name, value] : json.items())
        if (std::find(seen.begin(), seen.end(), name) == seen.end())
          return reader.fail("unexpected field '" + name + "'");
    }
  };

  template <typename T> void readShared(const Json &json, T &value) {
    Table<T> &table = std::get<Table<T>>(tables);
    uint32_t index = 0;
    read(json, index);
    if (!failure)
      return;
    if (index >= table.size())
      return fail("expected an index below " + std::to_string(table.size()) +
                  ", found " + std::to_string(index));
    if (count(table[index].second))
      value = table[index].first;
  }

  template <typename T> void readInteger(const Json &json, T &value) {
    if (!expect(json.is_number_integer(), json, "an integer"))
      return;
    using Limits = std::numeric_limits<T>;
    bool fits = json.is_number_unsigned()
                    ? json.get<uint64_t>() <= uint64_t(Limits::max())
                    : json.get<int64_t>() >= int64_t(Limits::min());
    if (!fits)
      return fail("expected an integer from " + std::to_string(Limits::min()) +
                  " to " + std::to_string(Limits::max()) + ", found " +
                  json.dump());
    value = json.get<T>();
  }

  template <size_t index = 0>
  void readPart(const Json &json, Part &part,
                std::optional<size_t> kind = std::nullopt) {
    if (!kind) {
      if (!expect(json.is_object(), json, "an object"))
        return;
      const Json *name = member(json, "kind");
      if (!name)
        return;
      Step step(*this, "kind");
      kind = oneOf(*name, names<Part>);
    }
    if (!kind)
      return;
    if (*kind == index)
      return readObject(json, part.emplace<index>(), {"kind"});
    if constexpr (index + 1 < std::variant_size_v<Part>)
      readPart<index + 1>(json, part, kind);
  }

  /// The index in `known` of the name that `json` holds.
  std::optional<size_t> oneOf(const Json &json,
                              std::span<const std::string_view> known);
  /// An object's member; an error and null if there is none.
  const Json *member(const Json &object, const char *name);
  bool expect(bool holds, const Json &found, const char *expected);
  void fail(const std::string &what);
  /// Counts values, so that references to the same table entry cannot fill the
  /// memory. False after a failure.
  bool count(int64_t number);

  std::string where;
  std::vector<std::pair<const char *, size_t>> way;
  Status failure;
  int64_t nodes = 0;
  std::tuple<Table<std::vector<Buffer>>, Table<Launch>, Table<RankPlan>> tables;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_JSONFIELDS_H
