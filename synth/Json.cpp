//===- Json.cpp - Located errors for JSON input ---------------------------===//
//
// See Json.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Json.h"

#include <algorithm>
#include <set>

using namespace ccn::synth;
using nlohmann::json;

/// "where:line:column" of a byte, which counts from 1.
static std::string placeOf(std::string_view text, std::string_view where,
                           size_t byte) {
  size_t end = std::min(text.size(), byte == 0 ? 0 : byte - 1);
  size_t line = 1 + std::count(text.begin(), text.begin() + end, '\n');
  size_t start =
      end == 0 ? std::string_view::npos : text.substr(0, end).rfind('\n');
  size_t column = end - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return std::string(where) + ":" + std::to_string(line) + ":" +
         std::to_string(column);
}

namespace {

/// Walks over a text without keeping it and throws where it is no JSON. Refuses
/// also what the library takes without a word: a key twice in an object, of
/// which it would keep the last, and depths that would overflow the stack of
/// whoever walks over the value.
class Validator : public nlohmann::json_sax<json> {
public:
  Validator(std::string_view text, std::string_view where)
      : text(text), where(where) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(int64_t /*value*/) override { return true; }
  bool number_unsigned(uint64_t /*value*/) override { return true; }
  bool number_float(double /*value*/, const string_t & /*text*/) override {
    return true;
  }
  bool string(string_t & /*value*/) override { return true; }
  bool binary(binary_t & /*value*/) override { return true; }
  bool start_object(size_t /*size*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(size_t /*size*/) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t &name) override {
    if (!keys[depth - 1].insert(name).second)
      throw JsonError(std::string(where) +
                      ": expected distinct keys in an object, found \"" + name +
                      "\" twice");
    return true;
  }
  bool parse_error(size_t position, const std::string & /*token*/,
                   const json::exception &error) override {
    // The library's text starts with an error number and its own position.
    std::string what = error.what();
    size_t end = what.find(": ");
    if (end == std::string::npos)
      end = what.find("] ");
    if (end != std::string::npos)
      what = what.substr(end + 2);
    throw JsonError(placeOf(text, where, position) +
                    ": not valid JSON: " + what);
  }

private:
  static constexpr size_t maxDepth = 100;

  bool enter() {
    if (++depth > maxDepth)
      throw JsonError(std::string(where) + ": expected at most " +
                      std::to_string(maxDepth) +
                      " lists and objects within each other, found more");
    if (keys.size() < depth)
      keys.emplace_back();
    keys[depth - 1].clear();
    return true;
  }
  bool leave() {
    --depth;
    return true;
  }

  std::string_view text, where;
  size_t depth = 0;
  /// What has been seen in the object at each depth.
  std::vector<std::set<std::string>> keys;
};

} // namespace

json ccn::synth::parseJson(std::string_view text, std::string_view where) {
  // The library takes a zero byte for the end.
  if (size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw JsonError(placeOf(text, where, zero + 1) +
                    ": not valid JSON: found a zero byte");
  Validator validator(text, where);
  json::sax_parse(text, &validator);
  return json::parse(text);
}

bool ccn::synth::hasKey(std::string_view text, std::string_view key) {
  // Most files that lack it do not name it at all.
  if (text.find("\"" + std::string(key) + "\"") == std::string_view::npos)
    return false;
  json value = json::parse(text, nullptr, false);
  return value.is_object() && value.contains(key);
}

std::string ccn::synth::shortJson(const json &value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "an array";
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() > 40 ? text.substr(0, 37) + "..." : text;
}

void JsonAt::fail(const std::string &message) const {
  throw JsonError(where + ": " + (pointer.empty() ? "/" : pointer) + ": " +
                  message);
}

JsonAt JsonAt::at(const char *key) const {
  if (!value.is_object())
    fail("expected an object, found " + shortJson(value));
  auto it = value.find(key);
  if (it == value.end())
    fail(std::string("expected the key \"") + key + "\", found none");
  return JsonAt(*it, where, pointer + "/" + key);
}

JsonAt JsonAt::at(size_t index) const {
  if (index >= arraySize())
    fail("expected an element " + std::to_string(index) + ", found " +
         std::to_string(value.size()) + " elements");
  return JsonAt(value[index], where, pointer + "/" + std::to_string(index));
}

size_t JsonAt::arraySize() const {
  if (!value.is_array())
    fail("expected an array, found " + shortJson(value));
  return value.size();
}

std::string JsonAt::string() const {
  if (!value.is_string())
    fail("expected a string, found " + shortJson(value));
  return value.get<std::string>();
}

int64_t JsonAt::integer(int64_t lo, int64_t hi) const {
  // Numbers beyond 63 bits would become negative.
  bool fits = value.is_number_unsigned()
                  ? value.get<uint64_t>() <= uint64_t(INT64_MAX)
                  : value.is_number_integer();
  if (!fits || value.get<int64_t>() < lo || value.get<int64_t>() > hi)
    fail("expected an integer from " + std::to_string(lo) + " to " +
         std::to_string(hi) + ", found " + shortJson(value));
  return value.get<int64_t>();
}

double JsonAt::number() const {
  if (!value.is_number())
    fail("expected a number, found " + shortJson(value));
  return value.get<double>();
}

bool JsonAt::boolean() const {
  if (!value.is_boolean())
    fail("expected true or false, found " + shortJson(value));
  return value.get<bool>();
}

void JsonAt::onlyKeys(std::span<const std::string_view> known) const {
  if (!value.is_object())
    fail("expected an object, found " + shortJson(value));
  for (const auto &item : value.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      std::string list;
      for (std::string_view k : known)
        list += (list.empty() ? "\"" : ", \"") + std::string(k) + "\"";
      fail("unknown key \"" + item.key() + "\", expected one of " + list);
    }
}
