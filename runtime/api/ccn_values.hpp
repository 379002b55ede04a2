//===- ccn_values.hpp - What ccn.hpp passes and returns ---------*- C++ -*-===//
//
// Errors, values that may be missing, spans of arrays, and what is passed for
// the arguments of a program. Included by <ccn.hpp>; the same with exceptions
// and without.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_VALUES_HPP
#define CCN_VALUES_HPP

#include <ccn.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ccn {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// What a function has failed with: what() is the text, as of ccn_last_error().
class Error : public std::runtime_error {
public:
  Error(ccn_status status, const std::string &text)
      : std::runtime_error(text), code(status) {}
  /// That of this thread's last call that failed, which returned `status`.
  static Error last(ccn_status status) { return {status, ccn_last_error()}; }

  ccn_status status() const { return code; }

private:
  ccn_status code;
};

/// A value, or why there is none. Who takes a value that is not there ends the
/// process (std::abort).
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : content(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : content(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return content.index() == 0; }
  bool hasValue() const { return content.index() == 0; }

  T &value() & { return *check(std::get_if<0>(&content)); }
  const T &value() const & { return *check(std::get_if<0>(&content)); }
  T &&value() && { return std::move(*check(std::get_if<0>(&content))); }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  const Error &error() const { return *check(std::get_if<1>(&content)); }

private:
  template <typename Pointer> static Pointer check(Pointer pointer) {
    if (!pointer)
      std::abort();
    return pointer;
  }

  std::variant<T, Error> content;
};

template <> class [[nodiscard]] Expected<void> {
public:
  Expected() = default;
  Expected(Error error) : failure(std::move(error)) {}

  explicit operator bool() const { return !failure; }
  bool hasValue() const { return !failure; }
  void value() const {
    if (failure)
      std::abort();
  }
  const Error &error() const {
    if (!failure)
      std::abort();
    return *failure;
  }

private:
  std::optional<Error> failure;
};

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Elements that follow each other in memory, which somebody else owns. They
/// may be a GPU's, where only their address is used here.
template <typename T> class Span {
public:
  Span() = default;
  Span(T *elements, size_t size) : first(elements), count(size) {}
  /// What std::data and std::size know, with elements of this type.
  template <typename Array,
            typename Pointer = decltype(std::data(std::declval<Array &>())),
            typename = std::enable_if_t<std::is_convertible_v<
                std::remove_pointer_t<Pointer> (*)[], T (*)[]>>>
  Span(Array &&array) : first(std::data(array)), count(std::size(array)) {}

  T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T &operator[](size_t index) const { return first[index]; }
  T *begin() const { return first; }
  T *end() const { return first + count; }

private:
  T *first = nullptr;
  size_t count = 0;
};

namespace elements {

constexpr unsigned bit(ccn_type type) { return 1u << type; }

constexpr unsigned ofSize(size_t bytes) {
  switch (bytes) {
  case 1:
    return bit(CCN_F8E4M3) | bit(CCN_F8E5M2) | bit(CCN_I8) | bit(CCN_U8) |
           bit(CCN_BOOL);
  case 2:
    return bit(CCN_F16) | bit(CCN_BF16) | bit(CCN_I16) | bit(CCN_U16);
  case 4:
    return bit(CCN_F32) | bit(CCN_I32) | bit(CCN_U32);
  case 8:
    return bit(CCN_F64) | bit(CCN_I64) | bit(CCN_U64);
  default:
    return 0;
  }
}

/// The element types, one bit each, that a type of C++ holds: integers without
/// sign also the bits of small floats; types that are no numbers, such as
/// CUDA's __half, all of their size.
template <typename T> constexpr unsigned heldBy() {
  unsigned sized = ofSize(sizeof(T));
  unsigned integers = bit(CCN_I8) | bit(CCN_I16) | bit(CCN_I32) | bit(CCN_I64);
  if constexpr (std::is_pointer_v<T>)
    return 0;
  else if constexpr (std::is_same_v<T, bool>)
    return bit(CCN_BOOL);
  else if constexpr (std::is_floating_point_v<T>)
    return sized & (bit(CCN_F32) | bit(CCN_F64));
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sized & integers;
  else if constexpr (std::is_integral_v<T>)
    return sized & ~(integers | bit(CCN_F32) | bit(CCN_F64));
  else
    return sized;
}

/// "f16, bf16 or u16".
inline std::string describe(unsigned types) {
  if (types == 0)
    return "buffers of different types";
  std::string text;
  for (unsigned type = CCN_F64; type <= CCN_BOOL; ++type)
    if (unsigned one = 1u << type; types & one) {
      bool isLast = types < 2 * one;
      text += text.empty() ? "" : isLast ? " or " : ", ";
      text += ccn_type_name(static_cast<ccn_type>(type));
    }
  return text;
}

} // namespace elements

