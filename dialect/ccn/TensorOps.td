//===- TensorOps.td - Products, reductions and movement in a tensor -------===//
#ifndef CCN_DIALECT_TENSOROPS
#define CCN_DIALECT_TENSOROPS

include "dialect/ccn/CcnOpBase.td"

def MatmulOp : Ccn_TensorOp<"matmul"> {
  let summary = "Multiplies matrices";
  let description = [{
    A[.., M, K] times B[.., K, N] gives [.., M, N]. B may have no batch
    dimensions, and then serves every batch of A. Products of 16- and 8-bit
    floats accumulate in f32. Cutting K along an axis leaves a sum pending there.

    ```mlir
    %0 = ccn.matmul %a, %b : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    ```

    **Constraints**
    - `matmul_c1`: the operands have the same element type, a number type.
    - `matmul_c2`: both have rank 2 or more; B has A's rank or rank 2.
    - `matmul_c3`: the sizes of K agree.
    - `matmul_c4`: the batch dimensions agree.
    - `matmul_c5`: the layouts combine: M, N, K or a batch dimension is cut by the
      same axes in both operands or, for free, in one; local goes with local or
      replicated.
    - `matmul_c6`: a pending reduction is a sum, and the other operand is replicated
      along its axes.
  }];
  let arguments = (ins Ccn_Tensor:$lhs, Ccn_Tensor:$rhs);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
}

def Conv2dOp : Ccn_TensorOp<"conv2d"> {
  let summary = "Convolves images with filters";
  let description = [{
    x[N, C, H, W] with w[O, C, h, w] gives [N, O, (H + 2 padding - h) / stride + 1,
    (W + 2 padding - w) / stride + 1]; the padding is zero. Accumulates as `matmul`.
    Cutting C along an axis leaves a sum pending there.

    ```mlir
    %0 = ccn.conv2d %x, %w stride 1 padding 1 : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    ```

    **Constraints**
    - `conv2d_c1`: the operands have the same element type, a number type.
    - `conv2d_c2`: both have rank 4.
    - `conv2d_c3`: the sizes of C agree.
    - `conv2d_c4`: the stride is at least 1 and the padding at least 0; neither is
      more than 2^32.
    - `conv2d_c5`: the filter is not empty and no larger than the padded image.
    - `conv2d_c6`: N, O or C may be cut, no other dimension; layouts combine as for
      `matmul`.
    - `conv2d_c7`: a pending reduction is a sum, and the other operand is replicated
      along its axes.
  }];
  let arguments = (ins Ccn_Tensor:$input, Ccn_Tensor:$filter, I64Attr:$stride,
                       I64Attr:$padding);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $filter `stride` $stride `padding` $padding attr-dict `:`
    functional-type(operands, $result)
  }];
}

def ReductionOp : Ccn_TensorOp<"reduction"> {
  let summary = "Reduces elements over dimensions";
  let description = [{
    Reduces over the dimensions, which the result lacks. 16- and 8-bit floats
    accumulate in f32. Reducing over a dimension cut along an axis leaves a
    reduction pending there (of a mean: a sum; the divisor is the global size, or
    what stands after `of`).
    Of no elements, a sum is 0, a product 1, a maximum the type's least value.

    ```mlir
    %0 = ccn.reduction sum %x over [1] : (tensor<8x4xf32>) -> tensor<8xf32>
    ```

    **Constraints**
    - `reduction_c1`: the dimensions are the operand's, in increasing order.
    - `reduction_c2`: sum and prod take a number type, mean a floating-point type.
    - `reduction_c3`: a reduction pending on the operand is of the same kind (for a
      mean, a sum).
    - `reduction_c4`: `of` is for a mean, and no less than the number of elements that
      are reduced to one.
  }];
  let arguments = (ins Ccn_ReductionKindAttr:$kind, Ccn_Tensor:$input,
                       DenseI64ArrayAttr:$dims, OptionalAttr<I64Attr>:$divisor);
  let results = (outs Ccn_Tensor:$result);
  // Of a whole tensor.
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
                                 "::ccn::ReductionKind":$kind,
                                 "::mlir::Value":$input,
                                 "::llvm::ArrayRef<int64_t>":$dims), [{
    build($_builder, $_state, result, kind, input, dims, ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = [{
    `` $kind $input `over` $dims (`of` $divisor^)? attr-dict `:`
    functional-type($input, $result)
  }];
}

def TransposeOp : Ccn_TensorOp<"transpose"> {
  let summary = "Permutes dimensions";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the operand.
    Slices, pending reductions and local values keep their axes.

    ```mlir
    %0 = ccn.transpose %x by [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    ```

    **Constraints**
    - `transpose_c1`: the permutation names each dimension of the operand once.
  }];
  let arguments = (ins Ccn_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $input `by` $permutation attr-dict `:` functional-type($input, $result)
  }];
}

