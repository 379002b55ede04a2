//===- LayoutTest.cpp - Layouts as values, and names of types -------------===//
//
// Taking layouts apart and putting them together, equality, the language's
// names of types, and the constraints of attributes made in C++.
//
//===----------------------------------------------------------------------===//

#include "TestUtil.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::test;

namespace {

constexpr AxisState replicated = {};
constexpr AxisState local = {AxisState::Local, 0, ReduceKind::sum};
AxisState sliced(unsigned dim) {
  return {AxisState::Sliced, dim, ReduceKind::sum};
}
AxisState partial(ReduceKind kind) { return {AxisState::Partial, 0, kind}; }

using LayoutTest = DialectTest;

TEST_F(LayoutTest, ReplicatedHasNoAttribute) {
  Layout layout(2);
  EXPECT_TRUE(layout.isReplicated());
  EXPECT_EQ(layout.getRank(), 2u);
  EXPECT_FALSE(layout.getMesh());
  EXPECT_TRUE(layout.getNamedAxes().empty());
  EXPECT_EQ(layout.getState(axis("a")), replicated);
  EXPECT_EQ(layout.str(), "replicated");
  EXPECT_EQ(layout.getType({8, 4}, Float32Type::get(&context)),
            type("8x4xf32"));
  // A mesh alone makes no difference.
  layout.setMesh(mesh());
  EXPECT_EQ(layout.getType({8, 4}, Float32Type::get(&context)),
            type("8x4xf32"));
  EXPECT_EQ(layout, Layout(2));
  EXPECT_FALSE(layout == Layout(3));
}

TEST_F(LayoutTest, StatesOfATypeAreItsAttributes) {
  Layout layout = Layout::of(type(
      "8x4xf32", R"([{"a", "b"}, {}], partial<max> = {"c"}, local = {"d"})"));
  EXPECT_EQ(layout.getRank(), 2u);
  EXPECT_EQ(layout.getMesh(), mesh());
  EXPECT_EQ(layout.getState(axis("a")), sliced(0));
  EXPECT_EQ(layout.getState(axis("b")), sliced(0));
  EXPECT_EQ(layout.getState(axis("c")), partial(ReduceKind::max));
  EXPECT_EQ(layout.getState(axis("d")), local);
  EXPECT_EQ(layout.getState(axis("e")), replicated);
  EXPECT_TRUE(layout.isSliced(0));
  EXPECT_FALSE(layout.isSliced(1));
  EXPECT_TRUE(layout.hasPartial());
  EXPECT_TRUE(layout.hasLocal());
  EXPECT_FALSE(layout.isReplicated());
  EXPECT_EQ(layout.getAxes(0), ArrayRef({axis("a"), axis("b")}));
  EXPECT_EQ(layout.getNamedAxes(),
            (SmallVector{axis("a"), axis("b"), axis("c"), axis("d")}));
  EXPECT_EQ(layout.str(), "sliced(0, a) sliced(0, b) partial(max, c) local(d)");
}

TEST_F(LayoutTest, AnAxisHasOneState) {
  Layout layout(2);
  layout.setMesh(mesh());
  for (AxisState state : {sliced(0), sliced(1), partial(ReduceKind::prod),
                          partial(ReduceKind::min), local, replicated}) {
    layout.setState(axis("a"), state);
    EXPECT_EQ(layout.getState(axis("a")), state);
    EXPECT_EQ(layout.getNamedAxes().size(), state == replicated ? 0u : 1u);
  }
  EXPECT_TRUE(layout.isReplicated());
}

TEST_F(LayoutTest, SlicedAppendsTheInnermostCut) {
  Layout layout(1);
  layout.setMesh(mesh());
  layout.setState(axis("b"), sliced(0));
  layout.setState(axis("a"), sliced(0));
  EXPECT_EQ(layout.getType({8}, Float32Type::get(&context)),
            type("8xf32", R"([{"b", "a"}])"));
  // Again: it moves to the end.
  layout.setState(axis("b"), sliced(0));
  EXPECT_EQ(layout.getAxes(0), ArrayRef({axis("a"), axis("b")}));
  layout.setAxes(0, {axis("c")});
  EXPECT_EQ(layout.getAxes(0), ArrayRef({axis("c")}));
}

TEST_F(LayoutTest, PartialAndLocalHaveNoOrder) {
  Layout one(1), two(1);
  for (Layout *layout : {&one, &two})
    layout->setMesh(mesh());
  for (StringRef name : {"a", "b"}) {
    one.setState(axis(name), partial(ReduceKind::sum));
    one.setState(axis((name + "l").str()), local);
  }
  for (StringRef name : {"b", "a"}) {
    two.setState(axis((name + "l").str()), local);
    two.setState(axis(name), partial(ReduceKind::sum));
  }
  EXPECT_EQ(one, two);
  Type f32 = Float32Type::get(&context);
  EXPECT_EQ(one.getType({8}, f32), two.getType({8}, f32));
}

TEST_F(LayoutTest, EqualityTakesMeshAndOrderOfCuts) {
  Layout ab = Layout::of(type("8xf32", R"([{"a", "b"}])"));
  Layout ba = Layout::of(type("8xf32", R"([{"b", "a"}])"));
  EXPECT_FALSE(ab == ba);
  Layout other = ab;
  other.setMesh(mesh("n"));
  EXPECT_FALSE(ab == other);
  EXPECT_FALSE(Layout::of(type("8xf32", R"([{}], partial<sum> = {"a"})")) ==
               Layout::of(type("8xf32", R"([{}], partial<max> = {"a"})")));
}

TEST_F(LayoutTest, TypeRoundTrip) {
  for (RankedTensorType tensor :
       {type("f32"), type("f32", R"([], local = {"a"})"), type("0x3xi1"),
        type("8x4xf32", R"([{"b"}, {"a", "c"}])"),
        type("8x4xf32", R"([{}, {"a"}], partial<min> = {"b", "c"})")})
    EXPECT_EQ(
        Layout::of(tensor).getType(tensor.getShape(), tensor.getElementType()),
        tensor);
}

//===----------------------------------------------------------------------===//
// Names of types
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, ElementTypeNamesRoundTrip) {
  for (StringRef name :
       {"f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32",
        "i64", "u8", "u16", "u32", "u64", "bool"}) {
    Type element = elementTypeByName(&context, name);
    ASSERT_TRUE(element) << name.str();
    EXPECT_TRUE(isElementType(element)) << name.str();
    EXPECT_EQ(elementTypeName(element), name);
    bool floating = name.contains('f');
    EXPECT_EQ(isFloat(element), floating) << name.str();
    EXPECT_EQ(isNumber(element), name != "bool") << name.str();
  }
}

