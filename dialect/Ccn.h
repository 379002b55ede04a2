//===- Ccn.h - The ccn dialect ----------------------------------*- C++ -*-===//
//
// Everything of the ccn dialect: attributes, layouts, interfaces, operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_H
#define CCN_DIALECT_CCN_H

#include "dialect/Layout.h"

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
inline constexpr llvm::StringLiteral kPhaseAttr = "ccn.phase";

/// The mesh of the module that holds the operation; null if it has none.
MeshOp getMesh(mlir::Operation *op);

/// Checks the constraints of CollectiveOpInterface.
mlir::LogicalResult verifyCollective(mlir::Operation *op);

/// The kernel that the operations can become together; none if there is none.
std::optional<Skeleton> findSkeleton(llvm::ArrayRef<mlir::Operation *> ops);

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
      return location ? mlir::emitError(loc) : mlir::InFlightDiagnostic();
    };
    llvm::SmallVector<mlir::RankedTensorType> types;
    for (mlir::Type type : operands.getTypes()) {
      // Inference may run before the operands' own constraints are checked.
      auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() ||
          !isElementType(tensor.getElementType()))
        return emitError() << "expected a tensor of static shape and a ccn "
                              "element type, found "
                           << type;
      types.push_back(tensor);
    }
    mlir::FailureOr<mlir::RankedTensorType> result =
        ConcreteOp::inferType({llvm::ArrayRef<mlir::RankedTensorType>(types),
                               attributes, properties, regions},
                              emitError);
    if (mlir::failed(result))
      return mlir::failure();
    inferred.push_back(*result);
    return mlir::success();
  }

  static mlir::FailureOr<mlir::RankedTensorType>
  inferFor(mlir::Operation *op,
           llvm::ArrayRef<mlir::RankedTensorType> operandTypes,
           EmitError emitError) {
    return ConcreteOp::inferType({operandTypes,
                                  op->getDiscardableAttrDictionary(),
                                  op->getPropertiesStorage(), op->getRegions()},
                                 emitError);
  }
};

} // namespace ccn

#include "dialect/CcnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/CcnOps.h.inc"

#endif // CCN_DIALECT_CCN_H
