// ccn.reshape: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#batch = #ccn.layout<@m, [{"a"}, {}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#last = #ccn.layout<@m, [{}, {}, {"a"}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#batch_last = #ccn.layout<@m, [{"a"}, {}, {"b"}]>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#last_ab = #ccn.layout<@m, [{}, {}, {"a", "b"}]>
#mid = #ccn.layout<@m, [{}, {"a"}, {}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#s_local = #ccn.layout<@m, [], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [2, 16] : (tensor<8x4xf32>) -> tensor<2x16xf32>
  %0 = ccn.reshape %x to [2, 16] : (tensor<8x4xf32>) -> tensor<2x16xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @to_scalar
ccn.program @to_scalar(%x: tensor<1x1xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [] : (tensor<1x1xf32>) -> tensor<f32>
  %0 = ccn.reshape %x to [] : (tensor<1x1xf32>) -> tensor<f32>
  ccn.return
}

// CHECK-LABEL: ccn.program @from_scalar
ccn.program @from_scalar(%x: tensor<i1> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [1, 1] : (tensor<i1>) -> tensor<1x1xi1>
  %0 = ccn.reshape %x to [1, 1] : (tensor<i1>) -> tensor<1x1xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%x: tensor<0x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [5, 0, 7] : (tensor<0x4xf32>) -> tensor<5x0x7xf32>
  %0 = ccn.reshape %x to [5, 0, 7] : (tensor<0x4xf32>) -> tensor<5x0x7xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @cut_dimension_stays
ccn.program @cut_dimension_stays(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [8, 2, 2] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
  %0 = ccn.reshape %x to [8, 2, 2] : (tensor<8x4xf32, #rows>) -> tensor<8x2x2xf32, #batch>
  ccn.return
}

// Its number changes, the elements before and after it do not.
// CHECK-LABEL: ccn.program @cut_dimension_moves
ccn.program @cut_dimension_moves(%x: tensor<8x4xf32, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [2, 4, 4] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<2x4x4xf32, #ccn.layout<@m, [{}, {}, {"a"}]>>
  %0 = ccn.reshape %x to [2, 4, 4] : (tensor<8x4xf32, #cols>) -> tensor<2x4x4xf32, #last>
  ccn.return
}

// CHECK-LABEL: ccn.program @cut_of_two_dimensions
ccn.program @cut_of_two_dimensions(%x: tensor<8x4xf32, #rows_cols> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [8, 1, 4] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>) -> tensor<8x1x4xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
  %0 = ccn.reshape %x to [8, 1, 4] : (tensor<8x4xf32, #rows_cols>) -> tensor<8x1x4xf32, #batch_last>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%x: tensor<8x4xf32, #cols_ab> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [2, 4, 4] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>) -> tensor<2x4x4xf32, #ccn.layout<@m, [{}, {}, {"a", "b"}]>>
  %0 = ccn.reshape %x to [2, 4, 4] : (tensor<8x4xf32, #cols_ab>) -> tensor<2x4x4xf32, #last_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @cut_of_size_1
ccn.program @cut_of_size_1(%x: tensor<1x8xf32, #cols> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [1, 8, 1] : (tensor<1x8xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<1x8x1xf32, #ccn.layout<@m, [{}, {"a"}, {}]>>
  %0 = ccn.reshape %x to [1, 8, 1] : (tensor<1x8xf32, #cols>) -> tensor<1x8x1xf32, #mid>
  ccn.return
}

// Several could be the counterpart: the one in the same place is.
// CHECK-LABEL: ccn.program @cut_of_size_1_in_place
ccn.program @cut_of_size_1_in_place(%x: tensor<1x1xf32, #rows> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [1, 1, 1] : (tensor<1x1xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<1x1x1xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
  %0 = ccn.reshape %x to [1, 1, 1] : (tensor<1x1xf32, #rows>) -> tensor<1x1x1xf32, #batch>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [32] : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<32xf32, #ccn.layout<@m, [{}], partial<sum> = {"a"}>>
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32, #sum>) -> tensor<32xf32, #v_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<1xf32, #v_local> {ccn.name = "x"}) {
  // CHECK: ccn.reshape %{{.*}} to [] : (tensor<1xf32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<f32, #ccn.layout<@m, [], local = {"a"}>>
  %0 = ccn.reshape %x to [] : (tensor<1xf32, #v_local>) -> tensor<f32, #s_local>
  ccn.return
}
