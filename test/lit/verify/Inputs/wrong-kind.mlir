// A script that splits an all_reduce and then makes the sum a maximum: what it
// leaves verifies, and computes something else.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @wrong(%program: !transform.any_op {transform.readonly}) attributes {ccn.for = "adam"} {
    %avg = transform.ccn.value "avg" in %program : (!transform.any_op) -> !transform.any_op
    %parts:2 = transform.ccn.split %avg as "rs_ag" : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %max = transform.param.constant #ccn<reduce_kind max> -> !transform.any_param
    transform.annotate %parts#0 "kind" = %max : !transform.any_op, !transform.any_param
    transform.yield
  }
}
