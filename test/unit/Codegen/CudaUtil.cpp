//===- CudaUtil.cpp - Generated CUDA C++ in tests -------------------------===//

#include "test/unit/Codegen/CudaUtil.h"

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/device/DeviceLibrary.h"
#include "codegen/gpu/emit/CudaScalars.h"
#include "runtime/cuda/Compiler.h"
#include "test/common/emulator/Kernels.h"

#include "llvm/ADT/STLExtras.h"

namespace ccn::codegen {

namespace {

/// The loop around a functor.
std::string loopText(LoopKernel kernel) {
  std::string given, operands, results, references;
  size_t operand = 0;
  auto pointer = [&](mlir::Type element) {
    return "(" + cudaType(element).str() + " *)data[" +
           std::to_string(operand) + "]";
  };
  auto append = [](std::string &list, const std::string &item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  llvm::ArrayRef<mlir::Type> types = kernel.body.getArgumentTypes();
  for (size_t i = 0; i < kernel.inputs.size(); ++i, ++operand) {
    if (kernel.inputs[i].isUniform)
      append(given, "*" + pointer(types[i]));
    else
      append(operands, "(" + pointer(types[i]) + ")[i * strides[" +
                           std::to_string(operand) + "]]");
  }
  for (int64_t i = 0; i < kernel.positions; ++i, ++operand)
    append(operands, "*(long *)data[" + std::to_string(operand) +
                         "] + i * strides[" + std::to_string(operand) + "]");
  std::string failures;
  for (auto [i, type] : llvm::enumerate(kernel.body.getResultTypes())) {
    if (i < kernel.outputs.size()) {
      append(operands, "(" + pointer(type) + ")[i * strides[" +
                           std::to_string(operand) + "]]");
      ++operand;
      continue;
    }
    std::string name = "failed" + std::to_string(i);
    append(operands, name);
    results += "    bool " + name + ";\n";
    failures +=
        "    if (" + name + ")\n      *status = " +
        std::to_string(kernel.firstFailure + 1 +
                       static_cast<int64_t>(i - kernel.outputs.size())) +
        ";\n";
  }
  return "extern \"C\" void " + kernel.name +
         "(const long *sizes, void *const *data, const long *strides, long "
         "*status) {\n  const Body_" +
         kernel.name + " body{" + given +
         "};\n  for (long i = 0; i < *sizes; ++i) {\n" + results + "    body(" +
         operands + ");\n" + failures + "  }\n}\n";
}

} // namespace

bool hasNvrtc() { return bool(runtime::compilerVersion()); }

std::string compileCuda(const std::string &source, const std::string &target) {
  Result<runtime::CompiledKernels> kernels =
      runtime::compileKernels(source, target);
  if (!kernels)
    return kernels.message();
  // It also says what kernels take.
  return llvm::StringRef(kernels->log).contains("warning") ? kernels->log : "";
}

llvm::Expected<std::string> emitFunctors(llvm::ArrayRef<LoopKernel> kernels) {
  std::string text;
  for (const LoopKernel &kernel : kernels) {
    llvm::SmallVector<bool> isUniform;
    for (const LoopInput &input : kernel.inputs)
      isUniform.push_back(input.isUniform);
    llvm::Expected<std::string> functor = emitBody(
        "Body_" + kernel.name, kernel.body, isUniform, kernel.positions);
    if (!functor)
      return functor.takeError();
    text += *functor;
  }
  std::string files;
  for (llvm::StringRef file : deviceFilesFor(text, {}))
    files += cudaSource(file);
  return files + text;
}

llvm::Expected<std::string>
compileFunctors(llvm::ArrayRef<LoopKernel> kernels) {
  llvm::Expected<std::string> functors = emitFunctors(kernels);
  if (!functors)
    return functors.takeError();
  std::string text = *std::move(functors);
  for (const LoopKernel &kernel : kernels)
    text += loopText(kernel);
  Result<std::string> object = emulator::compile(text);
  if (!object)
    return llvm::createStringError(object.message() + text);
  return *std::move(object);
}

} // namespace ccn::codegen
