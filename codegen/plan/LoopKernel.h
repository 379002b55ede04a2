//===- LoopKernel.h - The loops of a plan -----------------------*- C++ -*-===//
//
// A loop nest with the scalar function that it applies to each element: what
// machine code, and CUDA C++, is made of.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_PLAN_LOOPKERNEL_H
#define CCN_CODEGEN_PLAN_LOOPKERNEL_H

#include "dialect/ccn/CcnAttrs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ccn::codegen {

struct LoopInput {
  /// As a tensor's element type: integers have a sign or none, bool is i1.
  mlir::Type element;
  /// The stride of the innermost dimension if that is 0 or 1; -1 if it is known
  /// at run time only.
  int64_t innerStep = -1;
  /// All strides are 0: what depends on such inputs alone is computed once.
  bool isUniform = false;
};

struct LoopOutput {
  mlir::Type element;
  int64_t innerStep = -1;
  /// How the elements are reduced over the trailing dimensions.
  std::optional<ReductionKind> reduction;
  /// Of a mean: what the sum is divided by.
  double divisor = 0;
};

/// A loop nest of a plan (runtime/plan/Plan.h).
struct LoopKernel {
  std::string name;
  /// What is computed of one element: of scalars of the inputs' and then
  /// `positions` of type i64, to scalars of the outputs' types and then an i1
  /// for each way to fail. One block of operations of the arith and math
  /// dialects, without fast-math flags; of math absf, absi, copysign, sqrt,
  /// exp, log, tanh, erf, erfc, powf, ctlz, cttz and ctpop. Integers are
  /// signless, whatever the elements' sign; arithmetic is on f32 and f64, from
  /// and to narrower floats there are only arith.extf and arith.truncf.
  mlir::func::FuncOp body;
  /// The number of dimensions, and how many of them, the last ones, are
  /// reduced; if any are, every output has a reduction.
  int64_t dims = 0, reducedDims = 0;
  std::vector<LoopInput> inputs;
  std::vector<LoopOutput> outputs;
  /// How many operands of Access::Index follow the inputs.
  int64_t positions = 0;
  /// Failure i of the body is reported as status firstFailure + i + 1.
  int64_t firstFailure = 0;
  /// That it is compiled quickly counts for more than that it runs quickly.
  /// Results are the same bits.
  bool isRare = false;
};

/// f16, bf16 and the floats of 8 bits.
bool isNarrowFloat(mlir::Type type);

/// The type of scalars of that element type: integers lose their sign.
mlir::Type scalarType(mlir::Type element);

/// Whether an operation of the body of a loop of that name is allowed there.
llvm::Error checkScalar(llvm::StringRef loop, mlir::Operation &op);

/// That it is not.
llvm::Error unsupportedScalar(llvm::StringRef loop, mlir::Operation &op);

/// Whether the kernel's parts fit together and its body has only operations
/// that are allowed there.
llvm::Error checkKernel(const LoopKernel &kernel);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_PLAN_LOOPKERNEL_H
