//===- ScheduleOps.td - Schedules as transform operations -----------------===//
//
// An extension of MLIR's transform dialect. Schedules in .ccn files, hand-written
// transform scripts and tuners all use these; the rewrites behind them are in
// lib/Transforms/Rewrites.h, where their conditions are listed.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_SCHEDULEOPS
#define CCN_DIALECT_SCHEDULEOPS

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ccn_ScheduleOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "ccn." # mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<TransformOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])>;

/// A primitive: it reads its handles, makes others and changes the program.
class Ccn_Primitive<string mnemonic, list<Trait> traits = []>
    : Ccn_ScheduleOp<mnemonic, traits> {
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      primitiveEffects(getOperation(), effects);
    }
  }];
}

def ScheduleValueOp : Ccn_ScheduleOp<"value"> {
  let summary = "Finds the operations that a name stands for";
  let description = [{
    The name is that of a statement's value in the program, or one that
    `transform.ccn.name` gave. It is an error if nothing has the name, unless
    it is `optional`: what a schedule named may have been nothing.

    ```mlir
    %avg = transform.ccn.value "avg" in %program : (!transform.any_op) -> !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$program, StrAttr:$name,
                       UnitAttr:$is_optional);
  let results = (outs TransformHandleTypeInterface:$result);
  let assemblyFormat = [{
    (`optional` $is_optional^)? $name `in` $program attr-dict `:` functional-type($program, $result)
  }];
}

def ScheduleNameOp : Ccn_ScheduleOp<"name"> {
  let summary = "Gives operations a name, for later lines and for readers";
  let description = [{
    ```mlir
    transform.ccn.name %rs as "rs" : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target, StrAttr:$name);
  let assemblyFormat = "$target `as` $name attr-dict `:` type($target)";
}

def ScheduleSplitOp : Ccn_Primitive<"split"> {
  let summary = "Splits an all_reduce into two or three collectives";
  let description = [{
    Conditions `split_c1` to `split_c6` of the pass `ccn-split`. Yields the parts in
    order.

    ```mlir
    %rs, %ag = transform.ccn.split %avg as "rs_ag" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> : ...
    ```
    ```mlir
    %1 = ccn.reduce_scatter sum %0 into 0 along <@m, ["dp"]> : ...
    %2 = ccn.all_gather %1 along <@m, ["dp"]> : ...
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       DefaultValuedStrAttr<StrAttr, "rs_ag">:$form);
  let results = (outs Variadic<TransformHandleTypeInterface>:$parts);
  let assemblyFormat = [{
    $target `as` $form attr-dict `:` functional-type($target, $parts)
  }];
  let hasVerifier = 1;
}

def ScheduleReorderOp : Ccn_Primitive<"reorder"> {
  let summary = "Moves an all_gather below computations, which run on slices";
  let description = [{
    Conditions `reorder_c1` to `reorder_c4` of the pass `ccn-reorder`. Yields the
    computations on slices, then the gathers of what is needed whole.

    ```mlir
    %part, %agp = transform.ccn.reorder %ag after %p
        : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_gather %0 along <@m, ["dp"]> : ...
    %2 = ccn.exp %1 : ...
    ```
    ```mlir
    %1 = ccn.exp %0 : ...
    %2 = ccn.all_gather %1 along <@m, ["dp"]> : ...
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$gather,
                       Variadic<TransformHandleTypeInterface>:$after);
  let results = (outs TransformHandleTypeInterface:$computations,
                      TransformHandleTypeInterface:$gathers);
  let assemblyFormat = [{
    $gather `after` $after attr-dict `:` functional-type(operands, results)
  }];
}

def ScheduleSliceStateOp : Ccn_Primitive<"slice_state"> {
  let summary = "Stores an inout argument in slices";
  let description = [{
    Conditions `slice_state_c1` to `slice_state_c4` of the pass `ccn-slice-state`.

    ```mlir
    transform.ccn.slice_state "mom" of %program : !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_gather %0 along <@m, ["dp"]> : ...
    %2 = ccn.update %m with %1 : tensor<8xf32>
    ```
    ```mlir
    %2 = ccn.update %m with %0 : ...
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$program, StrAttr:$argument);
  let assemblyFormat = "$argument `of` $program attr-dict `:` type($program)";
}

def ScheduleFuseOp : Ccn_Primitive<"fuse"> {
  let summary = "Makes operations one kernel";
  let description = [{
    Conditions `fuse_c1` to `fuse_c4` of the pass `ccn-fuse`.

    ```mlir
    %k = transform.ccn.fuse %rs, %part, %agp
        : (!transform.any_op, !transform.any_op, !transform.any_op) -> !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.exp %0 : ...
    %2 = ccn.add %1, %0 : ...
    ```
    ```mlir
    %2 = ccn.fused elementwise { ... }
    ```
  }];
  let arguments = (ins Variadic<TransformHandleTypeInterface>:$targets);
  let results = (outs TransformHandleTypeInterface:$fused);
  let assemblyFormat = [{
    $targets attr-dict `:` functional-type($targets, $fused)
  }];
}

def ScheduleRecomputeOp : Ccn_Primitive<"recompute"> {
  let summary = "Computes a value again where some values are made from it";
  let description = [{
    So a value that two kernels need may be part of both, and is not passed from one to
    the other through memory. Yields the operations that compute it again.

    - `recompute_c1`: the value's operations are in no region, only compute, and do not
      communicate.
    - `recompute_c2`: each value after it uses it.
    - `recompute_c3`: something else uses it too.
    - `recompute_c4`: all that it is made of comes before the values after it.

    ```mlir
    %again = transform.ccn.recompute %h at %y : (!transform.any_op, !transform.any_op) -> !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.gelu %0 : ...
    %2 = ccn.neg %1 : ...
    %3 = ccn.exp %1 : ...
    ```
    ```mlir
    %1 = ccn.gelu %0 : ...
    %2 = ccn.neg %1 : ...
    %again = ccn.gelu %0 : ...
    %3 = ccn.exp %again : ...
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
                       Variadic<TransformHandleTypeInterface>:$users);
  let results = (outs TransformHandleTypeInterface:$again);
  let assemblyFormat = [{
    $target `at` $users attr-dict `:` functional-type(operands, $again)
  }];
}

def ScheduleOverlapOp : Ccn_Primitive<"overlap", [AttrSizedOperandSegments]> {
  let summary = "Runs producers and consumers at once, chunk by chunk";
  let description = [{
    Conditions `overlap_c1` to `overlap_c6` of the pass `ccn-overlap`. The number of
    chunks is a param, which a `transform.tune.knob` makes a choice; 4 without it.

    ```mlir
    %n = transform.tune.knob<"chunks"> = 4 from options = [1, 2, 4, 8] -> !transform.any_param
    %o = transform.ccn.overlap %part, %y chunks %n
        : (!transform.any_op, !transform.any_op, !transform.any_param) -> !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.matmul %x, %w : ...
    %2 = ccn.all_reduce sum %1 along <@m, ["tp"]> : ...
    ```
    ```mlir
    %2 = ccn.overlapped chunks(4) dims [0] ring("tp") { ... }
    ```
  }];
  let arguments = (ins Variadic<TransformHandleTypeInterface>:$targets,
                       Optional<TransformParamTypeInterface>:$chunks);
  let results = (outs TransformHandleTypeInterface:$overlapped);
  let assemblyFormat = [{
    $targets (`chunks` $chunks^)? attr-dict `:` functional-type(operands, $overlapped)
  }];
}

def ScheduleBucketOp : Ccn_Primitive<"bucket"> {
  let summary = "Makes many collectives few launches, and large ones several";
  let description = [{
    Conditions `bucket_c1` to `bucket_c3` of the pass `ccn-bucket`. Yields the buckets,
    in order.

    ```mlir
    %n = transform.tune.knob<"size"> = 25000000 from options = [25000000] -> !transform.any_param
    %b = transform.ccn.bucket %g1, %g2 size %n
        : (!transform.any_op, !transform.any_op, !transform.any_param) -> !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> : ...
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> : ...
    ```
    ```mlir
    %2:2 = ccn.fused collectives { ... }
    ```
  }];
  let arguments = (ins Variadic<TransformHandleTypeInterface>:$targets,
                       TransformParamTypeInterface:$size);
  let results = (outs TransformHandleTypeInterface:$buckets);
  let assemblyFormat = [{
    $targets `size` $size attr-dict `:` functional-type(operands, $buckets)
  }];
}

def ScheduleOrderOp : Ccn_Primitive<"order"> {
  let summary = "Says which collective leaves first";
  let description = [{
    Conditions `order_c1` and `order_c2` of the pass `ccn-order`.

    ```mlir
    transform.ccn.order %g2, %g1 : !transform.any_op, !transform.any_op
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> : ...
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> : ...
    ```
    ```mlir
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> {ccn.priority = 0} : ...
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> {ccn.priority = 1} : ...
    ```
  }];
  let arguments = (ins Variadic<TransformHandleTypeInterface>:$targets);
  let assemblyFormat = "$targets attr-dict `:` type($targets)";
}

def ScheduleChooseOp : Ccn_Primitive<"choose"> {
  let summary = "Chooses how a collective, or a kernel that communicates, runs";
  let description = [{
    What is chosen is `algorithm` (a name, the path of a schedule in the synthesizer's
    format, or a dictionary of what `synth(...)` is asked for), `protocol` or `sms`.
    The choice is a param, so that a tuner can make it. Conditions `choose_c1` to
    `choose_c11` of the pass `ccn-choose`.

    ```mlir
    %p = transform.tune.knob<"protocol"> = "ll" from options = ["simple", "ll", "lamport", "push"] -> !transform.any_param
    transform.ccn.choose "protocol" of %avg = %p : !transform.any_op, !transform.any_param
    ```
    Before and after:
    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> : ...
    ```
    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> {ccn.protocol = "ll"} : ...
    ```
  }];
  let arguments = (ins StrAttr:$what, TransformHandleTypeInterface:$target,
                       TransformParamTypeInterface:$choice);
  let assemblyFormat = [{
    $what `of` $target `=` $choice attr-dict `:` type($target) `,` type($choice)
  }];
  let hasVerifier = 1;
}

#endif // CCN_DIALECT_SCHEDULEOPS
