// ccn.reduce_scatter: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// reduce_scatter_c1: replicated
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reduce_scatter_c1: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reduce_scatter_c1: another reduction is pending
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4] partial(max, a)'}}
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #max>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reduce_scatter_c2
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1, #v_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected a number element type, found 'bool'}}
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<8xi1, #v_local>) -> tensor<8xi1, #cut>
  ccn.return
}

// -----

// reduce_scatter_c3
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected a dimension of 'f32[8, 4] partial(sum, a)', found 2}}
  %0 = ccn.reduce_scatter sum %x into 2 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reduce_scatter_c3: negative
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected a dimension of 'f32[8, 4] partial(sum, a)', found -1}}
  %0 = ccn.reduce_scatter sum %x into -1 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reduce_scatter_c3: a scalar
#s_sum = #ccn.layout<@m, [], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32, #s_sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected a dimension of 'f32 partial(sum, a)', found 0}}
  %0 = ccn.reduce_scatter sum %x into 0 along <@m, ["a"]> : (tensor<f32, #s_sum>) -> tensor<f32>
  ccn.return
}

// -----

// reduce_scatter_c4
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce_scatter' op expected no other reduction than 'max' to be pending, found 'f32[8, 4] partial(sum, b) local(a)'; repair with 'all_reduce(sum, operand #0, b)' before}}
  %0 = ccn.reduce_scatter max %x into 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #rows_sum>
  ccn.return
}
