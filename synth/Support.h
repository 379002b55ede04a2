//===- Support.h - Small types shared by the synthesizer --------*- C++ -*-===//
//
// Exact fractions for bounds, and the limits that every search obeys: a
// deadline, and a flag that Ctrl-C sets. The library returns a Status or a
// Result instead of throwing, as it is called from code that is built without
// exceptions; an error begins with its place ("file.json: /links/3/to: ...") if
// it has one.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_SUPPORT_H
#define CCN_SYNTH_SUPPORT_H

#include "runtime/base/Status.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace ccn::synth {

/// An exact fraction in lowest terms; `den` > 0, or 1/0 for "unbounded".
struct Fraction {
  int64_t num = 0, den = 1;

  Fraction() = default;
  Fraction(int64_t n, int64_t d = 1) : num(n), den(d) {
    int64_t g = std::gcd(num, den);
    if (g > 1) {
      num /= g;
      den /= g;
    }
  }
  friend bool operator<(const Fraction &a, const Fraction &b) {
    return static_cast<__int128>(a.num) * b.den <
           static_cast<__int128>(b.num) * a.den;
  }
  friend bool operator==(const Fraction &a, const Fraction &b) {
    return a.num == b.num && a.den == b.den;
  }
  double value() const { return static_cast<double>(num) / den; }
  /// "7/6", "3", or "unbounded".
  std::string str() const {
    if (den == 0)
      return "unbounded";
    return den == 1 ? std::to_string(num)
                    : std::to_string(num) + "/" + std::to_string(den);
  }
};

/// When a search must give up: at a moment, or when a flag is raised (by a
/// signal handler). Searches ask `expired()` often and return "out of time".
struct Limits {
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> deadline;
  const std::atomic<bool> *interrupt = nullptr;

  static Limits seconds(double s, const std::atomic<bool> *flag = nullptr) {
    Limits limits;
    limits.interrupt = flag;
    // Longer than years is no limit, and a clock does not count so far.
    if (s > 0 && s < 1e9)
      limits.deadline =
          Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(s));
    return limits;
  }
  bool expired() const {
    return (interrupt && interrupt->load(std::memory_order_relaxed)) ||
           (deadline && Clock::now() >= *deadline);
  }
  /// Seconds left; 1e9 without a deadline.
  double remaining() const {
    if (!deadline)
      return 1e9;
    return std::chrono::duration<double>(*deadline - Clock::now()).count();
  }
};

} // namespace ccn::synth

#endif // CCN_SYNTH_SUPPORT_H
