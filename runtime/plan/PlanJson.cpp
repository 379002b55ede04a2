//===- PlanJson.cpp - Plans as JSON ---------------------------------------===//
//
// The object has the fields of Plan and three tables: `buffers` (lists of
// buffers), `launches` and `rankPlans`. Where ranks are many, long lists hold
// series.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/PlanJson.h"

#include "runtime/plan/JsonFields.h"
#include "runtime/plan/Series.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

/// The most values of a plan after all references are expanded: 64 ranks with
/// 1,000 launches of 256 values each. In memory that is below 1 GB.
constexpr int64_t maxNodes = int64_t(1) << 24;

} // namespace

bool JsonReader::count(int64_t number) {
  if (!failure)
    return false;
  nodes += number;
  if (nodes > maxNodes)
    fail("expected at most " + std::to_string(maxNodes) +
         " values, with what is repeated, found more");
  return failure.ok();
}

void JsonReader::fail(const std::string &what) {
  if (!failure)
    return;
  std::string place = where;
  for (const auto &[name, index] : way)
    if (!name)
      place += "[" + std::to_string(index) + "]";
    else
      place += (place.empty() ? "" : ".") + std::string(name);
  failure = error(place, ": ", what);
}

bool JsonReader::expect(bool holds, const Json &found, const char *expected) {
  if (!holds)
    fail(std::string("expected ") + expected + ", found " +
         (found.is_structured()
              ? found.is_array() ? "a list" : "an object"
              : found.dump(-1, ' ', true, Json::error_handler_t::replace)
                    .substr(0, 40)));
  return failure.ok();
}

std::optional<size_t>
JsonReader::oneOf(const Json &json, std::span<const std::string_view> known) {
  std::string expected;
  for (size_t i = 0; i < known.size(); ++i) {
    if (json.is_string() && json.get_ref<const std::string &>() == known[i])
      return i;
    expected += (i ? ", '" : "'") + std::string(known[i]) + "'";
  }
  expect(false, json, ("one of " + expected).c_str());
  return std::nullopt;
}

const Json *JsonReader::member(const Json &object, const char *name) {
  if (!failure)
    return nullptr;
  auto place = object.find(name);
  if (place != object.end())
    return &*place;
  fail(std::string("expected a field '") + name + "', found none");
  return nullptr;
}

/// The lists that are as long as the ranks are many, but for the members of
/// each group.
constexpr const char *longLists[] = {"groups", "ranks", "buffers", "launches",
                                     "rankPlans"};

Json planToJson(const Plan &plan) {
  JsonWriter writer;
  Json json = writer.write(plan);
  json["buffers"] = writer.table<std::vector<Buffer>>().take();
  json["launches"] = writer.table<Launch>().take();
  json["rankPlans"] = writer.table<RankPlan>().take();
  for (Json &members : json["groups"])
    members = packSeries(members);
  for (const char *name : longLists)
    json[name] = packSeries(json[name]);
  return json;
}

bool isSamePlan(const Plan &a, const Plan &b) {
  return planToJson(a) == planToJson(b);
}

Status unpackPlan(Json &plan, const std::string &where, int64_t &valuesLeft) {
  if (!plan.is_object())
    return Status();
  auto unpack = [&](Json &list, const char *name) {
    Status status = unpackSeries(list, valuesLeft);
    return status ? status : error(where, ".", name, ": ", status.message());
  };
  for (const char *name : longLists) {
    auto list = plan.find(name);
    if (list == plan.end())
      continue;
    if (Status status = unpack(*list, name); !status)
      return status;
    if (list->is_array() && std::string_view(name) == "groups")
      for (Json &members : *list)
        if (Status status = unpack(members, name); !status)
          return status;
  }
  return Status();
}

Result<Plan> planFromJson(const Json &json, const std::string &where) {
  JsonReader reader(where);
  Plan plan;
  if (json.is_object()) {
    reader.readTable<std::vector<Buffer>>(json, "buffers");
    reader.readTable<Launch>(json, "launches");
    reader.readTable<RankPlan>(json, "rankPlans");
  }
  reader.readObject(json, plan, {"buffers", "launches", "rankPlans"});
  if (!reader.status())
    return reader.status();
  return plan;
}

} // namespace ccn::runtime
