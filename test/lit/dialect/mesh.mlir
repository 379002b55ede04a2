// ccn.mesh: text form; one mesh a module, in nested modules too.
// RUN: ccn-opt %s | FileCheck %s

// CHECK: ccn.mesh @one ["dp" = 1]
ccn.mesh @one ["dp" = 1]

module {
  // CHECK: ccn.mesh @three ["dp" = 2, "tp" = 4, "pp" = 8192]
  ccn.mesh @three ["dp" = 2, "tp" = 4, "pp" = 8192]
}

module {
  // CHECK: ccn.mesh @names ["a b" = 2, "\22quoted\22" = 3]
  ccn.mesh @names ["a b" = 2, "\22quoted\22" = 3]
}

module {
  // The generic form gives the same.
  // CHECK: ccn.mesh @generic ["a" = 2]
  "ccn.mesh"() <{sym_name = "generic", axis_names = ["a"], axis_sizes = array<i64: 2>}> : () -> ()
}
