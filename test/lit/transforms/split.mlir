// ccn-split: the three forms, names kept, other all_reduces left alone.
// RUN: ccn-opt %s -split-input-file --pass-pipeline='builtin.module(ccn.program(ccn-split{value=avg}))' | FileCheck %s --check-prefix=RSAG
// RUN: ccn-opt %s -split-input-file --pass-pipeline='builtin.module(ccn.program(ccn-split{value=one form=reduce_broadcast}))' 2>&1 | FileCheck %s --check-prefix=RB
// RUN: ccn-opt %s -split-input-file --pass-pipeline='builtin.module(ccn.program(ccn-split{value=both form=hierarchical}))' 2>&1 | FileCheck %s --check-prefix=HIER
// RUN: not ccn-opt %s -split-input-file --pass-pipeline='builtin.module(ccn.program(ccn-split{value=one form=none}))' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: expected form 'rs_ag', 'reduce_broadcast' or 'hierarchical', found 'none'

ccn.mesh @m ["dp" = 2, "tp" = 2]

// RSAG-LABEL: ccn.program @f
// RSAG: %[[RS:.*]] = ccn.reduce_scatter sum %arg0 into 0 along <@m, ["dp"]> {ccn.let = "avg"}
// RSAG-SAME: -> tensor<7x2xf16, #ccn.layout<@m, [{"dp"}, {}]>>
// RSAG: %[[AG:.*]] = ccn.all_gather %[[RS]] along <@m, ["dp"]> {ccn.let = "avg"}
// RSAG-SAME: -> tensor<7x2xf16>
// RSAG: ccn.all_reduce max %arg0 along <@m, ["dp"]> {ccn.let = "one"}
// RSAG: ccn.all_reduce sum %arg1 along <@m, ["dp", "tp"]> {ccn.let = "both"}
// RSAG: ccn.return %[[AG]]

// RB-LABEL: ccn.program @f
// RB: ccn.all_reduce sum %arg0
// RB: %[[R:.*]] = ccn.reduce max %arg0 to 0 along <@m, ["dp"]> {ccn.let = "one"}
// RB-SAME: local = {"dp"}
// RB: %[[B:.*]] = ccn.broadcast %[[R]] from 0 along <@m, ["dp"]> {ccn.let = "one"}
// RB: ccn.return %{{.*}}, %[[B]]

// HIER-LABEL: ccn.program @f
// HIER: %[[RS:.*]] = ccn.reduce_scatter sum %arg1 into 0 along <@m, ["tp"]>
// HIER: %[[AR:.*]] = ccn.all_reduce sum %[[RS]] along <@m, ["dp"]>
// HIER: %[[AG:.*]] = ccn.all_gather %[[AR]] along <@m, ["tp"]>
// HIER: ccn.return %{{.*}}, %{{.*}}, %[[AG]]
ccn.program @f(%g: tensor<7x2xf16, #ccn.layout<@m, [{}, {}], local = {"dp"}>> {ccn.name = "g"},
               %h: tensor<5xf32, #ccn.layout<@m, [{}], partial<sum> = {"dp"}, local = {"tp"}>> {ccn.name = "h"})
    -> (tensor<7x2xf16> {ccn.name = "a"}, tensor<7x2xf16> {ccn.name = "b"}, tensor<5xf32> {ccn.name = "c"}) {
  %0 = ccn.all_reduce sum %g along <@m, ["dp"]> {ccn.let = "avg"} : (tensor<7x2xf16, #ccn.layout<@m, [{}, {}], local = {"dp"}>>) -> tensor<7x2xf16>
  %1 = ccn.all_reduce max %g along <@m, ["dp"]> {ccn.let = "one"} : (tensor<7x2xf16, #ccn.layout<@m, [{}, {}], local = {"dp"}>>) -> tensor<7x2xf16>
  %2 = ccn.all_reduce sum %h along <@m, ["dp", "tp"]> {ccn.let = "both"} : (tensor<5xf32, #ccn.layout<@m, [{}], partial<sum> = {"dp"}, local = {"tp"}>>) -> tensor<5xf32>
  ccn.return %0, %1, %2 : tensor<7x2xf16>, tensor<7x2xf16>, tensor<5xf32>
}
