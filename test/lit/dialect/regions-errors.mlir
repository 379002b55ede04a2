// Operations in regions of other operations: the same constraints hold.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// a store stands in the program itself
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  "test.region"() ({
    // expected-error @below {{'ccn.update' op expects parent op 'ccn.program'}}
    %0 = ccn.update %x with %x : tensor<8xf32>
  }) : () -> ()
  ccn.return
}

// -----

// a layout in a region
#cut = #ccn.layout<@n, [{"a"}]>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  "test.region"() ({
    // expected-error @below {{'ccn.reshard' op has a layout on mesh @n, which the module does not have}}
    %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32, #cut>
  }) : () -> ()
  ccn.return
}
