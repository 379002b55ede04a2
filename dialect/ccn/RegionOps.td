//===- RegionOps.td - Groups of operations that run as one ----------------===//
//
// What schedules make: regions whose operations become one kernel, or run at once
// chunk by chunk. They keep the operations as they are, readable and checked like
// any others.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_REGIONOPS
#define CCN_DIALECT_REGIONOPS

include "dialect/ccn/CcnOpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Ccn_Skeleton : I32EnumAttr<"Skeleton", "the kernel that a fused region becomes", [
    I32EnumAttrCase<"elementwise", 0>,
    I32EnumAttrCase<"collective_compute", 1>,
    I32EnumAttrCase<"compute_move", 2>,
    I32EnumAttrCase<"matmul_collective", 3>,
    I32EnumAttrCase<"collectives", 4>,
    I32EnumAttrCase<"attention", 5>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_SkeletonAttr : EnumAttr<CcnDialect, Ccn_Skeleton, "skeleton"> {
  let assemblyFormat = "$value";
}

def FusedOp : Ccn_Op<"fused", [
    SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
    ParentOneOf<["ProgramOp", "OverlappedOp"]>]> {
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
    | `attention` | a matrix product, a softmax of what it gives, and the product of that by another matrix, on one rank |

    ```mlir
    %r = ccn.fused elementwise {
      %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
      %1 = ccn.add %0, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      ccn.yield %1 : tensor<8xf32>
    } : tensor<8xf32>
    ```

    **Constraints**
    - `fused_c1`: the region holds at least one operation, and only operations without
      side effects, other than to communicate, or regions of their own.
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

def OverlappedOp : Ccn_Op<"overlapped", [
    SingleBlock, NoRegionArguments, RecursiveMemoryEffects,
    HasParent<"ProgramOp">]> {
  let summary = "Operations that run at once, chunk by chunk";
  let description = [{
    Executes its operations, the *stages*, as a pipeline: while one stage works on
    a chunk, the stage before works on the next chunk. A stage is an operation or
    a fused kernel. `dims` says for each result along which dimension it is made
    in chunks; the dimension of every other value follows, as an operation that
    is cut along a dimension cuts its result. In a kernel, what only elementwise
    operations of the same shape need, all of them in chunks, is made in chunks too;
    all else is the same for every chunk.

    The chunked dimension consists of *blocks*, the slices that mesh axes cut in it;
    chunk i of n is the i-th n-th part of every block, so that every rank takes
    part in every chunk. With `ring`, the blocks at each position of that axis make n
    chunks of their own, and the rank at position r begins with block r (if the
    pipeline begins with an all_gather: the block it has) or r + 1 (if it ends with
    a reduction: the block it needs comes last) and goes around. All ranks go in one
    order where more collectives are in the pipeline, or where the blocks at its
    position are not in a rank's own part, as other axes cut them.

    The decomposition is that of Wang et al., "Overlap Communication with Dependent
    Computation via Decomposition in Large Deep Learning Models", ASPLOS 2023, and
    the ring order that of Jangda et al., "Breaking the Computation and
    Communication Abstraction Barrier in Distributed Machine Learning Workloads",
    ASPLOS 2022.

    In a localized program `takes` says which value from outside the first stage
    takes in chunks, and which part of the chunked dimension the rank has of it; the
    parts of all other values follow.

    ```mlir
    %r = ccn.overlapped chunks(4) dims [0] ring("tp") {
      %0 = ccn.matmul %x, %w : (...) -> ...
      %1 = ccn.all_reduce sum %0 along <@m, ["tp"]> : (...) -> tensor<8x8xf32>
      ccn.yield %1 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    ```

    **Constraints**
    - `overlapped_c1`: the region holds at least two operations, all without side
      effects other than to communicate, and with regions only if they are
      `ccn.fused`.
    - `overlapped_c2`: the terminator yields at least one value, all of them values
      of the region, of the result types.
    - `overlapped_c3`: each operation takes a value in chunks: one from outside that
      the first takes so, or one that is made before it.
    - `overlapped_c4`: at least one operation communicates.
    - `overlapped_c5`: the operations can run in chunks along `dims`.
    - `overlapped_c6`: there is at least one chunk, and at most 65536.
    - `overlapped_c7`: `ring` is an axis along which an operation communicates.
    - `overlapped_c8`: `takes` is there in a program with `ccn.rank` only, and always;
      it names a dimension of a value from outside, which lies within the extent,
      and axes of the mesh.
  }];
  let arguments = (ins I64Attr:$chunks, DenseI64ArrayAttr:$dims,
                       OptionalAttr<StrAttr>:$ring,
                       Optional<Ccn_Tensor>:$taken,
                       OptionalAttr<Ccn_ChunkedAttr>:$part);
  let results = (outs Variadic<Ccn_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `chunks` `(` $chunks `)` `dims` $dims (`ring` `(` $ring^ `)`)?
    (`takes` `(` $taken^ `:` type($taken) `,` $part `)`)?
    attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "int64_t":$chunks,
                                 "::llvm::ArrayRef<int64_t>":$dims,
                                 "::mlir::StringAttr":$ring)>];
  let extraClassDeclaration = [{
    /// The operations in order, without the terminator.
    ::llvm::SmallVector<::mlir::Operation *> getStages();
  }];
}

def YieldOp : Ccn_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["FusedOp", "OverlappedOp"]>]> {
  let summary = "Ends a region and yields its results";
  let description = [{
    **Constraints**
    - `yield_c1`: it ends the region of a `ccn.fused` or `ccn.overlapped`.
  }];
  let arguments = (ins Variadic<Ccn_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // CCN_DIALECT_REGIONOPS
