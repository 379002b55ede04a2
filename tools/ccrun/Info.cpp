//===- Info.cpp - What a package is ---------------------------------------===//
//
// Prints for people; programs read packages themselves.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Report.h"

#include "lib/Target/Target.h"
#include "runtime/cuda/KernelCache.h"
#include "runtime/plan/PlanFields.h"
#include "runtime/plan/TunedVariant.h"

#include <algorithm>
#include <ostream>
#include <ranges>

using namespace ccn;
using namespace ccn::runtime;

/// The kernels, with what the compiler said of them if this machine has
/// compiled them.
static void printKernels(std::ostream &os, const GpuProgram &gpu) {
  std::vector<KernelResources> resources;
  std::string compiled;
  auto find = [&](KernelTransport transport) {
    for (const GpuArch &known : gpuArchs | std::views::reverse) {
      Result<std::optional<CompiledKernels>> kept =
          KernelCache::shared().find(gpu.textFor(transport), known.name);
      if (kept && *kept)
        resources = kernelResources(**kept);
      if (resources.empty())
        continue;
      compiled = ", as compiled for " + std::string(known.name);
      if (transport == KernelTransport::Messages)
        compiled += " and messages";
      return true;
    }
    return false;
  };
  os << "kernels";
  if (find(KernelTransport::Peers) || find(KernelTransport::Messages))
    os << compiled;
  os << "\n";
  for (const GpuKernel &kernel : gpu.kernels) {
    os << "  " << kernel.name << ": " << kernel.threads << " threads, "
       << kernel.sharedBytes << " bytes of dynamic shared memory";
    if (kernel.blockBytes > 0)
      os << ", " << kernel.blockBytes << " bytes of workspace a block";
    if (kernel.waits)
      os << ", waits";
    if (kernel.clusters)
      os << ", rows of clusters";
    for (const KernelResources &found : resources)
      if (found.name == kernel.name)
        os << "; " << found.registers << " registers, " << found.sharedBytes
           << " bytes of static shared memory, " << found.stackBytes
           << " of stack, " << found.spillStores << " and " << found.spillLoads
           << " of spill stores and loads";
    os << "\n";
  }
  os << "memory of a rank on GPUs: " << gpu.symmetricBytes
     << " bytes symmetric, flags not included\n";
}

/// Prints all ways to run the program, and which of them is used.
static void printVariants(std::ostream &os, const Package &package,
                          const std::string &machine) {
  if (package.variants.empty())
    return;
  size_t tuned = findTuned(package, machine);
  os << "variants\n";
  for (size_t i = 0; i <= package.variants.size(); ++i)
    os << "  " << i << " "
       << (i ? package.variants[i - 1].name : package.variant)
       << (i == tuned && !machine.empty() ? ", which runs on " + machine : "")
       << "\n";
}

void ccn::printInfo(std::ostream &os, const Package &package,
                    const std::string &machine) {
  const Plan &plan = package.plan;
  os << "program " << package.program;
  if (!package.schedule.empty())
    os << ", schedule " << package.schedule;
  os << "\ntarget " << package.target << ", compiler "
     << (package.compiler.empty() ? "unknown" : package.compiler) << "\nhash "
     << package.hash << "\nmesh";
  for (const MeshAxis &axis : plan.mesh)
    os << " " << axis.name << " = " << axis.size << ",";
  os << " " << plan.ranks.size()
     << (plan.ranks.size() == 1 ? " rank" : " ranks") << "\nreference plan "
     << (package.reference ? "yes" : "no") << "\nerror bounds "
     << (package.bounds ? "yes" : "no") << "\n";
  printVariants(os, package, machine);

  os << "arguments\n";
  for (const Argument &argument : plan.arguments) {
    const char *kind = argument.kind == ArgumentKind::InOut    ? "inout "
                       : argument.kind == ArgumentKind::Result ? "result "
                                                               : "";
    os << "  " << kind << argument.name << ": " << argument.typeName;
    if (argument.scattered)
      os << " scattered";
    os << "; array " << describe(argument.type, argument.shape) << "\n";
  }

  if (plan.ranks.empty())
    return;
  const RankPlan &first = plan.ranks.front();
  os << "launches of " << first.streams
     << (first.streams == 1 ? " stream\n" : " streams\n");
  for (size_t i = 0; i < first.launches.size(); ++i) {
    const Launch &launch = first.launches[i];
    os << "  " << i << " " << launch.name << ": stream " << launch.stream;
    for (size_t j = 0; j < launch.waits.size(); ++j)
      os << (j ? ", " : ", after ") << launch.waits[j];
    // "3 rows, 1 barrier", in the order of their first.
    std::vector<std::pair<std::string_view, int>> kinds;
    for (const Part &part : launch.parts) {
      std::string_view kind = names<Part>[part.index()];
      auto same = std::find_if(kinds.begin(), kinds.end(),
                               [&](const auto &k) { return k.first == kind; });
      if (same == kinds.end())
        kinds.emplace_back(kind, 1);
      else
        ++same->second;
    }
    for (size_t j = 0; j < kinds.size(); ++j)
      os << (j ? ", " : "; ") << kinds[j].second << " " << kinds[j].first;
    os << "\n";
  }
  int64_t privateBytes = 0, symmetricBytes = 0;
  for (const RankPlan &rank : plan.ranks) {
    privateBytes = std::max(privateBytes, rank.privateBytes);
    symmetricBytes = std::max(symmetricBytes, rank.symmetricBytes);
  }
  os << "memory of a rank: " << privateBytes << " bytes private, "
     << symmetricBytes
     << " bytes symmetric\nobject code: " << package.objectCode.size()
     << " bytes";
  for (size_t i = 0; i < package.cpuFeatures.size(); ++i)
    os << (i ? ", " : "; needs ") << package.cpuFeatures[i];
  os << "\n";
  if (package.gpu)
    printKernels(os, *package.gpu);
}
