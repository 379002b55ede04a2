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
