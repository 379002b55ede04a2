// ccn.cast: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// cast_c1: a width that ccn does not have
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op expected a ccn element type, found 'i4'}}
  %0 = ccn.cast %x to i4 : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// cast_c1: a signed type, where ccn takes signless ones
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op expected a ccn element type, found 'si8'}}
  %0 = ccn.cast %x to si8 : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// cast_c1: another 8-bit float
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op expected a ccn element type, found 'f8E4M3'}}
  %0 = ccn.cast %x to f8E4M3 : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// cast_c1: not a number
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op expected a ccn element type, found 'tensor<8xf32>'}}
  %0 = ccn.cast %x to tensor<8xf32> : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// cast_c2
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #v_sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.cast %x to f16 : (tensor<8xf32, #v_sum>) -> tensor<8xf16, #v_sum>
  ccn.return
}

// -----

// the result has the element type that is named
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.cast' op expected a result of type 'tensor<8xf16>', found 'tensor<8xf32>'}}
  %0 = ccn.cast %x to f16 : (tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}
