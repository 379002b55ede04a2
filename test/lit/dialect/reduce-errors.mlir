// ccn.reduce: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// reduce_c1
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#local_ab = #ccn.layout<@m, [{}, {}], local = {"a", "b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected one mesh axis, found 2}}
  %0 = ccn.reduce sum %x to 0 along <@m, ["a", "b"]> : (tensor<8x4xf32, #sum_ab>) -> tensor<8x4xf32, #local_ab>
  ccn.return
}

// -----

// reduce_c2: replicated
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.reduce sum %x to 0 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// reduce_c2: another reduction is pending
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected an operand that is local or partial(max) along mesh axis 'a', found 'f32[8, 4] partial(sum, a)'}}
  %0 = ccn.reduce max %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #local>
  ccn.return
}

// -----

// reduce_c3
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1, #v_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected a number element type, found 'bool'}}
  %0 = ccn.reduce prod %x to 0 along <@m, ["a"]> : (tensor<8xi1, #v_local>) -> tensor<8xi1, #v_local>
  ccn.return
}

// -----

// reduce_c4
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected no other reduction than 'max' to be pending, found 'f32[8, 4] partial(sum, b) local(a)'; repair with 'all_reduce(sum, operand #0, b)' before}}
  %0 = ccn.reduce max %x to 0 along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #sum_local>
  ccn.return
}
