//===- CollectiveOps.td - Operations along axes of the mesh ---------------===//
//
// Each changes the state of a tensor along mesh axes; the states on other axes
// are kept. Algebraic relations are in the descriptions.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_COLLECTIVEOPS
#define CCN_DIALECT_COLLECTIVEOPS

include "dialect/ccn/CcnOpBase.td"

def AllReduceOp : Ccn_TensorOp<"all_reduce", [CollectiveOpInterface]> {
  let summary = "Reduces over the ranks and gives all of them the result";
  let description = [{
    From local or partial to replicated along the axes. Equals
    `ccn.reduce_scatter` followed by `ccn.all_gather`, and `ccn.reduce`
    followed by `ccn.broadcast`. 16- and 8-bit floats accumulate in f32, in rank
    order.

    ```mlir
    %0 = ccn.all_reduce sum %x along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>) -> tensor<8xf32>
    ```

    **Constraints**
    - `all_reduce_c1`: along each axis the operand is local, or partial by the same
      kind of reduction.
    - `all_reduce_c2`: sum and prod take a number type.
    - `all_reduce_c3`: no reduction of another kind is pending along other axes, as
      the two would not commute.
  }];
  let arguments = (ins Ccn_ReduceKindAttr:$kind, Ccn_Tensor:$input,
                       Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `along` $axes attr-dict `:` functional-type($input, $result)
  }];
}

