// ccn.reshard: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// reshard_c1: shape
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op expected shape and element type to be kept, found 'f32[8, 4]' and 'f32[4, 8]'}}
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<4x8xf32>
  ccn.return
}

// -----

// reshard_c1: element type
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op expected shape and element type to be kept, found 'f32[8, 4]' and 'f16[8, 4]'}}
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf16>
  ccn.return
}

// -----

// reshard_c2: replicated to partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'replicated' cannot become 'partial(sum, a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32> to tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// reshard_c2: sliced to local
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'sliced(0, a)' cannot become 'local(a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #local>
  ccn.return
}

// -----

// reshard_c2: sliced to partial
#rows = #ccn.layout<@m, [{"a"}, {}]>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'sliced(0, a)' cannot become 'partial(sum, a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// reshard_c2: local to replicated
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'local(a)' cannot become 'replicated' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #local> to tensor<8x4xf32>
  ccn.return
}

// -----

// reshard_c2: local to sliced
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'local(a)' cannot become 'sliced(0, a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #local> to tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reshard_c2: local to partial
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'local(a)' cannot become 'partial(sum, a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #local> to tensor<8x4xf32, #sum>
  ccn.return
}

// -----

// reshard_c2: partial to another partial
#sum = #ccn.layout<@m, [{}, {}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}, {}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #sum> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'partial(sum, a)' cannot become 'partial(max, a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #sum> to tensor<8x4xf32, #max>
  ccn.return
}

// -----

// reshard_c2: one axis is legal, the other is not
#rows_local = #ccn.layout<@m, [{"a"}, {}], local = {"b"}>
#rows = #ccn.layout<@m, [{"a"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows_local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'sliced(0, a) local(b)' cannot become 'sliced(0, a)' along mesh axis 'b'}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows_local> to tensor<8x4xf32, #rows>
  ccn.return
}

// -----

// reshard_c3
#rows = #ccn.layout<@m, [{"a"}, {}]>
#other = #ccn.layout<@n, [{"a"}, {}]>
ccn.mesh @m ["a" = 2]
ccn.program @error(%x: tensor<8x4xf32, #rows> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op expected layouts on one mesh, found @m and @n}}
  %0 = ccn.reshard %x : tensor<8x4xf32, #rows> to tensor<8x4xf32, #other>
  ccn.return
}
