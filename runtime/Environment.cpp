//===- Environment.cpp - What the environment sets ------------------------===//
//
// Reads and checks the variables.
//
//===----------------------------------------------------------------------===//

#include "runtime/Environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace ccn::runtime {

Result<Environment> Environment::read() {
  Environment environment;
  if (const char *set = std::getenv("CCN_TIMEOUT")) {
    std::string_view text = set;
    const char *end = text.data() + text.size();
    double value = 0;
    auto [rest, failed] = std::from_chars(text.data(), end, value);
    // The comparison is false for NaN too.
    if (failed != std::errc() || rest != end || !(value > 0 && value <= 1e6))
      return error("CCN_TIMEOUT: expected seconds above 0 and at most 1e6, "
                   "found '",
                   text, "'");
    environment.timeLimit = value;
  }
  return environment;
}

} // namespace ccn::runtime
