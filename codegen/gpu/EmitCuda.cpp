//===- EmitCuda.cpp - Kernel plans as CUDA C++ ----------------------------===//
//
// Writes the kernels of all ranks as their plans say.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/EmitCuda.h"

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/map/MapKernels.h"
#include "codegen/gpu/skeletons/CudaColumns.h"
#include "codegen/gpu/skeletons/CudaExchanges.h"
#include "codegen/gpu/skeletons/CudaProducts.h"
#include "codegen/gpu/skeletons/CudaRows.h"

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
               std::vector<int64_t> &tables)
      : plan(plan), tables(tables), places(plan.places), kernel{&plan},
        out{kernel, places, bodies} {}

  llvm::Expected<CudaKernel> write();

private:
  /// Begins the braces of a segment, or ends those that the text is in.
  void enter(std::optional<int> segment);
  llvm::Error writePart(const PartPlan &part);
  llvm::Error writeContent(const PartPlan &part);
  llvm::Error writePhase(const PipelinePlan &own, size_t phase);
  llvm::Error writePipeline(const PipelinePlan &own);
  llvm::Error writeExchangedRows(const RowsPlan &rows);
  void writeBarrier(const PartPlan &part, const BarrierPart &barrier);
  void writeWait(Wait wait);
  void addFrame();

  const KernelPlan &plan;
  std::vector<int64_t> &tables;
  CudaPlaces places;
  CudaKernel kernel;
  CudaPart out;
  /// The segment in whose braces the text is.
  std::optional<int> within;
};

void KernelWriter::enter(std::optional<int> segment) {
  if (!plan.isCut || segment == within)
    return;
  if (within)
    kernel.body << "}\n";
  if (segment)
    kernel.body << "if (isIn(c, " << static_cast<int64_t>(*segment) << ")) {\n";
  within = segment;
}

llvm::Error KernelWriter::writeContent(const PartPlan &own) {
  CudaText &text = kernel.body;
  if (const auto *signal = std::get_if<SignalPart>(own.part)) {
    text << ("signal(c, " + Twine(out.signals++) + ", int(")
         << static_cast<int64_t>(signal->rank) << "), u32(" << signal->flag
         << "), epoch);\n";
    return llvm::Error::success();
  }
  if (const auto *await = std::get_if<AwaitPart>(own.part)) {
    text << "await(c, int(" << static_cast<int64_t>(await->rank) << "), u32("
         << await->flag << "), epoch);\n";
    return llvm::Error::success();
  }
  if (const auto *rows = std::get_if<std::unique_ptr<RowsPlan>>(&own.plan))
    return emitRows(out, **rows);
  if (const auto *columns = std::get_if<ColumnsPlan>(&own.plan))
    return emitColumns(out, *columns);
  if (const auto *exchange = std::get_if<ExchangePlan>(&own.plan))
    return emitExchange(out, *exchange, tables);
  text << (own.mayBeDone ? "if (!c.hasProduct) {\n" : "");
  llvm::Error error = emitProduct(out, std::get<ProductPlan>(own.plan));
  text << (own.mayBeDone ? "}\n" : "");
  return error;
}

llvm::Error KernelWriter::writePhase(const PipelinePlan &own, size_t phase) {
  CudaText &text = kernel.body;
  text << ("if (const i64 chunk = step - " + Twine(phase) +
           "; chunk >= 0 && chunk < chunks.count) {\n"
           "const i64 first = chunks.first(chunk), "
           "last = chunks.last(chunk);\n");
  for (const PartPlan &part : own.phases[phase]) {
    if (part.syncsBefore)
      text << "__syncthreads();\n";
    if (part.segment)
      text << "if (isIn(c, " << static_cast<int64_t>(*part.segment) << ")) {\n";
    if (llvm::Error error = writeContent(part))
      return error;
    if (part.segment)
      text << "}\n";
  }
  text << "}\n";
  return llvm::Error::success();
}

/// In a step each phase does the chunk before that of the phase before it,
/// which others have done the step before: what they tell each other is on its
/// way while the first phase does its chunk. The last phase, of which nobody is
/// told, every other block does before those that send: they compute while the
/// rest send.
llvm::Error KernelWriter::writePipeline(const PipelinePlan &own) {
  if (own.finishesBefore)
    out.finish();
  enter(std::nullopt);
  CudaText &text = kernel.body;
  CudaText flags;
  flags << "Step(c, " << places.group(own.barrier->group) << ", u32("
        << own.barrier->flags << "), u32(epoch * steps + step";
  size_t last = own.phases.size() - 1;
  text << "{\nconst Chunks chunks(" << own.pipeline.units << ", "
       << own.pipeline.leastUnits
       << (");\nconst i64 steps = chunks.count + " + Twine(last) +
           ";\nfor (i64 step = 0; step < steps; ++step) {\n");
  for (size_t phase = 0; phase <= last; ++phase) {
    if (phase == 1)
      text << "if (step > 0)\n  await" << flags << " - 1));\n"
           << (last > 1 ? "#pragma unroll 1\nfor (u32 pass = 0; pass < 2; "
                          "++pass)\nif ((pass + blockIdx.x) % 2 == 0) {\n"
                        : "{\n");
    if (phase > 1 && phase == last)
      text << "} else {\n";
    if (llvm::Error error = writePhase(own, phase))
      return error;
    if (phase == std::max<size_t>(last - 1, 1))
      text << "if (step + 1 < steps)\n  tell" << flags << "));\n";
  }
  text << "}\n}\n}\n";
  return llvm::Error::success();
}

