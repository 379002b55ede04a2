//===- InferenceTest.cpp - The dialect's interfaces on every operation ----===//
//
// LayoutOpInterface infers, from the operands an operation has, the result it
// has, and asks what-if; CollectiveOpInterface names what is moved and how.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::test;

namespace {

using InferenceTest = DialectTest;

/// Calls `visit` with every operation of the lit tests that must verify, which
/// show each operation in each layout, and with every elementwise function.
void forEachTestedOperation(MLIRContext *context,
                            llvm::function_ref<void(Operation *)> visit) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(CCN_LIT_DIALECT_TESTS, error), end;
       it != end && !error; it.increment(error)) {
    StringRef path = it->path();
    if (!path.ends_with(".mlir") || path.ends_with("-errors.mlir"))
      continue;
    auto module = parseSourceFile<ModuleOp>(path, ParserConfig(context));
    ASSERT_TRUE(module) << path.str();
    module->walk(visit);
  }
  ASSERT_FALSE(error) << error.message();
  for (const ElementwiseFunction *function : elementwiseFunctions()) {
    auto module = parseSourceString<ModuleOp>(
        programOf(*function, "8xf32", "f32", "8xf32"), ParserConfig(context));
    ASSERT_TRUE(module);
    module->walk(visit);
  }
}

TEST_F(InferenceTest, EveryOperationInfersItsResult) {
  llvm::StringSet<> seen;
  forEachTestedOperation(&context, [&](Operation *operation) {
    auto op = dyn_cast<LayoutOpInterface>(operation);
    if (!op)
      return;
    SmallVector<RankedTensorType> types;
    for (Type operand : operation->getOperandTypes())
      types.push_back(cast<RankedTensorType>(operand));
    auto inferred =
        op.inferResultType(types, [&]() { return operation->emitError(); });
    ASSERT_TRUE(succeeded(inferred));
    EXPECT_EQ(*inferred, operation->getResult(0).getType());
    seen.insert(operation->getName().getStringRef());
  });
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("ccn"))
    if (name.hasInterface<LayoutOpInterface>())
      EXPECT_TRUE(seen.contains(name.getStringRef()))
          << name.getStringRef().str() << " has no test";
}

TEST_F(InferenceTest, EveryCollectiveTellsWhatItDoes) {
  struct Expected {
    bool reduces, rooted, communicates;
  };
  llvm::StringMap<Expected> expected = {
      {"ccn.all_reduce", {true, false, true}},
      {"ccn.reduce_scatter", {true, false, true}},
      {"ccn.all_gather", {false, false, true}},
      {"ccn.slice", {false, false, false}},
      {"ccn.all_to_all", {false, false, true}},
      {"ccn.broadcast", {false, true, true}},
      {"ccn.reduce", {true, true, true}},
      {"ccn.gather", {false, true, true}},
      {"ccn.scatter", {false, true, true}},
      {"ccn.send", {false, false, true}}};
  llvm::StringSet<> seen;
  forEachTestedOperation(&context, [&](Operation *operation) {
    auto op = dyn_cast<CollectiveOpInterface>(operation);
    if (!op)
      return;
    // Its local form is like the global one of the same name.
    std::string name = ("ccn." + stringifyCollective(op.getCollective())).str();
    seen.insert(name);
    seen.insert(operation->getName().getStringRef());
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(op.getSource(), operation->getOperand(0));
    EXPECT_EQ(op.getMeshAxes(), operation->getAttr("axes"));
    EXPECT_EQ(op.getReduction().has_value(), expected[name].reduces);
    EXPECT_EQ(op.getRootPosition().has_value(), expected[name].rooted);
    EXPECT_EQ(op.communicates(), expected[name].communicates);
    if (auto root = operation->getAttrOfType<IntegerAttr>("root"))
      EXPECT_EQ(op.getRootPosition(), root.getInt());
    if (auto kind = operation->getAttrOfType<ReduceKindAttr>("kind"))
      EXPECT_EQ(op.getReduction(), kind.getValue());
    // The states along all other axes are kept.
    Layout before = Layout::of(op.getSourceType());
    Layout after = Layout::of(op.getTargetType());
    for (auto other :
         getMesh(operation).getAxisNames().getAsRange<StringAttr>())
      if (!llvm::is_contained(op.getMeshAxes().getNames(), other))
        EXPECT_EQ(before.getState(other), after.getState(other));
  });
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("ccn"))
    if (name.hasInterface<CollectiveOpInterface>())
      EXPECT_TRUE(seen.contains(name.getStringRef()))
          << name.getStringRef().str() << " has no test";
}

TEST_F(InferenceTest, WhatIf) {
  auto module = parse(R"(
    ccn.program @p(%x: tensor<8x4xf32> {ccn.name = "x"}, %y: tensor<f32> {ccn.name = "y"}) {
      %0 = ccn.mul %x, %y : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
      ccn.return
    }
  )");
  auto op = cast<LayoutOpInterface>(first<MulOp>(*module).getOperation());
  auto silent = []() { return InferenceError(); };
  StringRef cut = R"([{}, {"a"}])", sum = R"([{}, {}], partial<sum> = {"a"})";
  EXPECT_EQ(*op.inferResultType({type("8x4xf32", cut), type("f32")}, silent),
            type("8x4xf32", cut));
  EXPECT_EQ(*op.inferResultType({type("8x4xf32", sum), type("f32")}, silent),
            type("8x4xf32", sum));
  // On failure it says why, and nothing else happens.
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto result =
      op.inferResultType({type("8x4xf32", cut), type("8xf32")},
                         [&]() { return mlir::emitError(op.getLoc()); });
  EXPECT_TRUE(failed(result));
  EXPECT_EQ(message, "expected operands of one shape, found 'f32[8, 4] "
                     "sliced(1, a)' and 'f32[8]'");
  EXPECT_TRUE(
      failed(op.inferResultType({type("8x4xf32"), type("8xf32")}, silent)));
  EXPECT_TRUE(
      failed(op.inferResultType({type("8x4xf32"), type("f16")}, silent)));
  EXPECT_TRUE(failed(op.inferResultType(
      {type("4294967296x4294967296xf32"), type("f32")}, silent)));
}

TEST_F(InferenceTest, WithoutLocationNothingIsReported) {
  auto module = parse(R"(
    ccn.mesh @m ["a" = 2]
    ccn.program @p(%x: tensor<8x4xf32> {ccn.name = "x"}) {
      %0 = ccn.slice %x into 0 along <@m, ["a"]>
          : (tensor<8x4xf32>) -> tensor<8x4xf32, #ccn.layout<@m, [{"a"}, {}]>>
      ccn.return
    }
  )");
  auto slice = first<SliceOp>(*module);
  unsigned reported = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    ++reported;
    return success();
  });
  auto infer = [&](int64_t dim, std::optional<Location> location) {
    SliceOp::Properties properties = slice.getProperties();
    properties.dim = Builder(&context).getI64IntegerAttr(dim);
    SmallVector<Type> types;
    return SliceOp::inferReturnTypes(&context, location, slice->getOperands(),
                                     {}, &properties, {}, types);
  };
  EXPECT_TRUE(succeeded(infer(1, std::nullopt)));
  EXPECT_TRUE(failed(infer(2, std::nullopt)));
  EXPECT_EQ(reported, 0u);
  EXPECT_TRUE(failed(infer(2, slice.getLoc())));
  EXPECT_EQ(reported, 1u);
}

} // namespace
