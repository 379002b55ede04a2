// #ccn.layout and #ccn.axes: what each constraint refuses.
// RUN: ccn-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

// layout_c1
// expected-error @below {{expected a list of axes for each of 2 dimensions, found 1}}
"test.op"() {type = tensor<8x4xf32, #ccn.layout<@m, [{"a"}]>>} : () -> ()

// -----

// layout_c1
// expected-error @below {{expected a list of axes for each of 0 dimensions, found 1}}
"test.op"() {type = tensor<f32, #ccn.layout<@m, [{"a"}]>>} : () -> ()

// -----

// layout_c2
// expected-error @below {{mesh axis 'a' is named twice}}
"test.op"() {layout = #ccn.layout<@m, [{"a"}, {"a"}]>} : () -> ()

// -----

// layout_c2
// expected-error @below {{mesh axis 'a' is named twice}}
"test.op"() {layout = #ccn.layout<@m, [{"a", "a"}]>} : () -> ()

// -----

// layout_c2
// expected-error @below {{mesh axis 'a' is named twice}}
"test.op"() {layout = #ccn.layout<@m, [{"a"}], local = {"a"}>} : () -> ()

// -----

// layout_c2
// expected-error @below {{mesh axis 'a' is named twice}}
"test.op"() {layout = #ccn.layout<@m, [{}], partial<sum> = {"a"}, local = {"a"}>} : () -> ()

// -----

// layout_c3
// expected-error @below {{expected at least one mesh axis; a tensor that is replicated along every axis has no layout}}
"test.op"() {layout = #ccn.layout<@m, [{}, {}]>} : () -> ()

// -----

// layout_c3
// expected-error @below {{expected at least one mesh axis; a tensor that is replicated along every axis has no layout}}
"test.op"() {layout = #ccn.layout<@m, [], local = {}>} : () -> ()

// -----

// layout_c4
// expected-error @below {{expected pending reductions of one kind, found 'sum' and 'max'}}
"test.op"() {layout = #ccn.layout<@m, [{}], partial<sum> = {"a"}, partial<max> = {"b"}>} : () -> ()

// -----

// an unknown reduction
// expected-error @below {{expected 'sum', 'prod', 'max' or 'min', found 'mean'}}
"test.op"() {layout = #ccn.layout<@m, [{}], partial<mean> = {"a"}>} : () -> ()

// -----

// an unknown state
// expected-error @below {{expected 'partial' or 'local'}}
"test.op"() {layout = #ccn.layout<@m, [{}], sliced = {"a"}>} : () -> ()

// -----

// an axis that is no string
// expected-error @below {{invalid kind of attribute specified}}
"test.op"() {layout = #ccn.layout<@m, [{1}]>} : () -> ()

// -----

// no mesh
// expected-error @below {{invalid kind of attribute specified}}
"test.op"() {layout = #ccn.layout<[{"a"}]>} : () -> ()

// -----

// a nested name
// expected-error @below {{invalid kind of attribute specified}}
"test.op"() {layout = #ccn.layout<@m::@n, [{"a"}]>} : () -> ()

// -----

// not closed
// expected-error @below {{unbalanced '[' character in pretty dialect name}}
"test.op"() {layout = #ccn.layout<@m, [{"a"}} : () -> ()

// -----

// axes_c1
// expected-error @below {{expected at least one mesh axis}}
"test.op"() {axes = #ccn.axes<@m, []>} : () -> ()

// -----

// axes_c2
// expected-error @below {{mesh axis 'a' is named twice}}
"test.op"() {axes = #ccn.axes<@m, ["a", "b", "a"]>} : () -> ()

// -----

// no names
// expected-error @below {{expected ','}}
"test.op"() {axes = #ccn.axes<@m>} : () -> ()

// -----

// a name that is no string
// expected-error @below {{expected attribute value}}
"test.op"() {axes = #ccn.axes<@m, [a]>} : () -> ()

// -----

// an unknown attribute
// expected-error @below {{unknown attribute `nothing` in dialect `ccn`}}
"test.op"() {axes = #ccn.nothing<@m>} : () -> ()

// -----

// chunked_c1: an offset beyond the extent
// expected-error @below {{expected a dimension of at least 0 and an offset from 0 to the extent, found 0, 5 and extent 4}}
"test.op"() {a = #ccn.chunked<0 from 5 of 4 in []>} : () -> ()

// -----

// chunked_c1: a negative dimension
// expected-error @below {{expected a dimension of at least 0 and an offset from 0 to the extent, found -1, 0 and extent 4}}
"test.op"() {a = #ccn.chunked<-1 from 0 of 4 in []>} : () -> ()

// -----

// chunked_c2
// expected-error @below {{expected the name of a mesh axis, found 1 : i64}}
"test.op"() {a = #ccn.chunked<0 from 0 of 4 in [1]>} : () -> ()
