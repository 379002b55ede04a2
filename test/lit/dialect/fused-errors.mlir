// Each constraint of ccn.fused and ccn.yield.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// fused_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected at least one operation}}
  ccn.fused elementwise {
    ccn.yield
  }
  ccn.return
}

// -----

// fused_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected operations without side effects or regions}}
  ccn.fused elementwise {
    // expected-note @below {{found this}}
    "test.effect"() : () -> ()
    ccn.yield
  }
  ccn.return
}

// -----

// fused_c2
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected a yield of the result types}}
  %r = ccn.fused elementwise {
    %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield
  } : tensor<8xf32>
  ccn.return
}

// -----

// fused_c2
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected to yield values of the region}}
  %r = ccn.fused elementwise {
    %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield %x : tensor<8xf32>
  } : tensor<8xf32>
  ccn.return
}

// -----

// fused_c3
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected operations that fit skeleton 'compute_move', found those of 'elementwise'}}
  ccn.fused compute_move {
    %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    ccn.yield
  }
  ccn.return
}

// -----

// fused_c3
ccn.program @p(%x: tensor<8x8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.fused' op expected operations that fit skeleton 'matmul_collective'}}
  ccn.fused matmul_collective {
    %0 = ccn.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = ccn.matmul %0, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ccn.yield
  }
  ccn.return
}

// -----

// yield_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  "test.region"() ({
    // expected-error @below {{'ccn.yield' op expects parent op to be one of 'ccn.fused, ccn.overlapped'}}
    ccn.yield
  }) : () -> ()
  ccn.return
}
