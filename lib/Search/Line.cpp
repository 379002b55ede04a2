//===- Line.cpp - Lines of schedules as data ------------------------------===//

#include "lib/Search/Line.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::search;
using Primitive = Line::Primitive;

static StringRef nameOf(Primitive primitive) {
  switch (primitive) {
  case Primitive::Split:
    return "split";
  case Primitive::Reorder:
    return "reorder";
  case Primitive::SliceState:
    return "slice_state";
  case Primitive::Fuse:
    return "fuse";
  case Primitive::Recompute:
    return "recompute";
  case Primitive::Overlap:
    return "overlap";
  case Primitive::Algorithm:
    return "algorithm";
  case Primitive::Protocol:
    return "protocol";
  case Primitive::Bucket:
    return "bucket";
  case Primitive::Order:
    return "order";
  }
  llvm_unreachable("all primitives have a name");
}

std::string Line::text() const {
  std::string line;
  if (results.size() == 1)
    line = "let " + results.front() + " = ";
  else if (!results.empty())
    line = "let (" + llvm::join(results, ", ") + ") = ";
  line += (nameOf(primitive) + " " + llvm::join(targets, ", ")).str();
  switch (primitive) {
  case Primitive::Split:
    if (word != "rs_ag")
      line += " as " + word;
    break;
  case Primitive::Reorder:
    line += " after " + llvm::join(names, ", ");
    break;
  case Primitive::Recompute:
    line += " at " + llvm::join(names, ", ");
    break;
  case Primitive::Overlap:
    line += " chunks " + std::to_string(number);
    break;
  case Primitive::Bucket:
    line += " size " + std::to_string(number);
    break;
  case Primitive::Algorithm:
  case Primitive::Protocol:
    line += " = " + word;
    break;
  case Primitive::SliceState:
  case Primitive::Fuse:
  case Primitive::Order:
    break;
  }
  return line;
}

/// The operations that each of the results' names stands for, if the line can
/// be applied.
static FailureOr<SmallVector<OpSet>>
rewrite(const Line &line, ProgramOp program, EmitRefusal emit) {
  IRRewriter rewriter(program.getContext());
  SmallVector<OpSet> targets = findAllByName(program, line.targets),
                     names = findAllByName(program, line.names);
  // A line before may be gone that gave the name.
  for (const OpSet &value : llvm::concat<OpSet>(targets, names))
    if (value.empty() && line.primitive != Primitive::SliceState) {
      emit() << "expected names of operations";
      return failure();
    }
  auto single = [](auto op) -> FailureOr<SmallVector<OpSet>> {
    if (failed(op))
      return failure();
    return SmallVector<OpSet>{{*op}};
  };
  auto none = [](LogicalResult result) -> FailureOr<SmallVector<OpSet>> {
    if (failed(result))
      return failure();
    return SmallVector<OpSet>();
  };
  switch (line.primitive) {
  case Primitive::Split:
    return split(rewriter, targets.front(), *splitFormByName(line.word), emit);
  case Primitive::Reorder: {
    FailureOr<Reordered> reordered =
        reorder(rewriter, targets.front(), names, emit);
    if (failed(reordered))
      return failure();
    return SmallVector<OpSet>{reordered->computations, reordered->gathers};
  }
  case Primitive::SliceState:
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      if (program.getArgName(i) == line.targets.front())
        return none(sliceState(rewriter, program, i, emit));
    return failure();
  case Primitive::Fuse: {
    OpSet ops;
    for (const OpSet &target : targets)
      llvm::append_range(ops, target);
    return single(fuse(rewriter, ops, emit));
  }
  case Primitive::Recompute: {
    FailureOr<OpSet> again = recompute(rewriter, targets.front(), names, emit);
    if (failed(again))
      return failure();
    return SmallVector<OpSet>{*again};
  }
  case Primitive::Overlap:
    return single(overlap(rewriter, targets, line.number, emit));
  case Primitive::Bucket: {
    FailureOr<OpSet> buckets = bucket(rewriter, targets, line.number, emit);
    if (failed(buckets))
      return failure();
    return SmallVector<OpSet>{*buckets};
  }
  case Primitive::Order:
    return none(order(rewriter, targets, emit));
  case Primitive::Algorithm:
  case Primitive::Protocol:
    return none(choose(nameOf(line.primitive), targets.front(),
                       rewriter.getStringAttr(line.word), emit));
  }
  llvm_unreachable("all primitives are handled");
}

LogicalResult search::apply(const Line &line, ProgramOp program,
                            EmitRefusal emit) {
  FailureOr<SmallVector<OpSet>> made = rewrite(line, program, emit);
  if (failed(made))
    return failure();
  for (auto [ops, name] : llvm::zip(*made, line.results))
    addTag(ops, name);
  return success();
}
