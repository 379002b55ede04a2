//===- Json.h - Located errors for JSON input -------------------*- C++ -*-===//
//
// Thin helpers over nlohmann-json: parsing with line and column in syntax
// errors, and a cursor that remembers its JSON pointer, so that every error
// about content says where. Errors are thrown as JsonError inside the readers
// and turned into Result at their public entry.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_JSON_H
#define CCN_SYNTH_JSON_H

#include "synth/Support.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ccn::synth {

struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Parses `text`; throws JsonError "where:line:column: ...".
nlohmann::json parseJson(std::string_view text, std::string_view where);

/// A place in a JSON document. Accessors throw JsonError naming the place,
/// what was expected and what was found.
class JsonAt {
public:
  JsonAt(const nlohmann::json &value, std::string where, std::string pointer)
      : value(value), where(std::move(where)), pointer(std::move(pointer)) {}

  [[noreturn]] void fail(const std::string &message) const;
  bool has(const char *key) const {
    return value.is_object() && value.contains(key);
  }
  JsonAt at(const char *key) const;
  JsonAt at(size_t index) const;
  size_t arraySize() const;
  std::string string() const;
  /// An integer within [lo, hi].
  int64_t integer(int64_t lo, int64_t hi) const;
  double number() const;
  bool boolean() const;
  /// Fails on any key of the object that is not in `known`.
  void onlyKeys(std::initializer_list<std::string_view> known) const {
    onlyKeys(std::span(known.begin(), known.size()));
  }
  void onlyKeys(std::span<const std::string_view> known) const;
  const nlohmann::json &json() const { return value; }

private:
  const nlohmann::json &value;
  std::string where, pointer;
};

/// Whether a text is a JSON object with this key.
bool hasKey(std::string_view text, std::string_view key);

/// A value shortened for an error message.
std::string shortJson(const nlohmann::json &value);

} // namespace ccn::synth

#endif // CCN_SYNTH_JSON_H
