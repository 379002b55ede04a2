// Elementwise operations on one operand: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// neg_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi1> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op expected a number element type, found 'bool'}}
  %0 = ccn.neg %x : (tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}

// -----

// neg_c2
#v_max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_max> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.neg' op layout 'partial(max, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(max, operand #0, a)' on the partial operand}}
  %0 = ccn.neg %x : (tensor<8xf32, #v_max>) -> tensor<8xf32, #v_max>
  ccn.return
}

// -----

// exp_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op expected a floating-point element type, found 'i32'}}
  %0 = ccn.exp %x : (tensor<8xi32>) -> tensor<8xi32>
  ccn.return
}

// -----

// exp_c2
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.exp %x : (tensor<8xf32, #v_sum>) -> tensor<8xf32, #v_sum>
  ccn.return
}

// -----

// wrong result layout
#cut = #ccn.layout<@m, [{"a"}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op expected a result of type 'tensor<8xf32, #ccn.layout<@m, [{"a"}]>>', found 'tensor<8xf32>'}}
  %0 = ccn.exp %x : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return
}

// -----

// wrong result element type
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.exp' op expected a result of type 'tensor<8xf32>', found 'tensor<8xf16>'}}
  %0 = ccn.exp %x : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return
}
