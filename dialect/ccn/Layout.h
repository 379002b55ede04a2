//===- Layout.h - The algebra of layouts ------------------------*- C++ -*-===//
//
// What the layout of a distributed tensor means and how layouts combine. Every
// rule of layout inference is here; operations only say which of their
// operands' dimensions run together.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_CCN_LAYOUT_H
#define CCN_DIALECT_CCN_LAYOUT_H

#include "dialect/ccn/CcnAttrs.h"
#include "runtime/tensor/ElementType.h"
#include "runtime/tensor/SliceBounds.h"

namespace ccn {

/// An error that is being written, or, made from nothing, one that is not
/// reported. Both are failures, whereas an InFlightDiagnostic that reports
/// nothing is a success.
class InferenceError {
public:
  InferenceError() = default;
  InferenceError(mlir::InFlightDiagnostic diagnostic)
      : diagnostic(std::move(diagnostic)) {}

  template <typename Arg> InferenceError &operator<<(Arg &&arg) & {
    if (diagnostic)
      *diagnostic << std::forward<Arg>(arg);
    return *this;
  }
  template <typename Arg> InferenceError &&operator<<(Arg &&arg) && {
    return std::move(*this << std::forward<Arg>(arg));
  }

  operator llvm::LogicalResult() const { return llvm::failure(); }
  template <typename T> operator llvm::FailureOr<T>() const {
    return llvm::failure();
  }

private:
  std::optional<mlir::InFlightDiagnostic> diagnostic;
};

/// Reports an error at the operation that is inferred, built or verified.
using EmitError = llvm::function_ref<InferenceError()>;

/// What a tensor is along one mesh axis.
struct AxisState {
  enum Kind { Replicated, Sliced, Partial, Local } kind = Replicated;
  /// The dimension that is cut; of Sliced only.
  unsigned dim = 0;
  /// The pending reduction; of Partial only.
  ReduceKind reduction = ReduceKind::sum;

  bool operator==(const AxisState &other) const = default;
};

/// A layout as a value that can be taken apart and changed. A LayoutAttr is its
/// immutable form; a tensor replicated along every axis has no attribute.
class Layout {
public:
  /// Replicated along every axis.
  explicit Layout(unsigned rank = 0) : dims(rank) {}
  /// The layout of a tensor type.
  static Layout of(mlir::RankedTensorType type);

  unsigned getRank() const { return dims.size(); }
  // What refers into the layout is to be had of a layout with a name only.
  llvm::ArrayRef<mlir::StringAttr> getAxes(unsigned dim) && = delete;
  llvm::ArrayRef<PartialAxis> getPartials() && = delete;
  llvm::ArrayRef<mlir::StringAttr> getLocals() && = delete;

  /// The mesh, null while every axis is replicated.
  mlir::FlatSymbolRefAttr getMesh() const { return mesh; }
  /// The axes that cut a dimension, outermost first.
  llvm::ArrayRef<mlir::StringAttr> getAxes(unsigned dim) const & {
    return dims[dim];
  }
  /// All axes along which the tensor is not replicated: those of the dimensions
  /// first, then partial and local ones.
  llvm::SmallVector<mlir::StringAttr> getNamedAxes() const;
  AxisState getState(mlir::StringAttr axis) const;
  bool isReplicated() const;
  bool isSliced(unsigned dim) const { return !dims[dim].empty(); }
  bool hasPartial() const { return !partials.empty(); }
  bool hasLocal() const { return !locals.empty(); }
  /// The axes with a pending reduction, by name.
  llvm::ArrayRef<PartialAxis> getPartials() const & { return partials; }
  llvm::ArrayRef<mlir::StringAttr> getLocals() const & { return locals; }

  void setMesh(mlir::FlatSymbolRefAttr ref) { mesh = ref; }
  /// Gives the axis a new state. Sliced appends it as the innermost cut of the
  /// dimension.
  void setState(mlir::StringAttr axis, AxisState state);
  /// Replaces the axes that cut a dimension.
  void setAxes(unsigned dim, llvm::ArrayRef<mlir::StringAttr> axes);

