//===- Ccn.h - The ccn dialect ----------------------------------*- C++ -*-===//
//
// Everything of the ccn dialect: attributes, layouts, interfaces, operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_CCN_H
#define CCN_DIALECT_CCN_CCN_H

#include "dialect/ccn/ElementwiseFunction.h"
#include "dialect/ccn/Layout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ccn {

class MeshOp;

/// Names of discardable attributes.
inline constexpr llvm::StringLiteral kNameAttr = "ccn.name";
inline constexpr llvm::StringLiteral kInoutAttr = "ccn.inout";
inline constexpr llvm::StringLiteral kScatteredAttr = "ccn.scattered";
inline constexpr llvm::StringLiteral kLetAttr = "ccn.let";
/// The names that schedules gave what they made, on any operation.
inline constexpr llvm::StringLiteral kTagsAttr = "ccn.tags";
/// The program that a schedule is for, on its transform.named_sequence.
inline constexpr llvm::StringLiteral kForAttr = "ccn.for";
/// Of a program before its schedule is applied: the names that no operation has
/// any more, each with the reason.
inline constexpr llvm::StringLiteral kFoldedAttr = "ccn.folded";
inline constexpr llvm::StringLiteral kPhaseAttr = "ccn.phase";
/// The rank that executes a localized program; the global type of an argument
/// or result of one; and, in an overlapped region of one, the dimension of a
/// reshape's result that is made in chunks.
inline constexpr llvm::StringLiteral kRankAttr = "ccn.rank";
inline constexpr llvm::StringLiteral kGlobalAttr = "ccn.global";
inline constexpr llvm::StringLiteral kChunkedDimAttr = "ccn.chunked_dim";
/// How a collective or a kernel that communicates is to run: the name of an
/// algorithm or the symbol of a ccn.algorithm, a protocol, a number of SMs, and
/// when it leaves (0 first).
inline constexpr llvm::StringLiteral kAlgorithmAttr = "ccn.algorithm";
inline constexpr llvm::StringLiteral kProtocolAttr = "ccn.protocol";
inline constexpr llvm::StringLiteral kSmsAttr = "ccn.sms";
inline constexpr llvm::StringLiteral kPriorityAttr = "ccn.priority";

/// The mesh of the module that holds the operation; null if it has none, or one
/// without a size for each axis, which does not verify.
MeshOp getMesh(mlir::Operation *op);

/// Checks the constraints of CollectiveOpInterface.
mlir::LogicalResult verifyCollective(mlir::Operation *op);

/// The kernel that the operations can become together; none if there is none.
std::optional<Skeleton> findSkeleton(llvm::ArrayRef<mlir::Operation *> ops);

/// The most SMs that `ccn.sms` may name.
inline constexpr int64_t maxSms = 1024;

/// "'nccl', 'one_shot', ...": the built-in algorithms, for messages.
std::string algorithmNames();

/// Whether the operation, or one in it, moves data between ranks; if `axis` is
/// given, along that axis.
bool communicatesAlong(mlir::Operation *op, mlir::StringAttr axis = {});

/// Whether the operation, with what is in it, has no side effects other than to
/// communicate.
bool isEffectFree(mlir::Operation *op);

/// Whether the operation computes its result element by element.
bool isElementwise(mlir::Operation *op);

/// The function of the elements that an operation is; null if it is none.
const ElementwiseFunction *functionOf(mlir::Operation *op);

/// Those of all operations of the dialect, in the order of their definitions.
llvm::ArrayRef<const ElementwiseFunction *> elementwiseFunctions();

/// The one of a name, null if there is none.
const ElementwiseFunction *findElementwise(llvm::StringRef name);

/// The result type of such an operation, whose constraints it checks.
mlir::FailureOr<mlir::RankedTensorType>
inferElementwise(llvm::ArrayRef<mlir::RankedTensorType> operands,
                 ElementKinds elements, PartialRule rule, EmitError emitError);

/// Implements the inference interfaces by ConcreteOp::inferType.
template <typename ConcreteOp>
class InfersLayout : public mlir::OpTrait::TraitBase<ConcreteOp, InfersLayout> {
public:
  static mlir::LogicalResult
  inferReturnTypes(mlir::MLIRContext *context,
                   std::optional<mlir::Location> location,
                   mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                   mlir::OpaqueProperties properties, mlir::RegionRange regions,
                   llvm::SmallVectorImpl<mlir::Type> &inferred) {
    mlir::Location loc = location.value_or(mlir::UnknownLoc::get(context));
    auto emitError = [&]() {
      return location ? InferenceError(mlir::emitError(loc)) : InferenceError();
    };
    llvm::SmallVector<mlir::RankedTensorType> types;
    for (mlir::Type type : operands.getTypes()) {
      // Inference may run before the operands' own constraints are checked.
      if (mlir::failed(checkTensor(type, emitError)))
        return mlir::failure();
      types.push_back(llvm::cast<mlir::RankedTensorType>(type));
    }
    mlir::FailureOr<mlir::RankedTensorType> result = check(
        ConcreteOp::inferType({llvm::ArrayRef<mlir::RankedTensorType>(types),
                               attributes, properties, regions},
                              emitError),
        emitError);
    if (mlir::failed(result))
      return mlir::failure();
    inferred.push_back(*result);
    return mlir::success();
  }

  /// Runs before InferTypeOpInterface does the same, and reports once.
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    auto emitError = [&]() { return op->emitOpError(); };
    llvm::SmallVector<mlir::RankedTensorType> types;
    for (mlir::Type type : op->getOperandTypes()) {
      if (mlir::failed(checkTensor(type, emitError)))
        return mlir::failure();
      types.push_back(llvm::cast<mlir::RankedTensorType>(type));
    }
    auto result = inferFor(op, types, emitError);
    if (mlir::failed(result))
      return mlir::failure();
    mlir::Type found = op->getResult(0).getType();
    if (*result == found)
      return mlir::success();
    return emitError() << "expected a result of type " << *result << ", found "
                       << found;
  }

  static mlir::FailureOr<mlir::RankedTensorType>
  inferFor(mlir::Operation *op,
           llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
           EmitError emitError) {
    return check(
        ConcreteOp::inferType({operandTypes, op->getDiscardableAttrDictionary(),
                               op->getPropertiesStorage(), op->getRegions()},
                              emitError),
        emitError);
  }

private:
  static mlir::FailureOr<mlir::RankedTensorType>
  check(mlir::FailureOr<mlir::RankedTensorType> result, EmitError emitError) {
    if (mlir::succeeded(result) &&
        mlir::failed(checkTensor(*result, emitError)))
      return mlir::failure();
    return result;
  }
};

} // namespace ccn

#include "dialect/ccn/CcnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/ccn/CcnOps.h.inc"

#endif // CCN_DIALECT_CCN_CCN_H
