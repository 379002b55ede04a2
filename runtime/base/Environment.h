//===- Environment.h - What the environment sets ----------------*- C++ -*-===//
//
// The environment variables that say how ranks reach each other and how they
// run. RankLaunch.h reads those that say which rank a process is.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_ENVIRONMENT_H
#define CCN_RUNTIME_BASE_ENVIRONMENT_H

#include "runtime/base/Status.h"

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

/// What multiplies matrices on GPUs, where the plan has a launch for that.
enum class ProductChoice {
  Auto,     ///< cuBLASLt where it is and can, else kernels
  Kernels,  ///< kernels of ccn
  CublasLt, ///< cuBLASLt where it can, which must be there
};

/// As CCN_PRODUCTS says it.
std::string_view name(ProductChoice choice);

/// How GPUs reach the memory of other ranks'.
enum class GpuTransport {
  Auto, ///< kernels access it if all can, else NCCL's messages
  Peer, ///< kernels access it
  Nccl, ///< NCCL's messages, also where kernels could access it
};

/// As CCN_GPU_TRANSPORT says it.
std::string_view name(GpuTransport transport);

struct Environment {
  /// CCN_TIMEOUT: seconds that a rank waits for another before the run fails;
  /// a number above 0, at most 1e6.
  double timeLimit = 60;
  /// CCN_TRANSPORT: auto, shared or messages; what ranks that are launched use.
  TransportChoice transport = TransportChoice::Auto;
  /// CCN_PRODUCTS: auto, kernels or cublaslt.
  ProductChoice products = ProductChoice::Auto;
  /// CCN_GPU_TRANSPORT: auto, peer or nccl.
  GpuTransport gpuTransport = GpuTransport::Auto;

  /// Reads the variables that are set. An error names the variable, what it
  /// must be and what it is.
  static Result<Environment> read();
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_ENVIRONMENT_H
