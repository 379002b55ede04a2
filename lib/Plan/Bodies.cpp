//===- Bodies.cpp - The scalar functions that loops call ------------------===//
//
// Builds functions on scalars from operations of arith and math.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Bodies.h"

#include "lib/Plan/ScalarBodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::plan;

/// The same for specs of which the same body is made. Only of use in this
/// process.
static std::string keyOf(const BodySpec &spec) {
  std::string key;
  auto add = [&](auto bytes) {
    key.append(reinterpret_cast<const char *>(&bytes), sizeof(bytes));
  };
  auto addAll = [&](ArrayRef<BodyOperand> operands) {
    add(operands.size());
    for (const BodyOperand &operand : operands)
      add(operand.number * 2 + (operand.isArgument ? 1 : 0));
  };
  add(spec.arguments.size());
  for (Type type : spec.arguments)
    add(type.getAsOpaquePointer());
  add(spec.positions);
  add(spec.steps.size());
  for (const BodyStep &step : spec.steps) {
    add(step.op->getName().getAsOpaquePointer());
    // Bodies name the line on which they fail.
    add(step.op->getLoc().getAsOpaquePointer());
    add(step.op->getPropertiesAsAttribute().getAsOpaquePointer());
    add(step.op->getDiscardableAttrDictionary().getAsOpaquePointer());
    for (Type type : step.op->getOperandTypes())
      add(type.getAsOpaquePointer());
    for (Type type : step.op->getResultTypes())
      add(type.getAsOpaquePointer());
    addAll(step.operands);
    add(step.position);
  }
  addAll(spec.results);
  return key;
}

FailureOr<func::FuncOp> BodyMaker::make(const BodySpec &spec, Location loc) {
  std::string key = keyOf(spec);
  if (auto made = bySpec.find(key); made != bySpec.end())
    return made->second;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> arguments;
  for (Type element : spec.arguments)
    arguments.push_back(scalarOf(element));
  arguments.append(spec.positions, builder.getI64Type());
  auto body = func::FuncOp::create(builder, loc, "body",
                                   builder.getFunctionType(arguments, {}));
  body.setPrivate();
  Block *block = body.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> made;
  auto valueOf = [&](const BodyOperand &operand) -> Value {
    return operand.isArgument ? Value(block->getArgument(operand.number))
                              : made[operand.number];
  };
  BodyContext context;
  for (const BodyStep &step : spec.steps) {
    if (step.position >= 0)
      context.index = block->getArgument(static_cast<unsigned>(
          spec.arguments.size() + static_cast<size_t>(step.position)));
    SmallVector<Value, 3> operands;
    for (const BodyOperand &operand : step.operands)
      operands.push_back(valueOf(operand));
    FailureOr<Value> value = emitScalar(builder, step.op, operands, context);
    if (failed(value)) {
      body.erase();
      return failure();
    }
    made.push_back(*value);
  }
  SmallVector<Value> results;
  for (const BodyOperand &operand : spec.results)
    results.push_back(valueOf(operand));
  SmallVector<Attribute> failures;
  for (auto &[failed, text] : context.failures) {
    results.push_back(failed);
    failures.push_back(builder.getStringAttr(text));
  }
  func::ReturnOp::create(builder, loc, results);
  body.setFunctionType(
      builder.getFunctionType(arguments, ValueRange(results).getTypes()));
  if (!failures.empty())
    body->setAttr(kFailuresAttr, builder.getArrayAttr(failures));
  return bySpec[key] = share(body);
}

func::FuncOp BodyMaker::makeZero(Type element) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type scalar = scalarOf(element);
  auto body = func::FuncOp::create(builder, loc, "body",
                                   builder.getFunctionType({}, {scalar}));
  body.setPrivate();
  builder.setInsertionPointToStart(body.addEntryBlock());
  Value zero = arith::ConstantOp::create(builder, loc, scalar,
                                         builder.getZeroAttr(scalar));
  func::ReturnOp::create(builder, loc, zero);
  return share(body);
}

func::FuncOp BodyMaker::share(func::FuncOp body) {
  // The text that identifies a body has no locations, which do not change what
  // it computes. Printing in local scope avoids a walk over the whole module
  // each time.
  std::string text;
  llvm::raw_string_ostream os(text);
  body->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
  auto [it, isNew] = known.try_emplace(text, body);
  if (!isNew) {
    body.erase();
    return it->second;
  }
  body.setSymName("body" + std::to_string(known.size() - 1));
  return body;
}
