//===- Draft.h - A plan while it is made ------------------------*- C++ -*-===//
//
// What becomes the plan of one rank: buffers by number, and kernels as lists of
// parts, to which the planner adds while it knows only a part of the program.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_PLAN_DRAFT_H
#define CCN_LIB_PLAN_DRAFT_H

#include "dialect/plan/Plan.h"
#include "lib/Plan/Strided.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <variant>
#include <vector>

namespace ccn::plan {

struct BufferDraft {
  Memory memory = Memory::private_;
  mlir::Type element;
  /// The number of elements on this rank, and the largest on any.
  int64_t count = 0, largest = 0;
  /// Of arguments: their number.
  int argument = -1;
};

/// Elements in the memory of a rank, or of all ranks of a group: then they are
/// combined (if read), or stored in all.
struct OperandDraft {
  Strided view;
  AllAttr all = {};
};

struct LoopDraft {
  mlir::func::FuncOp body;
  llvm::SmallVector<OperandDraft> inputs, outputs;
  size_t reduced = 0;
  llvm::SmallVector<ReductionKind> reductions;
  llvm::SmallVector<double> divisors;
  /// An offset and strides each.
  llvm::SmallVector<Sizes> indices;

  llvm::ArrayRef<int64_t> sizes() const {
    return (inputs.empty() ? outputs : inputs).front().view.sizes;
  }
};

/// Loops over the same rows.
struct RowsDraft {
  std::vector<LoopDraft> loops;
};

struct CopyDraft {
  Strided from, to;
  /// Whether it stores what an argument or a result is to hold; it may then be
  /// made there in the first place, and then is not copied.
  bool isStore = false;
};

struct BarrierDraft {
  GroupAttr group;
  int64_t flags = 0;
};
struct SignalDraft {
  int64_t rank = 0, flag = 0;
};
struct AwaitDraft {
  int64_t rank = 0, flag = 0;
};
struct MatmulDraft {
  Strided a, b, c;
};
struct Conv2dDraft {
  Strided x, w, y;
  int64_t stride = 1, padding = 0;
};
struct GatherRowsDraft {
  Strided table, indices, to;
};
struct ScatterRowsDraft {
  Strided table, indices, rows, to;
};
struct ExchangeDraft {
  Exchange exchange = Exchange::ll;
  ReduceKind kind = ReduceKind::sum;
  GroupAttr group;
  int64_t largest = 0;
  mlir::FlatSymbolRefAttr algorithm;
  Strided from, to;
};

using PartDraft =
    std::variant<RowsDraft, CopyDraft, BarrierDraft, SignalDraft, AwaitDraft,
                 MatmulDraft, Conv2dDraft, GatherRowsDraft, ScatterRowsDraft,
                 ExchangeDraft>;

struct LaunchDraft {
  std::string name;
  mlir::Location loc;
  int64_t stream = 0;
  /// Numbers of earlier launches.
  llvm::SmallVector<int> waits = {};
  /// Launches of one segment of the program may run at once where streams and
  /// waits let them; those of different segments follow each other.
  int segment = 0;
  std::vector<PartDraft> parts = {};

  /// Waits for an earlier launch, once.
  void waitFor(int number) {
    if (!llvm::is_contained(waits, number))
      waits.push_back(number);
  }
};

struct PlanDraft {
  mlir::Location loc;
  std::string name;
  int64_t rank = 0;
  std::vector<BufferDraft> buffers = {};
  std::vector<LaunchDraft> launches = {};
  /// The first flags of every part that has some are these; the same on all
  /// ranks.
  int64_t flags = 0;
};

/// Adds the plan to a module that has its bodies, before any pass over plans.
void emit(mlir::ModuleOp module, PlanDraft &draft, ProgramOp program);

} // namespace ccn::plan

#endif // CCN_LIB_PLAN_DRAFT_H
