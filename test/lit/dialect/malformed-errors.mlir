// Malformed operations, in the generic form too: an error, not a crash.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// no operands
// expected-error @below {{'ccn.neg' op requires a single operand}}
%0 = "ccn.neg"() : () -> tensor<8xf32>

// -----

// no results
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op requires one result}}
  "ccn.neg"(%x) : (tensor<8xf32>) -> ()
  ccn.return
}

// -----

// two results
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op requires one result}}
  %0:2 = "ccn.neg"(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  ccn.return
}

// -----

// one operand too few
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.add' op expected 2 operands, but found 1}}
  %0 = "ccn.add"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// an operand that is no tensor
%0 = "test.op"() : () -> f32
// expected-error @below {{'ccn.neg' op operand #0 must be tensor of static shape and a ccn element type, but got 'f32'}}
%1 = "ccn.neg"(%0) : (f32) -> f32

// -----

// a region
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op requires zero regions}}
  %0 = "ccn.neg"(%x) ({}) : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// no axes
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op requires attribute 'axes'}}
  %0 = "ccn.slice"(%x) <{dim = 0 : i64}> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// no properties
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op requires attribute 'axes'}}
  %0 = "ccn.all_reduce"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// axes of another type
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{invalid properties {axes = "a"} for op ccn.all_gather: Invalid attribute `axes` in property conversion: "a"}}
  %0 = "ccn.all_gather"(%x) <{axes = "a"}> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// a kind of another type
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{invalid properties {dims = array<i64: 0>, kind = 1 : i32} for op ccn.reduction: Invalid attribute `kind` in property conversion: 1 : i32}}
  %0 = "ccn.reduction"(%x) <{kind = 1 : i32, dims = array<i64: 0>}> : (tensor<8xf32>) -> tensor<f32>
  ccn.return
}

// -----

// a kind that there is not
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{expected ::ccn::ReductionKind to be one of: sum, prod, max, min, mean}}
  // expected-error @below {{failed to parse Ccn_ReductionKindAttr parameter 'value' which is to be a `::ccn::ReductionKind`}}
  %0 = "ccn.reduction"(%x) <{kind = #ccn<reduction_kind median>, dims = array<i64: 0>}> : (tensor<8xf32>) -> tensor<f32>
  ccn.return
}

// -----

// dimensions of another type
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{invalid properties {permutation = [0]} for op ccn.transpose: Invalid attribute `permutation` in property conversion: [0]}}
  %0 = "ccn.transpose"(%x) <{permutation = [0]}> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// an integer of another width
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute}}
  %0 = "ccn.extract"(%x) <{dim = 0 : i32, begin = 0 : i64, end = 1 : i64}> : (tensor<8xf32>) -> tensor<1xf32>
  ccn.return
}

// -----

// a rate of another type
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}, %s: tensor<i64> {ccn.name = "s"}) {
  // expected-error @below {{'ccn.dropout' op attribute 'rate' failed to satisfy constraint: 64-bit float attribute}}
  %0 = "ccn.dropout"(%x, %s) <{rate = 0.5 : f32}> : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
  ccn.return
}

// -----

// no element type
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op requires attribute 'element_type'}}
  %0 = "ccn.cast"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// no value
// expected-error @below {{'ccn.constant' op requires attribute 'value'}}
%0 = "ccn.constant"() : () -> tensor<f32>

// -----

// a value without a type
// expected-error @below {{invalid properties {value = []} for op ccn.constant: Invalid attribute `value` in property conversion: []}}
%0 = "ccn.constant"() <{value = []}> : () -> tensor<f32>

// -----

// a property that there is not
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{invalid properties {speed = 1 : i64} for op ccn.neg: this operation does not support properties}}
  %0 = "ccn.neg"(%x) <{speed = 1}> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// an unknown attribute of ccn
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op has unknown attribute 'ccn.speed'}}
  %0 = ccn.neg %x {ccn.speed = 1} : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// a let that is no string
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op expected 'ccn.let' to be a string, found 1 : i64}}
  %0 = ccn.neg %x {ccn.let = 1} : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// a phase that is no string
// expected-error @below {{'builtin.module' op expected 'ccn.phase' to be a string, found 1 : i64}}
module attributes {ccn.phase = 1} {
}

// -----

// a phase that is not on a module
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op expected 'ccn.phase' on a module only}}
  %0 = ccn.neg %x {ccn.phase = "parse"} : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// an unknown operation
// expected-error @below {{unregistered operation 'ccn.nothing' found in dialect ('ccn') that does not allow unknown operations}}
"ccn.nothing"() : () -> ()

// -----

// a mesh that does not verify, and whose axis has no size, after its use
%0 = ccn.constant 1.0 : f32
%1 = ccn.reshard %0 : tensor<f32> to tensor<f32, #ccn.layout<@m, [], local = {"b"}>>
// expected-error @below {{'ccn.broadcast' op names mesh @m, which the module does not have}}
%2 = ccn.broadcast %1 from 0 along <@m, ["b"]> : (tensor<f32, #ccn.layout<@m, [], local = {"b"}>>) -> tensor<f32>
"ccn.mesh"() <{sym_name = "m", axis_names = ["a", "b"], axis_sizes = array<i64: 2>}> : () -> ()

// -----

// a mesh without names, after its use
%0 = ccn.constant 1.0 : f32
%1 = ccn.reshard %0 : tensor<f32> to tensor<f32, #ccn.layout<@m, [], local = {"b"}>>
// expected-error @below {{'ccn.broadcast' op names mesh @m, which the module does not have}}
%2 = ccn.broadcast %1 from 0 along <@m, ["b"]> : (tensor<f32, #ccn.layout<@m, [], local = {"b"}>>) -> tensor<f32>
"ccn.mesh"() <{sym_name = "m", axis_sizes = array<i64: 2>}> : () -> ()

// -----

// a mesh without a name, after its use
%0 = ccn.constant 1.0 : f32
%1 = ccn.reshard %0 : tensor<f32> to tensor<f32, #ccn.layout<@m, [], local = {"b"}>>
// expected-error @below {{'ccn.broadcast' op names mesh @m, which the module does not have}}
%2 = ccn.broadcast %1 from 0 along <@m, ["b"]> : (tensor<f32, #ccn.layout<@m, [], local = {"b"}>>) -> tensor<f32>
"ccn.mesh"() <{axis_names = ["b"], axis_sizes = array<i64: 2>}> : () -> ()
