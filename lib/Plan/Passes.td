//===- Passes.td - Passes over plans --------------------------------------===//
#ifndef CCN_LIB_PLAN_PASSES
#define CCN_LIB_PLAN_PASSES

include "mlir/Pass/PassBase.td"

// In the order in which the phase `plan` runs them.

def ForwardStores : Pass<"plan-forward-stores", "::mlir::ModuleOp"> {
  let summary = "Makes values in the arguments and results that they are stored in";
  let description = [{
    A copy marked `store` puts a value in an argument or a result. Where the value
    has a private buffer of its own, and nothing needs the argument's old content
    once the value is being made, the value is made in the argument and the copy goes.
    A copy of what is there already goes too. Either happens on all ranks or on none,
    so that all have the same parts. Launches that have no parts on any rank, and that
    no launch waits for, go as well.

    ```mlir
    %x = plan.argument inout "x" of tensor<8xf32> : memref<8xf32, #plan.memory<argument>>
    %0 = plan.buffer : memref<8xf32, #plan.memory<private>>
    %1 = plan.launch "x" stream(0) segment(0) {
      plan.rows {
        plan.loop @double ins(%x) outs(%0) : (...)
      }
      plan.copy %0 to %x store : (...)
    }
    ```
    becomes
    ```mlir
    %1 = plan.launch "x" stream(0) segment(0) {
      plan.rows {
        plan.loop @double ins(%x) outs(%x) : (...)
      }
    }
    ```

    Fails if the ranks' plans do not fit each other (`plan_c5`), or some have more
    stores than others.
  }];
}

def ConnectSegments : Pass<"plan-connect-segments", "::ccn::plan::PlanOp"> {
  let summary = "Makes launches wait for the segment before theirs";
  let description = [{
    The first launch that a segment has on each stream waits for the last launch of
    every other stream in the segment before. Later launches of the stream follow the
    first.

    ```mlir
    %0 = plan.launch "a" stream(0) segment(0) { ... }
    %1 = plan.launch "b" stream(1) segment(0) { ... }
    %2 = plan.launch "c" stream(0) segment(1) { ... }
    ```
    becomes
    ```mlir
    %0 = plan.launch "a" stream(0) segment(0) { ... }
    %1 = plan.launch "b" stream(1) segment(0) { ... }
    %2 = plan.launch "c" stream(0) segment(1) waits(%1) { ... }
    ```
  }];
}

def JoinLoops : Pass<"plan-join-loops", "::ccn::plan::PlanOp"> {
  let summary = "Joins loops over the same rows into one part";
  let description = [{
    - Loops that follow each other in a launch, and of which each row needs only the
      same row of the others, become one `plan.rows`.
    - A private buffer that only one part uses, whose loops make all of it before
      others read it, row by row, becomes scratch of that part.
    - Dimensions that follow each other in memory in all views of a loop become one.
    - Loops over nothing go.

    ```mlir
    %0 = plan.buffer : memref<4x8xf32, #plan.memory<private>>
    %1 = plan.launch "y" stream(0) {
      plan.rows {
        plan.loop @double ins(%x) outs(%0) : memref<4x8xf32, ...
      }
      plan.rows {
        plan.loop @double ins(%0) outs(%y) : memref<4x8xf32, ...
      }
    }
    ```
    becomes
    ```mlir
    %1 = plan.launch "y" stream(0) {
      plan.rows {
        %0 = plan.buffer : memref<32xf32, #plan.memory<scratch>>
        plan.loop @double ins(%x) outs(%0) : memref<32xf32, ...
        plan.loop @double ins(%0) outs(%y) : memref<32xf32, ...
      }
    }
    ```
  }];
}

def PlaceBuffers : Pass<"plan-place-buffers", "::mlir::ModuleOp"> {
  let summary = "Gives buffers their places in memory";
  let description = [{
    Each private and symmetric buffer gets the first place that is free while it is
    used, the largest buffers first. A buffer is used from the first launch that
    accesses it to the last; where a segment has launches on several streams, in
    all of the segment. Symmetric buffers have the same place on all ranks. Buffers that
    no launch uses, of symmetric ones on any rank, go; so do segments and marks of
    stores, which no pass needs any more.

    ```mlir
    %0 = plan.buffer : memref<8xf32, #plan.memory<private>>
    %1 = plan.buffer : memref<8xf32, #plan.memory<private>>
    ```
    becomes, if both are used at once,
    ```mlir
    %0 = plan.buffer at 0 : memref<8xf32, #plan.memory<private>>
    %1 = plan.buffer at 64 : memref<8xf32, #plan.memory<private>>
    ```

    Fails if the ranks' plans do not fit each other (`plan_c5`).
  }];
}

def VerifyPlans : Pass<"plan-verify", "::mlir::ModuleOp"> {
  let summary = "Checks what holds between the launches and the ranks of plans";
  let description = [{
    Runs the verifiers of all operations, and checks the constraints `plan_c1` to
    `plan_c5` of `plan.program`, which no verifier of one operation can check. The phase
    `plan` ends with this pass. Changes nothing.
  }];
}

#endif // CCN_LIB_PLAN_PASSES
