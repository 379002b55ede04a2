//===- LowerSchedule.cpp - Schedules as transform sequences ---------------===//
//
// A schedule becomes a `transform.named_sequence` over its program. Each line
// finds what it names anew, so that it sees what earlier lines made of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"
#include "lib/Transforms/Rewrites.h"
#include "lib/Transforms/ScheduleOps.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

namespace {

/// What a schedule needs of the file that it is in.
struct FileAccess {
  llvm::function_ref<Location(SourceRange)> locate;
  llvm::function_ref<std::optional<int64_t>(const ast::Expr *)> evaluate;
  llvm::function_ref<std::string(StringRef)> resolvePath;
  llvm::function_ref<Attribute(const ast::AlgorithmDirective &)> readSynthArgs;
};

/// Builds one schedule, directive by directive.
class ScheduleLowering {
public:
  ScheduleLowering(OpBuilder &builder, Value program, FileAccess file)
      : builder(builder), program(program), file(file), locate(file.locate),
        handle(transform::AnyOpType::get(builder.getContext())) {}

  /// Builds a directive; gives the values that it may name.
  SmallVector<Value> lower(const ast::Directive &directive);

  /// Gives a value a name of the schedule's own, which may stand for nothing: a
  /// reorder may leave nothing to gather.
  void name(Value value, const ast::Name &name) {
    transform::ScheduleNameOp::create(builder, locate(name.range), value,
                                      name.text);
    own.insert(name.text);
  }

private:
  Value find(const ast::Name &name) {
    return transform::ScheduleValueOp::create(
        builder, locate(name.range), handle, program, name.text,
        /*is_optional=*/own.contains(name.text));
  }
  SmallVector<Value> findAll(ArrayRef<ast::Name> names) {
    SmallVector<Value> values;
    for (const ast::Name &name : names)
      values.push_back(find(name));
    return values;
  }

  /// A choice that a tuner may make otherwise.
  Value knob(Location loc, StringRef name, Attribute selected,
             SmallVector<Attribute> options) {
    if (!llvm::is_contained(options, selected))
      options.push_back(selected);
    return transform::tune::KnobOp::create(
        builder, loc, transform::AnyParamType::get(builder.getContext()),
        builder.getStringAttr(name), builder.getArrayAttr(options), selected);
  }
  Value knob(Location loc, StringRef name, int64_t selected,
             ArrayRef<int64_t> options) {
    return knob(loc, name, builder.getI64IntegerAttr(selected),
                llvm::map_to_vector(options, [&](int64_t value) -> Attribute {
                  return builder.getI64IntegerAttr(value);
                }));
  }
  Value knob(Location loc, StringRef name, StringRef selected,
             ArrayRef<StringRef> options) {
    return knob(loc, name, builder.getStringAttr(selected),
                llvm::map_to_vector(options, [&](StringRef value) -> Attribute {
                  return builder.getStringAttr(value);
                }));
  }
  void choose(Location loc, StringRef what, const ast::Name &target,
              Value choice) {
    transform::ScheduleChooseOp::create(builder, loc, what, find(target),
                                        choice);
  }
  void lowerAlgorithm(Location loc, const ast::AlgorithmDirective &directive);

