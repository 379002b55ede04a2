// ccn.send: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// send_c1
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op expected one mesh axis, found 2}}
  %0 = ccn.send %x by 1 along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_ab>) -> tensor<8x4xf32, #local_ab>
  ccn.return
}

// -----

// send_c2: replicated
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.send %x by 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// send_c2: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.send %x by 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// send_c3
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op expected a shift that is not 0, from -1 to 1, as axis 'a' has 2 ranks, found 0}}
  %0 = ccn.send %x by 0 along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// send_c2: partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.send %x by 1 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// send_c3: past the axis
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 3, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op expected a shift that is not 0, from -1 to 1, as axis 'a' has 2 ranks, found -2}}
  %0 = ccn.send %x by -2 along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #local>
  ccn.return
}
