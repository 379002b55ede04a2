//===- LoopsUtil.h - Compiles and calls loops in tests ----------*- C++ -*-===//
//
// Kernels from bodies as text, and their functions in this process.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CODEGEN_LOOPSUTIL_H
#define CCN_TEST_UNIT_CODEGEN_LOOPSUTIL_H

#include "codegen/CpuLoops.h"
#include "runtime/Plan.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ccn::codegen {

/// A shared object in memory.
class LoadedObject {
public:
  explicit LoadedObject(const std::string &object) {
    int file = memfd_create("loops", MFD_CLOEXEC);
    if (file >= 0 && write(file, object.data(), object.size()) ==
                         static_cast<ssize_t>(object.size()))
      handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                      RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      ADD_FAILURE() << dlerror();
    close(file);
  }
  LoadedObject(const LoadedObject &) = delete;
  LoadedObject &operator=(const LoadedObject &) = delete;
  ~LoadedObject() {
    if (handle)
      dlclose(handle);
  }

  runtime::LoopFunction get(const std::string &name) const {
    void *symbol = handle ? dlsym(handle, name.c_str()) : nullptr;
    EXPECT_NE(symbol, nullptr) << "no " << name;
    return reinterpret_cast<runtime::LoopFunction>(symbol);
  }

private:
  void *handle = nullptr;
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

  std::unique_ptr<LoadedObject>
  compile(llvm::ArrayRef<LoopKernel> kernels,
          const CpuTarget &target = CpuTarget::host()) {
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