  OpBuilder &builder;
  Value program;
  FileAccess file;
  llvm::function_ref<Location(SourceRange)> locate;
  Type handle;
  llvm::StringSet<> own;
};

void ScheduleLowering::lowerAlgorithm(
    Location loc, const ast::AlgorithmDirective &directive) {
  using Source = ast::AlgorithmDirective::Source;
  if (directive.source == Source::Name) {
    SmallVector<StringRef> known;
    for (uint32_t i = 0;
         std::optional<Algorithm> algorithm = symbolizeAlgorithm(i); ++i)
      known.push_back(stringifyAlgorithm(*algorithm));
    choose(loc, "algorithm", directive.target,
           knob(loc, "algorithm", directive.name.text, known));
    return;
  }
  choose(
      loc, "algorithm", directive.target,
      directive.source == Source::Synth
          ? knob(loc, "algorithm", file.readSynthArgs(directive), {})
          : knob(loc, "algorithm", file.resolvePath(directive.file.value), {}));
}

SmallVector<Value> ScheduleLowering::lower(const ast::Directive &directive) {
  using Kind = ast::Directive::Kind;
  Location loc = locate(directive.range);
  switch (directive.kind) {
  case Kind::Split: {
    auto &split = cast<ast::SplitDirective>(directive);
    ast::SplitForm form = split.form.value_or(ast::SplitForm::RsAg);
    size_t parts = form == ast::SplitForm::Hierarchical ? 3 : 2;
    auto op = transform::ScheduleSplitOp::create(
        builder, loc, SmallVector<Type>(parts, handle), find(split.target),
        getSpelling(form));
    return SmallVector<Value>(op.getParts());
  }
  case Kind::Reorder: {
    auto &reorder = cast<ast::ReorderDirective>(directive);
    Value gather = find(reorder.gather);
    auto op = transform::ScheduleReorderOp::create(
        builder, loc, handle, handle, gather, findAll(reorder.after));
    return SmallVector<Value>{op.getComputations(), op.getGathers()};
  }
  case Kind::SliceState:
    for (const ast::Name &name :
         cast<ast::SliceStateDirective>(directive).targets)
      transform::ScheduleSliceStateOp::create(builder, loc, program, name.text);
    return SmallVector<Value>();
  case Kind::Fuse: {
    auto op = transform::ScheduleFuseOp::create(
        builder, loc, handle,
        findAll(cast<ast::FuseDirective>(directive).targets));
    return SmallVector<Value>{op.getFused()};
  }
  case Kind::Overlap: {
    auto &overlap = cast<ast::OverlapDirective>(directive);
    std::optional<int64_t> chunks = defaultChunks;
    if (overlap.chunks)
      chunks = file.evaluate(overlap.chunks);
    SmallVector<Value> targets = findAll(overlap.targets);
    auto op = transform::ScheduleOverlapOp::create(
        builder, loc, handle, targets,
        knob(loc, "chunks", chunks.value_or(defaultChunks), {1, 2, 4, 8, 16}));
    return SmallVector<Value>{op.getOverlapped()};
  }
  case Kind::Algorithm:
    lowerAlgorithm(loc, cast<ast::AlgorithmDirective>(directive));
    return SmallVector<Value>();
  case Kind::Protocol: {
    auto &protocol = cast<ast::ProtocolDirective>(directive);
    if (protocol.protocol)
      choose(loc, "protocol", protocol.target,
             knob(loc, "protocol", getSpelling(*protocol.protocol),
                  {"simple", "ll", "lamport", "push"}));
    return SmallVector<Value>();
  }
  case Kind::Sms: {
    auto &sms = cast<ast::SmsDirective>(directive);
    if (std::optional<int64_t> count = file.evaluate(sms.count))
      choose(loc, "sms", sms.target,
             knob(loc, "sms", *count, {4, 8, 16, 32, 64}));
    return SmallVector<Value>();
  }
  case Kind::Bucket: {
    auto &bucket = cast<ast::BucketDirective>(directive);
    SmallVector<Value> targets = findAll(bucket.targets);
    auto op = transform::ScheduleBucketOp::create(
        builder, loc, handle, targets,
        knob(loc, "size", file.evaluate(bucket.size).value_or(1),
             {1 << 20, 1 << 22, 1 << 24, 1 << 26}));
    return SmallVector<Value>{op.getBuckets()};
  }
  case Kind::Order:
    transform::ScheduleOrderOp::create(
        builder, loc, findAll(cast<ast::OrderDirective>(directive).targets));
    return SmallVector<Value>();
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace

void FileLowering::lowerSchedule(const ast::ScheduleItem &item) {
  OpBuilder::InsertionGuard guard(builder);
  if (!schedules) {
    schedules = ModuleOp::create(location({0, 0}));
    (*schedules)
        ->setAttr(transform::TransformDialect::kWithNamedSequenceAttrName,
                  builder.getUnitAttr());
  }
  builder.setInsertionPointToEnd(schedules->getBody());
  Type handle = transform::AnyOpType::get(context);
  auto sequence = transform::NamedSequenceOp::create(
      builder, location(item.range),
      (item.program.text + "." + item.name.text).str(), handle, TypeRange(),
      [&](OpBuilder &body, Location loc, BlockArgument program) {
        auto locate = [&](SourceRange range) { return location(range); };
        auto evaluate = [&](const ast::Expr *expr) {
          return evaluateInteger(expr, "number");
        };
        auto resolve = [&](StringRef path) { return resolvePath(path); };
        auto readSynth = [&](const ast::AlgorithmDirective &algorithm) {
          return readSynthArgs(algorithm);
        };
        ScheduleLowering lowering(body, program,
                                  {locate, evaluate, resolve, readSynth});
        for (const ast::Directive *directive : item.directives) {
          SmallVector<Value> values = lowering.lower(*directive);
          if (!directive->results.empty() &&
              directive->results.size() != values.size()) {
            error(directive->range, "expected " + Twine(values.size()) +
                                        " names for what this makes, found " +
                                        Twine(directive->results.size()));
            continue;
          }
          for (auto [name, value] : llvm::zip(directive->results, values))
            lowering.name(value, name);
        }
        transform::YieldOp::create(body, loc);
      });
  sequence.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                      builder.getUnitAttr());
  sequence->setAttr(kForAttr, builder.getStringAttr(item.program.text));
}
