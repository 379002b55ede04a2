//===- PlanOps.td - The plan dialect --------------------------------------===//
//
// What executes on one rank: buffers, kernels made of parts, streams and events.
// It names no target.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_PLANOPS
#define CCN_DIALECT_PLANOPS

include "dialect/ccn/CcnBase.td"
include "dialect/plan/PlanEnums.td"
include "dialect/plan/PlanInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def PlanDialect : Dialect {
  let name = "plan";
  let cppNamespace = "::ccn::plan";
  let summary = "What the ranks of a program execute";
  let description = [{
    A module holds one `plan.program` for each rank. A program has buffers and views
    of them, and launches, each a kernel on a stream; launches of a stream run in
    order, those of different streams at once but for the events that they wait for.

    A launch consists of parts, done one after the other: loops, copies, gathers, barriers,
    matrix products, exchanges. All ranks have the same launches with the same
    parts in the same order; only sizes and places differ.

    Buffers and views are memrefs with strided layouts, in one of four memories:

    | memory | is |
    | --- | --- |
    | `argument` | what the caller passes for an argument or a result |
    | `private` | the rank's own |
    | `symmetric` | the rank's part of memory that all ranks can access, at the same place on all |
    | `scratch` | of the loops of one part, for the rows that they work on |

    **How ranks share memory.** A kernel that accesses another rank's memory, or
    whose memory others access, begins doing so after a barrier of the group and
    ends with one. So what a rank did before the kernel, on that stream or on others
    that it waited for, is over before others write into its memory, and all
    accesses of others are over when the kernel is. Symmetric memory can then be
    reused like any other.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::ccn::CcnDialect"];
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def Plan_MemoryAttr : EnumAttr<PlanDialect, Plan_Memory, "memory"> {
  let assemblyFormat = "`<` $value `>`";
}
def Plan_ArgumentKindAttr : EnumAttr<PlanDialect, Plan_ArgumentKind, "kind"> {
  let assemblyFormat = "$value";
}
def Plan_ExchangeAttr : EnumAttr<PlanDialect, Plan_Exchange, "exchange"> {
  let assemblyFormat = "$value";
}

class Plan_Attr<string name, string attrMnemonic>
    : AttrDef<PlanDialect, name> {
  let mnemonic = attrMnemonic;
}

def Plan_GroupAttr : Plan_Attr<"Group", "group"> {
  let summary = "Ranks that take part in something together";
  let description = [{
    In the order in which reductions combine what they have: `#plan.group<[0, 2]>`.
    A large group is printed once, under a name.

    **Constraints**
    - `group_c1`: there is at least one rank, none is negative, none is there twice.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$ranks);
  let assemblyFormat = "`<` `[` $ranks `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool contains(int64_t rank) const {
      return ::llvm::is_contained(getRanks(), rank);
    }
  }];
}

def Plan_AllAttr : Plan_Attr<"All", "all"> {
  let summary = "An operand of a loop that is in the memory of all of a group";
  let description = [{
    `#plan.all<sum, #plan.group<[0, 1]>>` of an input: what is read is the sum of what
    is there in the memory of the group's members. `#plan.all<#plan.group<[0, 1]>>`
    of an output: it is stored in the memory of all members.

    `#plan.all<sum, #plan.group<[0, 1]>, slots = 8>` of an input: members have put what
    they have in the memory of the rank that reads it, the first one's where the view
    says, and each 8 elements after the one before.
  }];
  let parameters = (ins OptionalParameter<"std::optional<::ccn::ReduceKind>">:$kind,
                        "::ccn::plan::GroupAttr":$group,
                        OptionalParameter<"int64_t">:$slots);
  let hasCustomAssemblyFormat = 1;
}

def Plan_EventType : TypeDef<PlanDialect, "Event"> {
  let mnemonic = "event";
  let summary = "That a launch is done";
}

def Plan_Buffer : MemRefOf<[AnyType]>;

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<PlanDialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Programs and buffers
//===----------------------------------------------------------------------===//

