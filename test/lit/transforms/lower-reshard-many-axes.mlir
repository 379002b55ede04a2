// ccn-lower-reshard ends soon on meshes of many axes.
// RUN: ccn-opt %s -split-input-file -ccn-lower-reshard | FileCheck %s

// Three axes, four dimensions: the search is complete.
#from3 = #ccn.layout<@m, [{"a", "b", "c"}, {}, {}, {}]>
#to3 = #ccn.layout<@m, [{}, {}, {}, {"c", "b", "a"}]>
ccn.mesh @m ["a" = 4, "b" = 2, "c" = 8]
// CHECK-LABEL: ccn.program @three
ccn.program @three(%x: tensor<64x64x64x64xbf16, #from3> {ccn.name = "x"}) {
  // CHECK-NEXT: ccn.all_to_all %{{.*}} from 0 to 3 along <@m, ["c"]>
  // CHECK-NEXT: ccn.all_to_all %{{.*}} from 0 to 3 along <@m, ["b"]>
  // CHECK-NEXT: ccn.all_to_all %{{.*}} from 0 to 3 along <@m, ["a"]>
  // CHECK-NEXT: ccn.return
  %0 = ccn.reshard %x : tensor<64x64x64x64xbf16, #from3> to tensor<64x64x64x64xbf16, #to3>
  ccn.return
}

// -----

// Sixteen axes: reductions, then gathers, then slices.
#sum = #ccn.layout<@m, [{"a", "b", "c", "d"}, {"e", "f", "g", "h"}, {}, {}],
                   partial<sum> = {"i", "j", "k"}, local = {"p"}>
#cut = #ccn.layout<@m, [{"a", "b", "d"}, {}, {"c", "i", "e"}, {"j", "l"}], local = {"k", "m", "p"}>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2, "d" = 2, "e" = 2, "f" = 2, "g" = 2, "h" = 2,
             "i" = 2, "j" = 2, "k" = 2, "l" = 2, "m" = 2, "n" = 2, "o" = 2, "p" = 2]
// CHECK-LABEL: ccn.program @sixteen
ccn.program @sixteen(%x: tensor<64x64x64x64xbf16, #sum> {ccn.name = "x"}) {
  // CHECK-NEXT: ccn.all_reduce sum %{{.*}} along <@m, ["i", "j"]>
  // CHECK-NEXT: ccn.reshard %{{.*}} local = {"k", "p"}>>
  // CHECK-NEXT: ccn.all_gather %{{.*}} along <@m, ["e", "f", "g", "h", "c", "d"]>
  // CHECK-NEXT: ccn.slice %{{.*}} into 0 along <@m, ["d"]>
  // CHECK-NEXT: ccn.slice %{{.*}} into 2 along <@m, ["c", "i", "e"]>
  // CHECK-NEXT: ccn.slice %{{.*}} into 3 along <@m, ["j", "l"]>
  // CHECK-NEXT: ccn.reshard %{{.*}} local = {"k", "m", "p"}>>
  // CHECK-NEXT: ccn.return
  %0 = ccn.reshard %x : tensor<64x64x64x64xbf16, #sum> to tensor<64x64x64x64xbf16, #cut>
  ccn.return
}

// -----

// Axes that take no part do not make the search longer.
#from = #ccn.layout<@m, [{"a"}, {}, {}, {}]>
#to = #ccn.layout<@m, [{}, {}, {"o"}, {}]>
ccn.mesh @m ["a" = 2, "b" = 2, "c" = 2, "d" = 2, "e" = 2, "f" = 2, "g" = 2, "h" = 2,
             "i" = 2, "j" = 2, "k" = 2, "l" = 2, "m" = 2, "n" = 2, "o" = 2, "p" = 2]
// CHECK-LABEL: ccn.program @two_of_sixteen
ccn.program @two_of_sixteen(%x: tensor<64x64x64x64xbf16, #from> {ccn.name = "x"}) {
  // CHECK-NEXT: ccn.slice %{{.*}} into 2 along <@m, ["o"]>
  // CHECK-NEXT: ccn.all_gather %{{.*}} along <@m, ["a"]>
  // CHECK-NEXT: ccn.return
  %0 = ccn.reshard %x : tensor<64x64x64x64xbf16, #from> to tensor<64x64x64x64xbf16, #to>
  ccn.return
}
