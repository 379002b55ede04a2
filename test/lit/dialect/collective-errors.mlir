// Collectives: what each constraint that all of them share refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// collective_c1
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op names mesh @other, which the module does not have}}
  %0 = ccn.all_reduce sum %x along <@other, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c1
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op names mesh @m, which the module does not have}}
  %0 = ccn.all_reduce sum %x along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c2
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.all_reduce' op names axis 'z', which mesh @m does not have}}
  %0 = ccn.all_reduce sum %x along <@m, ["z"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c2
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.send' op names axis 'A', which mesh @m does not have}}
  %0 = ccn.send %x by 1 along <@m, ["A"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c3
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op expected a root from 0 to 1 on axis 'a', found 2}}
  %0 = ccn.broadcast %x from 2 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c3
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.broadcast' op expected a root from 0 to 1 on axis 'a', found -1}}
  %0 = ccn.broadcast %x from -1 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c3
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.reduce' op expected a root from 0 to 1 on axis 'a', found 2}}
  %0 = ccn.reduce sum %x to 2 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32, #local>
  ccn.return
}

// -----

// collective_c3
#local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #local> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.scatter' op expected a root from 0 to 1 on axis 'a', found 9223372036854775807}}
  %0 = ccn.scatter %x from 9223372036854775807 into 0 along <@m, ["a"]> : (tensor<8xf32, #local>) -> tensor<8xf32>
  ccn.return
}

// -----

// collective_c3
#cut = #ccn.layout<@m, [{"a"}]>
#v_local = #ccn.layout<@m, [{}], local = {"a"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]
ccn.program @error(%x: tensor<8xf32, #cut> {ccn.name = "x"}) {
  // expected-error @below {{'ccn.gather' op expected a root from 0 to 1 on axis 'a', found 2}}
  %0 = ccn.gather %x to 2 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32, #v_local>
  ccn.return
}
