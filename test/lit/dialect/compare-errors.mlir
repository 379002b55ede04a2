// ccn.compare: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// compare_c1
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xi32> {ccn.name = "x"}, %y: tensor<8xui32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.compare' op expected operands of one element type, found 'i32' and 'u32'; convert one with 'cast'}}
  %0 = ccn.compare lt %x, %y : (tensor<8xi32>, tensor<8xui32>) -> tensor<8xi1>
  ccn.return
}

// -----

// compare_c2
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<4x8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.compare' op expected operands of one shape, found 'f32[8, 4]' and 'f32[4, 8]'}}
  %0 = ccn.compare lt %x, %y : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x4xi1>
  ccn.return
}

// -----

// compare_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}, %y: tensor<8x4xf32, #local> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.compare' op layouts 'sliced(0, a)' and 'local(a)' do not combine along mesh axis 'a'; repair with 'all_gather(operand #0, a)' on the sliced operand}}
  %0 = ccn.compare lt %x, %y : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #local>) -> tensor<8x4xi1, #rows>
  ccn.return
}

// -----

// compare_c4
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}, %y: tensor<8x4xf32, #sum> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.compare' op layout 'partial(sum, a)' has a reduction pending along mesh axis 'a', which this operation does not take; repair with 'all_reduce(sum, operand #0, a)' on the partial operand}}
  %0 = ccn.compare lt %x, %y : (tensor<8x4xf32, #sum>, tensor<8x4xf32, #sum>) -> tensor<8x4xi1, #sum>
  ccn.return
}

// -----

// the result is bool
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf32> {ccn.name = "y"}) {
  // expected-error @below {{'ccn.compare' op result #0 must be tensor of static shape and bool element type, but got 'tensor<8xf32>'}}
  %0 = ccn.compare lt %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// -----

// unknown predicate
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{custom op 'ccn.compare' expected ::ccn::ComparePredicate to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error @below {{custom op 'ccn.compare' failed to parse Ccn_ComparePredicateAttr parameter 'value' which is to be a `::ccn::ComparePredicate`}}
  %0 = ccn.compare above %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  ccn.return
}
