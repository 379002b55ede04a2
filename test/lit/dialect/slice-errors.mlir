// ccn.slice: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// slice_c1: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected an operand that is replicated along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.slice %x into 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// slice_c1: partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected an operand that is replicated along mesh axis 'a', found 'f32[8, 4] partial(sum, a)'}}
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// slice_c1: local
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected an operand that is replicated along mesh axis 'a', found 'f32[8, 4] local(a)'}}
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// slice_c1: one of two axes
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_b> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected an operand that is replicated along mesh axis 'b', found 'f32[8, 4] sliced(0, b)'}}
  %0 = ccn.slice %x into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_b>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// -----

// slice_c2
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected a dimension of 'f32[8, 4]', found 2}}
  %0 = ccn.slice %x into 2 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// slice_c2: a scalar
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.slice' op expected a dimension of 'f32', found 0}}
  %0 = ccn.slice %x into 0 along <@m, ["a"]> : (tensor<f32>) -> tensor<f32>
  ccn.return
}
