// ccn.extract: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 0 from 2 to 6 : (tensor<8x4xf32>) -> tensor<4x4xf32>
  %0 = ccn.extract %x at 0 from 2 to 6 : (tensor<8x4xf32>) -> tensor<4x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @all
ccn.program @all(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 1 from 0 to 4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = ccn.extract %x at 1 from 0 to 4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @none
ccn.program @none(%x: tensor<8x4xi1> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 1 from 4 to 4 : (tensor<8x4xi1>) -> tensor<8x0xi1>
  %0 = ccn.extract %x at 1 from 4 to 4 : (tensor<8x4xi1>) -> tensor<8x0xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @of_none
ccn.program @of_none(%x: tensor<0xf32> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 0 from 0 to 0 : (tensor<0xf32>) -> tensor<0xf32>
  %0 = ccn.extract %x at 0 from 0 to 0 : (tensor<0xf32>) -> tensor<0xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @other_dimension_is_cut
ccn.program @other_dimension_is_cut(%x: tensor<8x4xf32, #rows_ab> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 1 from 1 to 2 : (tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x1xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.extract %x at 1 from 1 to 2 : (tensor<8x4xf32, #rows_ab>) -> tensor<8x1xf32, #rows_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x: tensor<8x4xf32, #max> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 0 from 0 to 1 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<1x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>
  %0 = ccn.extract %x at 0 from 0 to 1 : (tensor<8x4xf32, #max>) -> tensor<1x4xf32, #max>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // CHECK: ccn.extract %{{.*}} at 0 from 0 to 1 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<1x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.extract %x at 0 from 0 to 1 : (tensor<8x4xf32, #local>) -> tensor<1x4xf32, #local>
  ccn.return
}
