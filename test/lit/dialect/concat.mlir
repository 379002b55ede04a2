// ccn.concat: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#cols = #ccn.layout<@m, [{}, {"a"}]>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
#cols_b_sum = #ccn.layout<@m, [{}, {"b"}], partial<sum> = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<2x4xf32> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<10x4xf32>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<10x4xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @one
ccn.program @one(%x0: tensor<8x4xi8> {ccn.name = "x0"}) {
  // CHECK: ccn.concat %{{.*}} at 1 : (tensor<8x4xi8>) -> tensor<8x4xi8>
  %r = ccn.concat %x0 at 1 : (tensor<8x4xi8>) -> tensor<8x4xi8>
  ccn.return
}

// CHECK-LABEL: ccn.program @many
ccn.program @many(%x0: tensor<2x1xi1> {ccn.name = "x0"},
    %x1: tensor<2x0xi1> {ccn.name = "x1"},
    %x2: tensor<2x3xi1> {ccn.name = "x2"},
    %x3: tensor<2x1xi1> {ccn.name = "x3"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} at 1 : (tensor<2x1xi1>, tensor<2x0xi1>, tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x5xi1>
  %r = ccn.concat %x0, %x1, %x2, %x3 at 1 : (tensor<2x1xi1>, tensor<2x0xi1>, tensor<2x3xi1>, tensor<2x1xi1>) -> tensor<2x5xi1>
  ccn.return
}

// Another dimension is cut, for free in the replicated operand.
// CHECK-LABEL: ccn.program @sliced
ccn.program @sliced(%x0: tensor<8x4xf32, #cols> {ccn.name = "x0"}, %x1: tensor<2x4xf32> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<2x4xf32>) -> tensor<10x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #cols>, tensor<2x4xf32>) -> tensor<10x4xf32, #cols>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested
ccn.program @nested(%x0: tensor<8x4xf32, #cols_ab> {ccn.name = "x0"},
    %x1: tensor<2x4xf32, #cols> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>, tensor<2x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<10x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #cols_ab>, tensor<2x4xf32, #cols>) -> tensor<10x4xf32, #cols_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @local
ccn.program @local(%x0: tensor<8x4xf32> {ccn.name = "x0"}, %x1: tensor<2x4xf32, #local> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32>, tensor<2x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<10x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32>, tensor<2x4xf32, #local>) -> tensor<10x4xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending
ccn.program @pending(%x0: tensor<8x4xf32, #max> {ccn.name = "x0"}, %x1: tensor<2x4xf32, #max> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>, tensor<2x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>) -> tensor<10x4xf32, #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #max>, tensor<2x4xf32, #max>) -> tensor<10x4xf32, #max>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_and_sliced
ccn.program @pending_and_sliced(%x0: tensor<8x4xf32, #cols_b_sum> {ccn.name = "x0"},
    %x1: tensor<2x4xf32, #sum> {ccn.name = "x1"}) {
  // CHECK: ccn.concat %{{.*}}, %{{.*}} at 0 : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}], partial<sum> = {"a"}>>, tensor<2x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<10x4xf32, #ccn.layout<@m, [{}, {"b"}], partial<sum> = {"a"}>>
  %r = ccn.concat %x0, %x1 at 0 : (tensor<8x4xf32, #cols_b_sum>, tensor<2x4xf32, #sum>) -> tensor<10x4xf32, #cols_b_sum>
  ccn.return
}
