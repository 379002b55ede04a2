// RUN: ccn-opt %s --plan-connect-segments | FileCheck %s

// The first launch of each stream waits for the last of the others in the segment
// before; what is waited for already is not twice.
// CHECK-LABEL: plan.program "f"
plan.program "f" rank(0) {
  // CHECK: %[[A:.*]] = plan.launch "a" stream(0) segment(0) {
  %0 = plan.launch "a" stream(0) segment(0) {
  }
  // CHECK: %[[B:.*]] = plan.launch "b" stream(1) segment(0) {
  %1 = plan.launch "b" stream(1) segment(0) {
  }
  // CHECK: %[[B2:.*]] = plan.launch "b2" stream(1) segment(0) {
  %2 = plan.launch "b2" stream(1) segment(0) {
  }
  // CHECK: %[[C:.*]] = plan.launch "c" stream(0) segment(1) waits(%[[B2]]) {
  %3 = plan.launch "c" stream(0) segment(1) {
  }
  // CHECK: %[[C2:.*]] = plan.launch "c2" stream(0) segment(1) {
  %4 = plan.launch "c2" stream(0) segment(1) {
  }
  // CHECK: plan.launch "d" stream(2) segment(1) waits(%[[A]], %[[B2]]) {
  %5 = plan.launch "d" stream(2) segment(1) waits(%2) {
  }
  // CHECK: plan.launch "e" stream(1) segment(3) waits(%[[C2]], %{{.*}}) {
  %6 = plan.launch "e" stream(1) segment(3) {
  }
}

// Without segments nothing changes.
// CHECK-LABEL: plan.program "g"
plan.program "g" rank(0) {
  // CHECK: plan.launch "a" stream(0) {
  %0 = plan.launch "a" stream(0) {
  }
  // CHECK: plan.launch "b" stream(1) {
  %1 = plan.launch "b" stream(1) {
  }
}
