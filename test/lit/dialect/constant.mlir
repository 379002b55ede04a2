// ccn.constant: text form of every element type.
// RUN: ccn-opt %s | FileCheck %s

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

// CHECK-LABEL: ccn.program @element_types
ccn.program @element_types() {
  // CHECK: ccn.constant 2.500000e+00 : f64
  %0 = ccn.constant 2.500000e+00 : f64
  // CHECK: ccn.constant 2.500000e+00 : f32
  %1 = ccn.constant 2.500000e+00 : f32
  // CHECK: ccn.constant 2.500000e+00 : f16
  %2 = ccn.constant 2.500000e+00 : f16
  // CHECK: ccn.constant 2.500000e+00 : bf16
  %3 = ccn.constant 2.500000e+00 : bf16
  // CHECK: ccn.constant 2.500000e+00 : f8E4M3FN
  %4 = ccn.constant 2.500000e+00 : f8E4M3FN
  // CHECK: ccn.constant 2.500000e+00 : f8E5M2
  %5 = ccn.constant 2.500000e+00 : f8E5M2
  // CHECK: ccn.constant -128 : i8
  %6 = ccn.constant -128 : i8
  // CHECK: ccn.constant 7 : i16
  %7 = ccn.constant 7 : i16
  // CHECK: ccn.constant 7 : i32
  %8 = ccn.constant 7 : i32
  // CHECK: ccn.constant -9223372036854775808 : i64
  %9 = ccn.constant -9223372036854775808 : i64
  // CHECK: ccn.constant 255 : ui8
  %10 = ccn.constant 255 : ui8
  // CHECK: ccn.constant 7 : ui16
  %11 = ccn.constant 7 : ui16
  // CHECK: ccn.constant 7 : ui32
  %12 = ccn.constant 7 : ui32
  // CHECK: ccn.constant 18446744073709551615 : ui64
  %13 = ccn.constant 18446744073709551615 : ui64
  // CHECK: ccn.constant true
  %14 = ccn.constant true
  // CHECK: ccn.constant false
  %15 = ccn.constant false
  ccn.return
}

// Not a number, infinity, negative zero, the least denormal.
// CHECK-LABEL: ccn.program @special_values
ccn.program @special_values() {
  // CHECK: ccn.constant 0x7FC00000 : f32
  %0 = ccn.constant 0x7FC00000 : f32
  // CHECK: ccn.constant 0x7F800000 : f32
  %1 = ccn.constant 0x7F800000 : f32
  // CHECK: ccn.constant -0.000000e+00 : f32
  %2 = ccn.constant -0.000000e+00 : f32
  // CHECK: ccn.constant 5.960460e-08 : f16
  %3 = ccn.constant 0x0001 : f16
  ccn.return
}
