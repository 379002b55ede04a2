// ccn.gather_rows: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#cut_ba = #ccn.layout<@m, [{"b", "a"}]>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cols_b_local = #ccn.layout<@m, [{}, {"b"}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<3xi32> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @rank_1
ccn.program @rank_1(%t: tensor<8xf16> {ccn.name = "t"}, %i: tensor<3xui8> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8xf16>, tensor<3xui8>) -> tensor<3xf16>
  %0 = ccn.gather_rows %t, %i : (tensor<8xf16>, tensor<3xui8>) -> tensor<3xf16>
  ccn.return
}

// CHECK-LABEL: ccn.program @rank_3
ccn.program @rank_3(%t: tensor<8x4x2xi1> {ccn.name = "t"}, %i: tensor<3xi64> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4x2xi1>, tensor<3xi64>) -> tensor<3x4x2xi1>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4x2xi1>, tensor<3xi64>) -> tensor<3x4x2xi1>
  ccn.return
}

// No rows are looked up in a table without rows.
// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%t: tensor<0x4xf32> {ccn.name = "t"}, %i: tensor<0xi32> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<0x4xf32>, tensor<0xi32>) -> tensor<0x4xf32>
  %0 = ccn.gather_rows %t, %i : (tensor<0x4xf32>, tensor<0xi32>) -> tensor<0x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @indices_cut
ccn.program @indices_cut(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<6xi32, #cut> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<6xi32, #ccn.layout<@m, [{"a"}]>>) -> tensor<6x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<6xi32, #cut>) -> tensor<6x4xf32, #rows>
  ccn.return
}

// CHECK-LABEL: ccn.program @columns_cut
ccn.program @columns_cut(%t: tensor<8x4xf32, #cols> {ccn.name = "t"}, %i: tensor<6xi32> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<6xi32>) -> tensor<6x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #cols>, tensor<6xi32>) -> tensor<6x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @both_cut
ccn.program @both_cut(%t: tensor<8x4xf32, #cols_b> {ccn.name = "t"}, %i: tensor<6xi32, #cut> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>, tensor<6xi32, #ccn.layout<@m, [{"a"}]>>) -> tensor<6x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #cols_b>, tensor<6xi32, #cut>) -> tensor<6x4xf32, #rows_cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%t: tensor<8x4xf32> {ccn.name = "t"}, %i: tensor<6xi32, #cut_ba> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<6xi32, #ccn.layout<@m, [{"b", "a"}]>>) -> tensor<6x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<6xi32, #cut_ba>) -> tensor<6x4xf32, #rows_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_table
ccn.program @local_table(%t: tensor<8x4xf32, #local> {ccn.name = "t"}, %i: tensor<6xi32> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<6xi32>) -> tensor<6x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #local>, tensor<6xi32>) -> tensor<6x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_indices
ccn.program @local_indices(%t: tensor<8x4xf32, #cols_b> {ccn.name = "t"},
    %i: tensor<6xi32, #v_local> {ccn.name = "i"}) {
  // CHECK: ccn.gather_rows %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>, tensor<6xi32, #ccn.layout<@m, [{}], local = {"a"}>>) -> tensor<6x4xf32, #ccn.layout<@m, [{}, {"b"}], local = {"a"}>>
  %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32, #cols_b>, tensor<6xi32, #v_local>) -> tensor<6x4xf32, #cols_b_local>
  ccn.return
}