/// Rows of which those who take them do the exchange before.
llvm::Error KernelWriter::writeExchangedRows(const RowsPlan &rows) {
  kernel.body << "if (isIn(c, " << rows.exchange->segment << ") || isIn(c, "
              << rows.exchange->segment + 1 << ")) {\n";
  if (llvm::Error error = emitRows(out, rows))
    return error;
  // What follows finds them open in other segments, too.
  kernel.body << "} else {\nopenCluster(c);\n}\n";
  return llvm::Error::success();
}

void KernelWriter::writeBarrier(const PartPlan &own,
                                const BarrierPart &barrier) {
  kernel.body << (own.isMeeting ? "groupBarrier(c, " : "edgeBarrier(c, ")
              << places.group(barrier.group) << ", u32(" << barrier.flags
              << "), epoch";
  if (!out.last.text.empty())
    kernel.body << ", " << static_cast<int64_t>(own.lastSegment) << ", [&] {\n"
                << out.last << "}";
  out.last = {};
  kernel.body << ");\n";
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
  if (const auto *rows = std::get_if<std::unique_ptr<RowsPlan>>(&own.plan);
      rows && (*rows)->exchange)
    return writeExchangedRows(**rows);
  if (own.finishesBefore)
    out.finish();
  if (own.opensCluster) {
    enter(std::nullopt);
    kernel.body << "openCluster(c);\n";
  }
  enter(own.segment);
  if (own.isTaken)
    return llvm::Error::success();
  const auto *barrier = std::get_if<BarrierPart>(own.part);
  writeWait(own.wait);
  if (std::holds_alternative<ExchangePlan>(own.plan))
    enter(std::nullopt);
  for (const Prefetch &prefetch : own.prefetches)
    emitPrefetch(out, prefetch);
  if (barrier) {
    writeBarrier(own, *barrier);
    return llvm::Error::success();
  }
  return writeContent(own);
}

/// Puts around the body what it needs.
void KernelWriter::addFrame() {
  CudaText body;
  std::swap(body, kernel.body);
  if (plan.opensClusters)
    kernel.body << "beginCluster(c);\n";
  if (plan.usesEpoch)
    kernel.body << "const u64 epoch = beginRun(c);\n";
  if (plan.properties.sharedBytes > 0)
    kernel.body << "extern __shared__ __align__(16) Byte sharedMemory[];\n";
  if (plan.properties.blockBytes > 0)
    kernel.body << "Byte *const blockMemory = c.workspace + "
                << plan.launch.workspaceBytes << " + i64(blockIdx.x) * "
                << plan.properties.blockBytes << ";\n";
  kernel.body << body;
  if (plan.usesEpoch)
    kernel.body << "endRun(c);\n";
}

llvm::Expected<CudaKernel> KernelWriter::write() {
  for (const auto &any : plan.parts) {
    const auto *pipeline = std::get_if<PipelinePlan>(&any);
    llvm::Error error = pipeline ? writePipeline(*pipeline)
                                 : writePart(std::get<PartPlan>(any));
    if (error)
      return std::move(error);
  }
  if (plan.finishesAfter)
    out.finish();
  enter(std::nullopt);
  addFrame();
  return std::move(kernel);
}

class Emitter {
public:
  explicit Emitter(const KernelPlans &plans)
      : plans(plans), kernels(plans.plan->arguments.size() +
                              plans.shared.size() * plans.plan->ranks.size()) {}

  llvm::Expected<GpuProgram> run();

private:
  void addTableKernel();

  const KernelPlans &plans;
  CudaBodies bodies;
  CudaKernels kernels;
  GpuProgram program;
  /// The numbers of all schedules' tables.
  std::vector<int64_t> tables;
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

llvm::Expected<GpuProgram> Emitter::run() {
  for (auto [rank, own] : llvm::enumerate(plans.kernels))
    for (const KernelPlan &plan : own) {
      llvm::Expected<CudaKernel> kernel =
          KernelWriter(plan, bodies, tables).write();
      if (!kernel)
        return kernel.takeError();
      kernels.add(rank, *std::move(kernel));
    }
  program.fills = plans.fills;
  program.symmetricBytes = plans.symmetricBytes;
  program.flags = plans.flags;
  for (const LaunchSegments &cut : plans.segments)
    program.segments.push_back(cut.segments());
  bool hasLists =
      llvm::any_of(plans.plan->arguments,
                   [](const Argument &argument) { return argument.scattered; });
  for (const char *file :
       {"GpuAbi.h", "ProtocolRules.h", "kernel.cuh", "scalars.cuh",
        "exchange.cuh", "rows.cuh", "columns.cuh", "tiles.cuh", "products.cuh",
        "tables.cuh", "transposes.cuh"})
    program.source += cudaSource(file);
  if (hasLists)
    program.source += cudaSource("pieces.cuh");
  if (!tables.empty()) {
    program.source += "__device__ const i64 scheduleTables[] = {";
    for (int64_t number : tables)
      program.source += std::to_string(number) + ",";
    program.source += "};\n";
  }
  program.source += bodies.text();
  program.sharedArguments = plans.shared;
  kernels.finish(program);
  if (hasLists)
    addTableKernel();
  if (program.launches.empty())
    program.launches.resize(plans.plan->ranks.size());
  return std::move(program);
}

} // namespace

llvm::Expected<GpuProgram> codegen::emitCuda(const Plan &plan,
                                             ArrayRef<LoopKernel> loops) {
  LoopKernels bodies(loops);
  llvm::Expected<std::unique_ptr<KernelPlans>> plans = mapKernels(plan, bodies);
  if (!plans)
    return plans.takeError();
  return Emitter(**plans).run();
}
