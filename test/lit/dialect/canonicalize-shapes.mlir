// Canonicalization of changes of shape: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#v_sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#batch_mid = #ccn.layout<@m, [{"a"}, {"b"}, {}]>
#batch_last = #ccn.layout<@m, [{"a"}, {}, {"b"}]>
#mid_last = #ccn.layout<@m, [{}, {"a"}, {"b"}]>
#batch = #ccn.layout<@m, [{"a"}, {}, {}]>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// The permutations follow each other; the name of the second stays.
// CHECK-LABEL: ccn.program @transpose_of_transpose(
// CHECK-NEXT: %[[V0:.*]] = ccn.transpose %arg0 by [0, 2, 1] {ccn.let = "t"} : (tensor<2x3x4xf32, #ccn.layout<@m, [{"a"}, {"b"}, {}]>>) -> tensor<2x4x3xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<2x4x3xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
ccn.program @transpose_of_transpose(%x: tensor<2x3x4xf32, #batch_mid> {ccn.name = "x"})
    -> (tensor<2x4x3xf32, #batch_last> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xf32, #batch_mid>) -> tensor<4x2x3xf32, #mid_last>
  %1 = ccn.transpose %0 by [1, 0, 2] {ccn.let = "t"} : (tensor<4x2x3xf32, #mid_last>) -> tensor<2x4x3xf32, #batch_last>
  ccn.return %1 : tensor<2x4x3xf32, #batch_last>
}

// CHECK-LABEL: ccn.program @transpose_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<2x3x4xf32>
ccn.program @transpose_and_back(%x: tensor<2x3x4xf32> {ccn.name = "x"}) -> (tensor<2x3x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = ccn.transpose %0 by [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  ccn.return %1 : tensor<2x3x4xf32>
}

// Dimensions of the same size do not make another permutation an identity.
// CHECK-LABEL: ccn.program @transpose_identity(
// CHECK-NEXT: %[[V0:.*]] = ccn.transpose %arg0 by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<4x4xf32>
ccn.program @transpose_identity(%x: tensor<4x4xf32> {ccn.name = "x"}) -> (tensor<4x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.transpose %x by [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = ccn.transpose %0 by [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ccn.return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: ccn.program @reshape_of_reshape(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshape %arg0 to [4, 8] {ccn.let = "r"} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<4x8xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<4x8xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
ccn.program @reshape_of_reshape(%x: tensor<8x4xf32, #sum> {ccn.name = "x"})
    -> (tensor<4x8xf32, #sum> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32, #sum>) -> tensor<32xf32, #v_sum>
  %1 = ccn.reshape %0 to [4, 8] {ccn.let = "r"} : (tensor<32xf32, #v_sum>) -> tensor<4x8xf32, #sum>
  ccn.return %1 : tensor<4x8xf32, #sum>
}

// CHECK-LABEL: ccn.program @reshape_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32>
ccn.program @reshape_and_back(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [32] : (tensor<8x4xf32>) -> tensor<32xf32>
  %1 = ccn.reshape %0 to [8, 4] : (tensor<32xf32>) -> tensor<8x4xf32>
  ccn.return %1 : tensor<8x4xf32>
}

// The cut might find another counterpart.
// CHECK-LABEL: ccn.program @no_reshape_of_cut(
// CHECK-NEXT: %[[V0:.*]] = ccn.reshape %arg0 to [8, 2, 2] : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.reshape %[[V0]] to [8, 1, 4] : (tensor<8x2x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>) -> tensor<8x1x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8x1x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
ccn.program @no_reshape_of_cut(%x: tensor<8x4xf32, #rows> {ccn.name = "x"})
    -> (tensor<8x1x4xf32, #batch> {ccn.name = "r0"}) {
  %0 = ccn.reshape %x to [8, 2, 2] : (tensor<8x4xf32, #rows>) -> tensor<8x2x2xf32, #batch>
  %1 = ccn.reshape %0 to [8, 1, 4] : (tensor<8x2x2xf32, #batch>) -> tensor<8x1x4xf32, #batch>
  ccn.return %1 : tensor<8x1x4xf32, #batch>
}

// CHECK-LABEL: ccn.program @whole_extract(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32>
ccn.program @whole_extract(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.extract %x at 1 from 0 to 4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  ccn.return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: ccn.program @no_part_extract(
// CHECK-NEXT: %[[V0:.*]] = ccn.extract %arg0 at 1 from 0 to 3 : (tensor<8x4xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x3xf32>
ccn.program @no_part_extract(%x: tensor<8x4xf32> {ccn.name = "x"}) -> (tensor<8x3xf32> {ccn.name = "r0"}) {
  %0 = ccn.extract %x at 1 from 0 to 3 : (tensor<8x4xf32>) -> tensor<8x3xf32>
  ccn.return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: ccn.program @single_concat(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @single_concat(%x: tensor<8x4xf32, #cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.concat %x at 0 : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// The second adds nothing, but may cut.
// CHECK-LABEL: ccn.program @no_concat_of_nothing(
// CHECK-NEXT: %[[V0:.*]] = ccn.concat %arg0, %arg1 at 0 : (tensor<8x4xf32>, tensor<0x4xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @no_concat_of_nothing(%x: tensor<8x4xf32> {ccn.name = "x"},
    %y: tensor<0x4xf32, #cols> {ccn.name = "y"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.concat %x, %y at 0 : (tensor<8x4xf32>, tensor<0x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @broadcast_to_itself(
// CHECK-NEXT: ccn.return %arg0 : tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>
ccn.program @broadcast_to_itself(%x: tensor<8x4xf32, #cols> {ccn.name = "x"})
    -> (tensor<8x4xf32, #cols> {ccn.name = "r0"}) {
  %0 = ccn.broadcast_to %x to [8, 4] : (tensor<8x4xf32, #cols>) -> tensor<8x4xf32, #cols>
  ccn.return %0 : tensor<8x4xf32, #cols>
}

// CHECK-LABEL: ccn.program @no_broadcast_to_more(
// CHECK-NEXT: %[[V0:.*]] = ccn.broadcast_to %arg0 to [1, 4] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<1x4xf32>
ccn.program @no_broadcast_to_more(%x: tensor<4xf32> {ccn.name = "x"}) -> (tensor<1x4xf32> {ccn.name = "r0"}) {
  %0 = ccn.broadcast_to %x to [1, 4] : (tensor<4xf32>) -> tensor<1x4xf32>
  ccn.return %0 : tensor<1x4xf32>
}
