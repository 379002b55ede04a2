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

#endif // CCN_LIB_TRANSFORMS_PASSES
