//===- ElementwiseOps.td - Operations on each element ---------------------===//
//
// Each result element depends on the operand elements at its place alone. The
// operands have one shape, or are scalars (rank 0), which go with any shape.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_ELEMENTWISEOPS
#define CCN_DIALECT_ELEMENTWISEOPS

include "dialect/ccn/CcnOpBase.td"

class Ccn_Unary<string mnemonic, string what, string element, string partial>
    : Ccn_TensorOp<mnemonic> {
  let summary = what;
  let description = "Computes " # what # [{ of every element. The layout is kept.

    ```mlir
    %0 = ccn.}] # mnemonic # [{ %x : (tensor<8xf32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `}] # mnemonic # "_c1`: the element type is " # element # [{.
    - `}] # mnemonic # "_c2`: " # partial # [{.
  }];
  let arguments = (ins Ccn_Tensor:$input);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
}

class Ccn_UnaryFloat<string mnemonic, string what>
    : Ccn_Unary<mnemonic, what, "a floating-point type",
                "no reduction is pending on the operand">;

def NegOp : Ccn_Unary<"neg", "the negative", "a number type",
    "a reduction pending on the operand is a sum">;
def AbsOp : Ccn_Unary<"abs", "the absolute value", "a number type",
    "no reduction is pending on the operand">;
def ReluOp : Ccn_Unary<"relu", "max(x, 0)", "a number type",
    "no reduction is pending on the operand">;
def ExpOp : Ccn_UnaryFloat<"exp", "the exponential">;
def LogOp : Ccn_UnaryFloat<"log", "the natural logarithm">;
def SqrtOp : Ccn_UnaryFloat<"sqrt", "the square root">;
def RsqrtOp : Ccn_UnaryFloat<"rsqrt", "1 / sqrt(x)">;
def TanhOp : Ccn_UnaryFloat<"tanh", "the hyperbolic tangent">;
def SigmoidOp : Ccn_UnaryFloat<"sigmoid", "1 / (1 + exp(-x))">;
def GeluOp : Ccn_UnaryFloat<"gelu", "x / 2 * (1 + erf(x / sqrt(2)))">;
def SiluOp : Ccn_UnaryFloat<"silu", "x / (1 + exp(-x))">;

class Ccn_Binary<string mnemonic, string what, string element, string partial,
                 list<Trait> traits = []>
    : Ccn_TensorOp<mnemonic, traits> {
  let summary = what;
  let description = "Computes " # what # [{ of corresponding elements.

    ```mlir
    %0 = ccn.}] # mnemonic # [{ %x, %y : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `}] # mnemonic # [{_c1`: the operands have the same element type.
    - `}] # mnemonic # [{_c2`: the operands have the same shape, or are scalars.
    - `}] # mnemonic # [{_c3`: on every mesh axis without a pending reduction, each
      operand is replicated or sliced at the same dimension, or each is
      replicated or local; of the axes that cut a dimension in two operands,
      those of one are the first of the other's.
    - `}] # mnemonic # "_c4`: " # partial # "." #
    !if(!empty(element), "",
        "\n    - `" # mnemonic # "_c5`: the element type is " # element # ".");
  let arguments = (ins Ccn_Tensor:$lhs, Ccn_Tensor:$rhs);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
}

defvar noPartial = "no reduction is pending on an operand";

def AddOp : Ccn_Binary<"add", "the sum", "a number type",
    "sums are pending on both operands along the same axes, or on neither",
    [Commutative]> {
  let hasCanonicalizer = 1;
}
def SubOp : Ccn_Binary<"sub", "the difference", "a number type",
    "sums are pending on both operands along the same axes, or on neither">;
def MulOp : Ccn_Binary<"mul", "the product", "a number type",
    "a pending reduction is a sum, and the other operand is a scalar, replicated "
    "along its axes", [Commutative]>;
def DivOp : Ccn_Binary<"div", "the quotient (of integers, towards zero)",
    "a number type",
    "a reduction is pending on the first operand at most, is a sum of "
    "floating-point numbers, and the second is a scalar, replicated along its "
    "axes">;
def RemOp : Ccn_Binary<"rem", "the remainder, with the sign of the first",
    "a number type", noPartial>;
def MinOp : Ccn_Binary<"min", "the minimum (of bool: and; NaN wins)", "",
    noPartial, [Commutative]>;
def MaxOp : Ccn_Binary<"max", "the maximum (of bool: or; NaN wins)", "",
    noPartial, [Commutative]>;
def PowOp : Ccn_Binary<"pow", "the first to the power of the second",
    "a floating-point type", noPartial>;

