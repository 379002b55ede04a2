// ccn.mesh: what each constraint refuses.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// mesh_c1
// expected-error @below {{'ccn.mesh' op expected at least one axis and a size for each, found 0 names and 0 sizes}}
ccn.mesh @m []

// -----

// mesh_c1
// expected-error @below {{'ccn.mesh' op expected at least one axis and a size for each, found 2 names and 1 sizes}}
"ccn.mesh"() <{sym_name = "m", axis_names = ["a", "b"], axis_sizes = array<i64: 2>}> : () -> ()

// -----

// mesh_c2
// expected-error @below {{'ccn.mesh' op expected axis names that are not empty}}
ccn.mesh @m ["a" = 2, "" = 2]

// -----

// mesh_c2
// expected-error @below {{'ccn.mesh' op axis 'a' is named twice}}
ccn.mesh @m ["a" = 2, "b" = 3, "a" = 2]

// -----

// mesh_c3
// expected-error @below {{'ccn.mesh' op expected axis sizes of at least 1, found 0}}
ccn.mesh @m ["a" = 0]

// -----

// mesh_c3
// expected-error @below {{'ccn.mesh' op expected axis sizes of at least 1, found -2}}
ccn.mesh @m ["a" = 2, "b" = -2]

// -----

// mesh_c3
// expected-error @below {{'ccn.mesh' op expected at most 65536 ranks, found more}}
ccn.mesh @m ["a" = 65537]

// -----

// mesh_c3
// expected-error @below {{'ccn.mesh' op expected at most 65536 ranks, found more}}
ccn.mesh @m ["a" = 256, "b" = 256, "c" = 2]

// -----

// mesh_c3
// expected-error @below {{'ccn.mesh' op expected at most 65536 ranks, found more}}
ccn.mesh @m ["a" = 4294967296, "b" = 4294967296]

// -----

// mesh_c4
ccn.mesh @m ["a" = 2]
// expected-error @below {{'ccn.mesh' op expected one mesh in a module, found another}}
ccn.mesh @n ["a" = 2]

// -----

// a size that does not fit 64 bits
// expected-error @below {{custom op 'ccn.mesh' integer value too large}}
ccn.mesh @m ["a" = 9223372036854775808]

// -----

// outside of a module
ccn.program @p() {
  // expected-error @below {{'ccn.mesh' op expects parent op 'builtin.module'}}
  ccn.mesh @m ["a" = 2]
  ccn.return
}

// -----

// no names
// expected-error @below {{'ccn.mesh' op requires attribute 'axis_names'}}
"ccn.mesh"() <{sym_name = "m", axis_sizes = array<i64: 2>}> : () -> ()

// -----

// names that are no strings
// expected-error @below {{'ccn.mesh' op attribute 'axis_names' failed to satisfy constraint: string array attribute}}
"ccn.mesh"() <{sym_name = "m", axis_names = [1], axis_sizes = array<i64: 2>}> : () -> ()

// -----

// sizes of another type
// expected-error @below {{invalid properties {axis_names = ["a"], axis_sizes = array<i32: 2>, sym_name = "m"} for op ccn.mesh: Invalid attribute `axis_sizes` in property conversion: array<i32: 2>}}
"ccn.mesh"() <{sym_name = "m", axis_names = ["a"], axis_sizes = array<i32: 2>}> : () -> ()
