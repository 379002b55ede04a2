// ccn.all_to_all: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// all_to_all_c1
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected one mesh axis, found 2}}
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a", "b"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #cols_ab>
  ccn.return
}

// -----

// all_to_all_c2: from
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected a dimension of 'f32[8, 4] sliced(0, a)', found 2}}
  %0 = ccn.all_to_all %x from 2 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// all_to_all_c2: to
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected a dimension of 'f32[8, 4] sliced(0, a)', found -1}}
  %0 = ccn.all_to_all %x from 0 to -1 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// all_to_all_c2: the same
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected two dimensions that differ, found 0 twice}}
  %0 = ccn.all_to_all %x from 0 to 0 along <@m, ["a"]> : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// all_to_all_c3: cut elsewhere
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected an operand that is sliced(0) along mesh axis 'a', found 'f32[8, 4] sliced(1, a)'}}
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// all_to_all_c3: replicated
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected an operand that is sliced(0) along mesh axis 'a', found 'f32[8, 4]'}}
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// all_to_all_c3: partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected an operand that is sliced(0) along mesh axis 'a', found 'f32[8, 4] partial(sum, a)'}}
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #sum>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// -----

// all_to_all_c4
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#cols_rows = #ccn.layout<@m, [{"b"}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_to_all' op expected an operand that is sliced last along mesh axis 'a', found 'f32[8, 4] sliced(0, a) sliced(0, b)'; repair with 'all_gather(operand #0, b)' before}}
  %0 = ccn.all_to_all %x from 0 to 1 along <@m, ["a"]> : (tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #cols_rows>
  ccn.return
}
