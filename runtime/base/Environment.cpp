//===- Environment.cpp - Settings in environment variables ----------------===//
//
// Reads and checks the environment variables.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Environment.h"

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

std::string_view name(ProductChoice choice) {
  switch (choice) {
  case ProductChoice::Auto:
    return "auto";
  case ProductChoice::Kernels:
    return "kernels";
  case ProductChoice::CublasLt:
    return "cublaslt";
  }
  return "unknown";
}

std::string_view name(GpuTransport transport) {
  switch (transport) {
  case GpuTransport::Auto:
    return "auto";
  case GpuTransport::Peer:
    return "peer";
  case GpuTransport::Nccl:
    return "nccl";
  }
  return "unknown";
}

/// Sets `choice` to the choice whose name is `text`. Returns whether there is
/// one.
template <typename Choice>
static bool choose(std::string_view text, Choice &choice,
                   std::initializer_list<Choice> choices) {
  for (Choice known : choices) {
    if (name(known) != text)
      continue;
    choice = known;
    return true;
  }
  return false;
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
  if (const char *set = std::getenv("CCN_TRANSPORT"))
    if (!choose(set, environment.transport,
                {TransportChoice::Auto, TransportChoice::Shared,
                 TransportChoice::Messages}))
      return error("CCN_TRANSPORT: expected auto, shared or messages, found '",
                   set, "'");
  if (const char *set = std::getenv("CCN_PRODUCTS"))
    if (!choose(set, environment.products,
                {ProductChoice::Auto, ProductChoice::Kernels,
                 ProductChoice::CublasLt}))
      return error("CCN_PRODUCTS: expected auto, kernels or cublaslt, found '",
                   set, "'");
  if (const char *set = std::getenv("CCN_GPU_TRANSPORT"))
    if (!choose(set, environment.gpuTransport,
                {GpuTransport::Auto, GpuTransport::Peer, GpuTransport::Nccl}))
      return error("CCN_GPU_TRANSPORT: expected auto, peer or nccl, found '",
                   set, "'");
  return environment;
}

} // namespace ccn::runtime
