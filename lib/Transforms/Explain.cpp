//===- Explain.cpp - Suggests primitives for a schedule -------------------===//
//
// Tries primitives that may help on copies of the program, and reports what
// they would save, or which condition does not hold.
//
//===----------------------------------------------------------------------===//

#include "lib/CostModel/CostModel.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_EXPLAIN
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// The result of trying a primitive on a copy.
struct Trial {
  /// The message of the condition that failed; empty if none failed.
  std::string refusal;
  Traffic before, after;

  explicit operator bool() const { return refusal.empty(); }
  double savedMemory() const { return before.memory - after.memory; }
};

/// Explains one program.
class Explainer {
public:
  Explainer(ProgramOp program, const Machine &machine)
      : program(program), machine(machine),
        smallBytes(machine.gpu->bytesOfLaunch()) {}

  void run() {
    for (Operation &op : program.getBody().front()) {
      if (auto reduce = dyn_cast<AllReduceOp>(op))
        explainSplit(reduce);
      if (communicatesAlong(&op) && !isa<OverlappedOp>(op))
        explainOverlap(&op);
    }
    explainFuse();
    explainSliceState();
    explainBucket();
    Traffic traffic = trafficOf(program);
    remark::analysis(program.getLoc(), options("program")) << remark::add(
        "program '{0}' receives {1} from other ranks, moves {2} "
        "through memory and launches {3} kernel{4}, on the rank "
        "that does most",
        program.getSymName().str(), describeBytes(traffic.received),
        describeBytes(traffic.memory), traffic.launches,
        traffic.launches == 1 ? "" : "s");
  }

private:
  /// Rewrites a copy of the program. It must find operations of the copy by
  /// name, as the suggested schedule would.
  using Rewrite = llvm::function_ref<LogicalResult(IRRewriter &, ProgramOp,
                                                   IRMapping &, EmitRefusal)>;

  remark::RemarkOpts options(StringRef name) {
    return remark::RemarkOpts::name(name)
        .category("schedule")
        .function(program.getSymName());
  }
  Trial attempt(Rewrite rewrite);
  void explainSplit(AllReduceOp reduce);
  void explainOverlap(Operation *op);
  void explainOverlap(Operation *op, Operation *maker, Operation *user);
  void explainFuse();
  void explainSliceState();
  void explainBucket();
  /// `name`, or a similar name that is not taken.
  std::string freshName(StringRef name);
  void missed(Operation *at, StringRef name, const Twine &what,
              const Trial &trial, const Twine &suggestion);

  ProgramOp program;
  const Machine &machine;
  /// Collectives with fewer bytes than this should share a launch.
  int64_t smallBytes;
};

/// The name by which schedules can refer to an operation; empty if it has none.
std::string nameOf(Operation *op) {
  if (auto tags = op->getAttrOfType<ArrayAttr>(kTagsAttr);
      tags && !tags.empty())
    return cast<StringAttr>(tags.getValue().back()).str();
  if (auto let = op->getAttrOfType<StringAttr>(kLetAttr))
    return let.str();
  return "";
}

/// The names of operations, each once.
std::vector<std::string> namesOf(ArrayRef<Operation *> ops) {
  std::vector<std::string> names;
  for (Operation *op : ops)
    if (!llvm::is_contained(names, nameOf(op)))
      names.push_back(nameOf(op));
  return names;
}

std::string quoted(Operation *op) {
  std::string name = nameOf(op);
  return name.empty() ? "'" + op->getName().stripDialect().str() + "'"
                      : "'" + name + "'";
}

Trial Explainer::attempt(Rewrite rewrite) {
  Trial trial;
  trial.before = trafficOf(program);
  IRMapping map;
  auto module = program->getParentOfType<ModuleOp>();
  OwningOpRef<Operation *> copy(module->clone(map));
  auto changed = cast<ProgramOp>(map.lookup(program));
  IRRewriter rewriter(program.getContext());
  LogicalResult result = success();
  {
    ScopedDiagnosticHandler handler(program.getContext(),
                                    [&](mlir::Diagnostic &diagnostic) {
                                      trial.refusal = diagnostic.str();
                                      return success();
                                    });
    result = rewrite(rewriter, changed, map,
                     [&] { return mlir::emitError(program.getLoc()); });
  }
  if (failed(result) && trial.refusal.empty())
    trial.refusal = "it cannot be applied";
  if (succeeded(result)) {
    trial.refusal.clear();
    trial.after = trafficOf(changed);
  }
  return trial;
}

