// ccn.scatter: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// scatter_c1
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected one mesh axis, found 2}}
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #local_ab>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// -----

// scatter_c2: replicated
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// scatter_c2: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected an operand that is local along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// scatter_c3
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected a dimension of 'f32[8, 4] local(a)', found 2}}
  %0 = ccn.scatter %x from 0 into 2 along <@m, ["a"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// scatter_c3: a scalar
#s_local = #ccn.layout<@m, [], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32, #s_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected a dimension of 'f32 local(a)', found 0}}
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<f32, #s_local>) -> tensor<f32>
  ccn.return
}

// -----

// scatter_c2: partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.scatter %x from 0 into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #rows>
  ccn.return
}
