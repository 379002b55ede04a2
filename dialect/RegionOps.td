//===- RegionOps.td - Groups of operations that run as one ----------------===//
//
// What schedules make: regions whose operations become one kernel. They keep the
// operations as they are, readable and checked like any others.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_REGIONOPS
#define CCN_DIALECT_REGIONOPS

include "dialect/CcnOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Ccn_Skeleton : I32EnumAttr<"Skeleton", "the kernel that a fused region becomes", [
    I32EnumAttrCase<"elementwise", 0>,
    I32EnumAttrCase<"collective_compute", 1>,
    I32EnumAttrCase<"compute_move", 2>,
    I32EnumAttrCase<"matmul_collective", 3>,
    I32EnumAttrCase<"collectives", 4>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_SkeletonAttr : EnumAttr<CcnDialect, Ccn_Skeleton, "skeleton"> {
  let assemblyFormat = "$value";
}

def FusedOp : Ccn_Op<"fused", [
    SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
    HasParent<"ProgramOp">]> {
  let summary = "Operations that become one kernel";
  let description = [{
    Executes its operations, which may use values from around it, and yields those
    that are needed after it. The skeleton says what the kernel is made from:

    | skeleton | what is in it |
    | --- | --- |
    | `elementwise` | elementwise operations, movement and reductions on one rank |
    | `collective_compute` | collectives that reduce (reduce_scatter, all_reduce), computation with its own all_reduces inside, all_gathers |
    | `compute_move` | computation into a send or an all_to_all |
    | `matmul_collective` | one matrix product, what goes into it and comes out of it, and collectives |
    | `collectives` | several collectives of one kind |

    ```mlir
    %r = ccn.fused elementwise {
      %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      %1 = ccn.add %0, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      ccn.yield %1 : tensor<8xf32>
    } : tensor<8xf32>
    ```

    **Constraints**
    - `fused_c1`: the region holds at least one operation, and only operations without
      side effects or regions of their own.
    - `fused_c2`: the terminator yields values of the region, of the result types.
    - `fused_c3`: the operations fit the skeleton.
  }];
  let arguments = (ins Ccn_SkeletonAttr:$skeleton);
  let results = (outs Variadic<Ccn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` $skeleton attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let hasRegionVerifier = 1;
}

def YieldOp : Ccn_Op<"yield", [
    Pure, Terminator, ReturnLike, HasParent<"FusedOp">]> {
  let summary = "Ends a region and yields its results";
  let description = [{
    **Constraints**
    - `yield_c1`: it ends the region of a `ccn.fused`.
  }];
  let arguments = (ins Variadic<Ccn_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // CCN_DIALECT_REGIONOPS
