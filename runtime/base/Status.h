//===- Status.h - Success, or an error with its text ------------*- C++ -*-===//
//
// The result types of all code in ccn that does not link LLVM, such as the
// runtime. Such code throws nothing across its interfaces: a function that can
// fail returns a Status, or a Result, which holds a value or a failed Status.
// Messages are in lower case, without a final period, and say what was expected
// and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_STATUS_H
#define CCN_RUNTIME_BASE_STATUS_H

#include <cassert>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace ccn {

/// Success, or failure with a message.
class [[nodiscard]] Status {
public:
  /// Success.
  Status() = default;

  static Status failure(std::string message) {
    Status status;
    status.failed = true;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !failed; }
  explicit operator bool() const { return !failed; }

  /// The error's text; empty on success.
  const std::string &message() const { return text; }

private:
  bool failed = false;
  std::string text;
};

/// A failed Status whose message is the concatenation of the parts as printed.
template <typename... Parts> Status error(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return Status::failure(stream.str());
}

/// A value, or the failure because of which there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T v) : held(std::move(v)) {}
  Result(Status s) : state(std::move(s)) {
    assert(!state.ok() && "a result without a value needs a failure");
  }

  bool ok() const { return held.has_value(); }
  explicit operator bool() const { return ok(); }

  /// Why there is no value; success where there is one.
  const Status &status() const { return state; }
  const std::string &message() const { return state.message(); }

  T &operator*() & { return get(); }
  const T &operator*() const & { return const_cast<Result *>(this)->get(); }
  T &&operator*() && { return std::move(get()); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &const_cast<Result *>(this)->get(); }

private:
  T &get() {
    assert(held && "the value of a failed result was asked for");
    return *held;
  }

  std::optional<T> held;
  Status state;
};

} // namespace ccn

#endif // CCN_RUNTIME_BASE_STATUS_H
