// ccn.scatter_rows: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cols = #ccn.layout<@m, [{}, {"a"}]>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
#cols_b_local = #ccn.layout<@m, [{}, {"b"}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @rank_1
ccn.program @rank_1(%r: tensor<3xi8> {ccn.name = "r"},
    %i: tensor<3xui64> {ccn.name = "i"},
    %t: tensor<8xi8> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3xi8>, tensor<3xui64>, tensor<8xi8>) -> tensor<8xi8>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3xi8>, tensor<3xui64>, tensor<8xi8>) -> tensor<8xi8>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%r: tensor<0x4xf32> {ccn.name = "r"},
    %i: tensor<0xi32> {ccn.name = "i"},
    %t: tensor<0x4xf32> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<0x4xf32>, tensor<0xi32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<0x4xf32>, tensor<0xi32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @columns_cut
ccn.program @columns_cut(%r: tensor<3x4xf32, #cols> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32, #cols> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<3xi32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #cols>, tensor<3xi32>, tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @columns_cut_free
ccn.program @columns_cut_free(%r: tensor<3x4xf32> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32, #cols_ab> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32, #cols_ab>) -> tensor<8x4xf32, #cols_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @rows_columns_cut
ccn.program @rows_columns_cut(%r: tensor<3x4xf32, #cols> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #cols>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%r: tensor<3x4xf32, #local> {ccn.name = "r"},
    %i: tensor<3xi32> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #local>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_indices
ccn.program @local_indices(%r: tensor<3x4xf32, #cols_b> {ccn.name = "r"},
    %i: tensor<3xi32, #v_local> {ccn.name = "i"},
    %t: tensor<8x4xf32> {ccn.name = "t"}) {
  // CHECK: ccn.scatter_rows %{{.*}}, %{{.*}} into %{{.*}} : (tensor<3x4xf32, #ccn.layout<@m, [{}, {"b"}]>>, tensor<3xi32, #ccn.layout<@m, [{}], local = {"a"}>>, tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}], local = {"a"}>>
  %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32, #cols_b>, tensor<3xi32, #v_local>, tensor<8x4xf32>) -> tensor<8x4xf32, #cols_b_local>
  ccn.return
}
