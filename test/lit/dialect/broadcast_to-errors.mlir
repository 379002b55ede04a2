// ccn.broadcast_to: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// broadcast_to_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op expected sizes of at least 0, found -8}}
  %0 = ccn.broadcast_to %x to [-8, 4] : (tensor<4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// broadcast_to_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op 'f32[4]' cannot be repeated to fill the shape [8, 5]; expected sizes that agree from the last, or are 1}}
  %0 = ccn.broadcast_to %x to [8, 5] : (tensor<4xf32>) -> tensor<8x5xf32>
  ccn.return
}

// -----

// broadcast_to_c2: dimensions are matched from the last
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op 'f32[8]' cannot be repeated to fill the shape [8, 4]; expected sizes that agree from the last, or are 1}}
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<8xf32>) -> tensor<8x4xf32>
  ccn.return
}

// -----

// broadcast_to_c2: fewer dimensions
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<1x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op 'f32[1, 4]' cannot be repeated to fill the shape [4]; expected sizes that agree from the last, or are 1}}
  %0 = ccn.broadcast_to %x to [4] : (tensor<1x4xf32>) -> tensor<4xf32>
  ccn.return
}

// -----

// broadcast_to_c3
#cols = #ccn.layout<@m, [{}, {"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x1xf32, #cols> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast_to' op dimension 1 of an operand with layout 'sliced(1, a)' must be whole here, expected it 'replicated'; repair with 'all_gather(operand #0, a)'}}
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<8x1xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return
}
