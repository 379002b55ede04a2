// ccn.broadcast: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// broadcast_c1
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op expected one mesh axis, found 2}}
  %0 = ccn.broadcast %x from 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_ab>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// broadcast_c2: replicated
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.broadcast %x from 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// broadcast_c2: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.broadcast %x from 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// broadcast_c2: partial
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.broadcast %x from 1 along <@m, ["a"]> : (tensor<8x4xf32, #max>) -> tensor<8x4xf32>
  ccn.return
}
