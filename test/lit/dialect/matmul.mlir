// ccn.matmul: text form and layout inference.
// RUN: ccn-opt %s | FileCheck %s

#rows = #ccn.layout<@m, [{"a"}, {}]>
#cols = #ccn.layout<@m, [{}, {"a"}]>
#cols_b = #ccn.layout<@m, [{}, {"b"}]>
#rows_cols = #ccn.layout<@m, [{"a"}, {"b"}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#cols_ab = #ccn.layout<@m, [{}, {"a", "b"}]>
#sum_ab = #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>
#rows_ba = #ccn.layout<@m, [{"b", "a"}, {}]>
#rows_sum = #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>
#cols_sum = #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>
#sum_b = #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>
#rows_b = #ccn.layout<@m, [{"b"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#batch = #ccn.layout<@m, [{"a"}, {}, {}]>
#batch_ab = #ccn.layout<@m, [{"a", "b"}, {}, {}]>
#last_b = #ccn.layout<@m, [{}, {}, {"b"}]>
#batch_last = #ccn.layout<@m, [{"a"}, {}, {"b"}]>
#last = #ccn.layout<@m, [{}, {}, {"a"}]>
#t_sum = #ccn.layout<@m, [{}, {}, {}], partial<sum> = {"a"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @plain
ccn.program @plain(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @batched
ccn.program @batched(%a: tensor<3x8x4xf32> {ccn.name = "a"}, %b: tensor<3x4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @one_matrix_for_all_batches
ccn.program @one_matrix_for_all_batches(%a: tensor<5x3x8x4xbf16> {ccn.name = "a"}, %b: tensor<4x2xbf16> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<5x3x8x4xbf16>, tensor<4x2xbf16>) -> tensor<5x3x8x2xbf16>
  %0 = ccn.matmul %a, %b : (tensor<5x3x8x4xbf16>, tensor<4x2xbf16>) -> tensor<5x3x8x2xbf16>
  ccn.return
}

// CHECK-LABEL: ccn.program @narrow_floats
ccn.program @narrow_floats(%a: tensor<8x4xf8E4M3FN> {ccn.name = "a"}, %b: tensor<4x2xf8E4M3FN> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<8x2xf8E4M3FN>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf8E4M3FN>, tensor<4x2xf8E4M3FN>) -> tensor<8x2xf8E4M3FN>
  ccn.return
}

// CHECK-LABEL: ccn.program @integers
ccn.program @integers(%a: tensor<8x4xi8> {ccn.name = "a"}, %b: tensor<4x2xi8> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xi8>, tensor<4x2xi8>) -> tensor<8x2xi8>
  %0 = ccn.matmul %a, %b : (tensor<8x4xi8>, tensor<4x2xi8>) -> tensor<8x2xi8>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty_k
ccn.program @empty_k(%a: tensor<8x0xf32> {ccn.name = "a"}, %b: tensor<0x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x0xf32>, tensor<0x2xf32>) -> tensor<8x2xf32>
  %0 = ccn.matmul %a, %b : (tensor<8x0xf32>, tensor<0x2xf32>) -> tensor<8x2xf32>
  ccn.return
}

// CHECK-LABEL: ccn.program @empty
ccn.program @empty(%a: tensor<0x4xf32> {ccn.name = "a"}, %b: tensor<4x0xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<0x4xf32>, tensor<4x0xf32>) -> tensor<0x0xf32>
  %0 = ccn.matmul %a, %b : (tensor<0x4xf32>, tensor<4x0xf32>) -> tensor<0x0xf32>
  ccn.return
}

// Sliced M with replicated.
// CHECK-LABEL: ccn.program @sliced_m
ccn.program @sliced_m(%a: tensor<8x4xf32, #rows> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<4x2xf32>) -> tensor<8x2xf32, #ccn.layout<@m, [{"a"}, {}]>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows>, tensor<4x2xf32>) -> tensor<8x2xf32, #rows>
  ccn.return
}

// Replicated with sliced N.
// CHECK-LABEL: ccn.program @sliced_n
ccn.program @sliced_n(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<4x2xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {"a"}]>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32, #cols>) -> tensor<8x2xf32, #cols>
  ccn.return
}

// Along two axes.
// CHECK-LABEL: ccn.program @sliced_m_and_n
ccn.program @sliced_m_and_n(%a: tensor<8x4xf32, #rows> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols_b> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>, tensor<4x2xf32, #ccn.layout<@m, [{}, {"b"}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows>, tensor<4x2xf32, #cols_b>) -> tensor<8x2xf32, #rows_cols>
  ccn.return
}

