//===- EmitCuda.cpp - Kernel plans as CUDA C++ ----------------------------===//
//
// Writes the kernels of all ranks as their plans say.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/EmitCuda.h"

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/device/DeviceLibrary.h"
#include "codegen/gpu/map/MapKernels.h"
#include "codegen/gpu/skeletons/CudaRows.h"
#include "codegen/gpu/skeletons/Skeletons.h"

#include <algorithm>
#include <optional>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::Twine;

namespace {

using namespace ccn::runtime;

/// Writes one kernel.
class KernelWriter {
public:
  KernelWriter(const KernelPlan &plan, CudaBodies &bodies,
               ScheduleTables &tables)
      : plan(plan), places(plan.places), kernel{&plan},
        out{kernel, places, bodies, tables} {}

  llvm::Expected<CudaKernel> write();

private:
  /// Begins the braces of a segment, or ends those that the text is in.
  void enter(std::optional<int> segment);
  void writeWait(Wait wait);
  llvm::Error writePart(const PartPlan &part);
  void addFrame();

  const KernelPlan &plan;
  CudaPlaces places;
  CudaKernel kernel;
  CudaPart out;
  /// The segment in whose braces the text is.
  std::optional<int> within;
};

void KernelWriter::enter(std::optional<int> segment) {
  if (segment == within)
    return;
  if (within)
    kernel.body << "}\n";
  if (segment)
    kernel.body << "if (c.segment == " << static_cast<int64_t>(*segment)
                << ") {\n";
  within = segment;
}

void KernelWriter::writeWait(Wait wait) {
  switch (wait) {
  case Wait::None:
    break;
  case Wait::Block:
    kernel.body << "__syncthreads();\n";
    break;
  case Wait::Cluster:
    kernel.body << "clusterBarrier(c);\n";
    break;
  case Wait::Grid:
    out.gridBarrier();
    break;
  }
}

llvm::Error KernelWriter::writePart(const PartPlan &own) {
  if (own.doesDeferredBefore)
    out.writeDeferred();
  if (own.opensCluster) {
    enter(std::nullopt);
    kernel.body << "openCluster(c);\n";
  }
  enter(own.segment);
  writeWait(own.wait);
  if (own.leavesSegment)
    enter(std::nullopt);
  for (const Prefetch &prefetch : own.prefetches)
    emitPrefetch(out, prefetch);
  return own.plan->skeleton.emit(out, *own.plan);
}

/// Puts around the body what it needs.
void KernelWriter::addFrame() {
  CudaText body;
  std::swap(body, kernel.body);
  if (plan.opensClusters)
    kernel.body << "beginCluster(c);\n";
  if (plan.meetsRanks && !plan.isByMessages())
    kernel.body << "const u64 epoch = beginRun(c);\n";
  // Boxes of tensors are copied to tiles of 1024 bytes.
  if (plan.properties.sharedBytes > 0)
    kernel.body << ("extern __shared__ __align__(" +
                    Twine(plan.launch.tensorMaps.empty() ? 16 : 1024) +
                    ") Byte sharedMemory[];\n");
  if (plan.properties.blockBytes > 0)
    // Not all architectures' text of a body uses it.
    kernel.body << "[[maybe_unused]] Byte *const blockMemory = c.workspace + "
                << plan.launch.workspaceBytes << " + i64(blockIdx.x) * "
                << plan.properties.blockBytes << ";\n";
  kernel.body << body;
  if (plan.meetsRanks)
    kernel.body << "endRun(c);\n";
}

llvm::Expected<CudaKernel> KernelWriter::write() {
  for (const PartPlan &part : plan.parts)
    if (llvm::Error error = writePart(part))
      return std::move(error);
  if (plan.doesDeferredAfter)
    out.writeDeferred();
  enter(std::nullopt);
  addFrame();
  return std::move(kernel);
}

/// Whether arguments are lists of buffers.
bool hasLists(const Plan &plan) {
  return llvm::any_of(plan.arguments, [](const Argument &argument) {
    return argument.scattered;
  });
}

class Emitter {
public:
  Emitter(const KernelPlans &plans, llvm::StringRef text)
      : plans(plans),
        kernels(plans.plan->arguments.size() +
                    plans.shared.size() * plans.plan->ranks.size(),
                text) {}

  llvm::Expected<GpuProgram> run();

private:
  void addTableKernel();
  void addDeviceText();