TEST_F(LayoutTest, OtherNamesHaveNoElementType) {
  for (StringRef name : {"", "F32", "f32 ", "i1", "i4", "ui8", "si8", "index",
                         "f8", "f8E4M3FN", "tf32", "float", "i128"})
    EXPECT_FALSE(elementTypeByName(&context, name)) << name.str();
}

TEST_F(LayoutTest, OtherTypesAreNoElementTypes) {
  Builder b(&context);
  for (Type other :
       {Type(b.getIndexType()), Type(b.getIntegerType(4)),
        Type(b.getIntegerType(128)), Type(b.getIntegerType(8, true)),
        Type(IntegerType::get(&context, 1, IntegerType::Unsigned)),
        Type(Float8E4M3Type::get(&context)), Type(b.getTF32Type()),
        Type(b.getF80Type()), Type(ComplexType::get(b.getF32Type())),
        Type(type("8xf32"))})
    EXPECT_FALSE(isElementType(other));
}

TEST_F(LayoutTest, TypeNames) {
  EXPECT_EQ(typeName(type("f32")), "f32");
  EXPECT_EQ(typeName(type("0xui8")), "u8[0]");
  EXPECT_EQ(typeName(type("8x4xi1", R"([{}, {"tp"}])")),
            "bool[8, 4] sliced(1, tp)");
  EXPECT_EQ(typeName(type("f8E5M2", R"([], partial<sum> = {"a"})")),
            "f8e5m2 partial(sum, a)");
}

//===----------------------------------------------------------------------===//
// Attributes and tensors that are refused
//===----------------------------------------------------------------------===//

TEST_F(LayoutTest, AttributesAreChecked) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  auto emitError = [&]() { return mlir::emitError(UnknownLoc::get(&context)); };
  EXPECT_FALSE(AxesAttr::getChecked(emitError, &context, mesh(),
                                    ArrayRef<StringAttr>()));
  EXPECT_EQ(message, "expected at least one mesh axis");
  auto number =
      ArrayAttr::get(&context, {Builder(&context).getI64IntegerAttr(1)});
  EXPECT_FALSE(LayoutAttr::getChecked(emitError, &context, mesh(), number,
                                      ArrayRef<PartialAxis>(),
                                      ArrayRef<StringAttr>()));
  EXPECT_EQ(message, "expected the name of a mesh axis, found 1 : i64");
  PartialAxis kinds[] = {{axis("a"), ReduceKind::sum},
                         {axis("b"), ReduceKind::max}};
  EXPECT_FALSE(LayoutAttr::getChecked(
      emitError, &context, mesh(), ArrayRef<ArrayAttr>(),
      ArrayRef<PartialAxis>(kinds), ArrayRef<StringAttr>()));
  EXPECT_EQ(message,
            "expected pending reductions of one kind, found 'sum' and 'max'");
}

TEST_F(LayoutTest, TensorsAreChecked) {
  auto silent = [&]() { return InFlightDiagnostic(); };
  auto check = [&](StringRef text) {
    return succeeded(checkTensor(parseType(text, &context), silent));
  };
  EXPECT_TRUE(check("tensor<f32>"));
  EXPECT_TRUE(check("tensor<0x7xi1>"));
  EXPECT_TRUE(check("tensor<1152921504606846975xi8>"));
  EXPECT_FALSE(check("tensor<1152921504606846976xi8>"));
  EXPECT_FALSE(check("tensor<0x4294967296x4294967296xf32>"));
  EXPECT_FALSE(check("tensor<?xf32>"));
  EXPECT_FALSE(check("tensor<*xf32>"));
  EXPECT_FALSE(check("tensor<8xindex>"));
  EXPECT_FALSE(check("memref<8xf32>"));
  EXPECT_FALSE(check("f32"));
  EXPECT_FALSE(check("tensor<8xf32, \"elsewhere\">"));
}

} // namespace
