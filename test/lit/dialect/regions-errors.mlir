// Operations in regions of other operations: the same constraints hold.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// updates in other blocks
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  "test.region"() ({
    // expected-error @below {{'ccn.update' op updates a target that is updated already}}
    %0 = ccn.update %x with %x : tensor<8xf32>
  }, {
    // expected-note @below {{the other update}}
    %0 = ccn.update %x with %x : tensor<8xf32>
  }) : () -> ()
  ccn.return
}

// -----

// update_c2
ccn.program @p(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
  "test.region"() ({
  ^bb0(%y: tensor<8xf32>):
    // expected-error @below {{'ccn.update' op expected an inout argument as target}}
    %0 = ccn.update %y with %x : tensor<8xf32>
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
