//===- LowerSchedule.cpp - Schedules as transform sequences ---------------===//
//
// A schedule becomes a `transform.named_sequence` on its program. Each line
// looks its names up again, so that it sees the changes of earlier lines.
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

/// Functions of the file that a schedule is in.
struct FileAccess {
  llvm::function_ref<Location(SourceRange)> locate;
  llvm::function_ref<std::optional<int64_t>(const ast::Expr *)> evaluate;
  llvm::function_ref<std::string(StringRef)> resolvePath;
  llvm::function_ref<Attribute(const ast::AlgorithmClause &)> readSynthArgs;
};

/// Builds one schedule, directive by directive.
class ScheduleLowering {
public:
  ScheduleLowering(OpBuilder &builder, Value program, FileAccess file)
      : builder(builder), program(program), file(file), locate(file.locate),
        handle(transform::AnyOpType::get(builder.getContext())) {}

  /// Builds a directive; returns the values that it can name.
  SmallVector<Value> lower(const ast::Directive &directive);

  /// Gives a value a name that belongs to the schedule. The name may stand for
  /// no operation: a reorder may leave nothing to gather.
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

  /// A choice that a tuner may change.
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
  /// The choice of an algorithm that the clause makes.
  Value lowerAlgorithm(Location loc, const ast::AlgorithmClause &algorithm);
  Value lowerChoice(Location loc, const ast::Directive &directive);
  SmallVector<Value> lowerOperation(Location loc,
                                    const ast::Directive &directive);

  OpBuilder &builder;
  Value program;
  FileAccess file;
  llvm::function_ref<Location(SourceRange)> locate;
  Type handle;
  llvm::StringSet<> own;
};

Value ScheduleLowering::lowerAlgorithm(Location loc,
                                       const ast::AlgorithmClause &algorithm) {
  using Source = ast::AlgorithmClause::Source;
  if (algorithm.source == Source::Synth)
    return knob(loc, "algorithm", file.readSynthArgs(algorithm), {});
  if (algorithm.source == Source::File)
    return knob(loc, "algorithm", file.resolvePath(algorithm.file.value), {});
  SmallVector<StringRef> known;
  for (uint32_t i = 0; std::optional<Algorithm> kind = symbolizeAlgorithm(i);
       ++i)
    known.push_back(stringifyAlgorithm(*kind));
  return knob(loc, "algorithm", algorithm.name.text, known);
}

Value ScheduleLowering::lowerChoice(Location loc,
                                    const ast::Directive &directive) {
  const ast::Primitive &primitive = directive.primitive;
  if (directive.algorithm)
    return lowerAlgorithm(loc, *directive.algorithm);
  StringRef name = primitive.isChoice() ? primitive.name : primitive.keyword;
  if (primitive.clause == ast::Primitive::Clause::Choice)
    return knob(
        loc, name, directive.word,
        SmallVector<StringRef>(primitive.words.begin(), primitive.words.end()));
  int64_t number = primitive.number;
  if (directive.number)
    number = file.evaluate(directive.number).value_or(number);
  return knob(loc, name, number, primitive.options);
}

SmallVector<Value>
ScheduleLowering::lowerOperation(Location loc,
                                 const ast::Directive &directive) {
  const ast::Primitive &primitive = directive.primitive;
  OperationState state(loc, ("transform.ccn." + primitive.name).str());
  SmallVector<Value> targets = findAll(directive.targets);
  llvm::append_range(targets, findAll(directive.names));
  state.addOperands(targets);
  bool hasChoice = primitive.clause == ast::Primitive::Clause::Number;
  if (hasChoice)
    state.addOperands(lowerChoice(loc, directive));
  // Only operations whose choice is optional have this attribute.
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute(
        "operandSegmentSizes",
        builder.getDenseI32ArrayAttr(
            {static_cast<int32_t>(targets.size()), hasChoice ? 1 : 0}));
  if (!primitive.attribute.empty())
    state.addAttribute(primitive.attribute,
                       builder.getStringAttr(directive.word.empty()
                                                 ? StringRef(primitive.words[0])
                                                 : directive.word));
  state.addTypes(
      SmallVector<Type>(primitive.getNumResults(directive.word), handle));
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

SmallVector<Value> ScheduleLowering::lower(const ast::Directive &directive) {
  const ast::Primitive &primitive = directive.primitive;
  Location loc = locate(directive.range);
  if (primitive.isChoice()) {
    Value choice = lowerChoice(loc, directive);
    transform::ScheduleChooseOp::create(
        builder, loc, primitive.name, find(directive.targets.front()), choice);
    return {};
  }
  if (primitive.targets != ast::Primitive::Targets::InoutArguments)
    return lowerOperation(loc, directive);
  for (const ast::Name &name : directive.targets) {
    OperationState state(loc, ("transform.ccn." + primitive.name).str());
    state.addOperands(program);
    state.addAttribute("argument", builder.getStringAttr(name.text));
    builder.create(state);
  }
  return {};
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
        auto readSynth = [&](const ast::AlgorithmClause &algorithm) {
          return readSynthArgs(algorithm);
        };
        ScheduleLowering lowering(body, program,
                                  {locate, evaluate, resolve, readSynth});
        for (const ast::Directive *directive : item.directives) {
          SmallVector<Value> values = lowering.lower(*directive);
          for (auto [name, value] : llvm::zip(directive->results, values))
            lowering.name(value, name);
        }
        transform::YieldOp::create(body, loc);
      });
  sequence.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                      builder.getUnitAttr());
  sequence->setAttr(kForAttr, builder.getStringAttr(item.program.text));
}
