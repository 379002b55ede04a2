//===- OnGpu.cpp - A rank on a GPU ----------------------------------------===//
//
// Buffers and streams are those of CUDA's runtime. The first steps are runs,
// with scalars passed by value; the others are replays of a graph, which finds
// its scalars in device memory, where each step has others.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cstdio>
#include <cuda_runtime_api.h>

namespace {

/// What a rank has on its device, given back at the end.
class RankDevice {
public:
  RankDevice(ccn_team *team, RankState &state) : team(team), state(state) {}
  ~RankDevice();

  bool prepare(adam_executor *executor);
  /// A run on the stream.
  ccn_status run(adam_executor *executor, const Training &training, int step);
  /// Captures a run; then runs are replays.
  ccn_status capture(adam_executor *executor);
  bool replay(const Training &training, int step);
  bool download();
  ccn_status synchronize(adam_executor *executor) {
    return adam_synchronize(executor, stream);
  }

private:
  /// Whether a call of CUDA has succeeded; else the other ranks need not wait.
  bool check(cudaError_t error);
  template <typename T> bool take(T *&place, size_t count) {
    // Of no bytes there is no address, and none is needed.
    return check(
        cudaMalloc(reinterpret_cast<void **>(&place), count * sizeof(T)));
  }
  template <typename T> bool upload(T *place, const std::vector<T> &from) {
    return check(cudaMemcpyAsync(place, from.data(), from.size() * sizeof(T),
                                 cudaMemcpyHostToDevice, stream));
  }
  template <typename T> bool download(std::vector<T> &to, const T *place) {
    return check(cudaMemcpyAsync(to.data(), place, to.size() * sizeof(T),
                                 cudaMemcpyDeviceToHost, stream));
  }

  ccn_team *team;
  RankState &state;
  ccn_f16 *g = nullptr;
  float *p = nullptr, *mom = nullptr, *var = nullptr, *scalars = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t runner = nullptr;
};

bool RankDevice::check(cudaError_t error) {
  if (error == cudaSuccess)
    return true;
  (void)ccn_team_fail(team, state.rank, cudaGetErrorString(error));
  return false;
}

RankDevice::~RankDevice() {
  if (runner)
    (void)cudaGraphExecDestroy(runner);
  if (graph)
    (void)cudaGraphDestroy(graph);
  if (stream)
    (void)cudaStreamDestroy(stream);
  for (void *memory :
       {(void *)g, (void *)p, (void *)mom, (void *)var, (void *)scalars})
    (void)cudaFree(memory);
}

bool RankDevice::prepare(adam_executor *executor) {
  int device = 0;
  return ccn_executor_device((ccn_executor *)executor, &device) == CCN_OK &&
         check(cudaSetDevice(device)) &&
         check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) &&
         take(g, state.g.size()) && take(p, state.p.size()) &&
         take(mom, state.mom.size()) && take(var, state.var.size()) &&
         take(scalars, 2) && upload(p, state.p) && upload(mom, state.mom) &&
         upload(var, state.var) &&
         // So that the other ranks write p where it is.
         adam_bind(executor, g, p, mom, var) == CCN_OK;
}

ccn_status RankDevice::run(adam_executor *executor, const Training &training,
                           int step) {
  state.differentiate(step);
  if (!upload(g, state.g))
    return ccn_team_check(team);
  return adam_run(executor, g, p, mom, var, training.learningRate,
                  static_cast<float>(step), stream);
}

ccn_status RankDevice::capture(adam_executor *executor) {
  void *arguments[adam_arguments] = {g, p, mom, var, scalars, scalars + 1};
  if (!check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)))
    return ccn_team_check(team);
  ccn_status status = ccn_executor_run((ccn_executor *)executor, arguments,
                                       adam_arguments, stream);
  bool isCaptured = check(cudaStreamEndCapture(stream, &graph)) &&
                    check(cudaGraphInstantiate(&runner, graph, 0));
  return isCaptured ? status : ccn_team_check(team);
}

bool RankDevice::replay(const Training &training, int step) {
  state.differentiate(step);
  std::vector<float> values = {training.learningRate, static_cast<float>(step)};
  return upload(g, state.g) && upload(scalars, values) &&
         check(cudaGraphLaunch(runner, stream));
}

bool RankDevice::download() {
  return download(state.p, p) && download(state.mom, mom) &&
         download(state.var, var);
}

} // namespace

ccn_status trainOnGpu(ccn_team *team, const ccn_program *program,
                      const Training &training, RankState &state) {
  adam_executor *executor = nullptr;
  ccn_status status =
      adam_create(team, program, state.rank, CCN_ANY_DEVICE, &executor);
  if (status != CCN_OK)
    return status;
  {
    RankDevice device(team, state);
    if (!device.prepare(executor))
      status = ccn_team_check(team);
    for (int step = 1; step <= training.steps && status == CCN_OK; ++step) {
      int runs = training.steps / 2;
      if (step == runs + 1)
        status = device.capture(executor);
      if (status != CCN_OK)
        break;
      if (step <= runs)
        status = device.run(executor, training, step);
      else if (!device.replay(training, step))
        status = ccn_team_check(team);
      // The gradient's buffer is used again.
      if (status == CCN_OK)
        status = device.synchronize(executor);
    }
    if (status == CCN_OK && !device.download())
      status = ccn_team_check(team);
    if (status == CCN_OK)
      status = device.synchronize(executor);
    // What was bound stays until the executor is gone.
    (void)adam_release(executor);
  }
  return status;
}
