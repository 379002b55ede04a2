// ccn.reshape: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// reshape_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op expected sizes of at least 0, found -8}}
  %0 = ccn.reshape %x to [-8, -4] : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// reshape_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op expected a shape with as many elements as 'f32[8, 4]', found [8, 5]}}
  %0 = ccn.reshape %x to [8, 5] : (tensor<8x4xf32>) -> tensor<8x5xf32>
  ccn.return
}

// -----

// reshape_c2: none
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op expected a shape with as many elements as 'f32[8, 4]', found [0]}}
  %0 = ccn.reshape %x to [0] : (tensor<8x4xf32>) -> tensor<0xf32>
  ccn.return
}

// -----

// reshape_c2: the number does not fit 64 bits
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<0x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op expected a shape with as many elements as 'f32[0, 4]', found [4294967296, 4294967296]}}
  %0 = ccn.reshape %x to [4294967296, 4294967296] : (tensor<0x4xf32>) -> tensor<0x4xf32>
  ccn.return
}

// -----

// reshape_c3: the size changes
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op dimension 0 of 'f32[8, 4] sliced(0, a)' is cut and has no counterpart in [4, 8]; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.reshape %x to [4, 8] : (tensor<8x4xf32, #rows>) -> tensor<4x8xf32, #rows>
  ccn.return
}

// -----

// reshape_c3: the dimension is joined with another
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op dimension 0 of 'f32[8, 4] sliced(0, a)' is cut and has no counterpart in [32]; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32, #rows>) -> tensor<32xf32, #cut>
  ccn.return
}

// -----

// reshape_c3: of the same size, but with other elements before it
#cols = #ccn.layout<@m, [{}, {"a"}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op dimension 1 of 'f32[8, 4] sliced(1, a)' is cut and has no counterpart in [4, 8]; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.reshape %x to [4, 8] : (tensor<8x4xf32, #cols>) -> tensor<4x8xf32, #rows>
  ccn.return
}

// -----

// reshape_c3: of the same size, but with other elements after it; there are
// none
#rows = #ccn.layout<@m, [{"a"}, {}]>
#mid = #ccn.layout<@m, [{}, {"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x0xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshape' op dimension 0 of 'f32[8, 0] sliced(0, a)' is cut and has no counterpart in [0, 8, 2]; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.reshape %x to [0, 8, 2] : (tensor<8x0xf32, #rows>) -> tensor<0x8x2xf32, #mid>
  ccn.return
}
