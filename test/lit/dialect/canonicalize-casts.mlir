// Canonicalization of casts, and of casts beside gathers: every pattern and folder, and what must not be rewritten.
// RUN: ccn-opt %s -canonicalize | FileCheck %s

#cut = #ccn.layout<@m, [{"a"}]>
#cut_ab = #ccn.layout<@m, [{"a", "b"}]>
#cut_local = #ccn.layout<@m, [{"a"}], local = {"b"}>
#v_local_b = #ccn.layout<@m, [{}], local = {"b"}>

ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2]

//===----------------------------------------------------------------------===//
// Casts and all_gathers: the narrower type travels
//===----------------------------------------------------------------------===//

// Each operation keeps its name.
// CHECK-LABEL: ccn.program @widening_cast_before_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 {ccn.let = "c"} : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @widening_cast_before_gather(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 {ccn.let = "c"} : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// CHECK-LABEL: ccn.program @widening_cast_two_axes(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["b"]> : (tensor<8xi8, #ccn.layout<@m, [{"a", "b"}]>>) -> tensor<8xi8, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to i64 : (tensor<8xi8, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi64, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xi64, #ccn.layout<@m, [{"a"}]>>
ccn.program @widening_cast_two_axes(%x: tensor<8xi8, #cut_ab> {ccn.name = "x"})
    -> (tensor<8xi64, #cut> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to i64 : (tensor<8xi8, #cut_ab>) -> tensor<8xi64, #cut_ab>
  %1 = ccn.all_gather %0 along <@m, ["b"]> : (tensor<8xi64, #cut_ab>) -> tensor<8xi64, #cut>
  ccn.return %1 : tensor<8xi64, #cut>
}

// CHECK-LABEL: ccn.program @narrowing_cast_after_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f8E5M2 {ccn.let = "c"} : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf8E5M2, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf8E5M2, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf8E5M2>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf8E5M2>
ccn.program @narrowing_cast_after_gather(%x: tensor<8xf32, #cut> {ccn.name = "x"}) -> (tensor<8xf8E5M2> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> {ccn.let = "g"} : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f8E5M2 {ccn.let = "c"} : (tensor<8xf32>) -> tensor<8xf8E5M2>
  ccn.return %1 : tensor<8xf8E5M2>
}

// The cut is of another axis than the local values.
// CHECK-LABEL: ccn.program @narrowing_cast_after_gather_local(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i1 : (tensor<8xi32, #ccn.layout<@m, [{"a"}], local = {"b"}>>) -> tensor<8xi1, #ccn.layout<@m, [{"a"}], local = {"b"}>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xi1, #ccn.layout<@m, [{"a"}], local = {"b"}>>) -> tensor<8xi1, #ccn.layout<@m, [{}], local = {"b"}>>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xi1, #ccn.layout<@m, [{}], local = {"b"}>>
ccn.program @narrowing_cast_after_gather_local(%x: tensor<8xi32, #cut_local> {ccn.name = "x"})
    -> (tensor<8xi1, #v_local_b> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xi32, #cut_local>) -> tensor<8xi32, #v_local_b>
  %1 = ccn.cast %0 to i1 : (tensor<8xi32, #v_local_b>) -> tensor<8xi1, #v_local_b>
  ccn.return %1 : tensor<8xi1, #v_local_b>
}

// It is where it should be.
// CHECK-LABEL: ccn.program @no_narrowing_cast_before_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f16 : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf16>
ccn.program @no_narrowing_cast_before_gather(%x: tensor<8xf32, #cut> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f16 : (tensor<8xf32, #cut>) -> tensor<8xf16, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  ccn.return %1 : tensor<8xf16>
}

// CHECK-LABEL: ccn.program @no_widening_cast_after_gather(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @no_widening_cast_after_gather(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// Nothing is gained, in either place.
// CHECK-LABEL: ccn.program @no_cast_of_same_width(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i32 : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi32, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xi32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xi32>
// CHECK-NEXT: %[[V2:.*]] = ccn.all_gather %arg1 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xi32>, tensor<8xbf16>
ccn.program @no_cast_of_same_width(%x: tensor<8xf32, #cut> {ccn.name = "x"},
    %y: tensor<8xf16, #cut> {ccn.name = "y"})
    -> (tensor<8xi32> {ccn.name = "r0"}, tensor<8xbf16> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to i32 : (tensor<8xf32, #cut>) -> tensor<8xi32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xi32, #cut>) -> tensor<8xi32>
  %2 = ccn.all_gather %y along <@m, ["a"]> : (tensor<8xf16, #cut>) -> tensor<8xf16>
  %3 = ccn.cast %2 to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
  ccn.return %1, %3 : tensor<8xi32>, tensor<8xbf16>
}

// CHECK-LABEL: ccn.program @no_cast_before_gather_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f32 : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
// CHECK-NEXT: %[[V1:.*]] = ccn.all_gather %[[V0]] along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32, #ccn.layout<@m, [{"a"}]>>, tensor<8xf32>
ccn.program @no_cast_before_gather_used_twice(%x: tensor<8xf16, #cut> {ccn.name = "x"})
    -> (tensor<8xf32, #cut> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  ccn.return %0, %1 : tensor<8xf32, #cut>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_after_gather_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf32, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f16 : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32>, tensor<8xf16>
ccn.program @no_cast_after_gather_used_twice(%x: tensor<8xf32, #cut> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf16> {ccn.name = "r1"}) {
  %0 = ccn.all_gather %x along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %0, %1 : tensor<8xf32>, tensor<8xf16>
}

// f32 travels as f16, which is what the values are.
// CHECK-LABEL: ccn.program @casts_on_both_sides(
// CHECK-NEXT: %[[V0:.*]] = ccn.all_gather %arg0 along <@m, ["a"]> : (tensor<8xf16, #ccn.layout<@m, [{"a"}]>>) -> tensor<8xf16>
// CHECK-NEXT: ccn.return %[[V0]] : tensor<8xf16>
ccn.program @casts_on_both_sides(%x: tensor<8xf16, #cut> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16, #cut>) -> tensor<8xf32, #cut>
  %1 = ccn.all_gather %0 along <@m, ["a"]> : (tensor<8xf32, #cut>) -> tensor<8xf32>
  %2 = ccn.cast %1 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %2 : tensor<8xf16>
}

//===----------------------------------------------------------------------===//
// Casts of casts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: ccn.program @cast_to_its_own_type(
// CHECK-NEXT: ccn.return %arg0 : tensor<8xf32, #ccn.layout<@m, [{"a"}]>>
ccn.program @cast_to_its_own_type(%x: tensor<8xf32, #cut> {ccn.name = "x"})
    -> (tensor<8xf32, #cut> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf32, #cut>) -> tensor<8xf32, #cut>
  ccn.return %0 : tensor<8xf32, #cut>
}

// The first loses nothing; the name of the second stays.
// CHECK-LABEL: ccn.program @exact_casts(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f64 {ccn.let = "x"} : (tensor<8xf16>) -> tensor<8xf64>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %arg1 to f16 : (tensor<8xbf16>) -> tensor<8xf16>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg2 to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %arg3 to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]], %[[V2]], %[[V3]] : tensor<8xf64>, tensor<8xf16>, tensor<8xf8E5M2>, tensor<8xf32>
ccn.program @exact_casts(%a: tensor<8xf16> {ccn.name = "a"},
    %b: tensor<8xbf16> {ccn.name = "b"},
    %c: tensor<8xf8E4M3FN> {ccn.name = "c"},
    %d: tensor<8xf8E5M2> {ccn.name = "d"})
    -> (tensor<8xf64> {ccn.name = "r0"}, tensor<8xf16> {ccn.name = "r1"}, tensor<8xf8E5M2> {ccn.name = "r2"}, tensor<8xf32> {ccn.name = "r3"}) {
  %0 = ccn.cast %a to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f64 {ccn.let = "x"} : (tensor<8xf32>) -> tensor<8xf64>
  %2 = ccn.cast %b to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  %3 = ccn.cast %2 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  %4 = ccn.cast %c to f16 : (tensor<8xf8E4M3FN>) -> tensor<8xf16>
  %5 = ccn.cast %4 to f8E5M2 : (tensor<8xf16>) -> tensor<8xf8E5M2>
  %6 = ccn.cast %d to bf16 : (tensor<8xf8E5M2>) -> tensor<8xbf16>
  %7 = ccn.cast %6 to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  ccn.return %1, %3, %5, %7 : tensor<8xf64>, tensor<8xf16>, tensor<8xf8E5M2>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @exact_cast_and_back(
// CHECK-NEXT: ccn.return %arg0 : tensor<8xf16>
ccn.program @exact_cast_and_back(%x: tensor<8xf16> {ccn.name = "x"}) -> (tensor<8xf16> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
  ccn.return %1 : tensor<8xf16>
}

// The first stays for its other use.
// CHECK-LABEL: ccn.program @exact_cast_used_twice(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %arg0 to f64 : (tensor<8xf16>) -> tensor<8xf64>
// CHECK-NEXT: ccn.return %[[V0]], %[[V1]] : tensor<8xf32>, tensor<8xf64>
ccn.program @exact_cast_used_twice(%x: tensor<8xf16> {ccn.name = "x"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf64> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f32 : (tensor<8xf16>) -> tensor<8xf32>
  %1 = ccn.cast %0 to f64 : (tensor<8xf32>) -> tensor<8xf64>
  ccn.return %0, %1 : tensor<8xf32>, tensor<8xf64>
}

// f32 to f16 and back rounds: no.
// CHECK-LABEL: ccn.program @no_rounding_cast_and_back(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f16 : (tensor<8xf32>) -> tensor<8xf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]] : tensor<8xf32>
ccn.program @no_rounding_cast_and_back(%x: tensor<8xf32> {ccn.name = "x"}) -> (tensor<8xf32> {ccn.name = "r0"}) {
  %0 = ccn.cast %x to f16 : (tensor<8xf32>) -> tensor<8xf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1 : tensor<8xf32>
}

// Neither holds all values of the other.
// CHECK-LABEL: ccn.program @no_cast_between_16_bit_floats(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xbf16>) -> tensor<8xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f16 : (tensor<8xbf16>) -> tensor<8xf16>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to f32 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf32>, tensor<8xf32>
ccn.program @no_cast_between_16_bit_floats(%x: tensor<8xf16> {ccn.name = "x"}, %y: tensor<8xbf16> {ccn.name = "y"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to bf16 : (tensor<8xf16>) -> tensor<8xbf16>
  %1 = ccn.cast %0 to f32 : (tensor<8xbf16>) -> tensor<8xf32>
  %2 = ccn.cast %y to f16 : (tensor<8xbf16>) -> tensor<8xf16>
  %3 = ccn.cast %2 to f32 : (tensor<8xf16>) -> tensor<8xf32>
  ccn.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_between_8_bit_floats(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f8E4M3FN : (tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to f32 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf32>, tensor<8xf32>
ccn.program @no_cast_between_8_bit_floats(%x: tensor<8xf8E4M3FN> {ccn.name = "x"}, %y: tensor<8xf8E5M2> {ccn.name = "y"})
    -> (tensor<8xf32> {ccn.name = "r0"}, tensor<8xf32> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to f8E5M2 : (tensor<8xf8E4M3FN>) -> tensor<8xf8E5M2>
  %1 = ccn.cast %0 to f32 : (tensor<8xf8E5M2>) -> tensor<8xf32>
  %2 = ccn.cast %y to f8E4M3FN : (tensor<8xf8E5M2>) -> tensor<8xf8E4M3FN>
  %3 = ccn.cast %2 to f32 : (tensor<8xf8E4M3FN>) -> tensor<8xf32>
  ccn.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: ccn.program @no_cast_through_integers(
// CHECK-NEXT: %[[V0:.*]] = ccn.cast %arg0 to i64 : (tensor<8xf16>) -> tensor<8xi64>
// CHECK-NEXT: %[[V1:.*]] = ccn.cast %[[V0]] to f16 : (tensor<8xi64>) -> tensor<8xf16>
// CHECK-NEXT: %[[V2:.*]] = ccn.cast %arg1 to f32 : (tensor<8xi8>) -> tensor<8xf32>
// CHECK-NEXT: %[[V3:.*]] = ccn.cast %[[V2]] to i8 : (tensor<8xf32>) -> tensor<8xi8>
// CHECK-NEXT: ccn.return %[[V1]], %[[V3]] : tensor<8xf16>, tensor<8xi8>
ccn.program @no_cast_through_integers(%x: tensor<8xf16> {ccn.name = "x"}, %y: tensor<8xi8> {ccn.name = "y"})
    -> (tensor<8xf16> {ccn.name = "r0"}, tensor<8xi8> {ccn.name = "r1"}) {
  %0 = ccn.cast %x to i64 : (tensor<8xf16>) -> tensor<8xi64>
  %1 = ccn.cast %0 to f16 : (tensor<8xi64>) -> tensor<8xf16>
  %2 = ccn.cast %y to f32 : (tensor<8xi8>) -> tensor<8xf32>
  %3 = ccn.cast %2 to i8 : (tensor<8xf32>) -> tensor<8xi8>
  ccn.return %1, %3 : tensor<8xf16>, tensor<8xi8>
}
