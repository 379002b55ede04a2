//===- CudaActivations.h - Activations in the bodies of loops ---*- C++ -*-===//
//
// The operations of a body that make up one of the functions of neural networks
// (lib/Plan/ScalarBodies.cpp), which activations.cuh has for results of 16
// bits.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAACTIVATIONS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAACTIVATIONS_H

#include "mlir/IR/Operation.h"

namespace ccn::codegen {

struct Activation {
  /// The function's name in activations.cuh; null if there is none.
  const char *name = nullptr;
  mlir::Value operand;
};

/// The activation of f64 whose last operation is `op`.
Activation activationOf(mlir::Operation *op);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAACTIVATIONS_H
