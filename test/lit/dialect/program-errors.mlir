// ccn.program: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// program_c1
// expected-error @below {{'ccn.program' op argument #0: expected a tensor of static shape and a ccn element type, found 'f32'}}
ccn.program @p(%x: f32 {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: expected a tensor of static shape and a ccn element type, found 'tensor<?xf32>'}}
ccn.program @p(%x: tensor<?xf32> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: expected a tensor of static shape and a ccn element type, found 'tensor<*xf32>'}}
ccn.program @p(%x: tensor<*xf32> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: expected a tensor of static shape and a ccn element type, found 'tensor<8xi4>'}}
ccn.program @p(%x: tensor<8xi4> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: expected a tensor of static shape and a ccn element type, found 'tensor<8xindex>'}}
ccn.program @p(%x: tensor<8xindex> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: the size of tensor 'f32[4294967296, 4294967296]' in bytes does not fit 64 bits}}
ccn.program @p(%x: tensor<4294967296x4294967296xf32> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// expected-error @below {{'ccn.program' op argument #0: the size of tensor 'i8[1152921504606846976]' in bytes does not fit 64 bits}}
ccn.program @p(%x: tensor<1152921504606846976xi8> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c1
// Sizes of 0 do not count: the strides must fit too.
// expected-error @below {{'ccn.program' op argument #0: the size of tensor 'f32[0, 4294967296, 4294967296]' in bytes does not fit 64 bits}}
ccn.program @p(%x: tensor<0x4294967296x4294967296xf32> {ccn.name = "x"}) {
  ccn.return
}

// -----

// a result that no value has
"ccn.program"() <{sym_name = "p", function_type = () -> f32}> ({
  %0 = ccn.constant 1.0 : f32
  // expected-error @below {{'ccn.return' op expected the result types of the program, ('f32'), found ()}}
  ccn.return
}) : () -> ()

// -----

// program_c2
// expected-error @below {{'ccn.program' op expected a 'ccn.name' on argument #0}}
ccn.program @p(%x: tensor<8xf32>) {
  ccn.return
}

// -----

// program_c2
// expected-error @below {{'ccn.program' op expected a 'ccn.name' on result #0}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) -> tensor<8xf32> {
  ccn.return %x : tensor<8xf32>
}

// -----

// program_c2
// expected-error @below {{'ccn.program' op has 'x' twice}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf32> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c2
// expected-error @below {{'ccn.program' op has 'x' twice}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "x"}) {
  ccn.return %x : tensor<8xf32>
}

// -----

// program_c3
// expected-error @below {{'ccn.program' op expected scattered argument 'x' to have rank 1 and not to be sliced, found 'f32[8, 4]'}}
ccn.program @p(%x: tensor<8x4xf32> {ccn.name = "x", ccn.scattered}) {
  ccn.return
}

// -----

// program_c3
// expected-error @below {{'ccn.program' op expected scattered argument 'x' to have rank 1 and not to be sliced, found 'f32'}}
ccn.program @p(%x: tensor<f32> {ccn.name = "x", ccn.scattered}) {
  ccn.return
}

// -----

// program_c3
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected scattered argument 'x' to have rank 1 and not to be sliced, found 'f32[8] sliced(0, a)'}}
ccn.program @p(%x: tensor<8xf32, #cut> {ccn.name = "x", ccn.scattered}) {
  ccn.return
}

// -----

// program_c4
#cut = #ccn.layout<@m, [{"a"}]>
// expected-error @below {{'ccn.program' op has a layout on mesh @m, which the module does not have}}
ccn.program @p(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c4
#cut = #ccn.layout<@n, [{"a"}]>
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op has a layout on mesh @n, which the module does not have}}
ccn.program @p(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c4
#cut = #ccn.layout<@m, [{"b"}]>
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op has a layout along axis 'b', which mesh @m does not have}}
ccn.program @p(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  ccn.return
}

// -----

// program_c4
#cut = #ccn.layout<@n, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op has a layout on mesh @n, which the module does not have}}
  %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32, #cut>
  ccn.return
}

// -----

// program_c4
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op expected a ccn layout, found "elsewhere"}}
  %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32, "elsewhere">
  ccn.return
}

// -----

// a name that is empty
// expected-error @below {{'ccn.program' op expected 'ccn.name' to be a string that is not empty, found ""}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = ""}) {
  ccn.return
}

// -----

// a name that is no string
// expected-error @below {{'ccn.program' op expected 'ccn.name' to be a string that is not empty, found 1 : i64}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = 1}) {
  ccn.return
}

// -----

// an inout with a value
// expected-error @below {{'ccn.program' op expected 'ccn.inout' without a value, found false}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout = false}) {
  ccn.return
}

// -----

// an attribute that arguments do not have
// expected-error @below {{'ccn.program' op has unknown attribute 'ccn.let'}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.let = "x"}) {
  ccn.return
}

// -----

// an attribute that results do not have
// expected-error @below {{'ccn.program' op has unknown attribute 'ccn.inout'}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "y", ccn.inout}) {
  ccn.return %x : tensor<8xf32>
}

// -----

// no body
// expected-error @below {{'ccn.program' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
ccn.program @p()

// -----

// no terminator
ccn.program @p() {
  // expected-error @below {{block with no terminator, has %0 = "ccn.constant"() <{value = 1.000000e+00 : f32}> : () -> tensor<f32>}}
  %0 = ccn.constant 1.0 : f32
}

// -----

// an empty block
// expected-error @below {{'ccn.program' op expects a non-empty block}}
"ccn.program"() <{sym_name = "p", function_type = () -> ()}> ({
^bb0:
}) : () -> ()

