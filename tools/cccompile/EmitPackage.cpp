//===- EmitPackage.cpp - Packages from the command line -------------------===//
//
// Chooses the program, builds its package or its kernels, and gives the file's
// bytes.
//
//===----------------------------------------------------------------------===//

#include "tools/cccompile/EmitPackage.h"

#include "codegen/package/EmitHeader.h"
#include "codegen/package/EmitLibrary.h"
#include "codegen/plan/ExportPlan.h"
#include "lib/Plan/RankClasses.h"
#include "lib/Verify/BoundPlans.h"
#include "runtime/api/RankCode.h"
#include "runtime/cuda/Compiler.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace ccn;

/// Whether there is a plan for each rank of the mesh, or, if `isPredicted`, for
/// ranks that stand for all, and the passes over plans have finished them all.
/// Reports it if not: plans that were read from a file may lack some.
static bool checkPlans(mlir::ModuleOp plans, llvm::StringRef program,
                       bool isPredicted, Diagnostics &diagnostics) {
  MeshOp mesh = getMesh(plans);
  int64_t expected = mesh ? mesh.getNumRanks() : 1;
  std::vector<int64_t> ranks;
  for (auto op : plans.getOps<plan::PlanOp>()) {
    if (op.getName() != program)
      continue;
    if (auto rank = static_cast<int64_t>(op.getRank());
        rank < 0 || rank >= expected) {
      diagnostics.error("expected plans for ranks from 0 to " +
                        std::to_string(expected - 1) + ", found one for rank " +
                        std::to_string(rank));
      return false;
    }
    ranks.push_back(static_cast<int64_t>(op.getRank()));
    for (auto buffer : op.getBody().getOps<plan::BufferOp>())
      if (!buffer.getAt()) {
        diagnostics.error("expected places for all buffers of rank " +
                          std::to_string(op.getRank()) + ", found one without");
        return false;
      }
    for (auto launch : op.getBody().getOps<plan::LaunchOp>())
      if (launch.getSegment()) {
        diagnostics.error("expected events rather than segments in the plan of "
                          "rank " +
                          std::to_string(op.getRank()) + ", found segment " +
                          std::to_string(*launch.getSegment()));
        return false;
      }
  }
  if (static_cast<int64_t>(ranks.size()) == expected ||
      (isPredicted && plan::RankClasses::standForAll(mesh, ranks)))
    return true;
  diagnostics.error("expected plans for " + std::to_string(expected) +
                    " ranks, found " + std::to_string(ranks.size()));
  return false;
}

std::optional<std::string> ccn::chooseProgram(mlir::ModuleOp plans,
                                              const Options &options,
                                              Diagnostics &diagnostics) {
  std::string what = !options.predict.empty()   ? "a prediction"
                     : options.emitsKernels()   ? "kernels"
                     : options.emit == "header" ? "a header"
                     : options.emit == "lib"    ? "a library"
                                                : "a package";
  llvm::SetVector<llvm::StringRef> programs;
  for (auto op : plans.getOps<plan::PlanOp>())
    programs.insert(op.getName());
  if (programs.empty()) {
    diagnostics.error("expected a program to make " + what +
                      " of, found none in the file");
    return std::nullopt;
  }
  std::string names = llvm::join(programs.getArrayRef(), "', '");
  if (programs.size() > 1) {
    diagnostics.error("expected --program to say which of '" + names + "' " +
                      what + (options.emitsKernels() ? " are" : " is") +
                      " made of");
    return std::nullopt;
  }
  std::string program = programs.front().str();
  if (!checkPlans(plans, program, !options.predict.empty(), diagnostics))
    return std::nullopt;
  return program;
}

/// Warns if a package needs more memory than this machine has for all its
/// ranks, or if one of its ranks needs more than any GPU has.
static void warnOfMemory(const runtime::Package &package,
                         Diagnostics &diagnostics) {
  // The largest GPUs have 288 GB.
  constexpr int64_t maxOfGpu = int64_t(1) << 40;
  auto ranks = static_cast<int>(package.plan.ranks.size());
  auto warn = [&](const std::string &who, const MemoryNeeds &needs,
                  const std::string &than) {
    diagnostics.report(Severity::Warning, "program '" + package.program +
                                              "' needs more memory " + than +
                                              ": " + who + " " + needs.text());
  };
  MemoryNeeds all;
  for (int rank = 0; rank < ranks; ++rank) {
    Result<MemoryNeeds> own =
        runtime::needsOfRank(package, rank, package.gpu.has_value());
    if (!own)
      return;
    all.add(*own);
    if (package.gpu && own->total() > maxOfGpu)
      return warn("rank " + std::to_string(rank) + " takes", *own,
                  "than a GPU has");
  }
  int64_t here = machineMemory();
  if (!package.gpu && all.total() > here)
    warn("its " + std::to_string(ranks) +
             (ranks == 1 ? " rank takes" : " ranks take"),
         all, "than the " + std::to_string(here) + " bytes of this machine");
}

