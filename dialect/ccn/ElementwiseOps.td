//===- ElementwiseOps.td - Operations on each element ---------------------===//
//
// Each result element depends on the operand elements at its place alone. The
// operands have one shape, or are scalars (rank 0), which go with any shape.
//
//===----------------------------------------------------------------------===//
#ifndef CCN_DIALECT_ELEMENTWISEOPS
#define CCN_DIALECT_ELEMENTWISEOPS

include "dialect/ccn/CcnOpBase.td"

class Ccn_ElementKinds<string cppName, string description> {
  string cpp = "::ccn::ElementKinds::" # cppName;
  string text = description;
}
def Ccn_AnyElement : Ccn_ElementKinds<"Any", "">;
def Ccn_Number : Ccn_ElementKinds<"Number", "a number type">;
def Ccn_Float : Ccn_ElementKinds<"Float", "a floating-point type">;

/// What reductions may be pending on the operands: a PartialRule (Layout.h), in
/// words.
class Ccn_Pending<string cppName, string description> {
  string cpp = "::ccn::PartialRule::" # cppName;
  string text = description;
}

/// A function of the operands' elements: that of the operation's name in
/// ScalarFunctions.h. The fields are what ElementwiseFunction.h says of them.
class Ccn_Elementwise<string mnemonic, int arity, Ccn_ElementKinds kinds,
                      Ccn_Pending pending, list<Trait> traits>
    : Ccn_TensorOp<mnemonic, !listconcat([ElementwiseOpInterface], traits)> {
  string spelling = mnemonic;
  string kind = "Arithmetic";
  bit isWide = 0;
  bit isExpensive = 0;
  string domain = "All";
  string errorRule = ?;
  string slope = "1";
  string underflow = "Nowhere";
  string zeroDivisor = "";

  let results = (outs Ccn_Tensor:$result);
  let extraClassDeclaration = inferDeclaration # [{
    static const ::ccn::ElementwiseFunction *getFunction();
  }];
  string wideText = !if(isWide, "true", "false");
  let extraClassDefinition = [{
    ::mlir::FailureOr<::mlir::RankedTensorType> $cppClass::inferType(
        GenericAdaptor<::llvm::ArrayRef<::mlir::RankedTensorType>> op,
        ::ccn::EmitError emitError) {
      return ::ccn::inferElementwise(op.getOperands(), }] # kinds.cpp # ", " #
          pending.cpp # [{, emitError);
    }
    const ::ccn::ElementwiseFunction *$cppClass::getFunction() {
      static constexpr ::ccn::ElementwiseFunction function =
          ::ccn::makeElementwise<}] # arity # ", " # kinds.cpp # ", " #
              wideText # [{>(
              {"}] # mnemonic # "\", \"" # spelling # "\", " # arity #
               ", ::ccn::ElementwiseKind::" # kind # ", " # kinds.cpp # ", " #
               wideText # ", " # !if(isExpensive, "true", "false") #
               ", ::ccn::Domain::" # domain #
               ", ::ccn::ErrorRule::" # errorRule # ", " # slope #
               ", ::ccn::Underflow::" # underflow # ", \"" #
               zeroDivisor # [{"},
              [](auto... x) {
                return ::ccn::scalar::functions::}] # mnemonic # [{(x...);
              });
      return &function;
    }
  }];
}

def Ccn_NothingPending
    : Ccn_Pending<"None", "no reduction is pending on the operand">;

class Ccn_Unary<string mnemonic, string what, Ccn_ElementKinds kinds,
                Ccn_Pending pending = Ccn_NothingPending>
    : Ccn_Elementwise<mnemonic, 1, kinds, pending, []> {
  let summary = what;
  let description = "Computes " # what # [{ of every element. The layout is kept.

    ```mlir
    %0 = ccn.}] # mnemonic # [{ %x : (tensor<8xf32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `}] # mnemonic # "_c1`: the element type is " # kinds.text # [{.
    - `}] # mnemonic # "_c2`: " # pending.text # [{.
  }];
  let arguments = (ins Ccn_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type($input, $result)";
}

/// A function of floats, by default one of C's library.
class Ccn_UnaryFloat<string mnemonic, string what>
    : Ccn_Unary<mnemonic, what, Ccn_Float> {
  let kind = "Math";
  let isWide = 1;
  let isExpensive = 1;
  let errorRule = "Monotone";
}

class Ccn_Activation<string mnemonic, string what>
    : Ccn_UnaryFloat<mnemonic, what> {
  let kind = "Activation";
}

def NegOp : Ccn_Unary<"neg", "the negative", Ccn_Number,
    Ccn_Pending<"CommutesWithSum",
                "a reduction pending on the operand is a sum">> {
  let errorRule = "Nonexpansive";
}
def AbsOp : Ccn_Unary<"abs", "the absolute value", Ccn_Number> {
  let errorRule = "Nonexpansive";
}
def ReluOp : Ccn_Unary<"relu", "max(x, 0)", Ccn_Number> {
  let kind = "Activation";
  let errorRule = "Nonexpansive";
}
def ExpOp : Ccn_UnaryFloat<"exp", "the exponential"> {
  let underflow = "Anywhere";
}
def LogOp : Ccn_UnaryFloat<"log", "the natural logarithm"> {
  let domain = "Positive";
}
def SqrtOp : Ccn_UnaryFloat<"sqrt", "the square root"> {
  let isWide = 0;
  let isExpensive = 0;
  let domain = "NotNegative";
}
def RsqrtOp : Ccn_UnaryFloat<"rsqrt", "1 / sqrt(x)"> {
  let isExpensive = 0;
  let domain = "Positive";
  let underflow = "Anywhere";
}
def TanhOp : Ccn_Activation<"tanh", "the hyperbolic tangent">;
def SigmoidOp : Ccn_Activation<"sigmoid", "1 / (1 + exp(-x))"> {
  let underflow = "Anywhere";
}
def GeluOp : Ccn_Activation<"gelu", "x / 2 * (1 + erf(x / sqrt(2)))"> {
  let errorRule = "Lipschitz";
  let slope = "1.2";
  let underflow = "UnlessZero";
}
def SiluOp : Ccn_Activation<"silu", "x / (1 + exp(-x))"> {
  let errorRule = "Lipschitz";
  let slope = "1.2";
  let underflow = "UnlessZero";
}