// Sliced K with sliced K leaves a sum pending.
// CHECK-LABEL: ccn.program @sliced_k
ccn.program @sliced_k(%a: tensor<8x4xf32, #cols> {ccn.name = "a"}, %b: tensor<4x2xf32, #rows> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<4x2xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols>, tensor<4x2xf32, #rows>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// A replicated side is sliced along K for free.
// CHECK-LABEL: ccn.program @sliced_k_left
ccn.program @sliced_k_left(%a: tensor<8x4xf32, #cols> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a"}]>>, tensor<4x2xf32>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols>, tensor<4x2xf32>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_k_right
ccn.program @sliced_k_right(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32, #rows> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<4x2xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32, #rows>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested_k
ccn.program @nested_k(%a: tensor<8x4xf32, #cols_ab> {ccn.name = "a"},
    %b: tensor<4x2xf32, #rows> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"a", "b"}]>>, tensor<4x2xf32, #ccn.layout<@m, [{"a"}, {}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols_ab>, tensor<4x2xf32, #rows>) -> tensor<8x2xf32, #sum_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @nested_m
ccn.program @nested_m(%a: tensor<8x4xf32, #rows_ba> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>, tensor<4x2xf32>) -> tensor<8x2xf32, #ccn.layout<@m, [{"b", "a"}, {}]>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows_ba>, tensor<4x2xf32>) -> tensor<8x2xf32, #rows_ba>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_m_and_k
ccn.program @sliced_m_and_k(%a: tensor<8x4xf32, #rows_cols> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {"b"}]>>, tensor<4x2xf32>) -> tensor<8x2xf32, #ccn.layout<@m, [{"a"}, {}], partial<sum> = {"b"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #rows_cols>, tensor<4x2xf32>) -> tensor<8x2xf32, #rows_sum>
  ccn.return
}

// K is cut along b, N along a.
// CHECK-LABEL: ccn.program @sliced_k_and_n
ccn.program @sliced_k_and_n(%a: tensor<8x4xf32, #cols_b> {ccn.name = "a"}, %b: tensor<4x2xf32, #cols> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {"b"}]>>, tensor<4x2xf32, #ccn.layout<@m, [{}, {"a"}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {"a"}], partial<sum> = {"b"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #cols_b>, tensor<4x2xf32, #cols>) -> tensor<8x2xf32, #cols_sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_left
ccn.program @pending_left(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<4x2xf32>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_right
ccn.program @pending_right(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32, #sum> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<4x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32, #sum>) -> tensor<8x2xf32, #sum>
  ccn.return
}

// Along other axes: each is linear in the other.
// CHECK-LABEL: ccn.program @pending_both
ccn.program @pending_both(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32, #sum_b> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<4x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"b"}>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32, #sum_b>) -> tensor<8x2xf32, #sum_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @pending_and_sliced_k
ccn.program @pending_and_sliced_k(%a: tensor<8x4xf32, #sum> {ccn.name = "a"}, %b: tensor<4x2xf32, #rows_b> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>>, tensor<4x2xf32, #ccn.layout<@m, [{"b"}, {}]>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], partial<sum> = {"a", "b"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #sum>, tensor<4x2xf32, #rows_b>) -> tensor<8x2xf32, #sum_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_local
ccn.program @local_local(%a: tensor<8x4xf32, #local> {ccn.name = "a"}, %b: tensor<4x2xf32, #local> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>, tensor<4x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32, #local>, tensor<4x2xf32, #local>) -> tensor<8x2xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @local_replicated
ccn.program @local_replicated(%a: tensor<8x4xf32> {ccn.name = "a"}, %b: tensor<4x2xf32, #local> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<8x4xf32>, tensor<4x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>) -> tensor<8x2xf32, #ccn.layout<@m, [{}, {}], local = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32, #local>) -> tensor<8x2xf32, #local>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_batch
ccn.program @sliced_batch(%a: tensor<3x8x4xf32, #batch> {ccn.name = "a"}, %b: tensor<3x4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32, #batch>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32, #batch>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_batch_nested
ccn.program @sliced_batch_nested(%a: tensor<3x8x4xf32, #batch_ab> {ccn.name = "a"},
    %b: tensor<3x4x2xf32, #batch> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32, #ccn.layout<@m, [{"a", "b"}, {}, {}]>>, tensor<3x4x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>) -> tensor<3x8x2xf32, #ccn.layout<@m, [{"a", "b"}, {}, {}]>>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32, #batch_ab>, tensor<3x4x2xf32, #batch>) -> tensor<3x8x2xf32, #batch_ab>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_batch_and_n
ccn.program @sliced_batch_and_n(%a: tensor<3x8x4xf32, #batch> {ccn.name = "a"},
    %b: tensor<3x4x2xf32, #last_b> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>, tensor<3x4x2xf32, #ccn.layout<@m, [{}, {}, {"b"}]>>) -> tensor<3x8x2xf32, #ccn.layout<@m, [{"a"}, {}, {"b"}]>>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32, #batch>, tensor<3x4x2xf32, #last_b>) -> tensor<3x8x2xf32, #batch_last>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_batch_shared_matrix
ccn.program @sliced_batch_shared_matrix(%a: tensor<3x8x4xf32, #batch> {ccn.name = "a"}, %b: tensor<4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>, tensor<4x2xf32>) -> tensor<3x8x2xf32, #ccn.layout<@m, [{"a"}, {}, {}]>>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32, #batch>, tensor<4x2xf32>) -> tensor<3x8x2xf32, #batch>
  ccn.return
}

// CHECK-LABEL: ccn.program @sliced_k_batched
ccn.program @sliced_k_batched(%a: tensor<3x8x4xf32, #last> {ccn.name = "a"}, %b: tensor<3x4x2xf32> {ccn.name = "b"}) {
  // CHECK: ccn.matmul %{{.*}}, %{{.*}} : (tensor<3x8x4xf32, #ccn.layout<@m, [{}, {}, {"a"}]>>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32, #ccn.layout<@m, [{}, {}, {}], partial<sum> = {"a"}>>
  %0 = ccn.matmul %a, %b : (tensor<3x8x4xf32, #last>, tensor<3x4x2xf32>) -> tensor<3x8x2xf32, #t_sum>
  ccn.return
}