/// A scattered argument: buffers whose elements, in this order, are those of
/// the rank's part.
class Scattered {
public:
  template <typename T> void add(Span<T> buffer) {
    using Element = std::remove_const_t<T>;
    static_assert(elements::heldBy<Element>() != 0, "no element type of ccn");
    types &= elements::heldBy<Element>();
    isConst |= std::is_const_v<T>;
    total += buffer.size();
    list.push_back({const_cast<Element *>(buffer.data()),
                    static_cast<int64_t>(buffer.size())});
    buffers = {list.data(), list.size()};
  }
  /// Of a vector, say.
  template <typename Array> void add(Array &&array) {
    add(Span<std::remove_pointer_t<decltype(std::data(array))>>(array));
  }

  Scattered() = default;
  Scattered(const Scattered &) = delete;
  Scattered &operator=(const Scattered &) = delete;

private:
  friend class Argument;
  std::vector<ccn_buffer> list;
  ccn_buffers buffers = {nullptr, 0};
  size_t total = 0;
  unsigned types = ~0u;
  bool isConst = false;
};

/// What is passed for an argument or a result.
class Argument {
public:
  /// An array, as a span of its elements. A scalar is one of one element.
  template <typename Array,
            typename Pointer = decltype(std::data(std::declval<Array &>()))>
  Argument(Array &&array) : count(std::size(array)) {
    using Element = std::remove_pointer_t<Pointer>;
    using Bare = std::remove_cv_t<Element>;
    static_assert(std::is_trivially_copyable_v<Bare> &&
                      elements::heldBy<Bare>() != 0,
                  "expected elements of a type that ccn has");
    data = const_cast<Bare *>(std::data(array));
    types = elements::heldBy<Bare>();
    isConst = std::is_const_v<Element>;
  }
  /// A scalar that is only read, by value.
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  Argument(T value) : count(1), types(elements::heldBy<T>()), isValue(true) {
    static_assert(elements::heldBy<T>() != 0, "no element type of ccn");
    std::memcpy(bytes, &value, sizeof value);
  }
  /// The list is used until the call returns.
  Argument(const Scattered &list)
      : data(const_cast<ccn_buffers *>(&list.buffers)), count(list.total),
        types(list.types), isConst(list.isConst), isScattered(true) {}
  /// An array without elements.
  Argument(std::nullptr_t) {}

private:
  friend struct Parameter;

  void *data = nullptr;
  size_t count = 0;
  unsigned types = ~0u;
  bool isConst = false, isScattered = false, isValue = false;
  alignas(8) unsigned char bytes[8] = {};
};

/// An argument or result of a program, for a rank: what may be passed for it.
struct Parameter {
  std::string name;
  ccn_kind kind;
  ccn_type type;
  size_t count;
  bool isScalar, isScattered;

  /// Whether it may be passed by value.
  bool isReadScalar() const { return isScalar && kind == CCN_INPUT; }
  static bool isValue(const Argument &given) { return given.isValue; }
  static void *address(const Argument &given) {
    return given.isValue ? const_cast<unsigned char *>(given.bytes)
                         : given.data;
  }

  /// Why this cannot be passed for it; empty if it can.
  std::string refuse(const Argument &given) const {
    auto found = [&](const std::string &text) {
      return "argument '" + name + "': expected " + text;
    };
    if (given.isScattered != isScattered)
      return found(isScattered ? "a list of buffers, found one array"
                               : "one array, found a list of buffers");
    if (given.isValue && !isReadScalar())
      return found("an array, found a value");
    if (!(given.types & elements::bit(type)))
      return found(std::string(ccn_type_name(type)) + ", found " +
                   elements::describe(given.types));
    if (given.count != count)
      return found(std::to_string(count) + " elements, found " +
                   std::to_string(given.count));
    if (given.isConst && kind != CCN_INPUT)
      return found("an array that may be written, found one that is const");
    return "";
  }
};

} // namespace ccn

#endif // CCN_VALUES_HPP
