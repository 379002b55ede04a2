//===- CpuLoops.cpp - Machine code for loop nests -------------------------===//
//
// Kernels become an MLIR module, then LLVM IR, which is optimized and compiled
// to object files and linked to a shared object. LLVM's passes are chosen by
// hand: the functions are small, call only libm, and buildLoopNest has already
// moved out of loops what does not change in them, so little more than the
// vectorizer is needed.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/CpuLoops.h"

#include "codegen/cpu/ConvertScalars.h"
#include "codegen/cpu/EmitObject.h"
#include "codegen/cpu/LinkShared.h"
#include "codegen/cpu/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"

#include <thread>

using namespace mlir;

namespace ccn::codegen {

namespace {

//===----------------------------------------------------------------------===//
// To LLVM IR
//===----------------------------------------------------------------------===//

llvm::Error checkKernels(llvm::ArrayRef<LoopKernel> kernels) {
  llvm::StringSet<llvm::MallocAllocator> names;
  for (const LoopKernel &kernel : kernels) {
    if (kernel.name.empty() || isLibmFunction(kernel.name) ||
        !names.insert(kernel.name).second)
      return llvm::createStringError(
          "expected a name of its own for each loop, found '" + kernel.name +
          "'");
    if (llvm::Error error = checkKernel(kernel))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::Module>>
translate(MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
          const Target &target, llvm::LLVMContext &llvmContext) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  context->loadDialect<LLVM::LLVMDialect, arith::ArithDialect>();

  std::string messages;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      messages += (messages.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  for (const LoopKernel &kernel : kernels)
    buildLoopNest(*module, kernel);
  std::unique_ptr<llvm::Module> result;
  if (succeeded(convertScalars(*module, target.cpu != CpuLevel::X86_64)))
    result = translateModuleToLLVMIR(*module, llvmContext, "loops");
  if (!result)
    return llvm::createStringError("cannot compile loops: " + messages);
  return result;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  bool isRare = machine.getOptLevel() == llvm::CodeGenOptLevel::None;
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr(llvm::Attribute::NoUnwind);
    // Keep calls of libm: LLVM would replace some by code with other bits, such
    // as pow(x, 2) by x * x.
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && !llvm::isa<llvm::IntrinsicInst>(call))
        call->addFnAttr(llvm::Attribute::NoBuiltin);
  }

  llvm::PipelineTuningOptions tuning;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  if (!isRare) {
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    // No interleaving, which would make the code larger; the CPU overlaps
    // iterations anyway.
    passes.addPass(llvm::LoopVectorizePass(llvm::LoopVectorizeOptions(
        /*InterleaveOnlyWhenForced=*/true, /*VectorizeOnlyWhenForced=*/false)));
    passes.addPass(llvm::EarlyCSEPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
  }
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

/// So many loops are worth a thread of their own: they take about 20 ms.
constexpr size_t smallestShare = 8;

unsigned threadCount() {
  return std::min(4u, std::thread::hardware_concurrency());
}

/// The loops that one thread compiles. Either all of them or none are rare.
struct Share {
  llvm::Error prepare(MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
                      const Target &target) {
    bool isRare = !kernels.empty() && kernels.front().isRare;
    auto made = makeTargetMachine(target, isRare);
    if (!made)
      return made.takeError();
    machine = std::move(*made);
    auto translated = translate(context, kernels, target, llvmContext);
    if (!translated)
      return translated.takeError();
    module = std::move(*translated);
    return llvm::Error::success();
  }
  void compile() {
    optimize(*module, *machine);
    object = emitObject(*module, *machine);
  }

  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  std::string object;
};

} // namespace

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

llvm::Expected<CompiledLoops> compileLoops(MLIRContext *context,
                                           llvm::ArrayRef<LoopKernel> kernels,
                                           const Target &target) {
  if (llvm::Error error = checkKernels(kernels))
    return error;
  // MLIR takes a tenth of the time, LLVM the rest, for which several threads
  // are used. Rare loops are in separate shares, as they are compiled in
  // another way.
  std::vector<LoopKernel> usual, rare;
  for (const LoopKernel &kernel : kernels)
    (kernel.isRare ? rare : usual).push_back(kernel);
  std::vector<std::unique_ptr<Share>> shares;
  for (llvm::ArrayRef<LoopKernel> list :
       {llvm::ArrayRef(usual), llvm::ArrayRef(rare)}) {
    size_t count =
        std::clamp<size_t>(list.size() / smallestShare, list.empty() ? 0 : 1,
                           std::max(1u, threadCount()));
    for (size_t i = 0, first = 0; i < count; ++i) {
      size_t end = list.size() * (i + 1) / count;
      auto share = std::make_unique<Share>();
      if (llvm::Error error =
              share->prepare(context, list.slice(first, end - first), target))
        return error;
      shares.push_back(std::move(share));
      first = end;
    }
  }
  std::vector<std::thread> threads;
  for (size_t i = 1; i < shares.size(); ++i)
    threads.emplace_back([&share = *shares[i]] { share.compile(); });
  if (!shares.empty())
    shares.front()->compile();
  for (std::thread &thread : threads)
    thread.join();

  std::vector<std::string> objects;
  for (const auto &share : shares) {
    if (share->object.empty())
      return llvm::createStringError(
          "cannot generate object files for this CPU");
    objects.push_back(std::move(share->object));
  }
  auto shared = linkShared(objects);
  if (!shared)
    return shared.takeError();
  return CompiledLoops{std::move(*shared), requiredFeatures(target.cpu)};
}

llvm::Expected<std::string>
printOptimizedLoops(MLIRContext *context, llvm::ArrayRef<LoopKernel> kernels,
                    const Target &target) {
  if (llvm::Error error = checkKernels(kernels))
    return error;
  Share share;
  if (llvm::Error error = share.prepare(context, kernels, target))
    return error;
  optimize(*share.module, *share.machine);
  std::string text;
  llvm::raw_string_ostream(text) << *share.module;
  return text;
}

} // namespace ccn::codegen
