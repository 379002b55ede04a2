//===- CcnBase.td - The ccn dialect, its types and its attributes ---------===//
//
// The dialect itself, the element types it admits, and the attributes that say
// where a distributed tensor lives: mesh axes and layouts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCNBASE
#define CCN_DIALECT_CCNBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def CcnDialect : Dialect {
  let name = "ccn";
  let cppNamespace = "::ccn";
  let summary = "Programs over distributed tensors that compute and communicate";
  let description = [{
    A module holds one `ccn.mesh` and any number of `ccn.program`s. Types carry
    **global** shapes; a tensor's encoding, `#ccn.layout`, says on every mesh
    axis whether the tensor is sliced, partial or local; no encoding means
    that it is replicated along every axis. Operations infer the layout of
    their result from those of their operands (`LayoutOpInterface`), so a
    layout that does not combine is an error and never a silent conversion.

    Discardable attributes: `ccn.let` on an operation holds the source name of
    the value that its statement defines, so that schedules can name it;
    `ccn.name`, `ccn.inout` and `ccn.scattered` describe arguments and
    (`ccn.name`) results of a program; `ccn.phase` on a module names the phase of
    the compiler that made it.

    `ccn.rank` on a program says that it is *localized*: the program as that rank
    of the mesh executes it. No type has an encoding; each is of the part that the
    rank holds. `ccn.global` on an argument or result is the type of the whole, by
    which a runtime binds it. Operations are the same on local tensors: an operand
    that is less cut than the others is cut by a `ccn.extract`, and ranks
    communicate by `ccn.communicate` alone. The programs of all ranks have the same
    operations in the same order. `ccn.chunked_dim` on a `ccn.reshape` in a localized
    `ccn.overlapped` says which dimension of the result is made in chunks, as sizes
    of parts do not always tell.

    On a collective, or a region that holds some, `ccn.algorithm`, `ccn.protocol` and
    `ccn.sms` say how it is to run, and `ccn.priority` when it leaves, 0 first.

    | `ccn.algorithm` | what it does |
    | --- | --- |
    | `"nccl"` | NCCL's own choice |
    | `"one_shot"` | all_reduce: every rank gets what all others have and reduces it |
    | `"two_shot"` | every rank reduces its slice, then all get all slices |
    | `"ring"` | slices go around, each rank adding to them |
    | `"direct"` | every rank sends each other what that needs |
    | `@name` | the schedule of a `ccn.algorithm` |

    | `ccn.protocol` | how a receiver sees what has arrived |
    | --- | --- |
    | `"simple"` | by a flag after the data |
    | `"ll"` | by a flag in every 8 bytes |
    | `"lamport"` | by a value that no data has |
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Ccn_ReduceKind : I32EnumAttr<"ReduceKind", "how values are reduced", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_ReduceKindAttr : EnumAttr<CcnDialect, Ccn_ReduceKind, "reduce_kind"> {
  let assemblyFormat = "$value";
}

def Ccn_ReductionKind : I32EnumAttr<"ReductionKind",
    "how elements of one tensor are reduced over dimensions", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"mean", 4>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_ReductionKindAttr
    : EnumAttr<CcnDialect, Ccn_ReductionKind, "reduction_kind"> {
  let assemblyFormat = "$value";
}

def Ccn_ComparePredicate : I32EnumAttr<"ComparePredicate", "a comparison", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>,
    I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_ComparePredicateAttr
    : EnumAttr<CcnDialect, Ccn_ComparePredicate, "predicate"> {
  let assemblyFormat = "$value";
}

def Ccn_Collective : I32EnumAttr<"Collective", "what a collective does", [
    I32EnumAttrCase<"all_reduce", 0>, I32EnumAttrCase<"reduce_scatter", 1>,
    I32EnumAttrCase<"all_gather", 2>, I32EnumAttrCase<"slice", 3>,
    I32EnumAttrCase<"all_to_all", 4>, I32EnumAttrCase<"broadcast", 5>,
    I32EnumAttrCase<"reduce", 6>, I32EnumAttrCase<"gather", 7>,
    I32EnumAttrCase<"scatter", 8>, I32EnumAttrCase<"send", 9>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}
def Ccn_CollectiveAttr : EnumAttr<CcnDialect, Ccn_Collective, "collective"> {
  let assemblyFormat = "$value";
}

def Ccn_Algorithm : I32EnumAttr<"Algorithm", "how a collective runs", [
    I32EnumAttrCase<"nccl", 0>, I32EnumAttrCase<"one_shot", 1>,
    I32EnumAttrCase<"two_shot", 2>, I32EnumAttrCase<"direct", 3>,
    I32EnumAttrCase<"ring", 4>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}

def Ccn_Protocol : I32EnumAttr<"Protocol", "how a receiver sees what has arrived", [
    I32EnumAttrCase<"simple", 0>, I32EnumAttrCase<"ll", 1>,
    I32EnumAttrCase<"lamport", 2>, I32EnumAttrCase<"push", 3>]> {
  let cppNamespace = "::ccn";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Ccn_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<CcnDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Ccn_AxesAttr : Ccn_Attr<"Axes", "axes"> {
  let summary = "Names axes of the mesh, outermost first";
  let description = [{
    The mesh axes along which an operation communicates: `#ccn.axes<@m, ["dp"]>`.

    **Constraints**
    - `axes_c1`: at least one axis is named.
    - `axes_c2`: no axis is named twice.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::mlir::StringAttr">:$names);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Ccn_LayoutAttr : Ccn_Attr<"Layout", "layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Says where each part of a distributed tensor lives";
  let description = [{
    The encoding of a distributed tensor. On every axis of the mesh a tensor is
    in exactly one state:

    - *sliced*: named at a dimension, which is cut along the axis; rank i holds
      slice i, of ceil(size / ranks) elements, the last ones short or empty. A
      dimension with several axes is cut by the first, each piece then by the
      next.
    - *partial*: named after `partial<op>`; the value is the reduction by op of
      what the ranks hold.
    - *local*: named after `local`; the ranks hold different values of the same
      shape with no reduction pending.
    - *replicated*: not named; all ranks hold the same value. A tensor
      replicated along every axis has no encoding at all.

    ```mlir
    tensor<8192x4096xbf16, #ccn.layout<@m, [{"tp"}, {} ], partial<sum> = {"dp"}>>
    tensor<1024xf16, #ccn.layout<@m, [{} ], local = {"dp"}>>
    ```

    **Constraints**
    - `layout_c1`: there is one list of axes for each dimension of the tensor.
    - `layout_c2`: an axis is named at most once.
    - `layout_c3`: at least one axis is named.
    - `layout_c4`: all pending reductions are of one kind, as different ones do not
      commute.
  }];
  let parameters = (ins
    "::mlir::FlatSymbolRefAttr":$mesh,
    ArrayRefParameter<"::mlir::ArrayAttr", "axes that cut each dimension">:$dims,
    ArrayRefParameter<"::ccn::PartialAxis", "axes with a pending reduction">:$partials,
    ArrayRefParameter<"::mlir::StringAttr", "axes with rank-local values">:$locals);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Ccn_ChunkedAttr : Ccn_Attr<"Chunked", "chunked"> {
  let summary = "Says which part of a chunked dimension a rank holds";
  let description = [{
    In a localized program: what a `ccn.overlapped` takes in chunks along dimension
    `dim` begins at element `offset` of a global dimension of `extent` elements,
    which the mesh axes cut into blocks, outermost first:
    `#ccn.chunked<0 from 4 of 16 in ["tp"]>`.

    **Constraints**
    - `chunked_c1`: no number is negative, and the offset is at most the extent.
    - `chunked_c2`: axes are named by strings.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$offset, "int64_t":$extent,
                        "::mlir::ArrayAttr":$axes);
  let assemblyFormat = "`<` $dim `from` $offset `of` $extent `in` $axes `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

defvar Ccn_FloatTypes = [F64, F32, F16, BF16, F8E4M3FN, F8E5M2];
defvar Ccn_SignedTypes = [I8, I16, I32, I64];
defvar Ccn_UnsignedTypes = [UI8, UI16, UI32, UI64];
defvar Ccn_IntTypes = !listconcat(Ccn_SignedTypes, Ccn_UnsignedTypes);
defvar Ccn_ElementTypes = !listconcat(Ccn_FloatTypes, Ccn_IntTypes, [I1]);

class Ccn_TensorOf<list<Type> elements, string name>
    : StaticShapeTensorOf<elements> {
  let summary = "tensor of static shape and " # name # " element type";
}
def Ccn_Tensor : Ccn_TensorOf<Ccn_ElementTypes, "a ccn">;
def Ccn_BoolTensor : Ccn_TensorOf<[I1], "bool">;

#endif // CCN_DIALECT_CCNBASE
