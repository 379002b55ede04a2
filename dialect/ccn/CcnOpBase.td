//===- CcnOpBase.td - Base classes of ccn operations ----------------------===//
#ifndef CCN_DIALECT_CCNOPBASE
#define CCN_DIALECT_CCNOPBASE

include "dialect/ccn/CcnBase.td"
include "dialect/ccn/CcnInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ccn_Op<string mnemonic, list<Trait> traits = []>
    : Op<CcnDialect, mnemonic, traits>;

/// Implements result type inference, for building, parsing and verifying, and
/// LayoutOpInterface by the operation's one `inferType`.
def Ccn_InfersLayout : NativeOpTrait<"InfersLayout"> {
  let cppNamespace = "::ccn";
}

/// A side-effect free operation with one result whose type is inferred.
class Ccn_TensorOp<string mnemonic, list<Trait> traits = []>
    : Ccn_Op<mnemonic, !listconcat(traits, [
        Pure, Ccn_InfersLayout, InferTypeOpInterface, LayoutOpInterface])> {
  code inferDeclaration = [{
    /// The type of the result for operands of the given types; checks every
    /// constraint of the operation.
    static ::mlir::FailureOr<::mlir::RankedTensorType>
    inferType(GenericAdaptor<::llvm::ArrayRef<::mlir::RankedTensorType>> op,
              ::ccn::EmitError emitError);
  }];
  let extraClassDeclaration = inferDeclaration;
}

#endif // CCN_DIALECT_CCNOPBASE
