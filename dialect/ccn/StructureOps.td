//===- StructureOps.td - Mesh, program and their parts --------------------===//
#ifndef CCN_DIALECT_STRUCTUREOPS
#define CCN_DIALECT_STRUCTUREOPS

include "dialect/ccn/CcnOpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def MeshOp : Ccn_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Declares the mesh of ranks";
  let description = [{
    Declares the one mesh of a module: named axes and their sizes. Ranks are
    numbered with the last axis fastest.

    ```mlir
    ccn.mesh @m ["dp" = 2, "tp" = 4]
    ```

    **Constraints**
    - `mesh_c1`: there is at least one axis, and one size for each.
    - `mesh_c2`: axis names are not empty and differ.
    - `mesh_c3`: sizes are at least 1, and their product is at most 65536.
    - `mesh_c4`: a module holds one mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axis_names,
                       DenseI64ArrayAttr:$axis_sizes);
  let assemblyFormat = "$sym_name custom<MeshAxes>($axis_names, $axis_sizes) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of ranks: the product of the axis sizes.
    int64_t getNumRanks();
    /// The position of the named axis among the mesh's axes, if it has it.
    std::optional<unsigned> getAxisIndex(::llvm::StringRef name);
    /// The size of the named axis, which the mesh must have.
    int64_t getAxisSize(::llvm::StringRef name);
    /// The coordinates of a rank on all axes.
    ::llvm::SmallVector<int64_t> getCoordinates(int64_t rank);
    /// The ranks that differ from `rank` along the named axes at most, in the
    /// order of their coordinates on these axes, the last axis fastest.
    ::llvm::SmallVector<int64_t>
    getGroup(int64_t rank, ::llvm::ArrayRef<::mlir::StringAttr> axes);
  }];
}

def AlgorithmOp : Ccn_Op<"algorithm", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A schedule of a collective, chunk by chunk";
  let description = [{
    What a collective with `ccn.algorithm = @name` executes: the text of a schedule
    in the synthesizer's format, which its checker has proved to implement the
    collective on that many ranks.

    ```mlir
    ccn.algorithm @ring4 "all_reduce" on 4 ranks "{...}"
    ```

    **Constraints**
    - `algorithm_c1`: there is at least one rank.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$collective,
                       I64Attr:$ranks, StrAttr:$schedule);
  let assemblyFormat = [{
    $sym_name $collective `on` $ranks `ranks` $schedule attr-dict
  }];
  let hasVerifier = 1;
}

def ProgramOp : Ccn_Op<"program", [
    FunctionOpInterface, IsolatedFromAbove, SingleBlock,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "A program over distributed tensors";
  let description = [{
    What every rank of the mesh executes together: one block without control
    flow. Each argument has a `ccn.name`; `ccn.inout` marks those that the
    program updates in place, `ccn.scattered` those bound at run time to a list
    of separate buffers. Results are named by `ccn.name` too. With `ccn.rank` it is
    what that one rank executes.

    ```mlir
    ccn.program @scale(%x: tensor<8xf32> {ccn.name = "x", ccn.inout}) {
      %c = ccn.constant 2.0 : f32
      %0 = ccn.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %1 = ccn.update %x with %0 : tensor<8xf32>
      ccn.return
    }
    ```

    **Constraints**
    - `program_c1`: every argument and result is a statically shaped tensor of
      a ccn element type, whose size in bytes fits 64 bits (`layout_op_c2`).
    - `program_c2`: every argument and result has a `ccn.name`, and an argument's
      differs from the other arguments', a result's from all others.
    - `program_c3`: a `ccn.scattered` argument has rank 1 and is not sliced.
    - `program_c4`: every layout in the program names the module's mesh and
      only axes that it has.
    - `program_c5`: `ccn.rank` is a rank of the module's mesh, 0 if it has none.
    - `program_c6`: in a program with `ccn.rank` no type has an encoding.
    - `program_c7`: in a program with `ccn.rank` there is no `ccn.reshard`, and no
      collective in another form than `ccn.communicate`.
    - `program_c8`: with `ccn.rank` every argument and result has a `ccn.global`, of
      which the rank holds a part of its type; without, none has.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$name,
                                 "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The source name of an argument or result.
    ::mlir::StringAttr getArgName(unsigned index);
    ::mlir::StringAttr getResultName(unsigned index);
    /// Whether the program updates the argument in place.
    bool isInout(unsigned index);
    /// Whether the argument is bound to a list of separate buffers.
    bool isScattered(unsigned index);
    /// The stores to an inout argument, in order.
    ::std::vector<UpdateOp> getUpdates(unsigned index);
    /// The value that an inout argument has when the program ends: its last
    /// update, or the argument itself.
    ::mlir::Value getFinalValue(unsigned index);
    /// The module's mesh.
    ::ccn::MeshOp getMesh();
    /// The rank that executes the program, if it is localized.
    std::optional<int64_t> getRank();
    /// The type of the whole of an argument or result, layout included.
    ::mlir::RankedTensorType getGlobalArgumentType(unsigned index);
    ::mlir::RankedTensorType getGlobalResultType(unsigned index);
  }];
}

def ReturnOp : Ccn_Op<"return", [
    Pure, Terminator, HasParent<"ProgramOp">]> {
  let summary = "Ends a program and yields its results";
  let description = [{
    **Constraints**
    - `return_c1`: the operands have the result types of the program.
  }];
  let arguments = (ins Variadic<Ccn_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
}

def UpdateOp : Ccn_Op<"update", [
    HasParent<"ProgramOp">, AllTypesMatch<["target", "value", "result"]>,
    MemoryEffects<[MemWrite]>]> {
  let summary = "Stores a value in an inout argument";
  let description = [{
    Stores `value` in the inout argument `target` and yields what it then
    holds, by which later operations read it.

    ```mlir
    %p1 = ccn.update %p with %0 : tensor<8xf32>
    ```

    **Constraints**
    - `update_c1`: target, value and result have the same type, layout included.
    - `update_c2`: target is an inout argument, or the result of another update.
    - `update_c3`: a target is updated once; the next update takes this one's
      result.
  }];
  let arguments = (ins Ccn_Tensor:$target, Ccn_Tensor:$value);
  let results = (outs Ccn_Tensor:$result);
  let assemblyFormat = "$target `with` $value attr-dict `:` type($target)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    /// Whether the use is the target of a store: any other reads the value.
    static bool isTarget(::mlir::OpOperand &use);
  }];
}

#endif // CCN_DIALECT_STRUCTUREOPS
