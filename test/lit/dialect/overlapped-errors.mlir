// Each constraint of ccn.overlapped and ccn.algorithm, and of what says how collectives run.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// overlapped_c1
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected at least two operations}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    ccn.yield %0 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c1
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected operations without side effects, and without regions unless they are fused}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    // expected-note @below {{found this}}
    "test.effect"() : () -> ()
    ccn.yield %0 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c2
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected a yield of the result types, one at least}}
  ccn.overlapped chunks(2) dims [] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield
  }
  ccn.return
}

// -----

// overlapped_c2
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected to yield values of the region}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %x : tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  } : tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>
  ccn.return
}

// -----

// overlapped_c3
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}, %y: tensor<4xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.overlapped' op expected operations that take a value in chunks}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    // expected-note @below {{this does not}}
    %1 = ccn.exp %y : (tensor<4xf32>) -> tensor<4xf32>
    ccn.yield %0 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c4
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected an operation that communicates}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c5
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected operations that run in chunks along [0]}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32>
    // expected-note @below {{'reduction' combines elements of several chunks}}
    %1 = ccn.reduction sum %0 over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
    ccn.yield %0 : tensor<8x4xf32>
  } : tensor<8x4xf32>
  ccn.return
}

// -----

// overlapped_c5: the reduction leaves the columns, not the rows
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected a dimension for each of 1 results, found 2}}
  %r = ccn.overlapped chunks(2) dims [0, 0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xf32>
    %1 = ccn.reduction sum %0 over [0] : (tensor<8x4xf32>) -> tensor<4xf32>
    ccn.yield %1 : tensor<4xf32>
  } : tensor<4xf32>
  ccn.return
}

// -----

// overlapped_c6
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected from 1 to 65536 chunks, found 0}}
  %r = ccn.overlapped chunks(0) dims [0] {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c7
ccn.mesh @m ["a" = 2, "b" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected an operation that communicates along 'b'}}
  %r = ccn.overlapped chunks(2) dims [0] ring("b") {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// algorithm_c1
// expected-error @below {{'ccn.algorithm' op expected at least one rank, found 0}}
ccn.algorithm @none "all_reduce" on 0 ranks "{}"

// -----

ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op expected 'ccn.protocol' on what communicates only}}
  %0 = ccn.exp %x {ccn.protocol = "ll"} : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected 'ccn.algorithm' to be one of 'nccl', 'one_shot', 'two_shot', 'direct', 'ring' or a symbol, found "tree"}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> {ccn.algorithm = "tree"} : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  ccn.return
}

// -----

ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected 'ccn.algorithm' to be an algorithm of the module, found @m}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> {ccn.algorithm = @m} : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  ccn.return
}

// -----

ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected 'ccn.protocol' to be 'simple', 'll', 'lamport' or 'push', found "LL"}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> {ccn.protocol = "LL"} : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  ccn.return
}

// -----

ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected 'ccn.sms' to be a 64-bit integer from 1 to 1024, found 0}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> {ccn.sms = 0 : i64} : (tensor<8xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c8: none
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected 'takes' in a program with 'ccn.rank'}}
  %r = ccn.overlapped chunks(2) dims [0] {
    %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c8: in a global program
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.overlapped' op expected no 'takes' in a program without 'ccn.rank'}}
  %r = ccn.overlapped chunks(2) dims [0] takes(%x : tensor<8xf32, #local>, <0 from 0 of 8 in []>) {
    %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c8: beyond the extent
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected to take a part of the extent along a dimension of 'f32[8]', found #ccn.chunked<0 from 1 of 8 in []>}}
  %r = ccn.overlapped chunks(2) dims [0] takes(%x : tensor<8xf32>, <0 from 1 of 8 in []>) {
    %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c8: an axis that the mesh does not have
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected an axis of the mesh, found 'z'}}
  %r = ccn.overlapped chunks(2) dims [0] takes(%x : tensor<8xf32>, <0 from 0 of 8 in ["z"]>) {
    %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c5: another part than the collective's
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<4xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #rows>}) attributes {ccn.rank = 1 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected operations that run in chunks along [0]}}
  %r = ccn.overlapped chunks(2) dims [0] takes(%x : tensor<4xf32>, <0 from 0 of 8 in ["a"]>) {
    // expected-note @below {{'communicate' takes another part than it is given}}
    %0 = ccn.communicate all_gather %x along <@m, ["a"]> channel 0 from tensor<8xf32, #rows> to tensor<8xf32> : (tensor<4xf32>) -> tensor<8xf32>
    %1 = ccn.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %1 : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// overlapped_c5: parts of different places
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<4xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #rows>}) attributes {ccn.rank = 1 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected operations that run in chunks along [0]}}
  %r = ccn.overlapped chunks(2) dims [0] takes(%x : tensor<4xf32>, <0 from 4 of 8 in ["a"]>) {
    %0 = ccn.communicate all_gather %x along <@m, ["a"]> channel 0 from tensor<8xf32, #rows> to tensor<8xf32> : (tensor<4xf32>) -> tensor<8xf32>
    %1 = ccn.extract %0 at 0 from 0 to 4 : (tensor<8xf32>) -> tensor<4xf32>
    // expected-note @below {{'add' takes parts that begin at different places}}
    %2 = ccn.add %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ccn.yield %2 : tensor<4xf32>
  } : tensor<4xf32>
  ccn.return
}

// -----

// overlapped_c5: a dimension that the reshape does not make of what it is given
#cut = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<1x3xf32> {ccn.name = "x", ccn.global = tensor<2x3xf32, #cut>}) attributes {ccn.rank = 1 : i64} {
  // expected-error @below {{'ccn.overlapped' op expected operations that run in chunks along [2]}}
  %r = ccn.overlapped chunks(2) dims [2] takes(%x : tensor<1x3xf32>, <0 from 1 of 2 in ["a"]>) {
    %0 = ccn.communicate all_gather %x along <@m, ["a"]> channel 0 from tensor<2x3xf32, #cut> to tensor<2x3xf32> : (tensor<1x3xf32>) -> tensor<2x3xf32>
    // expected-note @below {{'reshape' does not make dimension 2 of what it is given}}
    %1 = ccn.reshape %0 to [1, 2, 3] {ccn.chunked_dim = 2} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    ccn.yield %1 : tensor<1x2x3xf32>
  } : tensor<1x2x3xf32>
  ccn.return
}

// -----

ccn.program @p(%x: tensor<2xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op expected 'ccn.chunked_dim' to be a 64-bit integer on a reshape, found 0 : i64}}
  %0 = ccn.exp %x {ccn.chunked_dim = 0} : (tensor<2xf32>) -> tensor<2xf32>
  ccn.return
}
