//===- Simplify.cpp - Simplifies programs ---------------------------------===//
//
// Runs MLIR's canonicalization and elimination of common subexpressions, and
// records what becomes of a program's names, for errors of schedules that use
// them.
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Rewrites.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace ccn;

namespace ccn {
#define GEN_PASS_DEF_SIMPLIFY
#include "lib/Transforms/Passes.h.inc"
} // namespace ccn

namespace {

/// Records what each named operation of a program becomes.
class NameKeeper : public RewriterBase::Listener {
public:
  explicit NameKeeper(ProgramOp program) : program(program) {}

  void notifyOperationReplaced(Operation *op, ValueRange values) override;
  void notifyOperationErased(Operation *op) override;
  /// For each name that no operation has any more, the reason.
  DictionaryAttr reasons();

private:
  /// What replaced an operation, or its user: an argument, or an operation of a
  /// kind, whose name may be empty.
  struct Successor {
    std::string kind, name;
    bool isArgument = false;
  };
  struct Fate {
    std::string kind;
    Successor successor;
    enum { Unused, Equal, Part } how = Unused;
  };

  Successor successorAt(Value value);
  /// The successor in words: "the all_reduce of 't1'", or "argument 'x'".
  std::string describe(const Successor &successor);

  ProgramOp program;
  llvm::DenseMap<Operation *, Successor> equals, users;
  llvm::MapVector<StringRef, Fate> fates;
};

std::string kindOf(Operation *op) { return op->getName().stripDialect().str(); }

NameKeeper::Successor NameKeeper::successorAt(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {"", program.getArgName(argument.getArgNumber()).str(), true};
  Operation *op = value.getDefiningOp();
  auto let = op->getAttrOfType<StringAttr>(kLetAttr);
  return {kindOf(op), let ? let.str() : ""};
}

std::string NameKeeper::describe(const Successor &successor) {
  std::string quoted = "'" + successor.name + "'";
  if (successor.isArgument)
    return "argument " + quoted;
  if (successor.name.empty())
    return "a " + successor.kind;
  // The successor may have become another operation since.
  OpSet ops = findByName(program, successor.name);
  return "the " + (ops.size() == 1 ? kindOf(ops.front()) : successor.kind) +
         " of " + quoted;
}

void NameKeeper::notifyOperationReplaced(Operation *op, ValueRange values) {
  if (values.size() != 1 || !values.front())
    return;
  Successor successor = successorAt(values.front());
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp())
      users[maker] = successor;
  equals[op] = std::move(successor);
}

void NameKeeper::notifyOperationErased(Operation *op) {
  auto let = op->getAttrOfType<StringAttr>(kLetAttr);
  Fate fate;
  fate.kind = kindOf(op);
  auto equal = equals.find(op), user = users.find(op);
  if (equal != equals.end()) {
    fate.how = Fate::Equal;
    fate.successor = std::move(equal->second);
    equals.erase(equal);
  } else if (user != users.end()) {
    fate.how = Fate::Part;
    fate.successor = user->second;
  }
  users.erase(op);
  // An operation that replaced it may have its name.
  if (let && !fate.successor.isArgument &&
      fate.successor.name == let.getValue())
    return;
  // If several operations have the name, the fate of one that was replaced says
  // more than that of an unused one.
  if (let && fates[let.getValue()].how == Fate::Unused)
    fates[let.getValue()] = std::move(fate);
}

DictionaryAttr NameKeeper::reasons() {
  NamedAttrList reasons;
  llvm::StringSet<> live = namesIn(program);
  for (auto &[name, fate] : fates) {
    if (live.contains(name))
      continue;
    // Follows successors that have disappeared too.
    Successor successor = fate.successor;
    for (size_t i = 0; i < fates.size() && !successor.isArgument; ++i) {
      auto next = fates.find(successor.name);
      if (next == fates.end() || next->second.how == Fate::Unused ||
          live.contains(successor.name))
        break;
      successor = next->second.successor;
    }
    std::string text = "nothing uses it";
    if (fate.how != Fate::Unused)
      text =
          "its " + fate.kind +
          (fate.how == Fate::Equal ? " is the same as " : " became part of ") +
          describe(successor);
    reasons.set(name, StringAttr::get(program.getContext(), text));
  }
  return reasons.getDictionary(program.getContext());
}

/// Lets a kernel of collectives, of which some were the same as others, be what
/// it is now: none if what is left needs no kernel of its own.
void fitSkeleton(IRRewriter &rewriter, FusedOp fused) {
  SmallVector<Operation *> ops;
  for (Operation &op : fused.getBody().front().without_terminator())
    ops.push_back(&op);
  if (std::optional<Skeleton> skeleton = findSkeleton(ops)) {
    fused.setSkeleton(*skeleton);
    return;
  }
  for (Operation *op : ops)
    copyNames(fused, op);
  Operation *yield = fused.getBody().front().getTerminator();
  SmallVector<Value> values(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&fused.getBody().front(), fused);
  rewriter.replaceOp(fused, values);
}

struct SimplifyPass : ccn::impl::SimplifyBase<SimplifyPass> {
  using SimplifyBase::SimplifyBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (isa<CcnDialect>(op.getDialect()))
        op.getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    NameKeeper keeper(program);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true).setListener(&keeper);
    // If canonicalization does not converge, the program is still correct.
    if (!isScheduled)
      (void)applyPatternsGreedily(program, patterns, config);
    IRRewriter rewriter(&getContext(), &keeper);
    DominanceInfo dominance(program);
    eliminateCommonSubExpressions(rewriter, dominance, program);
    SmallVector<FusedOp> kernels;
    program.getBody().walk([&](FusedOp op) { kernels.push_back(op); });
    for (FusedOp op : kernels)
      fitSkeleton(rewriter, op);
    program->removeAttr(kFoldedAttr);
    if (isScheduled)
      return;
    if (DictionaryAttr reasons = keeper.reasons(); !reasons.empty())
      program->setAttr(kFoldedAttr, reasons);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
