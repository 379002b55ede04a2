//===- WeakTeam.h - Kernels of a plan on weak memory ------------*- C++ -*-===//
//
// Compiles the text of a plan's kernels for the CPU and runs it several times
// on the ranks of a WeakMachine, which are as far apart as they let each other
// be: each run has other inputs, and no rank waits for another between runs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_WEAKTEAM_H
#define CCN_TEST_UNIT_CUDA_WEAKTEAM_H

#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"
#include "test/common/emulator/Kernels.h"
#include "test/common/emulator/WeakMachine.h"

#include <functional>
#include <optional>

namespace ccn::test {

/// Element `i` of an argument of a rank in a run, the first of which is 0.
struct ElementOfRun {
  int rank, run, argument;
  int64_t i;
};

/// A plan, how it runs, and what comes of it. Arguments are of f32 or f16, and
/// values exact in both.
struct ProtocolCase {
  std::string name;
  runtime::Plan plan;
  /// What is written before each run, and what must be there after it; nothing
  /// of elements that do not matter.
  std::function<std::optional<float>(const ElementOfRun &)> input, expected;
  /// Blocks, or clusters of them, of which some may have nothing to do.
  int blocks = 2, runs = 5;
  /// Of a block; 0 is as many as the kernel is for.
  int threads = 0;
  int clusterBits = 0;
  /// How many orders are tried; fewer where there is much to compute.
  unsigned seeds = 12;
  /// Whether launches run what they prefer.
  bool prefers = false;
  /// Edits the kernels' text, for example to smaller chunks.
  std::function<void(std::string &source)> adapt = {};
};

/// The kernels of a case, with all their text as it runs in `source`.
runtime::GpuProgram programOf(const ProtocolCase &protocol);

class WeakTeam {
public:
  /// `source` may be other than the program's.
  static Result<std::unique_ptr<WeakTeam>>
  create(const ProtocolCase &protocol, const runtime::GpuProgram &program,
         const std::string &source);

  /// Returns what is wrong, or nothing.
  std::string run(unsigned seed);

private:
  /// Where a rank's memory is in the machine's.
  struct Places {
    size_t symmetric, own;
    std::vector<size_t> arguments, controls, workspaces;
  };
  struct Call;

  WeakTeam(const ProtocolCase &protocol, const runtime::GpuProgram &program)
      : protocol(protocol), program(program) {}
  void place();
  int blocksOf(size_t launch) const;
  void begin(emulator::WeakMachine &machine) const;
  void submit(emulator::WeakMachine &machine, int rank, int run, size_t launch);
  std::function<void()> threadOf(emulator::WeakMachine &machine, int rank,
                                 size_t launch, int block);
  void setInputs(emulator::WeakMachine &machine, int rank, int run) const;
  void check(emulator::WeakMachine &machine, int rank, int run);
  int64_t countOf(int rank, size_t argument) const;

  const ProtocolCase &protocol;
  const runtime::GpuProgram &program;
  emulator::MemoryInstructions instructions;
  std::vector<Places> places;
  size_t bytes = 0;
  int mostBlocks = 1;
  /// Of each rank's blocks, of all kernels: each block has its own copy of the
  /// code, and so of shared memory.
  std::vector<std::vector<std::unique_ptr<runtime::ObjectCode>>> code;
  std::vector<std::vector<std::vector<emulator::Kernel>>> kernels;
  std::string problem;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_WEAKTEAM_H