  const KernelPlans &plans;
  CudaBodies bodies;
  CudaKernels kernels;
  GpuProgram program;
  ScheduleTables tables;
};

/// Adds the kernel that writes the tables of lists of buffers. Its numbers are
/// so many that few launches write a table, and few enough for any driver.
void Emitter::addTableKernel() {
  constexpr int64_t words = 400;
  GpuKernel kernel;
  kernel.name = "writeTables";
  kernel.numbers = 2 + words;
  program.tableKernel = static_cast<int>(program.kernels.size());
  program.source +=
      "\nextern \"C\" __global__ void __launch_bounds__(" +
      std::to_string(kernel.threads) + ") " + kernel.name +
      "(const __grid_constant__ CcnContext c, const __grid_constant__ "
      "Pointers<" +
      std::to_string(kernels.addressCount()) +
      "> a, const __grid_constant__ Numbers<" + std::to_string(kernel.numbers) +
      "> n) {\nwriteTable(c, n);\n}\n";
  program.kernels.push_back(std::move(kernel));
}

/// The device files that the skeletons of a transport's kernels require.
DeviceFiles filesOf(const KernelPlans &plans, KernelTransport transport) {
  DeviceFiles files(transport);
  auto require = [&](const KernelPlan &kernel) {
    for (const PartPlan &part : kernel.parts)
      part.plan->skeleton.require(*part.plan, files);
  };
  for (size_t rank = 0; rank < plans.kernels.size(); ++rank)
    for (size_t launch = 0; launch < plans.kernels[rank].size(); ++launch) {
      const KernelPlan *messages = plans.messageKernels[rank][launch].get();
      const KernelPlan &kernel = files.areForMessages() && messages
                                     ? *messages
                                     : plans.kernels[rank][launch];
      require(kernel);
      if (kernel.preferred &&
          !(files.areForMessages() && kernel.preferred->properties.waits))
        require(*kernel.preferred);
    }
  if (hasLists(*plans.plan))
    files.add({"pieces.cuh"});
  return files;
}

/// Puts what the kernels need before them.
void Emitter::addDeviceText() {
  std::string common = bodies.text() + program.source;
  auto filesFor = [&](KernelTransport transport, const std::string &own) {
    return deviceFilesFor(common + own, filesOf(plans, transport).list());
  };
  std::vector<llvm::StringRef> ofPeers = filesFor(KernelTransport::Peers,
                                                  program.peerSource),
                               ofMessages = filesFor(KernelTransport::Messages,
                                                     program.messageSource);
  // What only one transport needs comes later, as nothing in common uses it.
  std::string source, peerSource, messageSource;
  for (llvm::StringRef file : {"GpuAbi.h", "kernel.cuh"})
    source += cudaSource(file);
  for (llvm::StringRef file : ofPeers)
    (llvm::is_contained(ofMessages, file) ? source : peerSource) +=
        cudaSource(file);
  for (llvm::StringRef file : ofMessages)
    if (!llvm::is_contained(ofPeers, file))
      messageSource += cudaSource(file);
  if (!tables.numbers().empty()) {
    source += "__device__ const i64 scheduleTables[] = {";
    for (int64_t number : tables.numbers())
      source += std::to_string(number) + ",";
    source += "};\n";
  }
  program.source = source + common;
  program.peerSource.insert(0, peerSource);
  program.messageSource.insert(0, messageSource);
}

llvm::Expected<GpuProgram> Emitter::run() {
  for (auto [rank, own] : llvm::enumerate(plans.kernels))
    for (auto [plan, other] : llvm::zip(own, plans.messageKernels[rank])) {
      llvm::Expected<CudaKernel> kernel =
          KernelWriter(plan, bodies, tables).write();
      if (!kernel)
        return kernel.takeError();
      std::optional<CudaKernel> byMessages;
      if (other) {
        llvm::Expected<CudaKernel> made =
            KernelWriter(*other, bodies, tables).write();
        if (!made)
          return made.takeError();
        byMessages = *std::move(made);
      }
      kernels.add(rank, *std::move(kernel), std::move(byMessages));
      if (!plan.preferred)
        continue;
      kernel = KernelWriter(*plan.preferred, bodies, tables).write();
      if (!kernel)
        return kernel.takeError();
      kernels.addPreferred(rank, *std::move(kernel));
    }
  program.fills = plans.fills;
  program.symmetricBytes = plans.symmetricBytes;
  program.flags = plans.flags;
  for (const LaunchSegments &cut : plans.segments)
    program.segments.push_back(cut.segments());
  program.sharedArguments = plans.shared;
  kernels.finish(program);
  if (hasLists(*plans.plan))
    addTableKernel();
  addDeviceText();
  if (program.launches.empty())
    program.launches.resize(plans.plan->ranks.size());
  return std::move(program);
}

} // namespace

llvm::Expected<GpuProgram> codegen::emitCuda(const KernelPlans &plans,
                                             llvm::StringRef text) {
  return Emitter(plans, text).run();
}

llvm::Expected<GpuProgram> codegen::emitCuda(const Plan &plan,
                                             ArrayRef<LoopKernel> loops,
                                             const Target &target,
                                             const Machine &machine,
                                             llvm::StringRef text) {
  LoopKernels bodies(loops);
  llvm::Expected<std::unique_ptr<KernelPlans>> plans =
      mapKernels(plan, bodies, allSkeletons(), target, machine);
  if (!plans)
    return plans.takeError();
  return emitCuda(**plans, text);
}
