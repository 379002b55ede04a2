// Each constraint of ccn.communicate.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// communicate_c1
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.communicate' op expected in a program with 'ccn.rank'}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c2: slice
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate slice %x along <@m, ["a"]> channel 0 from tensor<8xf32> to tensor<8xf32, #rows> : (tensor<8xf32>) -> tensor<4xf32>
  ccn.return
}

// -----

// communicate_c2: no kind
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate all_reduce %x along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c2: a root
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> root 0 channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c2: no root
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate broadcast %x along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c2: a shift
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate broadcast %x along <@m, ["a"]> root 0 by 1 channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c2: no shift
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a collective that communicates, with a kind of reduction, a root and a shift as it needs them and no others}}
  %0 = ccn.communicate send %x along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32, #local> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c3: a constraint of the global form
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8]'}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c3: another target
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected to make 'f32[8]' of 'f32[8] local(a)', found 'f32[8] sliced(0, a)'}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32, #rows> : (tensor<8xf32>) -> tensor<4xf32>
  ccn.return
}

// -----

// communicate_c3: scattered nowhere
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a dimension of 'f32[8] local(a)', found -1}}
  %0 = ccn.communicate reduce_scatter %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c3: moved nowhere
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a dimension of 'f32[8]', found -1}}
  %0 = ccn.communicate all_to_all %x along <@m, ["a"]> channel 0 from tensor<8xf32> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c3: no tensor
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected a tensor of static shape and a ccn element type, found 'f32'}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from f32 to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c3: an axis that the mesh does not have
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected layouts on mesh @m, found 'tensor<8xf32, #ccn.layout<@m, [{"z"}], local = {"a"}>>'}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 0 from tensor<8xf32, #ccn.layout<@m, [{"z"}], local = {"a"}>> to tensor<8xf32, #ccn.layout<@m, [{"z"}]>> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c4: of the operand
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected 'tensor<4xf32>', which rank 0 holds of 'f32[8] sliced(0, a)', found 'tensor<8xf32>'}}
  %0 = ccn.communicate all_gather %x along <@m, ["a"]> channel 0 from tensor<8xf32, #rows> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c4: of the result
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.communicate' op expected 'tensor<4xf32>', which rank 0 holds of 'f32[8] sliced(0, a)', found 'tensor<8xf32>'}}
  %0 = ccn.communicate reduce_scatter %x with max along <@m, ["a"]> channel 0 from tensor<8xf32, #local> to tensor<8xf32, #rows> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// communicate_c5
#local = #ccn.layout<@m, [{}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #local>}) attributes {ccn.rank = 0 : i64} {
  // expected-note @below {{the other operation}}
  %0 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 7 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{'ccn.communicate' op has the channel of another operation}}
  %1 = ccn.communicate all_reduce %x with sum along <@m, ["a"]> channel 7 from tensor<8xf32, #local> to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}
