//===- CudaTeam.h - Kernels of a plan executed on the CPU -------*- C++ -*-===//
//
// Compiles the CUDA C++ of a plan for the CPU and runs it there: launch by
// launch, all blocks of all ranks at once, so that ranks wait for each other
// and blocks do what they do before others have come.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_CUDATEAM_H
#define CCN_TEST_UNIT_CUDA_CUDATEAM_H

#include "lib/Interpreter/Interpreter.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/GpuProgram.h"
#include "test/common/emulator/Kernels.h"
#include "tools/ccrun/RunMemory.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <optional>
#include <tuple>

namespace ccn::test {

class CudaTeam {
public:
  using Outputs = std::vector<interp::Output>;

  /// For the plans of `program` in a module that the phase `plan` left. Kernels
  /// have `mostBlocks` blocks at most, each an own thread of the CPU; those
  /// that are for clusters have as many clusters, of 2 to the power of
  /// `clusterBits` blocks.
  static Result<std::unique_ptr<CudaTeam>> create(mlir::ModuleOp plans,
                                                  llvm::StringRef program,
                                                  int64_t mostBlocks,
                                                  int clusterBits = 0);

  /// Runs on arguments in external form, all of them; again with what is there.
  Result<Outputs> run(const interp::NamedTensors &inputs);
  Result<Outputs> runAgain();
  /// Of a rank only, whose kernels wait a tenth of a second for the others.
  Status runAlone(int rank);

  /// From now on launches, or those of one rank, run the kernels that they
  /// prefer; how many have one.
  int prefer(std::optional<int> only = std::nullopt);
  /// Compiles the kernels again with another text in the place of one that they
  /// have once.
  Status replace(llvm::StringRef from, llvm::StringRef to);
  /// What the order of things is drawn from, from now on.
  void seed(unsigned number) { nextSeed = number; }

  /// From now on a rank takes its time before it sees what others tell it, and
  /// before it tells them something.
  void makeLate(int rank) { lateRank = rank; }

  /// From now on ranks do not access each other's memory, but send each other
  /// what is accessed between the segments of launches. Their kernels are
  /// compiled now.
  Status sendMessages();

  /// The kernels of ranks that access each other's memory.
  std::string source() const {
    return program.textFor(runtime::KernelTransport::Peers);
  }
  const std::vector<runtime::GpuKernel> &kernelsOf() const {
    return program.kernels;
  }

private:
  CudaTeam() = default;
  Status compile();
  void allocate();
  std::vector<void *> addresses(int rank);
  /// `segment` is -1 for all of the launch.
  Status launch(size_t number, int segment,
                std::optional<int> only = std::nullopt);
  Status launch(size_t number);
  /// The symmetric memory of `owner`, or its shared argument of that number, as
  /// `rank` sees it.
  std::byte *memoryOf(int owner, int argument, int rank);
  void move(const runtime::GpuMessage &message);

  runtime::Plan plan;
  runtime::GpuProgram program;
  int64_t mostBlocks = 1;
  int lateRank = -1;
  /// Of the order of things in the next launch.
  unsigned nextSeed = 1;
  int clusterBits = 0;
  std::unique_ptr<runtime::ObjectCode> code;
  std::vector<emulator::Kernel> kernels;
  std::unique_ptr<RunMemory> memory;
  /// Of each rank.
  std::vector<std::vector<uint64_t>> symmetric, own;
  /// Where ranks send messages: of owner, argument and rank, the rank's copy.
  std::map<std::tuple<int, int, int>, std::vector<uint64_t>> copies;
  bool sends = false;
  /// Of each launch, of each rank.
  std::vector<std::vector<CcnControl>> controls;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_CUDATEAM_H
