//===- Passes.td - Passes over ccn programs -------------------------------===//
#ifndef CCN_LIB_TRANSFORMS_PASSES
#define CCN_LIB_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

// Passes have no statistics: Debian's MLIR prints none, and their size differs
// between its build and a debug build of ours.

def LowerReshard : Pass<"ccn-lower-reshard", "::ccn::ProgramOp"> {
  let summary = "Replaces reshards by the cheapest sequence of collectives";
  let description = [{
    Finds, by Dijkstra's algorithm over layouts, the sequence of slices, gathers,
    all_to_alls and reductions that brings a tensor to the layout asked for while
    each rank receives the fewest bytes; among equals, the one of the fewest
    steps. Steps of one kind that follow each other become one collective along
    several axes. An axis along which the tensor is replicated before and after
    takes no part. Where a mesh of many axes allows more layouts than can be
    searched, the way is reductions, then gathers, then slices.

    ```mlir
    %1 = ccn.reshard %0 : tensor<8x8xf32, #ccn.layout<@m, [{"tp"}, {} ]>>
        to tensor<8x8xf32, #ccn.layout<@m, [{}, {"tp"} ]>>
    ```
    becomes
    ```mlir
    %1 = ccn.all_to_all %0 from 0 to 1 along <@m, ["tp"]> : (...) -> ...
    ```

    A reshard that only lets a partial or replicated value serve as a local one
    moves nothing and is kept; one that changes nothing is removed.
  }];
}

def Simplify : Pass<"ccn-simplify", "::ccn::ProgramOp"> {
  let summary = "Applies identities, and computes once what is there twice";
  let description = [{
    Canonicalization and elimination of common subexpressions, before the
    schedule, because the identities would undo what it splits. A name of the
    program whose operations are all gone then is in the program's attribute
    `ccn.folded`, with the reason, until the schedule was applied.

    ```mlir
    %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["dp"]> {ccn.let = "y"} : (...) -> ...
    %1 = ccn.all_gather %0 along <@m, ["dp"]> {ccn.let = "z"} : (...) -> ...
    ```
    becomes
    ```mlir
    %0 = ccn.all_reduce sum %x along <@m, ["dp"]> {ccn.let = "z"} : (...) -> ...
    ```
    and the program has `ccn.folded = {y = "its reduce_scatter became part of the
    all_reduce of 'z'"}`.

    With `scheduled`, which is for after the schedule, what is there twice or has no
    use goes, no identity is applied, and `ccn.folded` goes too.
  }];
  let options = [Option<"isScheduled", "scheduled", "bool", /*default=*/"false",
      "The schedule was applied: keep what it made, and drop the reasons">];
}

