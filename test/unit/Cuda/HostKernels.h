//===- HostKernels.h - Generated kernels on the fake driver -----*- C++ -*-===//
//
// Compiles a program's CUDA C++ for the host and gives the kernels to the
// driver of FakeCuda.cpp, so that the executor for GPUs runs what is generated,
// on all ranks, without a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_HOSTKERNELS_H
#define CCN_TEST_UNIT_CUDA_HOSTKERNELS_H

#include "runtime/GpuProgram.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ccn::test {

class HostKernels {
public:
  /// Compiles the kernels of a program, of which blocks get fewer threads and
  /// launches fewer blocks, and puts them in the driver. The text of the error
  /// if the compiler finds one.
  static std::unique_ptr<HostKernels>
  create(runtime::GpuProgram &program, size_t addresses, std::string &error);
  ~HostKernels();

private:
  using Run = void (*)(unsigned block, unsigned blocks, unsigned threads,
                       const void *context, const void *arguments,
                       const void *numbers);
  struct Kernel {
    HostKernels *all;
    std::string name;
  };

  static void run(void *kernel, unsigned blocks, unsigned threads,
                  const void *context, const void *arguments,
                  const void *numbers);
  /// The module of a block of a launch of a rank.
  void *moduleOf(int rank, int launch, unsigned block);

  std::string folder, path;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::mutex mutex;
  std::map<std::tuple<int, int, unsigned>, void *> modules;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_HOSTKERNELS_H
