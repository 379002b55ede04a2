//===- NoCuda.cpp - The runtime for GPUs where CUDA is not ----------------===//
//
// Built if CUDA's headers are not installed, in place of the files that need
// them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"
#include "runtime/cuda/GpuMachine.h"
#include "runtime/cuda/GpuRuns.h"

namespace ccn::runtime {

static Status missing(const char *what = "use GPUs") {
  return error("this ccn was built without CUDA, so it cannot ", what);
}
static Status missingCompiler() { return missing("compile kernels for GPUs"); }

struct GpuExecutor::State {};
struct GpuRuns::State {};

Result<std::string> compilerVersion() { return missingCompiler(); }
Result<CompiledKernels> compileKernels(const std::string &, std::string_view) {
  return missingCompiler();
}
Result<std::string> compileToPtx(const std::string &, std::string_view) {
  return missingCompiler();
}

Status checkGpus() { return missing(); }
Result<std::string> gpuArchitecture(int) { return missing(); }

Result<std::string> gpuMachine() { return missing(); }
void compileAhead(std::span<const GpuProgram *const>, GpuTransport) {}
HeldGpus holdGpus(int, int) { return nullptr; }
bool areUsable(const HeldGpus &) { return false; }
int64_t gpuTransportBytes(const Plan &) { return 0; }

Result<std::unique_ptr<GpuExecutor>>
GpuExecutor::create(const Plan &, const GpuProgram &, int rank,
                    Transport &transport, const GpuExecutorOptions &) {
  return transport.fail(rank, missing().message());
}
GpuExecutor::~GpuExecutor() = default;
Status GpuExecutor::checkRun(std::span<void *const>) const { return missing(); }
Status GpuExecutor::bind(std::span<void *const>) { return missing(); }
Status GpuExecutor::run(std::span<void *const>, GpuStream) { return missing(); }
Status GpuExecutor::runValues(std::span<void *const>, GpuStream) {
  return missing();
}
Status GpuExecutor::synchronize(GpuStream) { return missing(); }
bool GpuExecutor::isCopied(int) const { return false; }
int GpuExecutor::device() const { return 0; }
int64_t GpuExecutor::blocks(int) const { return 0; }

Result<std::unique_ptr<GpuRuns>> GpuRuns::create(GpuExecutor &, const Plan &,
                                                 int) {
  return missing();
}
GpuRuns::~GpuRuns() = default;
Status GpuRuns::upload(std::span<void *const>) { return missing(); }
Status GpuRuns::download(std::span<void *const>) { return missing(); }
Status GpuRuns::run() { return missing(); }
Result<std::vector<double>> GpuRuns::timeRuns(int) { return missing(); }
Status GpuRuns::captureGraph(int) { return missing(); }
Result<std::vector<double>> GpuRuns::timeGraph(int) { return missing(); }

} // namespace ccn::runtime
