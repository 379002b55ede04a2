// ccn.compare: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#rows_ab = #ccn.layout<@m, [{"a", "b"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#s_local_b = #ccn.layout<@m, [], local = {"b"}>
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @predicates
ccn.program @predicates(%x: tensor<8xf32> {ccn.name = "x"}, %y: tensor<8xf32> {ccn.name = "y"}) {
  // CHECK: ccn.compare eq %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %0 = ccn.compare eq %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // CHECK: ccn.compare ne %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %1 = ccn.compare ne %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %2 = ccn.compare lt %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // CHECK: ccn.compare le %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %3 = ccn.compare le %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // CHECK: ccn.compare gt %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %4 = ccn.compare gt %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  // CHECK: ccn.compare ge %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %5 = ccn.compare ge %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @element_types
ccn.program @element_types(%a: tensor<8xi1> {ccn.name = "a"},
    %b: tensor<8xui64> {ccn.name = "b"},
    %c: tensor<8xf8E5M2> {ccn.name = "c"},
    %d: tensor<bf16> {ccn.name = "d"},
    %e: tensor<0xi8> {ccn.name = "e"}) {
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  %0 = ccn.compare lt %a, %a : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  // CHECK: ccn.compare eq %{{.*}}, %{{.*}} : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
  %1 = ccn.compare eq %b, %b : (tensor<8xui64>, tensor<8xui64>) -> tensor<8xi1>
  // CHECK: ccn.compare ne %{{.*}}, %{{.*}} : (tensor<8xf8E5M2>, tensor<8xf8E5M2>) -> tensor<8xi1>
  %2 = ccn.compare ne %c, %c : (tensor<8xf8E5M2>, tensor<8xf8E5M2>) -> tensor<8xi1>
  // CHECK: ccn.compare ge %{{.*}}, %{{.*}} : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
  %3 = ccn.compare ge %d, %d : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
  // CHECK: ccn.compare gt %{{.*}}, %{{.*}} : (tensor<0xi8>, tensor<0xi8>) -> tensor<0xi1>
  %4 = ccn.compare gt %e, %e : (tensor<0xi8>, tensor<0xi8>) -> tensor<0xi1>
  ccn.return
}

// CHECK-LABEL: ccn.program @layouts
ccn.program @layouts(%a: tensor<8x4xf32, #rows> {ccn.name = "a"},
    %b: tensor<8x4xf32> {ccn.name = "b"},
    %c: tensor<8x4xf32, #rows_ab> {ccn.name = "c"},
    %d: tensor<8x4xf32, #local> {ccn.name = "d"},
    %s: tensor<f32, #s_local_b> {ccn.name = "s"}) {
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32>) -> tensor<8x4xi1, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.compare lt %a, %b : (tensor<8x4xf32, #rows>, tensor<8x4xf32>) -> tensor<8x4xi1, #rows>
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}]>>) -> tensor<8x4xi1, #ccn.layout<@m, [{"a", "b"}, {}]>>
  %1 = ccn.compare lt %a, %c : (tensor<8x4xf32, #rows>, tensor<8x4xf32, #rows_ab>) -> tensor<8x4xi1, #rows_ab>
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x4xi1, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %2 = ccn.compare lt %b, %d : (tensor<8x4xf32>, tensor<8x4xf32, #local>) -> tensor<8x4xi1, #local>
  // CHECK: ccn.compare lt %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<f32, #ccn.layout<@m, [], local = {"b"}>>) -> tensor<8x4xi1, #ccn.layout<@m, [{"a"}, {}], local = {"b"}>>
  %3 = ccn.compare lt %a, %s : (tensor<8x4xf32, #rows>, tensor<f32, #s_local_b>) -> tensor<8x4xi1, #rows_local>
  ccn.return
}