def Plan_PlanOp : Plan_Op<"program", [
    SingleBlock, NoTerminator, NoRegionArguments, IsolatedFromAbove,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "What one rank executes";
  let description = [{
    ```mlir
    plan.program "scale" rank(0) {
      %x = plan.argument inout "x" of tensor<8xf32>
        : memref<8xf32, #plan.memory<argument>>
      %0 = plan.launch "x" stream(0) {
        plan.rows {
          plan.loop @double ins(%x) outs(%x)
            : memref<8xf32, #plan.memory<argument>>, memref<8xf32, #plan.memory<argument>>
        }
      }
    }
    ```

    **Constraints**
    - `plan_c1`: no rank has two programs.
    - `plan_c2`: launches of different streams that access the same memory, one of
      them to write it, are ordered by events.
    - `plan_c3`: private and symmetric buffers have places, or none has; where they
      have, no launch has a segment and no copy is a store.
    - `plan_c4`: no two barriers, signals and awaits use the same flag, but for the
      await of a signal.
    - `plan_c5`: all ranks have the same launches with the same parts, streams and
      events, symmetric buffers of the same sizes and places, and the same flags; and
      every signal has its await.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$rank);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `rank` `(` $rank `)` attr-dict-with-keyword $body
  }];
}

def Plan_ArgumentOp : Plan_Op<"argument", [Pure, HasParent<"PlanOp">]> {
  let summary = "What the caller passes for an argument or a result";
  let description = [{
    The part that this rank holds, row-major. `global` is the type of the whole, layout
    included. What is `scattered` the caller has as a list of buffers.

    **Constraints**
    - `argument_c1`: it is in the memory `argument`, contiguous, and of the shape of
      the rank's part of `global`.
  }];
  let arguments = (ins Plan_ArgumentKindAttr:$kind, StrAttr:$name, TypeAttr:$global,
                       UnitAttr:$scattered);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = [{
    $kind $name `of` $global (`scattered` $scattered^)? attr-dict `:` type($buffer)
  }];
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_Op<"buffer", [Pure, ParentOneOf<["PlanOp", "RowsOp"]>]> {
  let summary = "Memory that the plan uses";
  let description = [{
    `at` is where it begins in its memory, in bytes, once `plan-place-buffers` has
    placed it. Buffers that are not used at the same time may be in the same bytes.

    **Constraints**
    - `buffer_c1`: it is in the memory `private` or `symmetric`, or in a
      `plan.rows` and in `scratch`; and contiguous.
    - `buffer_c2`: `at` is a multiple of 64; scratch has none.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$at);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "(`at` $at^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view", [Pure]> {
  let summary = "Part of a buffer, in strides";
  let description = [{
    The result's type says where it begins and with what strides, in elements of the
    buffer. With `rank` it is in that rank's memory.

    **Constraints**
    - `view_c1`: element type and memory are the buffer's, which is not a view itself.
    - `view_c2`: it lies within the buffer.
    - `view_c3`: `rank` is not negative, and the memory symmetric if there is one.
  }];
  let arguments = (ins Plan_Buffer:$buffer, OptionalAttr<I64Attr>:$rank);
  let results = (outs Plan_Buffer:$view);
  let assemblyFormat = [{
    $buffer (`rank` `(` $rank^ `)`)? attr-dict `:` type($buffer) `to` type($view)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Launches and their parts
//===----------------------------------------------------------------------===//

def Plan_LaunchOp : Plan_Op<"launch", [
    SingleBlock, NoTerminator, NoRegionArguments, HasParent<"PlanOp">]> {
  let summary = "One kernel on a stream";
  let description = [{
    Runs its parts one after the other, once everything before it on the stream and
    everything that it waits for is done.

    Until buffers have places, `segment` says which segment of the program a launch is
    of. Launches of one segment may run at once where streams and events let them;
    those of another segment run when all of the segments before are done, which
    `plan-connect-segments` says by events.

    **Constraints**
    - `launch_c1`: the stream's number is not negative.
    - `launch_c2`: it holds parts only.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$stream, OptionalAttr<I64Attr>:$segment,
                       Variadic<Plan_EventType>:$waits);
  let results = (outs Plan_EventType:$done);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `stream` `(` $stream `)` (`segment` `(` $segment^ `)`)?
    (`waits` `(` $waits^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Makes it wait for events of these launches alone, each once, in the order of
    /// the launches.
    void setWaits(::llvm::ArrayRef<::mlir::Value> events);
    /// Makes it wait for the event of one more.
    void waitFor(LaunchOp launch);
  }];
}

class Plan_Part<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat(traits, [HasParent<"LaunchOp">,
                                             Plan_PartOpInterface])>;

def Plan_RowsOp : Plan_Op<"rows", [
    SingleBlock, NoTerminator, NoRegionArguments, HasParent<"LaunchOp">,
    DeclareOpInterfaceMethods<Plan_PartOpInterface, ["getAccesses"]>]> {
  let summary = "Loops over the same rows";
  let description = [{
    Rows are taken in blocks, each of which goes through all loops before the next.

    **Constraints**
    - `rows_c1`: it holds loops, at least one, and scratch buffers and their views.
    - `rows_c2`: the first dimension of all loops has the same size.
    - `rows_c3`: what a loop reads of what an earlier loop writes it reads in the same
      rows.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Plan_LoopOp : Plan_Op<"loop", [
    HasParent<"RowsOp">, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<Plan_PartOpInterface, ["getAccesses"]>]> {
  let summary = "A loop nest over a body";
  let description = [{
    For each index, reads the inputs, calls the body, and writes the outputs. The body
    is a `func.func` over scalars; integers in it are signless, and bool is `i1`. After
    the inputs it takes the positions of `indices`: `[offset, stride...]` each, the
    sum of offset and index times stride, as `i64`. After its results it returns an
    `i1` for each of its `plan.failures`, which says that it failed.

    The last `reduced` dimensions are reduced, and each output then says how, by
    `reductions`; `divisors` are those of means.

    `takes` and `gives` say which inputs and outputs are in the memory of all of a
    group; `unit` stands for those that are not.

    **Constraints**
    - `loop_c1`: inputs and outputs are of one shape, not of rank 0; an output's
      strides of dimensions of more than one element are 0 where they are reduced and
      only there.
    - `loop_c2`: not all dimensions are reduced.
    - `loop_c3`: the body is a function of the module that takes and returns
      the element types.
    - `loop_c4`: `takes` and `gives` are as many as inputs and outputs, or none;
      an input in all memories has a kind of reduction, an output has neither that nor
      slots; both are symmetric and contain the rank; slots lie within their buffer.
    - `loop_c5`: there is a reduction for each output, with a divisor, if dimensions are
      reduced; none else.
    - `loop_c6`: each of `indices` has an offset and a stride for each dimension.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, Variadic<Plan_Buffer>:$inputs,
                       Variadic<Plan_Buffer>:$outputs,
                       DefaultValuedAttr<I64Attr, "0">:$reduced,
                       OptionalAttr<ArrayAttr>:$reductions,
                       OptionalAttr<DenseF64ArrayAttr>:$divisors,
                       OptionalAttr<ArrayAttr>:$takes, OptionalAttr<ArrayAttr>:$gives,
                       OptionalAttr<ArrayAttr>:$indices);
  let assemblyFormat = [{
    $body `ins` `(` $inputs `)` `outs` `(` $outputs `)`
    (`reduced` `(` $reduced^ `)`)? (`by` $reductions^ `over` $divisors)?
    (`takes` $takes^)? (`gives` $gives^)? (`indices` $indices^)? attr-dict
    (`:` type($inputs)^)? `->` type($outputs)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getSizes();
    /// How input `i` is combined from all of a group; null if it is not.
    ::ccn::plan::AllAttr getTaken(unsigned i);
    /// In whose memory output `i` is stored; null if in the own.
    ::ccn::plan::AllAttr getGiven(unsigned i);
    bool readsInOrder(::mlir::OpOperand &) { return true; }
  }];
}

def Plan_CopyOp : Plan_Part<"copy", [AllShapesMatch<["from", "to"]>]> {
  let summary = "Copies elements";
  let description = [{
    Until buffers have places, `store` marks what stores the value of an argument or a
    result there; where the value can be made there in the first place,
    `plan-forward-stores` removes the copy.

    **Constraints**
    - `copy_c1`: element types and shapes are the same, and one of the two is in the
      own memory.
  }];
  let arguments = (ins Plan_Buffer:$from, Plan_Buffer:$to, UnitAttr:$store);
  let assemblyFormat = [{
    $from `to` $to (`store` $store^)? attr-dict `:` type($from) `to` type($to)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool readsInOrder(::mlir::OpOperand &) { return true; }
  }];
}

def Plan_GatherPartOp : Plan_Part<"gather", [
    AllShapesMatch<["from", "to"]>,
    DeclareOpInterfaceMethods<Plan_PartOpInterface, ["getAccesses"]>]> {
  let summary = "Copies pieces of one size from members of a group";
  let description = [{
    The pieces form a grid of `counts`. The piece at index `i` of the grid comes from
    the member whose number in the group is `first` plus the sum of `i` times `members`.
    It is read in that member's memory, as far from the view `from` as the sum of `i`
    times `reads` says, in elements, and written as far from the view `to` as the sum of
    `i` times `writes` says.

    In a group of 32, this copies two elements of each member to its place in a row:

    ```mlir
    plan.gather %own to %all among #group first(0) counts [32] members [1]
      reads [0] writes [2]
      : memref<2xf32, #plan.memory<symmetric>> to memref<2xf32, #plan.memory<private>>
    ```

    The operation is the same on all ranks of such a group, and so are its views: the
    rank's own piece is read like the others. Pieces of another size, such as the last
    slices of a tensor, are another part.

    **Constraints**
    - `gather_c1`: element types and shapes are the same, and both views are in the own
      memory, `from` in symmetric memory and in another buffer than `to`.
    - `gather_c2`: the rank is a member; `counts`, `members`, `reads` and `writes` are of
      one length, counts at least 1 and steps not negative; all pieces come from
      members.
    - `gather_c3`: pieces have elements, and lie within the buffers; no two are written
      in the same place.
  }];
  let arguments = (ins Plan_Buffer:$from, Plan_Buffer:$to, Plan_GroupAttr:$group,
                       I64Attr:$first, DenseI64ArrayAttr:$counts,
                       DenseI64ArrayAttr:$members, DenseI64ArrayAttr:$reads,
                       DenseI64ArrayAttr:$writes);
  let assemblyFormat = [{
    $from `to` $to `among` $group `first` `(` $first `)` `counts` $counts
    `members` $members `reads` $reads `writes` $writes attr-dict
    `:` type($from) `to` type($to)
  }];
  let hasVerifier = 1;
}

def Plan_BarrierOp : Plan_Part<"barrier"> {
  let summary = "Nobody goes on before all members have come";
  let description = [{
    What each member did before is visible to all after. `flags` is the first of as
    many flags as the group has members.

    **Constraints**
    - `barrier_c1`: the rank is a member.
  }];
  let arguments = (ins Plan_GroupAttr:$group, I64Attr:$flags);
  let assemblyFormat = "$group `flags` `(` $flags `)` attr-dict";
  let hasVerifier = 1;
}

def Plan_SignalOp : Plan_Part<"signal"> {
  let summary = "Tells a rank that all that was done before is done";
  let arguments = (ins I64Attr:$rank, I64Attr:$flag);
  let assemblyFormat = "`rank` `(` $rank `)` `flag` `(` $flag `)` attr-dict";
}

def Plan_AwaitOp : Plan_Part<"await"> {
  let summary = "Waits for a signal of a rank";
  let arguments = (ins I64Attr:$rank, I64Attr:$flag);
  let assemblyFormat = "`rank` `(` $rank `)` `flag` `(` $flag `)` attr-dict";
}

def Plan_MatmulPartOp : Plan_Part<"matmul"> {
  let summary = "A matrix product, or a batch of them";
  let description = [{
    `c = a b`, of views of shape [batch..., m, k], [batch..., k, n] and [batch..., m, n].

    **Constraints**
    - `matmul_c1`: the shapes fit, and the element types are the same.
  }];
  let arguments = (ins Plan_Buffer:$a, Plan_Buffer:$b, Plan_Buffer:$c);
  let assemblyFormat = [{
    $a `,` $b `to` $c attr-dict `:` type($a) `,` type($b) `to` type($c)
  }];
  let hasVerifier = 1;
}

def Plan_Conv2dPartOp : Plan_Part<"conv2d"> {
  let summary = "A convolution";
  let description = [{
    As `ccn.conv2d`; all views are contiguous.

    **Constraints**
    - `conv2d_c1`: the element types are the same, of rank 4.
  }];
  let arguments = (ins Plan_Buffer:$x, Plan_Buffer:$w, Plan_Buffer:$y, I64Attr:$stride,
                       I64Attr:$padding);
  let assemblyFormat = [{
    $x `,` $w `to` $y `stride` $stride `padding` $padding attr-dict
    `:` type($x) `,` type($w) `to` type($y)
  }];
  let hasVerifier = 1;
}

def Plan_GatherRowsPartOp : Plan_Part<"gather_rows"> {
  let summary = "Takes rows of a table";
  let description = [{
    As `ccn.gather_rows`; all views are contiguous.

    **Constraints**
    - `gather_rows_c1`: the rows fit, of one element type; the indices are integers.
  }];
  let arguments = (ins Plan_Buffer:$table, Plan_Buffer:$indices, Plan_Buffer:$to);
  let assemblyFormat = [{
    $table `at` $indices `to` $to attr-dict
    `:` type($table) `,` type($indices) `to` type($to)
  }];
  let hasVerifier = 1;
}

def Plan_ScatterRowsPartOp : Plan_Part<"scatter_rows"> {
  let summary = "Adds rows to rows of a table";
  let description = [{
    As `ccn.scatter_rows`; all views are contiguous.

    **Constraints**
    - `scatter_rows_c1`: the rows fit; all but the indices are of one element type.
  }];
  let arguments = (ins Plan_Buffer:$table, Plan_Buffer:$indices, Plan_Buffer:$rows,
                       Plan_Buffer:$to);
  let assemblyFormat = [{
    $rows `at` $indices `into` $table `to` $to attr-dict
    `:` type($rows) `,` type($indices) `,` type($table) `to` type($to)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool readsInOrder(::mlir::OpOperand &operand) { return &operand == &getTableMutable(); }
  }];
}

def Plan_ExchangeOp : Plan_Part<"exchange"> {
  let summary = "A collective with a protocol of its own";
  let description = [{
    `ll` and `lamport` are one-shot all_reduces; `schedule` executes a `ccn.algorithm`
    in chunks. It has flags and buffers of its own; `largest` is the largest number
    of elements that any group has.

    **Constraints**
    - `exchange_c1`: both views are contiguous, of one element type.
    - `exchange_c2`: the rank is a member.
    - `exchange_c3`: there is an algorithm, which the module has, with `schedule` and only
      then.
  }];
  let arguments = (ins Plan_ExchangeAttr:$exchange, Ccn_ReduceKindAttr:$kind,
                       Plan_GroupAttr:$group, I64Attr:$largest,
                       OptionalAttr<FlatSymbolRefAttr>:$algorithm,
                       Plan_Buffer:$from, Plan_Buffer:$to);
  let assemblyFormat = [{
    $exchange (`schedule` $algorithm^)? `with` $kind $from `to` $to `among` $group
    `largest` `(` $largest `)` attr-dict `:` type($from) `to` type($to)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool readsInOrder(::mlir::OpOperand &) { return true; }
  }];
}

#endif // CCN_DIALECT_PLANOPS
