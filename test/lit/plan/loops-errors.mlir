// Rows and loops: every constraint that an operation checks by itself.
// RUN: ccn-opt %s -split-input-file -verify-diagnostics

// rows_c1
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected at least one loop}}
    plan.rows {
    }
  }
}

// -----

// rows_c1
plan.program "f" rank(0) {
  %0 = plan.launch "k" stream(0) {
    // expected-error @+1 {{expected loops and scratch}}
    plan.rows {
      // expected-note @+1 {{found 'arith.constant'}}
      %c = arith.constant 1 : i64
    }
  }
}

// -----

// rows_c2
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer : memref<4xf32, #plan.memory<private>>
  %w = plan.buffer : memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      plan.loop @id ins(%x) outs(%y) : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
      // expected-error @+1 {{expected 8 rows, found 4}}
      plan.loop @id ins(%z) outs(%w) : memref<4xf32, #plan.memory<private>> -> memref<4xf32, #plan.memory<private>>
    }
  }
}

// -----

// rows_c3
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %x7 = plan.view %x : memref<8xf32, #plan.memory<private>> to memref<7xf32, #plan.memory<private>>
  %y7 = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<7xf32, #plan.memory<private>>
  %v = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<7xf32, strided<[1], offset: 1>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      plan.loop @id ins(%x7) outs(%y7) : memref<7xf32, #plan.memory<private>> -> memref<7xf32, #plan.memory<private>>
      // expected-error @+1 {{expected to read in the same rows what an earlier loop wrote, found input 0 of type 'memref<7xf32, strided<[1], offset: 1>, #plan.memory<private>>'}}
      plan.loop @id ins(%v) outs(%x7) : memref<7xf32, strided<[1], offset: 1>, #plan.memory<private>> -> memref<7xf32, #plan.memory<private>>
    }
  }
}

// -----

// rows_c3
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %v = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, strided<[0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      plan.loop @id ins(%x) outs(%y) : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
      // expected-error @+1 {{expected to read in the same rows what an earlier loop wrote, found input 0 of type 'memref<8xf32, strided<[0]>, #plan.memory<private>>'}}
      plan.loop @id ins(%v) outs(%x) : memref<8xf32, strided<[0]>, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c1
func.func private @none() {
  return
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected inputs or outputs}}
      "plan.loop"() <{body = @none, operandSegmentSizes = array<i32: 0, 0>, reduced = 0 : i64}> : () -> ()
    }
  }
}

// -----

// loop_c1
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %z = plan.buffer : memref<4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected views of one shape, of one dimension at least, found}}
      plan.loop @id ins(%x) outs(%z) : memref<8xf32, #plan.memory<private>> -> memref<4xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c1
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<f32, #plan.memory<private>>
  %y = plan.buffer : memref<f32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected views of one shape, of one dimension at least, found}}
      plan.loop @id ins(%x) outs(%y) : memref<f32, #plan.memory<private>> -> memref<f32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c1
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %v = plan.view %y : memref<8xf32, #plan.memory<private>> to memref<8xf32, strided<[0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected an output whose strides are 0 where it is reduced and only there, found}}
      plan.loop @id ins(%x) outs(%v) : memref<8xf32, #plan.memory<private>> -> memref<8xf32, strided<[0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c1
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected an output whose strides are 0 where it is reduced and only there, found}}
      plan.loop @id ins(%x) outs(%y) reduced(1) by [#ccn<reduction_kind sum>] over [1.0] : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c2
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %r = plan.view %y : memref<2x4xf32, #plan.memory<private>> to memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected to reduce from 0 to 1 dimensions, found 2}}
      plan.loop @id ins(%x) outs(%r) reduced(2) by [#ccn<reduction_kind sum>] over [1.0] : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c2
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %r = plan.view %y : memref<2x4xf32, #plan.memory<private>> to memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected to reduce from 0 to 1 dimensions, found -1}}
      plan.loop @id ins(%x) outs(%r) reduced(-1) : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c3
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a function of the module, found @nothing}}
      plan.loop @nothing ins(%x) outs(%y) : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c3
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a body of type '(f32, f32) -> f32', found '(f32) -> f32'}}
      plan.loop @id ins(%x, %x) outs(%y) : memref<8xf32, #plan.memory<private>>, memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c3
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a body of type '(f32, i64) -> f32', found '(f32) -> f32'}}
      plan.loop @id ins(%x) outs(%y) indices [array<i64: 0, 1>] : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c3
