//===- PlanInterfaces.td - Interfaces of the plan dialect -----------------===//
//
// What is known of an operation whatever its kind.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_PLANINTERFACES
#define CCN_DIALECT_PLANINTERFACES

include "mlir/IR/OpBase.td"

def Plan_PartOpInterface : OpInterface<"PartOpInterface"> {
  let cppNamespace = "::ccn::plan";
  let description = [{
    A part of a launch, or a loop of one. It says which views it accesses and how,
    so that no pass and no check lists the kinds of parts.
  }];
  let methods = [
    InterfaceMethod<[{
        The views that it accesses, in the order of its operands. Unless an
        operation says otherwise, it reads all operands but the last, which it
        writes.
      }],
      "::llvm::SmallVector<::ccn::plan::Access>", "getAccesses", (ins), [{}], [{
        ::llvm::SmallVector<::ccn::plan::Access> accesses;
        for (::mlir::OpOperand &operand : $_op->getOpOperands())
          accesses.push_back({&operand});
        if (!accesses.empty())
          accesses.back().isWrite = true;
        return accesses;
      }]>,
    InterfaceMethod<[{
        Whether it reads each element of this operand before it writes the element
        of the same index, and does not read the element again after that: then
        both may be in the same memory.
      }],
      "bool", "readsInOrder", (ins "::mlir::OpOperand &":$operand), [{}], [{
        return false;
      }]>,
  ];
}

#endif // CCN_DIALECT_PLANINTERFACES