def Ccn_NonePending
    : Ccn_Pending<"None", "no reduction is pending on an operand">;
def Ccn_SumsPending : Ccn_Pending<"CommutesWithSum",
    "sums are pending on both operands along the same axes, or on neither">;

class Ccn_Binary<string mnemonic, string what, Ccn_ElementKinds kinds,
                 Ccn_Pending pending, list<Trait> traits = []>
    : Ccn_Elementwise<mnemonic, 2, kinds, pending, traits> {
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
    - `}] # mnemonic # "_c4`: " # pending.text # "." #
    !if(!empty(kinds.text), "",
        "\n    - `" # mnemonic # "_c5`: the element type is " # kinds.text # ".");
  let arguments = (ins Ccn_Tensor:$lhs, Ccn_Tensor:$rhs);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
}

def AddOp : Ccn_Binary<"add", "the sum", Ccn_Number, Ccn_SumsPending,
                       [Commutative]> {
  let spelling = "+";
  let errorRule = "Sum";
  let hasCanonicalizer = 1;
}
def SubOp : Ccn_Binary<"sub", "the difference", Ccn_Number, Ccn_SumsPending> {
  let spelling = "-";
  let errorRule = "Sum";
}
def MulOp : Ccn_Binary<"mul", "the product", Ccn_Number,
    Ccn_Pending<"LinearInOne",
        "a pending reduction is a sum, and the other operand is a scalar, "
        "replicated along its axes">, [Commutative]> {
  let spelling = "*";
  let errorRule = "Product";
}
def DivOp : Ccn_Binary<"div", "the quotient (of integers, towards zero)",
    Ccn_Number, Ccn_Pending<"LinearInFirst",
        "a reduction is pending on the first operand at most, is a sum of "
        "floating-point numbers, and the second is a scalar, replicated along "
        "its axes">> {
  let spelling = "/";
  let isExpensive = 1;
  let errorRule = "Quotient";
  let zeroDivisor = "division";
}
def RemOp : Ccn_Binary<"rem", "the remainder, with the sign of the first",
                       Ccn_Number, Ccn_NonePending> {
  let spelling = "%";
  let isExpensive = 1;
  let errorRule = "Discontinuous";
  let zeroDivisor = "remainder";
}
def MinOp : Ccn_Binary<"min", "the minimum (of bool: and; NaN wins)",
                       Ccn_AnyElement, Ccn_NonePending, [Commutative]> {
  let errorRule = "Nonexpansive";
}
def MaxOp : Ccn_Binary<"max", "the maximum (of bool: or; NaN wins)",
                       Ccn_AnyElement, Ccn_NonePending, [Commutative]> {
  let errorRule = "Nonexpansive";
}
def PowOp : Ccn_Binary<"pow", "the first to the power of the second",
                       Ccn_Float, Ccn_NonePending> {
  let kind = "Math";
  let isWide = 1;
  let isExpensive = 1;
  let domain = "Positive";
  let errorRule = "Power";
}

def CompareOp : Ccn_TensorOp<"compare", [ElementwiseOpInterface]> {
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

def SelectOp : Ccn_TensorOp<"select", [ElementwiseOpInterface]> {
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

def CastOp : Ccn_TensorOp<"cast", [ElementwiseOpInterface]> {
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

def DropoutOp : Ccn_TensorOp<"dropout", [ElementwiseOpInterface]> {
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

def IotaOp : Ccn_TensorOp<"iota", [ElementwiseOpInterface]> {
  let summary = "The index of each element along a dimension";
  let description = [{
    Gives each element's **global** index along `dim`, as an i64, with the shape and
    the layout of the operand, whose values do not matter. With `from`, the operand
    is the part of a tensor that begins at that index of the dimension.

    ```mlir
    %0 = ccn.iota %x dim 1 : (tensor<8x4xf32>) -> tensor<8x4xi64>
    ```

    **Constraints**
    - `iota_c1`: `dim` is a dimension of the operand.
    - `iota_c2`: no reduction is pending on the operand.
    - `iota_c3`: `from` is at least 0, and the indices fit 64 bits.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$dim,
                       DefaultValuedAttr<I64Attr, "0">:$from);
  let results = (outs Ccn_Tensor:$result);
  // Of a whole tensor.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "int64_t":$dim), [{
    build($_builder, $_state, result, input, dim, /*from=*/0);
  }]>];
  let assemblyFormat = [{
    $input `dim` $dim (`from` $from^)? attr-dict `:` functional-type($input, $result)
  }];
}

def ConstantOp : Ccn_TensorOp<"constant", [ElementwiseOpInterface, ConstantLike]> {
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