func.func private @id(%a: f32) -> f32 attributes {plan.failures = ["division by zero"]} {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected a body of type '(f32) -> (f32, i1)', found '(f32) -> f32'}}
      plan.loop @id ins(%x) outs(%y) : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected as many memories as inputs, found 2}}
      plan.loop @id ins(%x) outs(%y) takes [unit, unit] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected as many memories as outputs, found 0}}
      plan.loop @id ins(%x) outs(%y) gives [] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4: the second slot would end after the buffer
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<4xf32, #plan.memory<symmetric>>
  %v = plan.view %x : memref<8xf32, #plan.memory<symmetric>> to memref<4xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, with a kind of reduction, found #plan.all<sum, #plan.group<[0, 1]>, slots = 5>}}
      plan.loop @id ins(%v) outs(%y) takes [#plan.all<sum, #plan.group<[0, 1]>, slots = 5>] : memref<4xf32, #plan.memory<symmetric>> -> memref<4xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4: an output has no slots
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<4xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %v = plan.view %y : memref<8xf32, #plan.memory<symmetric>> to memref<4xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, without a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%v) gives [#plan.all<#plan.group<[0, 1]>, slots = 4>] : memref<4xf32, #plan.memory<symmetric>> -> memref<4xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, with a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%y) takes [#plan.all<#plan.group<[0, 1]>>] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, without a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%y) gives [#plan.all<sum, #plan.group<[0, 1]>>] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, with a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%y) takes [#plan.all<sum, #plan.group<[0, 1]>>] : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(2) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 2 is in, with a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%y) takes [#plan.all<sum, #plan.group<[0, 1]>>] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %v = plan.view %x rank(1) : memref<8xf32, #plan.memory<symmetric>> to memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, with a kind of reduction, found}}
      plan.loop @id ins(%v) outs(%y) takes [#plan.all<sum, #plan.group<[0, 1]>>] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c4
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %y = plan.buffer : memref<8xf32, #plan.memory<symmetric>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected symmetric memory of a group that rank 0 is in, with a kind of reduction, found}}
      plan.loop @id ins(%x) outs(%y) takes [1] : memref<8xf32, #plan.memory<symmetric>> -> memref<8xf32, #plan.memory<symmetric>>
    }
  }
}

// -----

// loop_c5
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %r = plan.view %y : memref<2x4xf32, #plan.memory<private>> to memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected 1 reductions with divisors, found 0 and 0}}
      plan.loop @id ins(%x) outs(%r) reduced(1) : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c5
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %r = plan.view %y : memref<2x4xf32, #plan.memory<private>> to memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected 1 reductions with divisors, found 1 and 0}}
      plan.loop @id ins(%x) outs(%r) reduced(1) by [#ccn<reduction_kind sum>] over [] : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c5
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %y = plan.buffer : memref<2x4xf32, #plan.memory<private>>
  %r = plan.view %y : memref<2x4xf32, #plan.memory<private>> to memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected 1 reductions with divisors, found 1 and 1}}
      plan.loop @id ins(%x) outs(%r) reduced(1) by [unit] over [1.0] : memref<2x4xf32, #plan.memory<private>> -> memref<2x4xf32, strided<[1, 0]>, #plan.memory<private>>
    }
  }
}

// -----

// loop_c5
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected 0 reductions with divisors, found 1 and 1}}
      plan.loop @id ins(%x) outs(%y) by [#ccn<reduction_kind sum>] over [1.0] : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c6
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected an offset and 1 strides, found}}
      plan.loop @id ins(%x) outs(%y) indices [array<i64: 0>] : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}

// -----

// loop_c6
func.func private @id(%a: f32) -> f32 {
  return %a : f32
}
plan.program "f" rank(0) {
  %x = plan.buffer : memref<8xf32, #plan.memory<private>>
  %y = plan.buffer : memref<8xf32, #plan.memory<private>>
  %0 = plan.launch "k" stream(0) {
    plan.rows {
      // expected-error @+1 {{expected an offset and 1 strides, found}}
      plan.loop @id ins(%x) outs(%y) indices [1] : memref<8xf32, #plan.memory<private>> -> memref<8xf32, #plan.memory<private>>
    }
  }
}
