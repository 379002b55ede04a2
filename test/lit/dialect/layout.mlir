// #ccn.layout and #ccn.axes: text form; equal layouts print the same.
// RUN: ccn-opt %s | FileCheck %s

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @layouts(
ccn.program @layouts(
    // CHECK-SAME: %arg0: tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
    %0: tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>> {ccn.name = "0"},
    // CHECK-SAME: %arg1: tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {"c"}]>>
    %1: tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {"c"}]>> {ccn.name = "1"},
    // Pending and local axes have no order.
    // CHECK-SAME: %arg2: tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"a", "c"}, local = {"b"}>>
    %2: tensor<8xf32, #ccn.layout<@m, [{}], local = {"b"}, partial<sum> = {"c", "a"}>> {ccn.name = "2"},
    // CHECK-SAME: %arg3: tensor<8xf32, #ccn.layout<@m, [{}], partial<max> = {"a", "b"}>>
    %3: tensor<8xf32, #ccn.layout<@m, [{}], partial<max> = {"b"}, partial<max> = {"a"}>> {ccn.name = "3"},
    // CHECK-SAME: %arg4: tensor<8xf32, #ccn.layout<@m, [{"c"}], partial<min> = {"b"}, local = {"a"}>>
    %4: tensor<8xf32, #ccn.layout<@m, [{"c"}], partial<min> = {"b"}, local = {"a"}>> {ccn.name = "4"},
    // CHECK-SAME: %arg5: tensor<f32, #ccn.layout<@m, [], partial<prod> = {"a"}>>
    %5: tensor<f32, #ccn.layout<@m, [], partial<prod> = {"a"}>> {ccn.name = "5"},
    // An empty list says nothing.
    // CHECK-SAME: %arg6: tensor<0xf32, #ccn.layout<@m, [{"a"}]>>
    %6: tensor<0xf32, #ccn.layout<@m, [{"a"}], local = {}, partial<sum> = {}>> {ccn.name = "6"}) {
  ccn.return
}

// Equal layouts are equal types.
// CHECK-LABEL: ccn.program @equal
ccn.program @equal(
    %x: tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>> {ccn.name = "x"},
    %y: tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"b"}, partial<sum> = {"a"}>> {ccn.name = "y"}) {
  // CHECK: ccn.reshard %arg0 : [[TYPE:.*]] to [[TYPE]]{{$}}
  %0 = ccn.reshard %x : tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"a", "b"}>>
      to tensor<8xf32, #ccn.layout<@m, [{}], partial<sum> = {"b", "a"}>>
  ccn.return
}