std::string Explainer::freshName(StringRef name) {
  auto isTaken = [&](StringRef text) {
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      if (program.getArgName(i) == text)
        return true;
    return !findByName(program, text).empty();
  };
  std::string fresh = name.str();
  for (unsigned i = 1; isTaken(fresh); ++i)
    fresh = name.str() + std::to_string(i);
  return fresh;
}

void Explainer::missed(Operation *at, StringRef name, const Twine &what,
                       const Trial &trial, const Twine &suggestion) {
  auto remark = remark::missed(at->getLoc(), options(name));
  remark << what.str();
  if (!trial) {
    remark << remark::detail::Remark::Arg("Reason", trial.refusal);
    return;
  }
  remark << remark::detail::Remark::Arg("Suggestion", suggestion.str());
}

/// The last computations that depend on `op`, a gather, which could move below
/// these.
SmallVector<Operation *> lastDependents(Operation *op) {
  llvm::SetVector<Operation *> below;
  below.insert(op);
  for (size_t i = 0; i < below.size(); ++i)
    for (Operation *user : below[i]->getUsers())
      if (user->getBlock() == op->getBlock() &&
          !user->hasTrait<OpTrait::IsTerminator>())
        below.insert(user);
  SmallVector<Operation *> last;
  for (Operation *other : below)
    if (other != op && !nameOf(other).empty() &&
        llvm::none_of(other->getUsers(), [&](Operation *user) {
          return below.contains(user) && nameOf(user) != nameOf(other);
        }))
      last.push_back(other);
  return last;
}

void Explainer::explainSplit(AllReduceOp reduce) {
  SmallVector<Operation *> last = lastDependents(reduce);
  if (last.empty() || nameOf(reduce).empty() || reduce.getType().getRank() == 0)
    return;
  std::string name = nameOf(reduce);
  std::vector<std::string> names = namesOf(last);
  Trial trial = attempt([&](IRRewriter &rewriter, ProgramOp copy, IRMapping &,
                            EmitRefusal emit) -> LogicalResult {
    FailureOr<SmallVector<OpSet>> parts =
        split(rewriter, findByName(copy, name),
              SplitForm::ReduceScatterAllGather, emit);
    if (failed(parts))
      return failure();
    return failure(failed(
        reorder(rewriter, parts->back(), findAllByName(copy, names), emit)));
  });
  if (!trial)
    return missed(reduce, "reorder",
                  "what follows '" + name + "' is computed by every rank",
                  trial, "");
  if (trial.savedMemory() > 0 || trial.after.received < trial.before.received)
    missed(reduce, "reorder",
           "what follows '" + name + "' is computed by every rank; on slices " +
               describeBytes(std::max(0.0, trial.savedMemory())) +
               " less pass through memory",
           trial,
           "let (" + freshName("rs") + ", " + freshName("ag") + ") = split " +
               name + "; reorder " + freshName("ag") + " after " +
               llvm::join(names, ", "));
}

void Explainer::explainOverlap(Operation *op) {
  auto canOverlap = [&](Operation *product) {
    return product && product->getBlock() == op->getBlock() &&
           isa<MatmulOp, Conv2dOp>(product) && !nameOf(product).empty();
  };
  if (nameOf(op).empty())
    return;
  for (Operation *user : llvm::SetVector<Operation *>(op->getUsers().begin(),
                                                      op->getUsers().end()))
    if (canOverlap(user))
      explainOverlap(op, op, user);
  for (Value operand : op->getOperands())
    if (canOverlap(operand.getDefiningOp()))
      explainOverlap(op, operand.getDefiningOp(), op);
}

/// Tries to overlap `maker` and `user`, which uses the result of `maker`. One
/// of them is `op`, the other is a product.
void Explainer::explainOverlap(Operation *op, Operation *maker,
                               Operation *user) {
  std::vector<std::string> names = {nameOf(maker), nameOf(user)};
  // If both have the same name, a schedule cannot tell them apart; the trial
  // assumes that the program gives them different names.
  bool isOneName = names[0] == names[1];
  Trial trial = attempt([&](IRRewriter &rewriter, ProgramOp copy,
                            IRMapping &map, EmitRefusal emit) -> LogicalResult {
    SmallVector<OpSet> values = findAllByName(copy, names);
    if (isOneName)
      values = {{map.lookup(maker)}, {map.lookup(user)}};
    return failure(failed(overlap(rewriter, values, defaultChunks, emit)));
  });
  if (!isOneName)
    missed(op, "overlap", quoted(user) + " waits for all of " + quoted(maker),
           trial, "overlap " + llvm::join(names, ", "));
  else
    missed(op, "overlap",
           op == maker ? "the product waits for all of " + quoted(op)
                       : quoted(op) + " waits for all of its product",
           trial, "give the product a name of its own, to overlap it");
}

