// ccn.return: what its constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// return_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.return' op expected the result types of the program, ('tensor<8xf32>'), found ()}}
  ccn.return
}

// -----

// return_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.return' op expected the result types of the program, (), found ('tensor<8xf32>')}}
  ccn.return %x : tensor<8xf32>
}

// -----

// return_c1
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.return' op expected the result types of the program, ('tensor<8xf16>'), found ('tensor<8xf32>')}}
  ccn.return %x : tensor<8xf32>
}

// -----

// return_c1
// The layout is part of the type.
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32, #cut> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.return' op expected the result types of the program, ('tensor<8xf32>'), found ('tensor<8xf32, #ccn.layout<@m, [{"a"}]>>')}}
  ccn.return %x : tensor<8xf32, #cut>
}

// -----

// outside of a program
// expected-error @below {{'ccn.return' op expects parent op 'ccn.program'}}
ccn.return
