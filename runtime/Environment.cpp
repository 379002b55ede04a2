//===- Environment.cpp - What the environment sets ------------------------===//
//
// Reads and checks the variables.
//
//===----------------------------------------------------------------------===//

#include "runtime/Environment.h"

#include <charconv>
#include <cstdlib>

namespace ccn::runtime {

std::string_view name(TransportChoice choice) {
  switch (choice) {
  case TransportChoice::Auto:
    return "auto";
  case TransportChoice::Shared:
    return "shared";
  case TransportChoice::Messages:
    return "messages";
  }
  return "unknown";
}

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
  if (const char *set = std::getenv("CCN_TRANSPORT")) {
    bool known = false;
    for (TransportChoice choice :
         {TransportChoice::Auto, TransportChoice::Shared,
          TransportChoice::Messages}) {
      if (name(choice) != set)
        continue;
      environment.transport = choice;
      known = true;
    }
    if (!known)
      return error("CCN_TRANSPORT: expected auto, shared or messages, found '",
                   set, "'");
  }
  if (const char *set = std::getenv("CCN_PRODUCTS")) {
    std::string_view text = set;
    if (text != "kernels" && text != "cublaslt")
      return error("CCN_PRODUCTS: expected kernels or cublaslt, found '", text,
                   "'");
    environment.libraryProducts = text == "cublaslt";
  }
  return environment;
}

} // namespace ccn::runtime
