//===- CheckLoops.cpp - What a loop kernel must be ------------------------===//
//
// The conditions on a loop kernel, checked before anything is built of it.
//
//===----------------------------------------------------------------------===//

#include "codegen/plan/LoopKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace ccn::codegen {

bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

Type scalarType(Type element) {
  if (isa<IntegerType>(element))
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return element;
}

namespace {

llvm::Error invalid(llvm::StringRef loop, const llvm::Twine &what) {
  return llvm::createStringError("loop '" + loop + "': " + what);
}
llvm::Error invalid(const LoopKernel &kernel, const llvm::Twine &what) {
  return invalid(kernel.name, what);
}

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

bool isElement(Type type) {
  if (isa<IntegerType>(type)) {
    unsigned bits = type.getIntOrFloatBitWidth();
    return bits == 1 || bits == 8 || bits == 16 || bits == 32 || bits == 64;
  }
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Narrow floats are only moved and converted.
bool takesNarrowFloats(Operation &op) {
  return isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::BitcastOp,
             arith::ConstantOp>(op);
}

/// Whether the conversions give the operation the interpreter's results.
bool isSupported(Operation &op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
      fast && fast.getFastMathFlagsAttr() &&
      fast.getFastMathFlagsAttr().getValue() != arith::FastMathFlags::none)
    return false;
  if (isa_and_nonnull<arith::ArithDialect>(op.getDialect()))
    return !isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
  return isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::SqrtOp,
             math::ExpOp, math::LogOp, math::TanhOp, math::ErfOp, math::ErfcOp,
             math::PowFOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp>(op);
}

llvm::Error checkReductions(const LoopKernel &kernel) {
  for (const LoopOutput &output : kernel.outputs) {
    if (output.reduction.has_value() !=
        kernel.outputs.front().reduction.has_value())
      return invalid(kernel, "expected a reduction of all outputs or of none");
    if (!output.reduction) {
      if (kernel.reducedDims > 0)
        return invalid(kernel, "expected a reduction of every output, as "
                               "dimensions are reduced");
      continue;
    }
    ReductionKind kind = *output.reduction;
    bool extreme = kind == ReductionKind::max || kind == ReductionKind::min;
    if ((output.element.isInteger(1) && !extreme) ||
        (kind == ReductionKind::mean && !isa<FloatType>(output.element)))
      return invalid(kernel, "the " + stringifyReductionKind(kind) +
                                 " is not defined for " + text(output.element));
  }
  return llvm::Error::success();
}

llvm::Error checkBody(const LoopKernel &kernel) {
  func::FuncOp body = kernel.body;
  if (!body || !body.getBody().hasOneBlock())
    return invalid(kernel, "expected a body of one block");
  Block &block = body.getBody().front();
  auto yield = dyn_cast<func::ReturnOp>(block.getTerminator());
  if (!yield)
    return invalid(kernel, "expected a body that ends with func.return");

  Builder builder(body.getContext());
  llvm::SmallVector<Type> arguments, results;
  for (const LoopInput &input : kernel.inputs)
    arguments.push_back(scalarType(input.element));
  arguments.append(static_cast<size_t>(kernel.positions), builder.getI64Type());
  for (const LoopOutput &output : kernel.outputs)
    results.push_back(scalarType(output.element));
  size_t given = yield.getNumOperands();
  results.append(given > results.size() ? given - results.size() : 0,
                 builder.getI1Type());
  auto expected = builder.getFunctionType(arguments, results);
  auto found = builder.getFunctionType(block.getArgumentTypes(),
                                       yield.getOperandTypes());
  if (expected != found)
    return invalid(kernel, "expected a body of type " + text(expected) +
                               ", found " + text(found));

  for (Operation &op : block.without_terminator())
    if (llvm::Error error = checkScalar(kernel.name, op))
      return error;
  return llvm::Error::success();
}

} // namespace

llvm::Error checkScalar(llvm::StringRef loop, Operation &op) {
  auto isScalar = [&](Type type) {
    return isElement(type) && (!isNarrowFloat(type) || takesNarrowFloats(op));
  };
  if (isSupported(op) && op.getNumResults() > 0 &&
      llvm::all_of(op.getOperandTypes(), isScalar) &&
      llvm::all_of(op.getResultTypes(), isScalar))
    return llvm::Error::success();
  return unsupportedScalar(loop, op);
}

llvm::Error unsupportedScalar(llvm::StringRef loop, Operation &op) {
  std::string types;
  llvm::raw_string_ostream(types) << FunctionType::get(
      op.getContext(), op.getOperandTypes(), op.getResultTypes());
  return invalid(loop, "'" + op.getName().getStringRef() +
                           "' is not supported in a loop, of type " + types);
}

llvm::Error checkKernel(const LoopKernel &kernel) {
  if (kernel.reducedDims < 0 || kernel.reducedDims > kernel.dims ||
      kernel.positions < 0)
    return invalid(kernel,
                   "expected 0 <= reduced dimensions <= dimensions, found " +
                       llvm::Twine(kernel.reducedDims) + " and " +
                       llvm::Twine(kernel.dims));
  for (const LoopInput &input : kernel.inputs)
    if (!input.element || !isElement(input.element))
      return invalid(kernel, "expected an element type of each input");
  for (const LoopOutput &output : kernel.outputs)
    if (!output.element || !isElement(output.element))
      return invalid(kernel, "expected an element type of each output");
  if (llvm::Error error = checkReductions(kernel))
    return error;
  return checkBody(kernel);
}

} // namespace ccn::codegen
