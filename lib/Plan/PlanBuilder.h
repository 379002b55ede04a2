//===- PlanBuilder.h - Makes the operations of a plan -----------*- C++ -*-===//
//
// Buffers, launches and parts of one rank's plan, for a planner that knows
// buffers by number and what lies in them as strided parts.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_PLANBUILDER_H
#define CCN_LIB_PLAN_PLANBUILDER_H

#include "lib/Plan/Views.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ccn::plan {

/// Elements in the memory of a rank, or of all ranks of a group: then they are
/// combined (if read), or stored in all.
struct Operand {
  Strided view;
  AllAttr all = {};
};

/// A loop to be made.
struct Loop {
  mlir::func::FuncOp body;
  llvm::SmallVector<Operand> inputs, outputs;
  size_t reduced = 0;
  llvm::SmallVector<ReductionKind> reductions;
  llvm::SmallVector<double> divisors;
  /// An offset and strides each.
  llvm::SmallVector<Sizes> indices;

  llvm::ArrayRef<int64_t> sizes() const {
    return (inputs.empty() ? outputs : inputs).front().view.sizes;
  }
};

/// Builds a plan, which is in no module.
class PlanBuilder {
public:
  /// A plan for the rank that the program is localized for.
  explicit PlanBuilder(ProgramOp program);

  /// What was built, with each view once, before the launches.
  mlir::OwningOpRef<PlanOp> take();

  /// Add a buffer and return its number: of an argument of the program, of one
  /// of its results, or of `count` elements, which of symmetric memory are as
  /// many as the rank with the most needs.
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

  /// Adds a launch on stream 0, which waits for nothing, behind all others.
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

  /// How many parts were added, those included that have nothing to do here.
  size_t size() const { return count; }
  LaunchOp getLaunch() const { return launch; }

  /// A loop that is a part by itself; a loop over nothing is not made.
  void loop(const Loop &loop);
  /// `isStore` of what stores the value of an argument or a result there.
  void copy(const Strided &from, const Strided &to, bool isStore = false);
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
