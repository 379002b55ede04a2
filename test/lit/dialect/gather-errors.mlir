// ccn.gather: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// gather_c1
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.gather' op expected one mesh axis, found 2}}
  %0 = ccn.gather %x to 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #local_ab>
  ccn.return
}

// -----

// gather_c2
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.gather' op expected an operand that is sliced along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.gather %x to 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// gather_c3
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_b_local = #ccn.layout<@m, [{"b"}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.gather' op expected an operand that is sliced last along mesh axis 'a', found 'f32[8, 4] sliced(0, a) sliced(0, b)'; repair with 'all_gather(operand #0, b)' before}}
  %0 = ccn.gather %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_b_local>
  ccn.return
}