std::optional<EmittedProgram>
ccn::makePackage(PackageParts &parts, const Options &options,
                 const Machine &machine, std::string *description,
                 Diagnostics &diagnostics, int &code) {
  code = 2;
  mlir::ModuleOp plans = parts.plans;
  std::optional<std::string> chosen =
      chooseProgram(plans, options, diagnostics);
  if (!chosen)
    return std::nullopt;
  const std::string &program = *chosen;
  auto wrongProgram = [&](const std::string &why) {
    code = 1;
    diagnostics.error(why);
    return std::nullopt;
  };
  EmittedProgram emitted;
  std::string prefix =
      options.prefix.empty() ? codegen::cPrefix(program) : options.prefix;
  if (options.emit == "header" || !options.header.empty()) {
    codegen::LoopLibrary unused;
    Result<std::string> header = codegen::emitHeader(
        program, codegen::exportPlan(plans, program, unused), prefix);
    if (!header)
      return wrongProgram(header.message());
    code = 0;
    if (options.emit == "header") {
      emitted.bytes = *std::move(header);
      return emitted;
    }
    emitted.header = *std::move(header);
  }
  codegen::PackageOptions packageOptions;
  packageOptions.program = program;
  packageOptions.file = parts.file;
  packageOptions.schedule = parts.schedule;
  packageOptions.reference =
      parts.reference ? *parts.reference : mlir::ModuleOp();
  packageOptions.variant = parts.variant;
  packageOptions.variants = parts.variants;
  verify::BoundPlans bounds;
  if (parts.plain) {
    auto made = verify::makeBoundPlans(
        cast<ProgramOp>(parts.plain->lookupSymbol(program)));
    // Without bounds, nothing may differ.
    if (mlir::succeeded(made)) {
      bounds = *std::move(made);
      packageOptions.bounds = *bounds.plans;
      packageOptions.bounded = bounds.outputs;
    }
  }
  packageOptions.target = options.target;
  packageOptions.machine = machine;
  packageOptions.description = description;
  Result<runtime::Package> package =
      codegen::buildPackage(plans, packageOptions);
  if (package)
    warnOfMemory(*package, diagnostics);
  Result<std::string> bytes =
      package ? runtime::encodePackage(*package) : package.status();
  if (!bytes)
    return wrongProgram(bytes.message());
  if (options.emit == "lib") {
    llvm::Expected<std::string> library = codegen::emitLibrary(
        prefix, codegen::signatureTag(program, package->plan), *bytes);
    if (!library)
      return wrongProgram(llvm::toString(library.takeError()));
    bytes = *std::move(library);
  }
  code = 0;
  emitted.bytes = *std::move(bytes);
  return emitted;
}

std::optional<std::string>
ccn::makeKernels(mlir::ModuleOp plans, const codegen::ProgramText &file,
                 const Options &options, const Machine &machine,
                 std::string *description, Diagnostics &diagnostics,
                 int &code) {
  code = 2;
  std::optional<std::string> program =
      chooseProgram(plans, options, diagnostics);
  if (!program)
    return std::nullopt;
  code = 1;
  auto written = [&](Result<std::string> text) -> std::optional<std::string> {
    if (!text) {
      diagnostics.error(text.message());
      return std::nullopt;
    }
    code = 0;
    return *std::move(text);
  };
  if (options.emit == "kernels") {
    Result<std::string> text =
        codegen::printKernelPlans(plans, *program, options.target, machine);
    if (text && description)
      *description = *text;
    return written(std::move(text));
  }
  Result<runtime::GpuProgram> kernels = codegen::buildKernels(
      plans, *program, options.target, machine, file, description);
  if (!kernels)
    return written(kernels.status());
  std::string source = kernels->textFor(options.transport == "messages"
                                            ? runtime::KernelTransport::Messages
                                            : runtime::KernelTransport::Peers);
  if (options.emit == "cuda")
    return written(std::move(source));
  if (options.emit == "ptx")
    return written(runtime::compileToPtx(source, options.target.name()));
  Result<runtime::CompiledKernels> compiled =
      runtime::compileKernels(source, options.target.name());
  return written(compiled ? Result<std::string>(std::move(compiled->cubin))
                          : compiled.status());
}