def Split : Pass<"ccn-split", "::ccn::ProgramOp"> {
  let summary = "Splits an all_reduce into two or three collectives";
  let description = [{
    `rs_ag` makes a reduce_scatter of dimension 0 and an all_gather,
    `reduce_broadcast` a reduce to rank 0 of the axis and a broadcast,
    `hierarchical` a reduce_scatter along the last axis, an all_reduce along the
    others, and an all_gather along the last. Between its two reductions, sums and
    products of 16- and 8-bit floats are in f32, so that they are rounded once: the
    reduce_scatter takes a cast, and the all_reduce's result is cast back.

    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> {ccn.let = "avg"} : ...
    ```
    becomes, with `value=avg`,
    ```mlir
    %1 = ccn.reduce_scatter sum %0 into 0 along <@m, ["dp"]> {ccn.let = "avg"} : ...
    %2 = ccn.all_gather %1 along <@m, ["dp"]> {ccn.let = "avg"} : ...
    ```

    **Conditions**
    - `split_c1`: the value holds one all_reduce.
    - `split_c2`: to scatter, the tensor has a dimension.
    - `split_c3`: `reduce_broadcast` goes along one axis.
    - `split_c4`: `hierarchical` goes along two axes or more.
    - `split_c5`: the all_reduce is in no region.
    - `split_c6`: `hierarchical` of 16- or 8-bit floats leaves no reduction
      pending along other axes.
  }];
  let options = [
    Option<"value", "value", "std::string", /*default=*/"",
           "The name of the value to split">,
    Option<"form", "form", "std::string", /*default=*/"\"rs_ag\"",
           "rs_ag, reduce_broadcast or hierarchical">
  ];
}

def Reorder : Pass<"ccn-reorder", "::ccn::ProgramOp"> {
  let summary = "Moves an all_gather below computations, which run on slices";
  let description = [{
    Everything between the all_gather and the values named runs on the slices that
    the all_gather takes. What is needed whole is gathered where it is made: by a
    store to an argument that is not sliced, a result, or an operation outside.
    A reduction across the slices gets its all_reduce, up to which sums and products of
    16- and 8-bit floats (not of matrices) stay in f32. Inputs that are replicated
    are sliced for free.

    ```mlir
    %1 = ccn.all_gather %0 along <@m, ["dp"]> {ccn.let = "ag"} : ...
    %2 = ccn.mul %1, %lr {ccn.let = "p"} : ...
    %3 = ccn.update %p with %2 {ccn.let = "p"} : tensor<8xf32>
    ```
    becomes, with `value=ag after=p`,
    ```mlir
    %2 = ccn.mul %0, %lr {ccn.let = "p"} : ...
    %1 = ccn.all_gather %2 along <@m, ["dp"]> {ccn.let = "p"} : ...
    %3 = ccn.update %p with %1 {ccn.let = "p"} : tensor<8xf32>
    ```

    **Conditions**
    - `reorder_c1`: the value holds one all_gather.
    - `reorder_c2`: each value after it depends on it.
    - `reorder_c3`: all operations between can run on slices of that dimension.
    - `reorder_c4`: none of them is in a fused region.
  }];
  let options = [
    Option<"value", "value", "std::string", /*default=*/"",
           "The name of the value that holds the all_gather">,
    ListOption<"after", "after", "std::string",
               "The names of the values below which it moves">
  ];
}

def SliceState : Pass<"ccn-slice-state", "::ccn::ProgramOp"> {
  let summary = "Stores inout arguments in slices";
  let description = [{
    An inout argument of which every rank uses its slice only is declared
    sliced; the gathers before its stores go.

    ```mlir
    ccn.program @f(%m: tensor<8xf32> {ccn.inout, ccn.name = "m"}, ...) {
      %1 = ccn.all_gather %0 along <@m, ["dp"]> : ...
      %2 = ccn.update %m with %1 : tensor<8xf32>
    ```
    becomes, with `arguments=m`,
    ```mlir
    ccn.program @f(%m: tensor<8xf32, #ccn.layout<@m, [{"dp"} ]>> {ccn.inout, ccn.name = "m"}, ...) {
      %2 = ccn.update %m with %0 : ...
    ```

    **Conditions**
    - `slice_state_c1`: it is an inout argument.
    - `slice_state_c2`: it is stored to, and every store is a gather of slices that
      are cut in the same way.
    - `slice_state_c3`: every other use needs its slice only.
    - `slice_state_c4`: it is not scattered, as lists of buffers are not cut.
  }];
  let options = [
    ListOption<"arguments", "arguments", "std::string",
               "The names of the arguments">
  ];
}

def Fuse : Pass<"ccn-fuse", "::ccn::ProgramOp"> {
  let summary = "Makes operations one kernel";
  let description = [{
    Puts the operations into a `ccn.fused` region, whose skeleton is found from
    what they are. Stores stay behind the region: the kernel writes what they store.

    ```mlir
    %1 = ccn.exp %0 {ccn.let = "a"} : ...
    %2 = ccn.add %1, %0 {ccn.let = "b"} : ...
    ```
    becomes, with `values=a,b`,
    ```mlir
    %2 = ccn.fused elementwise {
      %1 = ccn.exp %0 {ccn.let = "a"} : ...
      %3 = ccn.add %1, %0 {ccn.let = "b"} : ...
      ccn.yield %3 : tensor<8xf32>
    } : tensor<8xf32>
    ```

    **Conditions**
    - `fuse_c1`: there are two operations at least, none in a fused region.
    - `fuse_c2`: they are connected by the values that they make and use, unless
      all are collectives of one kind.
    - `fuse_c3`: no path of the program leaves the set and comes back.
    - `fuse_c4`: one skeleton fits (see `ccn.fused`).

    None of them is a collective that NCCL is to run (`choose_c3`).
  }];
  let options = [
    ListOption<"values", "values", "std::string", "The names of the values">
  ];
}

def Overlap : Pass<"ccn-overlap", "::ccn::ProgramOp"> {
  let summary = "Runs producers and consumers at once, chunk by chunk";
  let description = [{
    Puts a chain of computations, collectives and fused kernels into a
    `ccn.overlapped` region, a pipeline: a product runs on chunk i + 1 while chunk i
    is reduced. The dimension is found; the outermost one is taken that has enough
    elements for all ranks and chunks. What is the same in every chunk is made
    before. If the chain begins with an all_gather, or ends with a reduction, along
    one axis, ranks go around that axis (`ring`), so that each block is made, or
    needed, in turn.

    ```mlir
    %1 = ccn.matmul %x, %w {ccn.let = "part"} : ...
    %2 = ccn.all_reduce sum %1 along <@m, ["tp"]> {ccn.let = "y"} : ...
    ```
    becomes, with `values=part,y chunks=4`,
    ```mlir
    %2 = ccn.overlapped chunks(4) dims [0] ring("tp") {
      %1 = ccn.matmul %x, %w {ccn.let = "part"} : ...
      %3 = ccn.all_reduce sum %1 along <@m, ["tp"]> {ccn.let = "y"} : ...
      ccn.yield %3 : tensor<8x8xf32>
    } : tensor<8x8xf32>
    ```

    **Conditions**
    - `overlap_c1`: there are two values at least, none in a region; a fused
      kernel is one.
    - `overlap_c2`: each value is made from the one before it.
    - `overlap_c3`: no path of the program leaves them and comes back.
    - `overlap_c4`: at least one communicates.
    - `overlap_c5`: there is a dimension along which all can be made in chunks.
    - `overlap_c6`: there are from 1 to 65536 chunks.
  }];
  let options = [
    ListOption<"values", "values", "std::string",
               "The names of the values, in the order of the chain">,
    Option<"chunks", "chunks", "int64_t", /*default=*/"4",
           "The number of chunks of a block">
  ];
}

def Bucket : Pass<"ccn-bucket", "::ccn::ProgramOp"> {
  let summary = "Makes many collectives few launches, and large ones several";
  let description = [{
    Collectives share a launch until their tensors, as ranks hold them, have `size`
    bytes. A tensor larger than that is cut into pieces along its first dimension
    that no axis cuts, if it is all_reduced, reduced, broadcast or sent; otherwise
    it is a bucket of its own. Nothing is copied together.

    ```mlir
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> {ccn.let = "g1"} : ...
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> {ccn.let = "g2"} : ...
    ```
    becomes, with `values=g1,g2 size=1000000`,
    ```mlir
    %2:2 = ccn.fused collectives {
      %1 = ccn.all_reduce sum %a along <@m, ["dp"]> {ccn.let = "g1"} : ...
      %3 = ccn.all_reduce sum %b along <@m, ["dp"]> {ccn.let = "g2"} : ...
      ccn.yield %1, %3 : tensor<8xf32>, tensor<8xf32>
    } : tensor<8xf32>, tensor<8xf32>
    ```

    **Conditions**
    - `bucket_c1`: each value holds one collective that is in no region.
    - `bucket_c2`: all are the same operation, with the same attributes, element
      type and axes.
    - `bucket_c3`: none is made from another.

    None of several is one that NCCL is to run (`choose_c3`).
  }];
  let options = [
    ListOption<"values", "values", "std::string",
               "The names of the values, in the order of the buckets">,
    Option<"size", "size", "int64_t", /*default=*/"26214400",
           "The bytes of a bucket">
  ];
}

def Order : Pass<"ccn-order", "::ccn::ProgramOp"> {
  let summary = "Says which collective leaves first";
  let description = [{
    Gives collectives priorities, 0 first, and places each as soon as what it sends
    is there; of those that are ready at once the first named comes first. None
    waits for another that is not ready.

    ```mlir
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> {ccn.let = "g1"} : ...
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> {ccn.let = "g2"} : ...
    ```
    becomes, with `values=g2,g1`,
    ```mlir
    %2 = ccn.all_reduce sum %b along <@m, ["dp"]> {ccn.let = "g2", ccn.priority = 0} : ...
    %1 = ccn.all_reduce sum %a along <@m, ["dp"]> {ccn.let = "g1", ccn.priority = 1} : ...
    ```

    **Conditions**
    - `order_c1`: each value holds one collective, or one kernel that communicates;
      none is named twice.
    - `order_c2`: none is made from one that is named after it.
  }];
  let options = [
    ListOption<"values", "values", "std::string",
               "The names of the values, the most urgent first">
  ];
}

def Choose : Pass<"ccn-choose", "::mlir::ModuleOp"> {
  let summary = "Chooses how a collective, or a kernel that communicates, runs";
  let description = [{
    What is chosen is `algorithm` (a name, or the path of a schedule in the
    synthesizer's format), `protocol` or `sms`; the dialect's page says what there
    is to choose from. A schedule becomes a `ccn.algorithm` of the module.

    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> {ccn.let = "avg"} : ...
    ```
    becomes, with `what=protocol value=avg choice=ll`, in each program that has the value,
    ```mlir
    %1 = ccn.all_reduce sum %0 along <@m, ["dp"]> {ccn.let = "avg", ccn.protocol = "ll"} : ...
    ```

    **Conditions**
    - `choose_c1`: the value holds one collective, or one kernel that communicates.
    - `choose_c2`: the algorithm implements that collective; in a kernel, all. A
      schedule in a file is for those in the kernel that it implements.
    - `choose_c3`: NCCL runs a collective that is not in a kernel.
    - `choose_c4`: a schedule's file can be read and is right.
    - `choose_c5`: it is for the same collective on as many ranks.
    - `choose_c6`: `lamport` marks what has not arrived by a value of its own, so
      that elements are f64, f32, f16 or bf16.
    - `choose_c7`: NCCL chooses its own protocols.
    - `choose_c8`: there are from 1 to 1024 SMs.
    - `choose_c9`: the synthesizer finds a schedule for the topology, which has as
      many GPUs, in time.
    - `choose_c10`: a schedule forms a sum or product of floats, which rounds, in
      the same order for all ranks that get it; else what should be replicated
      would differ between them.
    - `choose_c11`: `ll` and `lamport` are protocols of all_reduces in `one_shot`, `push`
      of those in `two_shot` and of `direct` reduce_scatters: the value holds one, and no
      other algorithm is chosen for that or for the kernel that it is in.
  }];
  let options = [
    Option<"what", "what", "std::string", /*default=*/"\"algorithm\"",
           "algorithm, protocol or sms">,
    Option<"value", "value", "std::string", /*default=*/"",
           "The name of the value that holds the collective">,
    Option<"choice", "choice", "std::string", /*default=*/"", "What is chosen">
  ];
}

def Localize : Pass<"ccn-localize", "::ccn::ProgramOp"> {
  let summary = "Makes a program what one rank of the mesh executes";
  let description = [{
    Every type becomes that of the part that the rank holds, without an encoding.
    Arguments and results keep the global type as `ccn.global`. Operations stay
    what they are, with positions in the whole tensor where they depend on them; an
    operand that is less cut than the operation's loops is cut by a `ccn.extract`,
    and so is what a `ccn.slice` cut. Elementwise operations and broadcasts of which
    only parts are used, together no more than the whole, make these alone: their
    operands are cut, not what they make. Collectives become `ccn.communicate`. A
    reshard, which only let a value serve as a local one, is dropped; in a region it
    becomes a `ccn.reshape` to the same shape. The programs of all ranks have the same
    operations in the same order, so each rank may localize its own.

    ```mlir
    ccn.program @f(%x: tensor<5xf32, #ccn.layout<@m, [{"dp"} ]>> {ccn.name = "x"},
                   %y: tensor<5xf32> {ccn.name = "y"}) {
      %0 = ccn.add %x, %y {ccn.let = "s"} : ...
      %1 = ccn.all_gather %0 along <@m, ["dp"]> {ccn.let = "w"} : ...
    ```
    becomes, on two ranks with `rank=1`,
    ```mlir
    ccn.program @f(%x: tensor<2xf32> {ccn.global = tensor<5xf32, ...>, ccn.name = "x"},
                   %y: tensor<5xf32> {ccn.global = tensor<5xf32>, ccn.name = "y"})
        attributes {ccn.rank = 1 : i64} {
      %0 = ccn.extract %y at 0 from 3 to 5 : (tensor<5xf32>) -> tensor<2xf32>
      %1 = ccn.add %x, %0 {ccn.let = "s"} : ...
      %2 = ccn.communicate all_gather %1 along <@m, ["dp"]> channel 0
          from tensor<5xf32, ...> to tensor<5xf32> {ccn.let = "w"}
          : (tensor<2xf32>) -> tensor<5xf32>
    ```

    **Conditions**
    - `localize_c1`: the program is not localized.
    - `localize_c2`: the rank is one of the mesh; without a mesh, 0.
    - `localize_c3`: every reshard moves nothing (`ccn-lower-reshard` sees to that).
  }];
  let options = [
    Option<"rank", "rank", "int64_t", /*default=*/"0", "The rank that executes it">
  ];
}

def Select : Pass<"ccn-select", "::mlir::ModuleOp"> {
  let summary = "Gives every collective of localized programs an algorithm";
  let description = [{
    Writes `ccn.algorithm` and `ccn.protocol` on every `ccn.communicate`. What a schedule
    chose stays, for a kernel on everything in it; without a choice it is, by the figures
    of the machines that the compiler has (`lib/Target/README.md`),

    | collective | algorithm, protocol |
    | --- | --- |
    | all_reduce of up to 64 KiB a rank, or on CPUs between two ranks up to 1 MiB, or on GPUs in a kernel up to 8 KiB | `one_shot`, `ll` |
    | other all_reduce of f64, f32, f16 or bf16, on CPUs of up to 1 MiB / ranks * 4, on GPUs between two ranks of up to 32 MiB, or in a kernel 4 MiB, between n of up to 1.125 MiB * n / ((n - 1) (n - 2)) | `one_shot`, `lamport` |
    | other all_reduce in a kernel, of up to 4 KiB, or on GPUs between two ranks | `one_shot`, `simple` |
    | other all_reduce on more than two GPUs, of at least 32 MiB | `two_shot`, `push` |
    | other all_reduce | `two_shot`, `simple` |
    | reduce_scatter on more than two GPUs, of at least 32 MiB | `direct`, `push` |
    | any other | `direct`, `simple` |

    With `simple` ranks read what they combine from where others have it. With `push`
    each sends the others what they combine, to slots that take as much memory as a rank
    sends; kernels of GPUs send in chunks, and combine one, and work on its elements or
    rows, while the next is on its way. What runs in chunks of an overlapped region, or between two ranks, is not
    pushed unless it is chosen; what runs in a ring, or in a kernel behind the product
    that makes it, and what one rank has alone, is not pushed even then.

    On CPUs the first two rows are not for an all_reduce in a kernel, where other
    operations read what `simple` combines from where it is; nor on GPUs in a kernel with
    other collectives, for which ranks meet anyway.

    An all_reduce by `lamport` takes 3 * ranks times its bytes of memory on each rank;
    once those of a program that nobody asked for take 256 MiB, the rest are as if there
    were no `lamport`. The options set other limits; what is compiled to be tuned has plans for several.
    A protocol without an algorithm, `ll` or `lamport`, makes an all_reduce `one_shot`,
    `push` makes it `two_shot`.
    `ring` becomes a `ccn.algorithm` of the module: the chunks go around, as in Patarasuk
    and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
    JPDC 2009. `nccl` stays, and an all_reduce runs as `two_shot`, others as `direct`:
    NCCL carries messages between GPUs, but no target has it add, since it rounds 16-
    and 8-bit floats at each hop of its rings.

    By any algorithm sums and products of 16- and 8-bit floats accumulate in f32 and are
    rounded once. In a schedule what holds some contributions, but not all, travels in
    f32; contributions and whole sums travel as they are.

    All groups choose by the largest part that any of them has, so that all ranks choose
    the same.

    With a `topology`, of as many GPUs as the mesh has ranks, a collective
    without a choice runs by a schedule of the synthesizer if that is predicted to take
    less time than what the table says. Two are looked for, that of the least latency
    and that of the most bandwidth, `seconds` each at most; what is found is kept on
    disk, as with `synth(...)`, and so serves all sizes. Times are those of the
    alpha-beta model: a schedule's as events on the topology's links, the built-in
    algorithms' as the messages that they send at once and, with `simple`, a meeting
    before and after (`lib/CostModel/CollectiveTime.h`); what a schedule carries in f32
    counts as that. A schedule of floats forms each sum in one order for all ranks. Where none is found in time the table holds; remarks
    say so. The groups of a collective along some axes of the mesh take one schedule,
    and the prediction is for all of them at once: a link that several groups use is
    shared. In an overlapped region the size is that of a chunk. Collectives in a
    kernel with a product, and those whose chunks go around a ring, stay with the
    table, too.

    **Conditions**
    - `select_c1`: the topology is one of the synthesizer's, by name, or a right file.
    - `select_c2`: it has as many GPUs as the mesh has ranks.
  }];
  let options = [
    Option<"topology", "topology", "std::string", /*default=*/"",
           "The GPUs and links, by name or file, that collectives get schedules for">,
    Option<"seconds", "seconds", "double", /*default=*/"10",
           "How long each search for a schedule may take">,
    Option<"explains", "explains", "bool", /*default=*/"true",
           "Whether remarks say what was chosen">,
    Option<"target", "target", "::ccn::Target", /*default=*/"",
           "What runs it, as the option of cccompile">,
    Option<"machine", "machine", "::ccn::Machine", /*default=*/"",
           "The figures that the table's limits are of, by name or file, instead of the target's">,
    Option<"llLimit", "ll-limit", "int64_t", /*default=*/"-1",
           "The bytes up to which an all_reduce is one_shot by ll, instead of the table's">,
    Option<"lamportLimit", "lamport-limit", "int64_t", /*default=*/"-1",
           "The bytes up to which a larger one is one_shot by lamport">,
    Option<"kernelLimit", "kernel-limit", "int64_t", /*default=*/"-1",
           "The bytes up to which a larger one in a kernel is one_shot by simple">,
    Option<"pushLimit", "push-limit", "int64_t", /*default=*/"-1",
           "The bytes from which what is combined by other means is pushed">
  ];
}

def Explain : Pass<"ccn-explain", "::mlir::ModuleOp"> {
  let summary = "Says what a schedule could still do, and what is in the way";
  let options = [
    Option<"machine", "machine", "::ccn::Machine", /*default=*/"",
           "The GPUs that sizes are judged by, by name or file">
  ];
  let description = [{
    Tries primitives on copies of each program and makes a remark of each that would
    help: what it saves, or which condition fails. Changes nothing, and does nothing
    unless remarks are enabled.

    - `reorder`: computations after an all_reduce that could run on slices;
    - `overlap`: products that wait for a collective, or collectives for a product;
    - `fuse`: operations that hang together and are in no kernel;
    - `slice_state`: arguments of which every rank needs its slice only;
    - `bucket`: collectives of one kind that take less time than their launch on GPUs
      like the machine's.
  }];
}

#endif // CCN_LIB_TRANSFORMS_PASSES
