//===- Number.cpp - Parses numbers and truth values -----------------------===//
//
// A real number is first rounded to odd as a double. Rounding that double to a
// narrower type gives the same result as rounding the digits.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Number.h"

#include "runtime/tensor/Blocks.h"
#include "runtime/tensor/Convert.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace ccn::runtime {

namespace {

bool isDigits(std::string_view text, bool hex) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') ||
           (hex && ((c | 32) >= 'a' && (c | 32) <= 'f'));
  });
}

/// Rounds the digits to a double toward zero, and sets the last bit if the
/// double is not exact. So rounding the double to a narrower type equals
/// rounding the digits (see roundToOdd in Convert.cpp).
double toOddDouble(const std::string &digits) {
  int mode = std::fegetround();
  std::fesetround(FE_TOWARDZERO);
  double value = std::strtod(digits.c_str(), nullptr);
  std::fesetround(digits[0] == '-' ? FE_DOWNWARD : FE_UPWARD);
  double away = std::strtod(digits.c_str(), nullptr);
  std::fesetround(mode);
  if (value == away)
    return value;
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) | 1);
}

template <typename T> const std::byte *bytesOf(const T &value) {
  return reinterpret_cast<const std::byte *>(&value);
}

} // namespace

std::optional<Number> parseNumber(std::string_view text) {
  if (text == "true" || text == "false")
    return text == "true";
  std::string_view digits = text;
  bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+'))
    digits.remove_prefix(1);
  std::string_view real = negative ? text : digits;
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex)
    digits.remove_prefix(2);
  if (isDigits(digits, hex)) {
    constexpr uint64_t half = uint64_t(1) << 63;
    uint64_t magnitude;
    auto [rest, failed] = std::from_chars(
        digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
    if (failed != std::errc() || (negative && magnitude > half))
      return std::nullopt;
    if (negative || magnitude < half)
      return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
    return magnitude;
  }
  if (hex || real.find_first_not_of("+-0123456789.eE") != text.npos ||
      digits.starts_with('-') || digits.starts_with('+'))
    return std::nullopt;
  double value;
  const char *end = real.data() + real.size();
  auto [rest, failed] = std::from_chars(real.data(), end, value);
  if (failed != std::errc() || rest != end || !std::isfinite(value) ||
      (value == 0 &&
       real.substr(0, real.find_first_of("eE")).find_first_of("123456789") !=
           real.npos))
    return std::nullopt;
  return value;
}

Result<ElementBytes> parseElement(ElementType type, std::string_view text) {
  std::optional<Number> number = parseNumber(text);
  if (!number)
    return error("expected ",
                 type == ElementType::Bool ? "true or false" : "a number",
                 ", found '", text, "'");
  ElementBytes bytes{};
  bool isTruth = std::holds_alternative<bool>(*number);
  auto *signedInteger = std::get_if<int64_t>(&*number);
  auto *unsignedInteger = std::get_if<uint64_t>(&*number);
  std::string shown = signedInteger     ? std::to_string(*signedInteger)
                      : unsignedInteger ? std::to_string(*unsignedInteger)
                                        : std::string(text);
  if (type == ElementType::Bool) {
    if (!isTruth)
      return error("expected true or false for type 'bool', found ", shown);
    bytes[0] = std::byte(std::get<bool>(*number));
    return bytes;
  }
  if (isTruth)
    return error("expected a number of type '", name(type), "', found ", shown);

  if (isFloat(type)) {
    if (signedInteger) {
      convert(ElementType::I64, bytesOf(*signedInteger), type, bytes.data(), 1);
    } else if (unsignedInteger) {
      convert(ElementType::U64, bytesOf(*unsignedInteger), type, bytes.data(),
              1);
    } else {
      double value = type == ElementType::F64 ? std::get<double>(*number)
                                              : toOddDouble(std::string(text));
      convert(ElementType::F64, bytesOf(value), type, bytes.data(), 1);
    }
    double stored;
    load(type, bytes.data(), 0, 1, &stored);
    if (!std::isfinite(stored))
      return error(shown, " is too large for type '", name(type), "'");
    bool isZero = signedInteger     ? *signedInteger == 0
                  : unsignedInteger ? false
                                    : std::get<double>(*number) == 0;
    if (stored == 0 && !isZero)
      return error(shown, " would be 0 in type '", name(type), "'");
    return bytes;
  }

  if (!signedInteger && !unsignedInteger)
    return error("expected an integer of type '", name(type), "', found ",
                 shown);
  int width = 8 * sizeInBytes(type);
  bool fits;
  if (unsignedInteger)
    fits = type == ElementType::U64;
  else if (isUnsignedInteger(type))
    fits = *signedInteger >= 0 && (width == 64 || *signedInteger >> width == 0);
  else
    fits = *signedInteger >> (width - 1) == 0 ||
           *signedInteger >> (width - 1) == -1;
  if (!fits)
    return error(shown, " does not fit type '", name(type), "'");
  if (signedInteger)
    store(type, bytes.data(), 0, 1, signedInteger);
  else
    store(type, bytes.data(), 0, 1, unsignedInteger);
  return bytes;
}

} // namespace ccn::runtime