def ReduceScatterOp : Ccn_TensorOp<"reduce_scatter", [CollectiveOpInterface]> {
  let summary = "Reduces over the ranks and gives each a slice of the result";
  let description = [{
    From local or partial to sliced at `dim` along the axes. Equals
    `ccn.all_reduce` followed by `ccn.slice`.

    ```mlir
    %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>
    ```

    **Constraints**
    - `reduce_scatter_c1`: along each axis the operand is local, or partial by the
      same kind of reduction.
    - `reduce_scatter_c2`: sum and prod take a number type.
    - `reduce_scatter_c3`: `dim` is a dimension of the operand.
    - `reduce_scatter_c4`: no reduction of another kind is pending along other axes.
  }];
  let arguments = (ins Ccn_ReduceKindAttr:$kind, Ccn_Tensor:$input,
                       I64Attr:$dim, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `into` $dim `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def AllGatherOp : Ccn_TensorOp<"all_gather", [CollectiveOpInterface]> {
  let summary = "Gives all ranks the whole of a sliced tensor";
  let description = [{
    From sliced to replicated along the axes. The inverse of `ccn.slice`.

    ```mlir
    %0 = ccn.all_gather %x along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>) -> tensor<8xf32>
    ```

    **Constraints**
    - `all_gather_c1`: the operand is sliced along each axis.
    - `all_gather_c2`: no other axis cuts the pieces of these further.
  }];
  let arguments = (ins Ccn_Tensor:$input, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $input `along` $axes attr-dict `:` functional-type($input, $result)
  }];
}

def SliceOp : Ccn_TensorOp<"slice", [
    DeclareOpInterfaceMethods<CollectiveOpInterface, ["communicates"]>]> {
  let summary = "Keeps a slice of a replicated tensor on each rank";
  let description = [{
    From replicated to sliced at `dim` along the axes, without communication. The
    inverse of `ccn.all_gather`.

    ```mlir
    %0 = ccn.slice %x into 0 along <@m, ["dp"]>
        : (tensor<8xf32>) -> tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>
    ```

    **Constraints**
    - `slice_c1`: the operand is replicated along each axis.
    - `slice_c2`: `dim` is a dimension of the operand.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$dim, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `into` $dim `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def AllToAllOp : Ccn_TensorOp<"all_to_all", [CollectiveOpInterface]> {
  let summary = "Moves the cut of a tensor from one dimension to another";
  let description = [{
    From sliced at `from` to sliced at `to` along the axis. Equals
    `ccn.all_gather` followed by `ccn.slice`.

    ```mlir
    %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["tp"]>
        : (tensor<8x4xf32, #ccn.layout<@m, [{"tp"}, {} ]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"tp"} ]>>
    ```

    **Constraints**
    - `all_to_all_c1`: one axis is named.
    - `all_to_all_c2`: `from` and `to` are dimensions of the operand and differ.
    - `all_to_all_c3`: the operand is sliced at `from` along the axis.
    - `all_to_all_c4`: no other axis cuts the pieces of this one further.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$from, I64Attr:$to,
                       Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $from `to` $to `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def BroadcastOp : Ccn_TensorOp<"broadcast", [CollectiveOpInterface]> {
  let summary = "Gives all ranks the root's value";
  let description = [{
    From local to replicated along the axis: what the rank at position `root` of
    the axis holds.

    ```mlir
    %0 = ccn.broadcast %x from 0 along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>) -> tensor<8xf32>
    ```

    **Constraints**
    - `broadcast_c1`: one axis is named.
    - `broadcast_c2`: the operand is local along the axis; what is pending on a
      partial one would be lost.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$root, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $root `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def ReduceOp : Ccn_TensorOp<"reduce", [CollectiveOpInterface]> {
  let summary = "Reduces over the ranks to the root";
  let description = [{
    From local or partial to local along the axis: the root holds the reduction,
    the others keep what they have. Followed by `ccn.broadcast` from the
    same root it equals `ccn.all_reduce`.

    ```mlir
    %0 = ccn.reduce sum %x to 0 along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], partial<sum> = {"dp"}>>) -> tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>
    ```

    **Constraints**
    - `reduce_c1`: one axis is named.
    - `reduce_c2`: along it the operand is local, or partial by the same kind of
      reduction.
    - `reduce_c3`: sum and prod take a number type.
    - `reduce_c4`: no reduction of another kind is pending along other axes.
  }];
  let arguments = (ins Ccn_ReduceKindAttr:$kind, Ccn_Tensor:$input,
                       I64Attr:$root, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $input `to` $root `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def GatherOp : Ccn_TensorOp<"gather", [CollectiveOpInterface]> {
  let summary = "Gives the root the whole of a sliced tensor";
  let description = [{
    From sliced to local along the axis: the root holds the whole tensor, the
    others zeros. Followed by `ccn.broadcast` from the same root it equals
    `ccn.all_gather`.

    ```mlir
    %0 = ccn.gather %x to 0 along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>) -> tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>
    ```

    **Constraints**
    - `gather_c1`: one axis is named.
    - `gather_c2`: the operand is sliced along it.
    - `gather_c3`: no other axis cuts the pieces of this one further.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$root, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `to` $root `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def ScatterOp : Ccn_TensorOp<"scatter", [CollectiveOpInterface]> {
  let summary = "Gives each rank a slice of the root's value";
  let description = [{
    From local to sliced at `dim` along the axis. Equals `ccn.broadcast` followed
    by `ccn.slice`.

    ```mlir
    %0 = ccn.scatter %x from 0 into 0 along <@m, ["dp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>>) -> tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>
    ```

    **Constraints**
    - `scatter_c1`: one axis is named.
    - `scatter_c2`: the operand is local along the axis; what is pending on a
      partial one would be lost.
    - `scatter_c3`: `dim` is a dimension of the operand.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$root, I64Attr:$dim,
                       Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `from` $root `into` $dim `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def SendOp : Ccn_TensorOp<"send", [CollectiveOpInterface]> {
  let summary = "Moves values to a neighbour on an axis";
  let description = [{
    The rank at position i of the axis gets what the one at i - shift holds;
    ranks without such a source keep what they have. The result is local.

    ```mlir
    %0 = ccn.send %x by 1 along <@m, ["pp"]>
        : (tensor<8xf32, #ccn.layout<@m, [{} ], local = {"pp"}>>) -> tensor<8xf32, #ccn.layout<@m, [{} ], local = {"pp"}>>
    ```

    **Constraints**
    - `send_c1`: one axis is named.
    - `send_c2`: the operand is local along the axis; what is pending on a
      partial one would be lost.
    - `send_c3`: the shift is within the axis: not 0, and by less than its size.
      Along an axis of one rank any but 0 is, and moves nothing.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$shift, Ccn_AxesAttr:$axes);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `by` $shift `along` $axes attr-dict `:`
    functional-type($input, $result)
  }];
}

def CommunicateOp : Ccn_Op<"communicate", [
    CollectiveOpInterface, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A collective as one rank takes part in it";
  let description = [{
    The local form of every collective but `ccn.slice`, which becomes a
    `ccn.extract`. `from` and `to` are the global types before and after, by which the
    parts of all ranks follow. Ranks meet in operations of one `channel`.
    Unlike the others it has side effects: one rank cannot leave it out, nor make
    two into one, on its own.

    ```mlir
    %0 = ccn.communicate all_reduce %x with sum along <@m, ["dp"]> channel 0
        from tensor<8xf32, #ccn.layout<@m, [{} ], local = {"dp"}>> to tensor<8xf32>
        : (tensor<8xf32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `communicate_c1`: it is in a program with `ccn.rank`.
    - `communicate_c2`: the collective is not `slice`, and it has a kind of reduction,
      a root and a shift as the collective needs, and no others.
    - `communicate_c3`: the collective makes `to` of `from`: all constraints of
      its global form hold.
    - `communicate_c4`: operand and result are the rank's parts of `from` and `to`.
    - `communicate_c5`: no other operation of the program has the channel.
  }];
  let arguments = (ins Ccn_CollectiveAttr:$collective,
                       OptionalAttr<Ccn_ReduceKindAttr>:$kind, Ccn_Tensor:$input,
                       Ccn_AxesAttr:$axes, OptionalAttr<I64Attr>:$root,
                       OptionalAttr<I64Attr>:$shift, I64Attr:$channel,
                       TypeAttr:$from, TypeAttr:$to);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    `` $collective $input (`with` `` $kind^)? `along` $axes (`root` $root^)?
    (`by` $shift^)? `channel` $channel `from` $from `to` $to attr-dict
    `:` functional-type($input, $result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getSourceType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getFrom());
    }
    ::mlir::RankedTensorType getTargetType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getTo());
    }
  }];
}

def ReshardOp : Ccn_Op<"reshard", [Pure]> {
  let summary = "Brings a tensor to another layout";
  let description = [{
    Any legal change of layout, by the cheapest sequence of collectives, which
    `ccn-lower-reshard` finds.

    ```mlir
    %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>>
    ```

    **Constraints**
    - `reshard_c1`: shape and element type are kept.
    - `reshard_c2`: on every axis, replicated and sliced become replicated or sliced;
      partial becomes anything but partial by another reduction; local stays
      local; replicated may become local. Partial becomes local by dropping what
      is pending: the compiler takes the parts so, the language does not.
    - `reshard_c3`: both layouts name the same mesh.
  }];
  let arguments = (ins Ccn_Tensor:$input);
  let results = (outs Ccn_Tensor:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $input attr-dict `:` type($input) `to` type($result)
  }];
  let extraClassDeclaration = [{
    /// An axis along which one layout cannot become the other (reshard_c2),
    /// null if there is none.
    static ::mlir::StringAttr findIllegalAxis(const ::ccn::Layout &from,
                                              const ::ccn::Layout &to);
  }];
}

#endif // CCN_DIALECT_COLLECTIVEOPS
