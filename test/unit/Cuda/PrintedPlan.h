//===- PrintedPlan.h - What kernels are to be, as text ----------*- C++ -*-===//
//
// Kernel plans as `cccompile --emit kernels` prints them. Tests of what `map`
// decides look there, not in the CUDA text that follows from it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_PRINTEDPLAN_H
#define CCN_TEST_UNIT_CUDA_PRINTEDPLAN_H

#include "codegen/gpu/map/MapKernels.h"
#include "codegen/gpu/map/PlanPrinter.h"
#include "codegen/gpu/skeletons/Skeletons.h"
#include "test/unit/Cuda/CompiledPlan.h"

#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace ccn::test {

/// A printed plan without the kernels of ranks that send each other messages.
inline std::string withoutMessages(const std::string &kernels) {
  std::istringstream lines(kernels);
  std::string kept;
  bool isKept = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("launch ") || line.starts_with("  kernel "))
      isKept = line.find(" transport(messages)") == line.npos;
    if (isKept)
      kept += line + "\n";
  }
  return kept;
}

/// The kernel plans of a plan, of whose loops these are the bodies; null, after
/// a failure of the test, if there are none.
inline std::unique_ptr<codegen::KernelPlans>
mapped(const runtime::Plan &plan, const codegen::LoopKernels &bodies) {
  auto plans =
      codegen::mapKernels(plan, bodies, codegen::allSkeletons(),
                          Target::anyGpu(), Machine::of(Target::anyGpu()));
  if (plans)
    return std::move(*plans);
  ADD_FAILURE() << llvm::toString(plans.takeError());
  return nullptr;
}

/// The kernels of a plan whose loops have these bodies, for ranks that access
/// each other's memory.
inline std::string printedKernels(const runtime::Plan &plan,
                                  const codegen::LoopLibrary &library = {}) {
  codegen::LoopKernels bodies(library.kernels);
  auto plans = mapped(plan, bodies);
  return plans ? withoutMessages(codegen::printKernels(*plans)) : "";
}

/// A rank's kernel of the first launch, where ranks access each other's memory
/// or send messages.
inline std::string printedKernel(
    const runtime::Plan &plan, size_t rank = 0,
    runtime::KernelTransport transport = runtime::KernelTransport::Peers) {
  codegen::LoopKernels bodies({});
  auto plans = mapped(plan, bodies);
  if (!plans)
    return "";
  const codegen::KernelPlan *kernel = &plans->kernels.at(rank).at(0);
  if (transport == runtime::KernelTransport::Messages &&
      plans->messageKernels.at(rank).at(0))
    kernel = plans->messageKernels[rank][0].get();
  std::string text;
  llvm::raw_string_ostream os(text);
  codegen::printKernel(os, *kernel);
  return text;
}

/// The kernels of a module's one plan.
inline std::string printedKernels(mlir::ModuleOp plans) {
  codegen::LoopLibrary library;
  runtime::Plan plan = onlyPlan(plans, library);
  return printedKernels(plan, library);
}

/// The kernels of a text's one program.
inline std::string printedKernels(PlanCompiler &compiler,
                                  const std::string &text,
                                  const verify::Variant &variant = {}) {
  auto plans = plansOf(compiler, text, variant);
  return plans ? printedKernels(*plans) : "";
}

/// Of all that a pattern matches in a text, its first group.
inline std::vector<std::string> findAll(const std::string &text,
                                        const char *pattern) {
  std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end;
       ++it)
    found.push_back((*it)[1]);
  return found;
}

/// The teams that take rows: "lanes(4)", "block(512)" or "cluster".
inline std::vector<std::string> teamsIn(const std::string &kernels) {
  return findAll(kernels, "teams rows\\(\\d+\\) ([a-z]+(?:\\(\\d+\\))?)");
}

/// Where all blocks of a printed kernel wait for each other or for other ranks:
/// "grid edge group".
inline std::string barriersOf(const std::string &kernel) {
  std::string barriers;
  for (const std::string &found :
       findAll(kernel, "(wait\\(grid\\)|do_deferred|barrier at the edge|"
                       "barrier of all blocks)"))
    barriers += std::string(barriers.empty() ? "" : " ") +
                (found.ends_with("edge")     ? "edge"
                 : found.ends_with("blocks") ? "group"
                                             : "grid");
  return barriers;
}

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_PRINTEDPLAN_H
