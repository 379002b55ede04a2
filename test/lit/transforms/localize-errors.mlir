// Each condition of ccn-localize.
// RUN: ccn-opt %s -ccn-localize=rank=1 -split-input-file -verify-diagnostics
// RUN: not ccn-opt %s -ccn-localize=rank=-1 -split-input-file 2>&1 | FileCheck %s
// CHECK: expected a rank from 0 to 1, found -1 (localize_c2)

// localize_c1
ccn.mesh @m ["a" = 2]
// expected-error @below {{expected a program that is not localized, found one for rank 0 (localize_c1)}}
ccn.program @p() attributes {ccn.rank = 0 : i64} {
  ccn.return
}

// -----

// localize_c2
ccn.mesh @m ["a" = 1]
// expected-error @below {{expected a rank from 0 to 0, found 1 (localize_c2)}}
ccn.program @p() {
  ccn.return
}

// -----

// localize_c2: without a mesh
// expected-error @below {{expected a rank from 0 to 0, found 1 (localize_c2)}}
ccn.program @p() {
  ccn.return
}

// -----

// localize_c3: a gather
ccn.mesh @m ["a" = 2]
// expected-error @below {{expected reshards that move nothing; ccn-lower-reshard makes collectives of others (localize_c3)}}
ccn.program @p(%x: tensor<8xf32, #ccn.layout<@m, [{"a"}]>> {ccn.name = "x"}) {
  // expected-note @below {{in the program, this operation}}
  %0 = ccn.reshard %x : tensor<8xf32, #ccn.layout<@m, [{"a"}]>> to tensor<8xf32>
  ccn.return
}

// -----

// localize_c3: the same axes in another order
#ab = #ccn.layout<@m, [{"a", "b"}]>
#ba = #ccn.layout<@m, [{"b", "a"}]>
ccn.mesh @m ["a" = 2, "b" = 2]
// expected-error @below {{expected reshards that move nothing; ccn-lower-reshard makes collectives of others (localize_c3)}}
ccn.program @p(%x: tensor<8xf32, #ab> {ccn.name = "x"}) {
  // expected-note @below {{in the program, this operation}}
  %0 = ccn.reshard %x : tensor<8xf32, #ab> to tensor<8xf32, #ba>
  ccn.return
}
