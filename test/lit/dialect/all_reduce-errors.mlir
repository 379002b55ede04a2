// ccn.all_reduce: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// all_reduce_c1: replicated
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_reduce_c1: sliced
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected an operand that is local or partial(sum) along mesh axis 'a', found 'f32[8, 4] sliced(0, a)'}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_reduce_c1: another reduction is pending
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected an operand that is local or partial(max) along mesh axis 'a', found 'f32[8, 4] partial(sum, a)'}}
  %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_reduce_c1: one of two axes
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected an operand that is local or partial(sum) along mesh axis 'b', found 'f32[8, 4] local(a)'}}
  %0 = ccn.all_reduce sum %x along <@m, ["a", "b"]> : (tensor<8x4xf32, #local>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// all_reduce_c2: sum
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1, #v_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected a number element type, found 'bool'}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xi1, #v_local>) -> tensor<8xi1>
  ccn.return
}

// -----

// all_reduce_c2: prod
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1, #v_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected a number element type, found 'bool'}}
  %0 = ccn.all_reduce prod %x along <@m, ["a"]> : (tensor<8xi1, #v_local>) -> tensor<8xi1>
  ccn.return
}

// -----

// all_reduce_c3: a maximum of pending sums
#sum_local = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}, local = {"a"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected no other reduction than 'max' to be pending, found 'f32[8, 4] partial(sum, b) local(a)'; repair with 'all_reduce(sum, operand #0, b)' before}}
  %0 = ccn.all_reduce max %x along <@m, ["a"]> : (tensor<8x4xf32, #sum_local>) -> tensor<8x4xf32, #sum_b>
  ccn.return
}

// -----

// all_reduce_c3: a sum of pending maxima
#max_local = #ccn.layout<@m, [{}, {}], partial<max> = {"b"}, local = {"a"}>
#max_b = #ccn.layout<@m, [{}, {}], partial<max> = {"b"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #max_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op expected no other reduction than 'sum' to be pending, found 'f32[8, 4] partial(max, b) local(a)'; repair with 'all_reduce(max, operand #0, b)' before}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8x4xf32, #max_local>) -> tensor<8x4xf32, #max_b>
  ccn.return
}
