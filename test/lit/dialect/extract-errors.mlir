// ccn.extract: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// extract_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a dimension of 'f32[8, 4]', found 2}}
  %0 = ccn.extract %x at 2 from 0 to 1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// extract_c1: negative
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a dimension of 'f32[8, 4]', found -1}}
  %0 = ccn.extract %x at -1 from 0 to 1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// extract_c1: a scalar
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<f32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a dimension of 'f32', found 0}}
  %0 = ccn.extract %x at 0 from 0 to 0 : (tensor<f32>) -> tensor<f32>
  ccn.return
}

// -----

// extract_c2: begins before
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a range in 0 .. 8, found -1 .. 2}}
  %0 = ccn.extract %x at 0 from -1 to 2 : (tensor<8x4xf32>) -> tensor<3x4xf32>
  ccn.return
}

// -----

// extract_c2: ends after
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a range in 0 .. 8, found 0 .. 9}}
  %0 = ccn.extract %x at 0 from 0 to 9 : (tensor<8x4xf32>) -> tensor<9x4xf32>
  ccn.return
}

// -----

// extract_c2: ends before it begins
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op expected a range in 0 .. 8, found 3 .. 2}}
  %0 = ccn.extract %x at 0 from 3 to 2 : (tensor<8x4xf32>) -> tensor<1x4xf32>
  ccn.return
}

// -----

// extract_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.extract' op dimension 0 of an operand with layout 'sliced(0, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.extract %x at 0 from 0 to 4 : (tensor<8x4xf32, #rows>) -> tensor<4x4xf32, #rows>
  ccn.return
}