// -----

// two blocks
// expected-error @below {{'ccn.program' op expects region #0 to have 0 or 1 blocks}}
ccn.program @p() {
  ccn.return
^bb1:
  ccn.return
}

// -----

// arguments that the type does not have
// expected-error @below {{'ccn.program' op entry block must have 0 arguments to match function signature}}
"ccn.program"() <{sym_name = "p", function_type = () -> ()}> ({
^bb0(%x: tensor<8xf32>):
  ccn.return
}) : () -> ()

// -----

// a type that is no function type
// expected-error @below {{'ccn.program' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"ccn.program"() <{sym_name = "p", function_type = i32}> ({
  ccn.return
}) : () -> ()

// -----

// no type
// expected-error @below {{'ccn.program' op requires attribute 'function_type'}}
"ccn.program"() <{sym_name = "p"}> ({
  ccn.return
}) : () -> ()

// -----

// attributes for more arguments than there are
// expected-error @below {{'ccn.program' op expects argument attribute array to have the same number of elements as the number of function arguments, got 1, but expected 0}}
"ccn.program"() <{sym_name = "p", function_type = () -> (), arg_attrs = [{ccn.name = "x"}]}> ({
  ccn.return
}) : () -> ()

// -----

// in a program
ccn.program @p() {
  // expected-error @below {{'ccn.program' op expects parent op 'builtin.module'}}
  ccn.program @q() {
    ccn.return
  }
  ccn.return
}

// -----

// program_c5
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected 'ccn.rank' to be from 0 to 1, found 2}}
ccn.program @p() attributes {ccn.rank = 2 : i64} {
  ccn.return
}

// -----

// program_c5: without a mesh
// expected-error @below {{'ccn.program' op expected 'ccn.rank' to be from 0 to 0, found -1}}
ccn.program @p() attributes {ccn.rank = -1 : i64} {
  ccn.return
}

// -----

// program_c5: no number
// expected-error @below {{'ccn.program' op expected 'ccn.rank' to be a 64-bit integer on a program, found "0"}}
ccn.program @p() attributes {ccn.rank = "0"} {
  ccn.return
}

// -----

// program_c5: on something else
// expected-error @below {{'ccn.mesh' op expected 'ccn.rank' to be a 64-bit integer on a program, found 0 : i64}}
ccn.mesh @m ["a" = 2] {ccn.rank = 0 : i64}

// -----

// program_c6
#rows = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<4xf32> {ccn.name = "x", ccn.global = tensor<8xf32, #rows>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'builtin.unrealized_conversion_cast' op expected no encoding in a program with 'ccn.rank', found 'tensor<8xf32, #ccn.layout<@m, [{"a"}]>>'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<8xf32, #rows>
  ccn.return
}

// -----

// program_c7: a collective
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.slice' op expected in global programs only, not in one with 'ccn.rank'}}
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8xf32>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
  ccn.return
}

// -----

// program_c7: a reshard
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32>}) attributes {ccn.rank = 0 : i64} {
  // expected-error @below {{'ccn.reshard' op expected in global programs only, not in one with 'ccn.rank'}}
  %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32>
  ccn.return
}

// -----

// program_c8: none
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected argument #0 with 'ccn.global', as the program has a 'ccn.rank'}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) attributes {ccn.rank = 0 : i64} {
  ccn.return
}

// -----

// program_c8: without a rank
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected argument #0 without 'ccn.global', as the program has no 'ccn.rank'}}
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.global = tensor<8xf32>}) {
  ccn.return
}

// -----

// program_c8: another rank's part
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected argument #0 to be of type 'tensor<2xf32>', which rank 1 holds of 'f32[5] sliced(0, a)', found 'tensor<3xf32>'}}
ccn.program @p(%x: tensor<3xf32> {ccn.name = "x", ccn.global = tensor<5xf32, #ccn.layout<@m, [{"a"}]>>}) attributes {ccn.rank = 1 : i64} {
  ccn.return
}

// -----

// program_c8: of a result
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op expected result #0 to be of type 'tensor<4xf32>', which rank 0 holds of 'f32[4]', found 'tensor<2xf32>'}}
ccn.program @p(%x: tensor<2xf32> {ccn.name = "x", ccn.global = tensor<4xf32, #ccn.layout<@m, [{"a"}]>>}) -> (tensor<2xf32> {ccn.name = "y", ccn.global = tensor<4xf32>}) attributes {ccn.rank = 0 : i64} {
  ccn.return %x : tensor<2xf32>
}

// -----

// program_c4: of what is global
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.program' op has a layout along axis 'z', which mesh @m does not have}}
ccn.program @p(%x: tensor<2xf32> {ccn.name = "x", ccn.global = tensor<4xf32, #ccn.layout<@m, [{"z"}]>>}) attributes {ccn.rank = 0 : i64} {
  ccn.return
}

// -----

// no type
// expected-error @below {{'ccn.program' op expected 'ccn.global' to be a type, found 4 : i64}}
ccn.program @p(%x: tensor<2xf32> {ccn.name = "x", ccn.global = 4 : i64}) attributes {ccn.rank = 0 : i64} {
  ccn.return
}

// -----

// no tensor
// expected-error @below {{'ccn.program' op 'ccn.global': expected a tensor of static shape and a ccn element type, found 'tensor<?xf32>'}}
ccn.program @p(%x: tensor<2xf32> {ccn.name = "x", ccn.global = tensor<?xf32>}) attributes {ccn.rank = 0 : i64} {
  ccn.return
}
