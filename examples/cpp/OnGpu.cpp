//===- OnGpu.cpp - A rank on a GPU ----------------------------------------===//
//
// Buffers and streams are those of CUDA's runtime. The first steps are runs,
// with scalars passed by value; the others are replays of a graph, which finds
// its scalars in device memory, where each step has others.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cuda_runtime_api.h>
#include <memory>
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
  T *get() const { return static_cast<T *>(memory.get()); }
  void upload(const std::vector<T> &from, cudaStream_t stream) {
    checkCuda(cudaMemcpyAsync(get(), from.data(), count * sizeof(T),
                              cudaMemcpyHostToDevice, stream));
  }
  void download(std::vector<T> &to, cudaStream_t stream) const {
    checkCuda(cudaMemcpyAsync(to.data(), get(), count * sizeof(T),
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

void trainOnGpu(ccn_team *team, const ccn_program *program,
                const Training &training, RankState &state) {
  // Ranks take turns at the devices of their host; this thread uses its rank's.
  auto made =
      std::make_unique<Executor>(team, program, state.rank, CCN_ANY_DEVICE);
  int device = 0;
  check(ccn_executor_device(made->untyped(), &device));
  checkCuda(cudaSetDevice(device));
  Stream owned;
  checkCuda(cudaStreamCreateWithFlags(owned.place(), cudaStreamNonBlocking));
  cudaStream_t stream = owned.get();
  DeviceArray<ccn_f16> g(state.g.size());
  DeviceArray<float> p(state.p.size()), mom(state.mom.size()),
      var(state.var.size()), scalars(2);
  Graph graph;
  GraphRunner runner;
  // Goes before the memory that is bound.
  std::unique_ptr<Executor> owner = std::move(made);
  Executor &executor = *owner;

  p.upload(state.p, stream);
  mom.upload(state.mom, stream);
  var.upload(state.var, stream);
  // So that the other ranks write p where it is.
  check(adam_bind(executor.get(), g.get(), p.get(), mom.get(), var.get()));

  int step = 1;
  auto begin = [&] {
    state.differentiate(step);
    g.upload(state.g, stream);
  };
  // After it the gradient's vector is free again.
  auto end = [&] {
    check(adam_synchronize(executor.get(), stream));
    ++step;
  };
  while (step <= training.steps / 2) {
    begin();
    check(adam_run(executor.get(), g.get(), p.get(), mom.get(), var.get(),
                   training.learningRate, static_cast<float>(step), stream));
    end();
  }

  void *arguments[adam_arguments] = {
      g.get(), p.get(), mom.get(), var.get(), scalars.get(), scalars.get() + 1};
  checkCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ccn_status captured =
      ccn_executor_run(executor.untyped(), arguments, adam_arguments, stream);
  checkCuda(cudaStreamEndCapture(stream, graph.place()));
  check(captured);
  checkCuda(cudaGraphInstantiate(runner.place(), graph.get(), 0));
  // No rank runs while another may still wait for its device.
  check(ccn_team_meet(team, state.rank));
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
  check(adam_synchronize(executor.get(), stream));
}