def ReshapeOp : Ccn_TensorOp<"reshape"> {
  let summary = "Gives the elements another shape";
  let description = [{
    Keeps the row-major order of the elements. A dimension that is cut must
    live on: with its size, and the same number of elements before it. Where
    several dimensions of size 1 could be it, it is the one in the same place,
    else the last.

    ```mlir
    %0 = ccn.reshape %x to [2, 16] : (tensor<8x4xf32>) -> tensor<2x16xf32>
    ```

    **Constraints**
    - `reshape_c1`: no size is negative.
    - `reshape_c2`: the number of elements is kept.
    - `reshape_c3`: each dimension that is cut along an axis has a counterpart of
      its size, with the same sizes' product before it and after it.
  }];
  let arguments = (ins Ccn_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let assemblyFormat = [{
    $input `to` $shape attr-dict `:` functional-type($input, $result)
  }];
  let extraClassDeclaration = inferDeclaration # [{
    /// Whether dimension `other` of shape `to` can be what dimension `dim` of
    /// `from` becomes: of its size, and with as many elements before and after.
    static bool keepsDimension(::llvm::ArrayRef<int64_t> from, unsigned dim,
                               ::llvm::ArrayRef<int64_t> to, unsigned other);
  }];
}

def ExtractOp : Ccn_TensorOp<"extract"> {
  let summary = "Takes a range of one dimension";
  let description = [{
    The elements whose position at `dim` is at least `begin` and less than `end`.

    ```mlir
    %0 = ccn.extract %x at 0 from 2 to 6 : (tensor<8x4xf32>) -> tensor<4x4xf32>
    ```

    **Constraints**
    - `extract_c1`: `dim` is a dimension of the operand.
    - `extract_c2`: 0 <= begin <= end <= the dimension's size.
    - `extract_c3`: the dimension is not cut along an axis.
  }];
  let arguments = (ins Ccn_Tensor:$input, I64Attr:$dim, I64Attr:$begin,
                       I64Attr:$end);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `at` $dim `from` $begin `to` $end attr-dict `:`
    functional-type($input, $result)
  }];
}

def ConcatOp : Ccn_TensorOp<"concat"> {
  let summary = "Joins tensors along a dimension";
  let description = [{
    ```mlir
    %0 = ccn.concat %x, %y at 0 : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<10x4xf32>
    ```

    **Constraints**
    - `concat_c1`: there is at least one operand.
    - `concat_c2`: the operands have the same element type and rank.
    - `concat_c3`: `dim` is one of their dimensions.
    - `concat_c4`: the sizes of the other dimensions agree.
    - `concat_c5`: the dimension is not cut along an axis; the layouts combine as
      for `ccn.add`.
    - `concat_c6`: the same reductions are pending on all operands.
  }];
  let arguments = (ins Variadic<Ccn_Tensor>:$inputs, I64Attr:$dim);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $inputs `at` $dim attr-dict `:` functional-type($inputs, $result)
  }];
}

def BroadcastToOp : Ccn_TensorOp<"broadcast_to"> {
  let summary = "Repeats elements to fill a shape";
  let description = [{
    Dimensions are matched from the last; those of size 1 and those that the
    operand lacks are repeated.

    ```mlir
    %0 = ccn.broadcast_to %x to [8, 4] : (tensor<4xf32>) -> tensor<8x4xf32>
    ```

    **Constraints**
    - `broadcast_to_c1`: no size is negative.
    - `broadcast_to_c2`: each dimension of the operand has the size of its
      counterpart, or 1.
    - `broadcast_to_c3`: a dimension that is repeated is not cut along an axis.
  }];
  let arguments = (ins Ccn_Tensor:$input, DenseI64ArrayAttr:$shape);
  let results = (outs Ccn_Tensor:$result);
  let hasFolder = 1;
  let assemblyFormat = [{
    $input `to` $shape attr-dict `:` functional-type($input, $result)
  }];
}

def GatherRowsOp : Ccn_TensorOp<"gather_rows"> {
  let summary = "Looks up rows of a table";
  let description = [{
    Row i of the result is row `indices[i]` of the table; table[V, ...] and
    indices[T] give [T, ...]. An index outside of 0 .. V - 1 is a run-time error.

    ```mlir
    %0 = ccn.gather_rows %t, %i : (tensor<8x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
    ```

    **Constraints**
    - `gather_rows_c1`: the table has rank 1 or more.
    - `gather_rows_c2`: the indices are integers of rank 1.
    - `gather_rows_c3`: the table's rows are not cut along an axis; the layouts
      combine.
    - `gather_rows_c4`: no reduction is pending on an operand.
  }];
  let arguments = (ins Ccn_Tensor:$table, Ccn_Tensor:$indices);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $table `,` $indices attr-dict `:` functional-type(operands, $result)
  }];
}

def ScatterRowsOp : Ccn_TensorOp<"scatter_rows"> {
  let summary = "Adds rows to rows of a table";
  let description = [{
    The table with row i of `rows` added to its row `indices[i]`, in the order of
    i; repeated indices accumulate. An index outside of 0 .. V - 1 is a run-time
    error.

    ```mlir
    %0 = ccn.scatter_rows %r, %i into %t : (tensor<3x4xf32>, tensor<3xi32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```

    **Constraints**
    - `scatter_rows_c1`: the table has rank 1 or more and a number type.
    - `scatter_rows_c2`: the indices are integers of rank 1.
    - `scatter_rows_c3`: the rows have the table's element type, one row an index,
      and the table's other sizes.
    - `scatter_rows_c4`: neither rows nor indices are cut at their first dimension,
      nor the table; the layouts combine.
    - `scatter_rows_c5`: no reduction is pending on an operand.
  }];
  let arguments = (ins Ccn_Tensor:$rows, Ccn_Tensor:$indices, Ccn_Tensor:$table);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = [{
    $rows `,` $indices `into` $table attr-dict `:`
    functional-type(operands, $result)
  }];
}

#endif // CCN_DIALECT_TENSOROPS
