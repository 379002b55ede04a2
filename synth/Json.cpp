//===- Json.cpp - Located errors for JSON input ---------------------------===//
//
// See Json.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Json.h"

#include <algorithm>

using namespace ccn::synth;
using nlohmann::json;

json ccn::synth::parseJson(std::string_view text, std::string_view where) {
  try {
    return json::parse(text);
  } catch (const json::parse_error &e) {
    size_t end = std::min(text.size(), e.byte == 0 ? 0 : e.byte - 1);
    size_t line = 1 + std::count(text.begin(), text.begin() + end, '\n');
    size_t start =
        end == 0 ? std::string_view::npos : text.substr(0, end).rfind('\n');
    size_t column = end - (start == std::string_view::npos ? 0 : start + 1) + 1;
    // The library's text starts with an error number and its own position.
    std::string what = e.what();
    size_t colon = what.find(": ");
    if (colon != std::string::npos)
      what = what.substr(colon + 2);
    throw JsonError(std::string(where) + ":" + std::to_string(line) + ":" +
                    std::to_string(column) + ": not valid JSON: " + what);
  }
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
  if (!value.is_number_integer() || value.get<int64_t>() < lo ||
      value.get<int64_t>() > hi)
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

void JsonAt::onlyKeys(std::initializer_list<std::string_view> known) const {
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
