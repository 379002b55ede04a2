// ccn.all_gather: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// all_gather_c1: replicated
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_gather_c1: partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced along mesh axis 'a', found 'f32[8, 4] partial(sum, a)'}}
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_gather_c1: local
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced along mesh axis 'a', found 'f32[8, 4] local(a)'}}
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_gather_c1: one of two axes
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced along mesh axis 'b', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.all_gather %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_gather_c2: the outer of two axes
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced last along mesh axis 'a', found 'f32[8, 4] sliced(0, a) sliced(0, b)'; repair with 'all_gather(operand #0, b)' before}}
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_b>
  ccn.return
}

// -----

// all_gather_c2: the outer and the inner of three
#rows_abc = #ccn.layout<@m, [{"a", "b", "c"}, {}]>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_abc> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_gather' op expected an operand that is sliced last along mesh axis 'a', found 'f32[8, 4] sliced(0, a) sliced(0, b) sliced(0, c)'; repair with 'all_gather(operand #0, b)' before}}
  %0 = ccn.all_gather %x along <@m, ["a", "c"]> : (tensor<8x4xf32, #rows_abc>) -> tensor<8x4xf32, #rows_b>
  ccn.return
}
