//===- LoopsUtil.h - Compiles and calls loops in tests ----------*- C++ -*-===//
//
// Kernels from bodies as text, and their functions in this process.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_LOOPSUTIL_H
#define CCN_TEST_UNIT_CODEGEN_LOOPSUTIL_H

#include "codegen/cpu/CpuLoops.h"
#include "runtime/plan/ObjectCode.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace ccn::codegen {

/// A shared object that is loaded as ccrun loads it.
class LoadedObject {
public:
  explicit LoadedObject(const std::string &object) {
    Result<std::unique_ptr<runtime::ObjectCode>> loaded =
        runtime::ObjectCode::load(object);
    if (loaded)
      code = *std::move(loaded);
    else
      ADD_FAILURE() << loaded.message();
  }

  runtime::LoopFunction get(const std::string &name) const {
    runtime::LoopFunction function = code ? code->find(name) : nullptr;
    EXPECT_NE(function, nullptr) << "no " << name;
    return function;
  }

private:
  std::unique_ptr<runtime::ObjectCode> code;
};

/// A test that compiles kernels whose bodies are text.
class CpuLoops : public testing::Test {
protected:
  CpuLoops() {
    context.loadDialect<mlir::func::FuncDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }

  /// The first function of a module as text.
  mlir::func::FuncOp body(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    if (!modules.back()) {
      ADD_FAILURE() << "cannot parse " << text;
      return {};
    }
    return *modules.back()->getOps<mlir::func::FuncOp>().begin();
  }

  mlir::Type type(const std::string &text) {
    return mlir::parseType(text, &context);
  }

  /// A kernel whose operands have the body's types and are contiguous.
  LoopKernel kernel(const std::string &text, size_t outputs, int64_t dims = 1) {
    LoopKernel result;
    result.name = "loop";
    result.body = body(text);
    result.dims = dims;
    if (!result.body)
      return result;
    for (mlir::Type type : result.body.getArgumentTypes())
      result.inputs.push_back({type, 1, false});
    for (mlir::Type type : result.body.getResultTypes().take_front(outputs))
      result.outputs.push_back({type, 1, std::nullopt, 0});
    return result;
  }

  std::unique_ptr<LoadedObject> compile(llvm::ArrayRef<LoopKernel> kernels,
                                        const Target &target = Target::host()) {
    llvm::Expected<CompiledLoops> loops =
        compileLoops(&context, kernels, target);
    if (!loops) {
      ADD_FAILURE() << llvm::toString(loops.takeError());
      return nullptr;
    }
    return std::make_unique<LoadedObject>(loops->object);
  }

  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace ccn::codegen

#endif // CCN_TEST_UNIT_CODEGEN_LOOPSUTIL_H