  /// The type of a tensor with this layout.
  mlir::RankedTensorType getType(llvm::ArrayRef<int64_t> shape,
                                 mlir::Type elementType) const;

  bool operator==(const Layout &other) const;

  /// As the language writes it: `sliced(0, tp) partial(sum, dp)`.
  std::string str() const;

private:
  mlir::FlatSymbolRefAttr mesh;
  llvm::SmallVector<llvm::SmallVector<mlir::StringAttr, 2>, 4> dims;
  llvm::SmallVector<PartialAxis, 2> partials;    // sorted by name
  llvm::SmallVector<mlir::StringAttr, 2> locals; // sorted by name
};

/// Cuts a dimension of `size` elements by axes of the given sizes, outermost
/// first, and takes the piece at `coordinates`. Pieces have ceil(size / ranks)
/// elements; the last ones are short or empty.
SliceBounds sliceBounds(int64_t size, llvm::ArrayRef<int64_t> axisSizes,
                        llvm::ArrayRef<int64_t> coordinates);

/// `f16`, `u8`, `bool`: an element type as the language writes it.
std::string elementTypeName(mlir::Type type);

/// The same as the runtime has it. `type` is one of ccn's.
runtime::ElementType elementTypeOf(mlir::Type type);

/// The bytes that an element takes in memory.
int64_t elementBytes(mlir::Type type);
/// The element type of that name, null if there is none.
mlir::Type elementTypeByName(mlir::MLIRContext *context, llvm::StringRef name);
/// `f32[8, 4] sliced(0, tp)`: a type as the language writes it.
std::string typeName(mlir::RankedTensorType type);

bool isFloat(mlir::Type elementType);
bool isNumber(mlir::Type elementType);
/// Whether it is one of ccn's element types.
bool isElementType(mlir::Type type);
/// Checks that a type is what programs compute on: a tensor of static shape and
/// a ccn element type, with a ccn layout or none, whose size in bytes fits 64
/// bits.
mlir::LogicalResult checkTensor(mlir::Type type, EmitError emitError);

/// How errors of inference call an operand: `operand #1`. The frontend knows
/// how it was written, and says that instead.
std::string operandName(unsigned index);
/// What is wrong with an operand that is partial along an axis where the
/// operation takes no pending reduction, and the all_reduce that repairs it.
std::string pendingError(const Layout &layout, mlir::StringAttr axis,
                         llvm::StringRef operand);

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// What an operation allows of operands on which reductions are pending.
enum class PartialRule {
  /// None may be pending.
  None,
  /// The operation commutes with any reduction: all operands have the same
  /// pending, and so has the result.
  Commutes,
  /// As Commutes, but only with sums.
  CommutesWithSum,
  /// The operation is linear in each operand alone: sums may be pending on one,
  /// the others being replicated along their axes.
  LinearInOne,
  /// The operation is linear in its first operand.
  LinearInFirst,
};

/// An operand of an operation seen as loops: dimension d runs with loop
/// `loops[d]`; noLoop says that it may not be cut.
struct LoopOperand {
  static constexpr int noLoop = -1;

  mlir::RankedTensorType type;
  llvm::SmallVector<int> loops;
};

/// Infers the layout of the result of an operation over loops. `resultLoops`
/// are the loops of the result's dimensions; a loop that is cut along an axis
/// and not in the result leaves a reduction of kind `reduction` pending.
mlir::FailureOr<Layout>
inferOverLoops(llvm::ArrayRef<LoopOperand> operands, unsigned numLoops,
               llvm::ArrayRef<int> resultLoops, PartialRule partialRule,
               ReduceKind reduction, EmitError emitError);

} // namespace ccn

#endif // CCN_DIALECT_CCN_LAYOUT_H