void Explainer::explainFuse() {
  // Tries each group of connected operations that are not in a region.
  llvm::SetVector<Operation *> open;
  for (Operation &op : program.getBody().front())
    if (isa<LayoutOpInterface>(op) && !isa<ConstantOp>(op) &&
        !nameOf(&op).empty())
      open.insert(&op);
  while (!open.empty()) {
    llvm::SetVector<Operation *> group;
    group.insert(open.front());
    for (size_t i = 0; i < group.size(); ++i) {
      for (Operation *user : group[i]->getUsers())
        if (open.contains(user))
          group.insert(user);
      for (Value operand : group[i]->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && open.contains(maker))
          group.insert(maker);
    }
    for (Operation *op : group)
      open.remove(op);
    if (group.size() < 2)
      continue;
    std::vector<std::string> names = namesOf(group.getArrayRef());
    Trial trial = attempt([&](IRRewriter &rewriter, ProgramOp copy, IRMapping &,
                              EmitRefusal emit) -> LogicalResult {
      OpSet ops;
      for (const OpSet &named : findAllByName(copy, names))
        llvm::append_range(ops, named);
      return failure(failed(fuse(rewriter, ops, emit)));
    });
    std::string list = llvm::join(names, ", ");
    std::string what = "the " + std::to_string(group.size()) +
                       " operations of " + list +
                       " pass what they make through memory";
    if (trial)
      what +=
          ": " + describeBytes(trial.savedMemory()) + " that one kernel keeps";
    missed(group.front(), "fuse", what, trial, "fuse " + list);
  }
}

void Explainer::explainSliceState() {
  for (unsigned i = 0; i < program.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(program.getArgument(i).getType());
    if (!program.isInout(i) || type.getRank() == 0 ||
        !Layout::of(type).isReplicated() || program.getUpdates(i).empty())
      continue;
    Trial trial = attempt([&](IRRewriter &rewriter, ProgramOp copy, IRMapping &,
                              EmitRefusal emit) -> LogicalResult {
      return sliceState(rewriter, copy, i, emit);
    });
    if (!trial)
      continue; // most arguments are needed whole
    std::string name = program.getArgName(i).str();
    missed(program, "slice_state",
           "every rank stores all of '" + name + "' and needs its slice", trial,
           "slice_state " + name);
  }
}

void Explainer::explainBucket() {
  llvm::MapVector<std::pair<OperationName, Attribute>, OpSet> groups;
  for (Operation &op : program.getBody().front()) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || !collective.communicates() || nameOf(&op).empty())
      continue;
    auto type = cast<RankedTensorType>(collective.getSource().getType());
    if (bytesOnRank(type, program.getMesh()) < smallBytes)
      groups[{op.getName(),
              ArrayAttr::get(op.getContext(),
                             {op.getPropertiesAsAttribute(),
                              TypeAttr::get(type.getElementType())})}]
          .push_back(&op);
  }
  for (auto &[key, ops] : groups) {
    std::vector<std::string> names = namesOf(ops);
    if (names.size() < 2)
      continue;
    Trial trial = attempt([&](IRRewriter &rewriter, ProgramOp copy, IRMapping &,
                              EmitRefusal emit) -> LogicalResult {
      return failure(failed(
          bucket(rewriter, findAllByName(copy, names), 16 * smallBytes, emit)));
    });
    missed(ops.front(), "bucket",
           std::to_string(ops.size()) +
               " small collectives are launched one by one, where a launch "
               "takes longer than " +
               describeBytes(static_cast<double>(smallBytes)) + " on '" +
               machine.name + "' (" + machine.measuredOn + ")",
           trial,
           "bucket " + llvm::join(names, ", ") + " size " +
               std::to_string(16 * smallBytes));
  }
}

struct ExplainPass : ccn::impl::ExplainBase<ExplainPass> {
  using ExplainBase::ExplainBase;

  void runOnOperation() override {
    // Suggestions are made for GPUs; CPUs only serve for trying schedules out.
    const Machine &figures = machine.orOf(Target::anyGpu());
    if (!figures.gpu) {
      getOperation()->emitError()
          << "expected a machine with figures of GPUs, found '" << figures.name
          << "'";
      return signalPassFailure();
    }
    for (auto program : getOperation().getOps<ProgramOp>())
      Explainer(program, figures).run();
  }
};

} // namespace
