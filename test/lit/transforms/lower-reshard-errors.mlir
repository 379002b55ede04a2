// ccn-lower-reshard has no errors of its own: what has no way does not verify.
// RUN: ccn-opt %s -ccn-lower-reshard -split-input-file -verify-diagnostics

#cut = #ccn.layout<@m, [{"a"}]>
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @sliced_to_local(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'sliced(0, a)' cannot become 'local(a)' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8xf32, #cut> to tensor<8xf32, #local>
  ccn.return
}

// -----

#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @local_to_replicated(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op layout 'local(a)' cannot become 'replicated' along mesh axis 'a'}}
  %0 = ccn.reshard %x : tensor<8xf32, #local> to tensor<8xf32>
  ccn.return
}

// -----

// An axis that the mesh does not have is not searched.
#cut = #ccn.layout<@m, [{"z"}]>
ccn.mesh @m ["a" = 2]
ccn.program @unknown_axis(%x: tensor<8xf32> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reshard' op has a layout along axis 'z', which mesh @m does not have}}
  %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32, #cut>
  ccn.return
}

// -----

// Without a mesh there is nothing to do, and no crash.
ccn.program @no_mesh(%x: tensor<8xf32> {ccn.name = "x"}) {
  %0 = ccn.reshard %x : tensor<8xf32> to tensor<8xf32>
  ccn.return
}
