//===- CudaScalars.h - Bodies of loops as CUDA C++ --------------*- C++ -*-===//
//
// From the scalar function that a loop applies to each element to a functor in
// CUDA C++, which uses the library of device files (device/DeviceLibrary.h).
// Results are those of compiled loops on the CPU (CpuLoops.h), but for the
// functions of libm, which are CUDA's, and for the patterns of NaN.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDASCALARS_H
#define CCN_CODEGEN_GPU_EMIT_CUDASCALARS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ccn::codegen {

/// The CUDA C++ type of a scalar or of an element in memory: double, float, the
/// structures of f16.cuh and f8.cuh, bool, and the unsigned type of an
/// integer's width. Empty for all other types.
llvm::StringRef cudaType(mlir::Type type);

/// A functor that does what `body` (LoopKernel::body) does of one element:
///
///   struct NAME {
///     __device__ explicit NAME(the uniform inputs, by value);
///     __device__ void operator()(the other inputs, by value,
///                                `positions` times long long,
///                                a reference for each result) const;
///   };
///
/// Inputs have the types of cudaType, in the body's order, as have results: the
/// outputs and then a bool for each way to fail, which is set to whether it
/// did. `isUniform` has an element for each input. What depends on uniform
/// inputs and constants alone is computed once, by the constructor.
///
/// Where a function of f64 is applied to values of f32 and only rounded to f32
/// or less, it is CUDA's function of f32 if its error, by NVIDIA's tables, is
/// at most 2 units in the last place; and sigmoid, silu and gelu are done in
/// f32 where their results are of 16 bits or less.
///
/// An error names the first operation that has no translation.
llvm::Expected<std::string> emitBody(llvm::StringRef name,
                                     mlir::func::FuncOp body,
                                     llvm::ArrayRef<bool> isUniform,
                                     int64_t positions);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDASCALARS_H
