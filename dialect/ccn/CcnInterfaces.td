//===- CcnInterfaces.td - Interfaces of ccn operations --------------------===//
//
// One interface for everything that infers the layout of its result, one for
// what computes element by element, and one for everything that moves a tensor
// along axes of the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCNINTERFACES
#define CCN_DIALECT_CCNINTERFACES

include "mlir/IR/OpBase.td"

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::ccn";
  let description = [{
    An operation that infers the type of its one result, layout included, from
    the types of its operands and its attributes. Building, verifying and
    rewriting all use this one inference.

    **Constraints**
    - `layout_op_c1`: an operand that has an encoding has a ccn layout.
    - `layout_op_c2`: the sizes of operands and result in bytes (8 an element, sizes
      of 0 left out) fit 64 bits, and so does all index arithmetic.
  }];
  let methods = [
    InterfaceMethod<[{
        The type that the result would have if the operands had the given
        types. On failure the constraint that does not hold has been reported
        through `emitError`.
      }],
      "::mlir::FailureOr<::mlir::RankedTensorType>", "inferResultType",
      (ins "::llvm::ArrayRef<::mlir::RankedTensorType>":$operandTypes,
           "::ccn::EmitError":$emitError),
      /*methodBody=*/[{
        return ConcreteOp::inferFor($_op, operandTypes, emitError);
      }]>,
  ];
}

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::ccn";
  let description = [{
    An operation each element of whose result depends on the operands' elements
    at its place alone; scalars stand for tensors of any shape.
  }];
  let methods = [
    StaticInterfaceMethod<[{
        The function of the elements; null if the result depends on more than
        these: on attributes, or on where the element is.
      }],
      "const ::ccn::ElementwiseFunction *", "getFunction", (ins),
      [{}], [{ return nullptr; }]>,
  ];
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::ccn";
  let description = [{
    An operation that changes where a tensor lives along named axes of the mesh.

    **Constraints**
    - `collective_c1`: the mesh that the axes name is the module's.
    - `collective_c2`: every named axis is an axis of that mesh.
    - `collective_c3`: a root is a position on its axis.
  }];
  let methods = [
    InterfaceMethod<"What it does.", "::ccn::Collective", "getCollective", (ins),
      [{}], [{
        return *::ccn::symbolizeCollective($_op->getName().stripDialect());
      }]>,
    InterfaceMethod<[{
        The global type, layout included, of the tensor that is moved.
      }], "::mlir::RankedTensorType", "getSourceType", (ins),
      [{}], [{
        return ::llvm::cast<::mlir::RankedTensorType>($_op.getInput().getType());
      }]>,
    InterfaceMethod<[{
        The global type, layout included, of what it becomes.
      }], "::mlir::RankedTensorType", "getTargetType", (ins),
      [{}], [{
        return ::llvm::cast<::mlir::RankedTensorType>($_op->getResult(0).getType());
      }]>,
    InterfaceMethod<"The tensor that is moved.", "::mlir::Value", "getSource",
                    (ins), [{ return $_op.getInput(); }]>,
    InterfaceMethod<"The axes of the mesh along which it is moved.",
                    "::ccn::AxesAttr", "getMeshAxes",
                    (ins), [{ return $_op.getAxes(); }]>,
    InterfaceMethod<[{
        How values of different ranks are combined; none if they only move.
      }], "::std::optional<::ccn::ReduceKind>", "getReduction", (ins),
      [{}], [{
        if constexpr (requires { $_op.getKind(); })
          return $_op.getKind();
        return ::std::nullopt;
      }]>,
    InterfaceMethod<[{
        The position on the axis from or to which values move; none if all
        ranks play the same part.
      }], "::std::optional<int64_t>", "getRootPosition", (ins),
      [{}], [{
        if constexpr (requires { $_op.getRoot(); })
          return $_op.getRoot();
        return ::std::nullopt;
      }]>,
    InterfaceMethod<[{
        By how many positions values move along the axis; none if they move
        otherwise.
      }], "::std::optional<int64_t>", "getShiftBy", (ins),
      [{}], [{
        if constexpr (requires { $_op.getShift(); })
          return $_op.getShift();
        return ::std::nullopt;
      }]>,
    InterfaceMethod<[{
        Whether ranks exchange data; false if each has what it needs.
      }], "bool", "communicates", (ins),
      [{}], [{ return true; }]>,
  ];
  let verify = [{ return ::ccn::verifyCollective($_op); }];
}

#endif // CCN_DIALECT_CCNINTERFACES
