//===- Plan.h - The plan dialect --------------------------------*- C++ -*-===//
//
// Everything of the plan dialect: attributes, types, operations.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_DIALECT_PLAN_PLAN_H
#define CCN_DIALECT_PLAN_PLAN_H

#include "dialect/ccn/Ccn.h"

#include "llvm/ADT/MapVector.h"

namespace ccn::plan {

/// The texts of what the trailing i1 results of a body say, on a func.func.
inline constexpr llvm::StringLiteral kFailuresAttr = "plan.failures";

/// The kernels of GPUs address the memory of at most so many ranks. In groups
/// of no more, plans have a part for each member where a rank reads from
/// several, since kernels start, vectorize and overlap each of them by itself.
/// In larger groups, which only the CPU runs, one part stands for all members:
/// a part for each would make plans grow with the square of the number of
/// ranks.
inline constexpr size_t kMaxKernelRanks = 16;

} // namespace ccn::plan

#include "dialect/plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/plan/PlanAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/plan/PlanTypes.h.inc"

#include "dialect/plan/PlanDialect.h.inc"

namespace ccn::plan {

/// How a part, or a loop of one, accesses one of its views.
struct Access {
  mlir::OpOperand *operand;
  bool isWrite = false;
  /// The group in whose memories it is, if it is in those of all its members.
  AllAttr all = {};
  /// Of a write: the last dimensions, which are reduced. What is made of
  /// nothing is written all the same.
  size_t reduced = 0;
  /// The view is accessed again further on: for each dimension, how often in
  /// all, and how many elements further each time.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> repeats = {};

  mlir::Value getView() const { return operand->get(); }
};

} // namespace ccn::plan

#include "dialect/plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialect/plan/PlanOps.h.inc"

namespace ccn::plan {

/// The memory of a buffer or view of a verified plan.
Memory memoryOf(mlir::Value view);
/// Offset and strides of a view, in elements.
std::pair<int64_t, llvm::SmallVector<int64_t>> stridesOf(mlir::Value view);
/// The operation that makes the buffer that a view is of: an ArgumentOp or a
/// BufferOp.
mlir::Operation *bufferOf(mlir::Value view);
/// The rank in whose memory a view lies, if not in the own.
std::optional<int64_t> rankOf(mlir::Value view);
/// The signless scalar type that stands in bodies for an element type.
mlir::Type scalarOf(mlir::Type element);

/// Where the rows of a view lie, in elements of its buffer; a row is what one
/// index of the first dimension has.
struct RowExtent {
  RowExtent(int64_t offset, llvm::ArrayRef<int64_t> sizes,
            llvm::ArrayRef<int64_t> strides);
  explicit RowExtent(mlir::Value view);

  /// Whether row i of this meets no row of `other`, a view of the same buffer
  /// with as many rows, but row i: rows are equally far apart, and what both
  /// have of a row lies within one.
  bool meetsOnlySameRowOf(const RowExtent &other) const;

  int64_t rows, stride;
  /// The first and last elements of the first row; `last` is less than `first`
  /// if rows are empty.
  int64_t first, last;
};

/// Whether the input of an exchange, or its output, is a block for each member,
/// in their order, each as large as the largest; else it is all of it in one.
bool hasBlocks(Collective what, bool isInput);

/// The plans of a module by program, each program's in the module's order.
llvm::MapVector<llvm::StringRef, llvm::SmallVector<PlanOp>>
plansByProgram(mlir::ModuleOp module);

/// Checks plan_c5 of the plans of one program.
mlir::LogicalResult verifyRanks(llvm::ArrayRef<PlanOp> plans);

/// Checks plan_c1 to plan_c5, which concern all plans of a module: those that
/// it has, of all ranks or of some.
mlir::LogicalResult verifyPlans(mlir::ModuleOp module);

} // namespace ccn::plan

#endif // CCN_DIALECT_PLAN_PLAN_H
