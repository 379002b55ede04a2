//===- PlanBuilder.h - Makes the operations of a plan -----------*- C++ -*-===//
//
// Makes the buffers, launches and parts of one rank's plan. The planner refers
// to buffers by number, and to regions of them by `Strided`.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_PLANBUILDER_H
#define CCN_LIB_PLAN_PLANBUILDER_H

#include "lib/Plan/MemberPieces.h"
#include "lib/Plan/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ccn::plan {

/// Elements in the memory of one rank or, if `all` is set, of all ranks of a
/// group. In the latter case a read combines the ranks' elements, and a write
/// stores into the memory of each rank.
struct Operand {
  Strided view;
  AllAttr all = {};
};

/// A loop that PartBuilder::loop makes.
struct Loop {
  mlir::func::FuncOp body;
  llvm::SmallVector<Operand> inputs, outputs;
  size_t reduced = 0;
  llvm::SmallVector<ReductionKind> reductions;
  llvm::SmallVector<double> divisors;
  /// For each index that the body gets, an offset and then strides.
  llvm::SmallVector<Sizes> indices;

  llvm::ArrayRef<int64_t> sizes() const {
    return (inputs.empty() ? outputs : inputs).front().view.sizes;
  }
};

/// Builds the plan of one rank, outside of any module.
class PlanBuilder {
public:
  /// Begins a plan for the rank that `program` is localized for.
  explicit PlanBuilder(ProgramOp program);

  /// Returns the plan. Each view occurs once, before the launches.
  mlir::OwningOpRef<PlanOp> take();

  /// Add a buffer and return its number: for an argument of the program, for a
  /// result, or for `count` elements. In symmetric memory, `count` must be that
  /// of the rank that needs most.
  int addArgument(mlir::BlockArgument argument);
  int addResult(unsigned number);
  int addBuffer(Memory memory, mlir::Type element, int64_t count);

  mlir::Value bufferAt(int number) const {
    return buffers[static_cast<size_t>(number)];
  }
  mlir::Type elementAt(int number) const {
    return mlir::cast<mlir::MemRefType>(bufferAt(number).getType())
        .getElementType();
  }
  mlir::Value view(const Strided &strided, mlir::Location loc,
                   size_t reduced = 0) {
    return views.view(loc, bufferAt(strided.buffer), strided, reduced);
  }

  /// Adds a launch after all others, on stream 0, that waits for no event.
  LaunchOp addLaunch(llvm::StringRef name, mlir::Location loc, int64_t segment);

private:
  int addArgument(ArgumentKind kind, mlir::StringAttr name,
                  mlir::RankedTensorType own, mlir::RankedTensorType global,
                  bool isScattered);
  int insert(llvm::function_ref<mlir::Value(mlir::OpBuilder &)> make);
  mlir::MemRefType typeOf(Memory memory, mlir::Type element,
                          llvm::ArrayRef<int64_t> sizes) const;

  ProgramOp program;
  mlir::OwningOpRef<PlanOp> plan;
  ViewMaker views;
  std::vector<mlir::Value> buffers;
};

/// Adds parts to a launch, one after the other.
class PartBuilder {
public:
  PartBuilder(PlanBuilder &plan, LaunchOp launch)
      : plan(plan), launch(launch), loc(launch.getLoc()),
        builder(mlir::OpBuilder::atBlockEnd(&launch.getBody().front())) {}

  /// How many parts were added, including those that have nothing to do on this
  /// rank.
  size_t size() const { return count; }
  LaunchOp getLaunch() const { return launch; }

  /// Adds a loop as a part of its own; makes no operation if the loop has no
  /// iterations.
  void loop(const Loop &loop);
  /// Adds a copy; `isStore` marks one that stores the final value of an
  /// argument or a result.
  void copy(const Strided &from, const Strided &to, bool isStore = false);
  void gather(GroupAttr group, const MemberPieces &pieces);
  void barrier(GroupAttr group, int64_t flags);
  void signal(int64_t rank, int64_t flag);
  void await(int64_t rank, int64_t flag);
  void matmul(const Strided &a, const Strided &b, const Strided &c);
  void conv2d(const Strided &x, const Strided &w, const Strided &y,
              int64_t stride, int64_t padding);
  void gatherRows(const Strided &table, const Strided &indices,
                  const Strided &to);
  void scatterRows(const Strided &table, const Strided &indices,
                   const Strided &rows, const Strided &to);
  void exchange(Exchange exchange, ReduceKind kind, GroupAttr group,
                int64_t largest, mlir::FlatSymbolRefAttr algorithm,
                const Strided &from, const Strided &to);

private:
  mlir::Value view(const Strided &strided) { return plan.view(strided, loc); }
  template <typename Op, typename... Args> void add(Args &&...args) {
    Op::create(builder, loc, std::forward<Args>(args)...);
    ++count;
  }

  PlanBuilder &plan;
  LaunchOp launch;
  mlir::Location loc;
  mlir::OpBuilder builder;
  size_t count = 0;
};

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_PLANBUILDER_H
