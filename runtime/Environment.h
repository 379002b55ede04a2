//===- Environment.h - What the environment sets ----------------*- C++ -*-===//
//
// How ranks reach each other, as environment variables say. Those that say what
// a rank is are in RankLaunch.h.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_ENVIRONMENT_H
#define CCN_RUNTIME_ENVIRONMENT_H

#include "runtime/Status.h"

#include <string_view>

namespace ccn::runtime {

/// How processes reach each other's memory.
enum class TransportChoice {
  Auto,     ///< shared memory if all are on one host, else messages
  Shared,   ///< shared memory
  Messages, ///< messages, on one host too
};

/// As CCN_TRANSPORT says it.
std::string_view name(TransportChoice choice);

struct Environment {
  /// CCN_TIMEOUT: seconds that a rank waits for another before the run fails;
  /// a number above 0, at most 1e6.
  double timeLimit = 60;
  /// CCN_TRANSPORT: auto, shared or messages; what ranks that are launched use.
  TransportChoice transport = TransportChoice::Auto;
  /// CCN_PRODUCTS: what multiplies matrices of f16, bf16 and f64 on GPUs:
  /// kernels (of ccn), or cublaslt where it can.
  bool libraryProducts = false;

  /// Reads the variables that are set. An error names the variable, what it
  /// must be and what it is.
  static Result<Environment> read();
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_ENVIRONMENT_H
