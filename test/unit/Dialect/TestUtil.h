//===- TestUtil.h - What the dialect's unit tests share ---------*- C++ -*-===//
//
// A context with the dialect, and types and modules from their text.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_DIALECT_TESTUTIL_H
#define CCN_TEST_UNIT_DIALECT_TESTUTIL_H

#include "dialect/ccn/Ccn.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace ccn::test {

class DialectTest : public ::testing::Test {
protected:
  DialectTest() { context.loadDialect<CcnDialect>(); }

  mlir::StringAttr axis(llvm::StringRef name) {
    return mlir::StringAttr::get(&context, name);
  }
  mlir::FlatSymbolRefAttr mesh(llvm::StringRef name = "m") {
    return mlir::FlatSymbolRefAttr::get(&context, name);
  }
  /// A tensor type from its text; `shape` is all within the angle brackets, as
  /// in `8x4xf32`, `layout` all that follows the mesh, as in `[{"a"}, {}]`.
  mlir::RankedTensorType type(llvm::StringRef shape,
                              llvm::StringRef layout = "") {
    std::string text = "tensor<" + shape.str();
    if (!layout.empty())
      text += ", #ccn.layout<@m, " + layout.str() + ">";
    auto parsed = llvm::dyn_cast_or_null<mlir::RankedTensorType>(
        mlir::parseType(text + ">", &context));
    EXPECT_TRUE(parsed) << text;
    return parsed;
  }
  /// A module from its text, verified.
  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(&context));
    EXPECT_TRUE(module);
    return module;
  }

  mlir::MLIRContext context;
};

/// A program of an elementwise operation on operands, of which it takes as many
/// as it has. Types are written without `tensor<>`; of layouts there are #rows,
/// #local, #scalar, #sum and #max.
inline std::string programOf(const ElementwiseFunction &function,
                             const std::string &x, const std::string &y,
                             const std::string &result) {
  bool isUnary = function.numOperands == 1;
  std::string types =
      "tensor<" + x + ">" + (isUnary ? "" : ", tensor<" + y + ">");
  return R"(
#rows = #ccn.layout<@m, [{"a"}, {}]>
#local = #ccn.layout<@m, [{}, {}], local = {"a"}>
#scalar = #ccn.layout<@m, [], local = {"a"}>
#sum = #ccn.layout<@m, [{}], partial<sum> = {"a"}>
#max = #ccn.layout<@m, [{}], partial<max> = {"a"}>
ccn.mesh @m ["a" = 2]
ccn.program @p(%x: tensor<)" +
         x + R"(> {ccn.name = "x"}, %y: tensor<)" + y +
         R"(> {ccn.name = "y"}) {
  %r = ccn.)" +
         std::string(function.name) + (isUnary ? " %x : (" : " %x, %y : (") +
         types + ") -> tensor<" + result + R"(>
  ccn.return
}
)";
}

/// The first operation of a kind in a module.
template <typename OpTy> OpTy first(mlir::ModuleOp module) {
  OpTy found;
  module.walk([&](OpTy op) {
    found = op;
    return mlir::WalkResult::interrupt();
  });
  return found;
}

} // namespace ccn::test

#endif // CCN_TEST_UNIT_DIALECT_TESTUTIL_H
