//===- LowerSchedule.cpp - Schedules as transform sequences ---------------===//
//
// A schedule becomes a `transform.named_sequence` over its program. Each line
// finds what it names anew, so that it sees what earlier lines made of it.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"
#include "lib/Transforms/ScheduleOps.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

namespace {

/// Builds one schedule, directive by directive.
class ScheduleLowering {
public:
  ScheduleLowering(OpBuilder &builder, Value program,
                   llvm::function_ref<Location(SourceRange)> locate)
      : builder(builder), program(program), locate(locate),
        handle(transform::AnyOpType::get(builder.getContext())) {}

  /// Builds a directive; the result is empty if it has none of the operations.
  std::optional<SmallVector<Value>> lower(const ast::Directive &directive);

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

  OpBuilder &builder;
  Value program;
  llvm::function_ref<Location(SourceRange)> locate;
  Type handle;
  llvm::StringSet<> own;
};

std::optional<SmallVector<Value>>
ScheduleLowering::lower(const ast::Directive &directive) {
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
  case Kind::Overlap:
  case Kind::Algorithm:
  case Kind::Protocol:
  case Kind::Sms:
  case Kind::Bucket:
  case Kind::Order:
    return std::nullopt;
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
        ScheduleLowering lowering(body, program, locate);
        for (const ast::Directive *directive : item.directives) {
          std::optional<SmallVector<Value>> values = lowering.lower(*directive);
          if (!values) {
            error(directive->range, "'" + getSpelling(directive->kind) +
                                        "' cannot be executed by this version "
                                        "of ccn");
            continue;
          }
          if (!directive->results.empty() &&
              directive->results.size() != values->size()) {
            error(directive->range, "expected " + Twine(values->size()) +
                                        " names for what this makes, found " +
                                        Twine(directive->results.size()));
            continue;
          }
          for (auto [name, value] : llvm::zip(directive->results, *values))
            lowering.name(value, name);
        }
        transform::YieldOp::create(body, loc);
      });
  sequence.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                      builder.getUnitAttr());
  sequence->setAttr(kForAttr, builder.getStringAttr(item.program.text));
}
