//===- FakeStreams.cpp - Streams of the driver without GPUs ---------------===//
//
// Also events and graphs.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "FakeStreams.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

using fake::mutex;
using fake::objects;
using fake::Work;

namespace {

/// The stream that this thread captures.
thread_local CUstream capturing = nullptr;
/// Forbids this thread what would spoil others' captures, or not.
thread_local CUstreamCaptureMode captureMode = CU_STREAM_CAPTURE_MODE_GLOBAL;
/// Whether another thread captures, which was spoiled if the count is not 0.
std::atomic<bool> captureElsewhere{false};
std::atomic<int> spoiled{0};

std::atomic<int> sharedQueues{0};

} // namespace

void fake::awaitDevice() {
  if (currentDevice() < 0)
    return;
  CUcontext context = currentContext();
  std::lock_guard give(context->gives);
  std::unique_lock lock(context->mutex);
  context->changed.wait(lock, [&] { return context->pending == 0; });
}

bool fake::isCapturing() {
  if (captureElsewhere && captureMode == CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ++spoiled;
    return true;
  }
  return capturing != nullptr;
}

unsigned fake::countQueues() {
  static const unsigned count = [] {
    const char *text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    return std::clamp(text ? std::atoi(text) : 8, 1, 32);
  }();
  return count;
}

void fake::beLate(uint64_t &state, unsigned times, unsigned factor) {
  static const unsigned most = [] {
    const char *set = std::getenv("CCN_FAKE_LATE");
    return set ? static_cast<unsigned>(std::atoi(set)) : 0u;
  }();
  if (most == 0)
    return;
  state = state * 6364136223846793005u + 1442695040888963407u;
  auto drawn = static_cast<unsigned>(state >> 33);
  if (drawn % times == 0)
    std::this_thread::sleep_for(
        std::chrono::microseconds(drawn / times % (most * factor)));
}

void CUstream_st::takeQueue() {
  context = fake::currentContext();
  queue = &context->queues[context->streams++ % fake::countQueues()];
}

/// The real driver finds a queue when something is first given to a stream, and
/// may find the same for one that another thread begins to use meanwhile.
void CUstream_st::findQueue() {
  context = fake::currentContext();
  bool isLate = context->beginners++ > 0;
  sharedQueues += isLate;
  if (isLate)
    queue = &context->queues[(context->streams - 1) % fake::countQueues()];
  else
    takeQueue();
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  --context->beginners;
}

extern "C" {

int ccnFakeSharedQueues() { return sharedQueues.exchange(0); }
void ccnFakeEnqueue(CUstream stream, void (*work)(void *), void *data) {
  stream->add([=] { work(data); });
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  CCN_WAITING(cuStreamCreate)
  if (flags != CU_STREAM_NON_BLOCKING)
    return CUDA_ERROR_INVALID_VALUE;
  *stream = new CUstream_st;
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  stream->finish();
  delete stream;
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream stream) {
  CCN_CONTEXT(cuStreamQuery)
  if (stream->graph)
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return stream->isBusy() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *number) {
  CCN_CONTEXT(cuStreamGetId)
  *number = stream->number;
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  CCN_CONTEXT(cuStreamIsCapturing)
  *status = stream->graph ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                          : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  CCN_CALL(cuThreadExchangeStreamCaptureMode)
  std::swap(*mode, captureMode);
  return CUDA_SUCCESS;
}
/// Has another thread capture a graph, or not; how many calls have spoiled it.
int ccnFakeCaptureElsewhere(bool is) {
  captureElsewhere = is;
  return spoiled.exchange(0);
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  CCN_UNCAPTURED(cuStreamBeginCapture)
  if (mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL || stream->graph)
    return CUDA_ERROR_INVALID_VALUE;
  stream->graph = new CUgraph_st{stream};
  stream->isOrigin = true;
  stream->work = stream->joined = 0;
  capturing = stream;
  ++objects;
  return CUDA_SUCCESS;
}

static std::set<CUstream> captured;

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  if (capturing != stream)
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  capturing = nullptr;
  *graph = std::exchange(stream->graph, nullptr);
  stream->isOrigin = false;
  bool isJoined = true;
  std::lock_guard lock(mutex);
  for (auto it = captured.begin(); it != captured.end();) {
    if ((*it)->graph != *graph) {
      ++it;
      continue;
    }
    isJoined &= (*it)->joined == (*it)->work;
    (*it)->graph = nullptr;
    it = captured.erase(it);
  }
  return isJoined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  CCN_CONTEXT(cuStreamWaitEvent)
  if (event->graph) {
    if (stream->graph && stream->graph != event->graph)
      return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!stream->graph) {
      stream->graph = event->graph;
      stream->work = 1; // Even without more it must be joined.
      stream->joined = 0;
      std::lock_guard lock(mutex);
      captured.insert(stream);
    }
    if (event->stream != stream && event->streamWork == event->stream->work)
      event->stream->joined = event->stream->work;
    stream->graph->steps.push_back({stream});
    stream->graph->steps.back().awaited = event->numberInGraph;
    return CUDA_SUCCESS;
  }
  if (stream->graph)
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  stream->add([event, number = event->recorded] { event->wait(number); });
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  CCN_UNCAPTURED(cuEventCreate)
  *event = new CUevent_st;
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  delete event;
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  CCN_CONTEXT(cuEventRecord)
  event->stream = stream;
  event->graph = stream->graph;
  event->streamWork = stream->work;
  if (stream->graph) {
    event->numberInGraph = stream->graph->events++;
    stream->graph->steps.push_back({stream});
    stream->graph->steps.back().recorded = event->numberInGraph;
    return CUDA_SUCCESS;
  }
  stream->add([event, number = ++event->recorded] { event->finish(number); });
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  CCN_CONTEXT(cuEventQuery)
  if (event->graph)
    return CUDA_ERROR_CAPTURED_EVENT;
  std::lock_guard lock(event->mutex);
  return event->done == event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  CCN_CONTEXT(cuEventElapsedTime)
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiate(CUgraphExec *runner, CUgraph graph,
                            unsigned long long) {
  CCN_WAITING(cuGraphInstantiate)
  *runner = new CUgraphExec_st{*graph};
  for (const CUgraph_st::Step &step : graph->steps)
    if (step.stream != graph->origin)
      (*runner)->branches[step.stream].beginAsBranch();
  ++objects;
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec runner, CUstream stream) {
  CCN_CONTEXT(cuGraphLaunch)
  // All of it is given at once.
  std::lock_guard give(fake::currentContext()->gives);
  using Events = std::vector<CUevent_st>;
  auto events = std::make_shared<Events>(runner->graph.events);
  for (const CUgraph_st::Step &step : runner->graph.steps) {
    CUstream where = step.stream == runner->graph.origin
                         ? stream
                         : &runner->branches.at(step.stream);
    Work work = step.work;
    if (step.recorded >= 0)
      work = [=] { (*events)[size_t(step.recorded)].finish(1); };
    else if (step.awaited >= 0)
      work = [=] { (*events)[size_t(step.awaited)].wait(1); };
    where->add(std::move(work), /*isOfGraph=*/true);
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete graph;
  --objects;
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec runner) {
  for (auto &[stream, branch] : runner->branches)
    branch.finish();
  delete runner;
  --objects;
  return CUDA_SUCCESS;
}

} // extern "C"