def CompareOp : Ccn_TensorOp<"compare"> {
  let summary = "Compares elements";
  let description = [{
    True where the comparison holds. A comparison with NaN is false, but for
    `ne`. `false < true`.

    ```mlir
    %0 = ccn.compare lt %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    ```

    **Constraints**
    - `compare_c1`: the operands have the same element type.
    - `compare_c2`: the operands have the same shape, or are scalars.
    - `compare_c3`: the layouts combine as for `ccn.add`.
    - `compare_c4`: no reduction is pending on an operand.
  }];
  let arguments = (ins Ccn_ComparePredicateAttr:$predicate, Ccn_Tensor:$lhs,
                       Ccn_Tensor:$rhs);
  let results = (outs Ccn_BoolTensor:$result);
  let assemblyFormat = [{
    `` $predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
}

def SelectOp : Ccn_TensorOp<"select"> {
  let summary = "Chooses between elements of two tensors";
  let description = [{
    The element of `lhs` where the condition is true, else that of `rhs`.

    ```mlir
    %0 = ccn.select %c, %x, %y : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `select_c1`: `lhs` and `rhs` have the same element type.
    - `select_c2`: the operands have the same shape, or are scalars.
    - `select_c3`: the layouts combine as for `ccn.add`.
    - `select_c4`: no reduction is pending on an operand.
    - `select_c5`: the condition's element type is bool.
  }];
  let arguments = (ins Ccn_Tensor:$condition, Ccn_Tensor:$lhs, Ccn_Tensor:$rhs);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $condition `,` $lhs `,` $rhs attr-dict `:`
    functional-type(operands, $result)
  }];
}

def CastOp : Ccn_TensorOp<"cast"> {
  let summary = "Converts elements to another type";
  let description = [{
    Rounds to nearest even. Floating-point to integer truncates towards zero and
    saturates, NaN gives 0; integer to integer wraps; to bool is `!= 0`.

    ```mlir
    %0 = ccn.cast %x to f32 : (tensor<8xf16>) -> tensor<8xf32>
    ```

    **Constraints**
    - `cast_c1`: the new element type is one of ccn's.
    - `cast_c2`: no reduction is pending on the operand.
  }];
  let arguments = (ins Ccn_Tensor:$input, TypeAttr:$element_type);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $input `to` $element_type attr-dict `:` functional-type($input, $result)
  }];
}

def DropoutOp : Ccn_TensorOp<"dropout"> {
  let summary = "Zeroes elements at random and scales the rest";
  let description = [{
    Keeps an element with probability 1 - rate, times 1 / (1 - rate), and else
    gives zero. The bits come from Philox4x32-10 keyed by the seed at the
    element's **global** row-major index, so they are the same for every mesh,
    layout and schedule. Two dropouts with the same seed drop the same places. With
    `of`, the input is the part of a tensor of that shape that begins at the index
    after `at`.

    ```mlir
    %0 = ccn.dropout %x, %seed rate 1.0e-01 : (tensor<8xf32>, tensor<i64>) -> tensor<8xf32>
    ```

    **Constraints**
    - `dropout_c1`: the element type is a floating-point type.
    - `dropout_c2`: the rate is at least 0 and less than 1.
    - `dropout_c3`: the seed is an integer scalar, replicated.
    - `dropout_c4`: no reduction is pending on the input.
    - `dropout_c5`: `at` and `of` have a number for each dimension of the input, which
      lies within that shape; so do all sizes in bytes within 64 bits.
  }];
  let arguments = (ins Ccn_Tensor:$input, Ccn_Tensor:$seed, F64Attr:$rate,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$global_shape);
  let results = (outs Ccn_Tensor:$result);
  // Of a whole tensor.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "::mlir::Value":$seed,
                                 "::llvm::APFloat":$rate), [{
    build($_builder, $_state, result, input, seed, rate,
          ::mlir::DenseI64ArrayAttr(), ::mlir::DenseI64ArrayAttr());
  }]>];
  let assemblyFormat = [{
    $input `,` $seed `rate` $rate (`at` $offsets^ `of` $global_shape)? attr-dict `:`
    functional-type(operands, $result)
  }];
}

def ConstantOp : Ccn_TensorOp<"constant", [ConstantLike]> {
  let summary = "A scalar constant";
  let description = [{
    ```mlir
    %0 = ccn.constant 2.5 : f16
    ```

    **Constraints**
    - `constant_c1`: the value is a number or bool of a ccn element type.
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = "$value attr-dict";
}

#endif // CCN_DIALECT_ELEMENTWISEOPS
