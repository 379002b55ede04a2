//===- Environment.h - Settings in environment variables --------*- C++ -*-===//
//
// The environment variables that say how ranks reach each other and how they
// run. RankLaunch.h reads the variables that say which rank a process is.
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

/// The choice's name as a value of CCN_TRANSPORT.
std::string_view name(TransportChoice choice);

/// What computes a plan's matrix products on GPUs.
enum class ProductChoice {
  Auto,     ///< cuBLASLt if it is there and supports the product, else kernels
  Kernels,  ///< ccn's own kernels
  CublasLt, ///< cuBLASLt, which must be there; kernels for what it does not
            ///< support
};

/// The choice's name as a value of CCN_PRODUCTS.
std::string_view name(ProductChoice choice);

/// How GPUs reach the memory of other ranks' GPUs.
enum class GpuTransport {
  Auto, ///< kernels access it if all can, else NCCL's messages
  Peer, ///< kernels access it
  Nccl, ///< NCCL's messages, also where kernels could access it
};

/// The transport's name as a value of CCN_GPU_TRANSPORT.
std::string_view name(GpuTransport transport);

struct Environment {
  /// CCN_TIMEOUT: seconds that a rank waits for another before the run fails;
  /// a number above 0, at most 1e6.
  double timeLimit = 60;
  /// CCN_TRANSPORT: auto, shared or messages; how the processes of a team reach
  /// each other.
  TransportChoice transport = TransportChoice::Auto;
  /// CCN_PRODUCTS: auto, kernels or cublaslt.
  ProductChoice products = ProductChoice::Auto;
  /// CCN_GPU_TRANSPORT: auto, peer or nccl.
  GpuTransport gpuTransport = GpuTransport::Auto;

  /// Reads the variables that are set. An error says which variable is wrong,
  /// what was expected and what was found.
  static Result<Environment> read();
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_ENVIRONMENT_H
