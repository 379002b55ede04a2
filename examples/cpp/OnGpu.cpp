//===- OnGpu.cpp - A rank on a GPU ----------------------------------------===//
//
// Buffers and streams are those of CUDA's runtime. The first steps are runs,
// with scalars passed by value; the others are replays of a graph, which finds
// its scalars in device memory, where each step has others.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cuda_runtime_api.h>
#include <stdexcept>
#include <utility>

namespace {

void checkCuda(cudaError_t error) {
  if (error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
}

/// Something of CUDA's, given back at the end.
template <typename Handle, cudaError_t (*giveBack)(Handle)> class Owned {
public:
  ~Owned() {
    if (handle)
      (void)giveBack(handle);
  }
  Owned() = default;
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;

  Handle *place() { return &handle; }
  Handle get() const { return handle; }

private:
  Handle handle = nullptr;
};

/// Elements in the device's memory.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(size_t count) : count(count) {
    checkCuda(cudaMalloc(memory.place(), count * sizeof(T)));
  }
  /// Null if there are none.
  T *data() const { return static_cast<T *>(memory.get()); }
  size_t size() const { return count; }
  void upload(const std::vector<T> &from, cudaStream_t stream) {
    checkCuda(cudaMemcpyAsync(data(), from.data(), count * sizeof(T),
                              cudaMemcpyHostToDevice, stream));
  }
  void download(std::vector<T> &to, cudaStream_t stream) const {
    checkCuda(cudaMemcpyAsync(to.data(), data(), count * sizeof(T),
                              cudaMemcpyDeviceToHost, stream));
  }

private:
  size_t count;
  Owned<void *, cudaFree> memory;
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphRunner = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

} // namespace

void trainOnGpu(ccn::Rank &rank, const ccn::Program &program,
                const Training &training, RankState &state) {
  // Ranks take turns at the devices of their host; this thread uses its rank's.
  ccn::Executor made = rank.makeExecutor(program);
  checkCuda(cudaSetDevice(made.device()));
  Stream owned;
  checkCuda(cudaStreamCreateWithFlags(owned.place(), cudaStreamNonBlocking));
  cudaStream_t stream = owned.get();
  DeviceArray<ccn_f16> g(state.g.size());
  DeviceArray<float> p(state.p.size()), mom(state.mom.size()),
      var(state.var.size()), scalars(2);
  Graph graph;
  GraphRunner runner;
  // Goes before the memory that is bound.
  ccn::Executor executor = std::move(made);

  p.upload(state.p, stream);
  mom.upload(state.mom, stream);
  var.upload(state.var, stream);
  // So that the other ranks write p where it is.
  executor.bind({g, p, mom, var, 0.0f, 0.0f});

  int step = 1;
  auto begin = [&] {
    state.differentiate(step);
    g.upload(state.g, stream);
  };
  // After it the gradient's vector is free again.
  auto end = [&] {
    executor.synchronize(stream);
    ++step;
  };
  while (step <= training.steps / 2) {
    begin();
    executor.run(
        {g, p, mom, var, training.learningRate, static_cast<float>(step)},
        stream);
    end();
  }

  ccn::Span<float> lr(scalars.data(), 1), t(scalars.data() + 1, 1);
  checkCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  executor.run({g, p, mom, var, lr, t}, stream);
  checkCuda(cudaStreamEndCapture(stream, graph.place()));
  checkCuda(cudaGraphInstantiate(runner.place(), graph.get(), 0));
  // No rank runs while another may still wait for its device.
  rank.meet();
  while (step <= training.steps) {
    begin();
    std::vector<float> values = {training.learningRate,
                                 static_cast<float>(step)};
    scalars.upload(values, stream);
    checkCuda(cudaGraphLaunch(runner.get(), stream));
    end();
  }

  p.download(state.p, stream);
  mom.download(state.mom, stream);
  var.download(state.var, stream);
  executor.synchronize(stream);
}
