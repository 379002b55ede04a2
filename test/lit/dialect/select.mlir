// ccn.select: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#s_local = #ccn.layout<@m, [], local = {"a"}>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#rows_b_local = #ccn.layout<@m, [{"b"}, {}], local = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%c: tensor<8xi1> {ccn.name = "c"},
    %x: tensor<8xf32> {ccn.name = "x"},
    %y: tensor<8xf32> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @bool
ccn.program @bool(%c: tensor<8xi1> {ccn.name = "c"},
    %x: tensor<8xi1> {ccn.name = "x"},
    %y: tensor<8xi1> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @scalar_condition
ccn.program @scalar_condition(%c: tensor<i1> {ccn.name = "c"},
    %x: tensor<8xf16> {ccn.name = "x"},
    %y: tensor<8xf16> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1>, tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %0 = ccn.select %c, %x, %y : (tensor<i1>, tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  ccn.return
}

// The condition alone has a shape.
// CHECK-LABEL: ccn.program @scalar_sides
ccn.program @scalar_sides(%c: tensor<8xi1> {ccn.name = "c"},
    %x: tensor<ui8> {ccn.name = "x"},
    %y: tensor<ui8> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<ui8>, tensor<ui8>) -> tensor<8xui8>
  %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<ui8>, tensor<ui8>) -> tensor<8xui8>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%c: tensor<0x2xi1> {ccn.name = "c"},
    %x: tensor<0x2xf64> {ccn.name = "x"},
    %y: tensor<f64> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<0x2xi1>, tensor<0x2xf64>, tensor<f64>) -> tensor<0x2xf64>
  %0 = ccn.select %c, %x, %y : (tensor<0x2xi1>, tensor<0x2xf64>, tensor<f64>) -> tensor<0x2xf64>
  ccn.return
}

// Those that are replicated are sliced for free.
// CHECK-LABEL: ccn.program @sliced
ccn.program @sliced(%c: tensor<8x4xi1, #rows> {ccn.name = "c"},
    %x: tensor<8x4xf32> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_ab> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x4xi1, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %0 = ccn.select %c, %x, %y : (tensor<8x4xi1, #rows>, tensor<8x4xf32>, tensor<8x4xf32, #rows_ab>) -> tensor<8x4xf32, #rows_ab>
  ccn.return
}

// A local condition makes the result local.
// CHECK-LABEL: ccn.program @local_condition
ccn.program @local_condition(%c: tensor<i1, #s_local> {ccn.name = "c"},
    %x: tensor<8x4xf32> {ccn.name = "x"},
    %y: tensor<8x4xf32, #rows_b> {ccn.name = "y"}) {
  // CHECK: ccn.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i1, #ccn.layout<@m, [], local = {"a"}>>, tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{"b"}, {}], local = {"a"}>>
  %0 = ccn.select %c, %x, %y : (tensor<i1, #s_local>, tensor<8x4xf32>, tensor<8x4xf32, #rows_b>) -> tensor<8x4xf32, #rows_b_local>
  ccn.return
}
