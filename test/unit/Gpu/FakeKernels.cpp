//===- FakeKernels.cpp - Kernels on the host ------------------------------===//
//
// A block's threads are a loop. Blocks of one number meet across ranks, so
// doing them in turn is enough.
//
//===----------------------------------------------------------------------===//

#include "FakeKernels.h"

#include "test/common/emulator/TensorMap.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace {

struct Block {
  const CcnContext &c;
  unsigned index, blocks, threads;
  const long long *numbers;
  void *const *arguments;
  const CcnTensorMap *tensorMaps;

  unsigned nextEpoch() {
    return static_cast<unsigned>(++c.control->epochs[index]);
  }

  std::atomic_ref<unsigned> flag(int rank, long long number) {
    auto *words = reinterpret_cast<unsigned *>(c.symmetric[rank] + c.flags);
    return std::atomic_ref(words[number * CCN_MAX_BLOCKS + index]);
  }

  void report(unsigned kind, int peer, int code, unsigned flag,
              unsigned expected, unsigned seen) {
    std::atomic_ref state(c.fault->kind);
    if (state != CCN_NO_FAULT)
      return;
    c.fault->launch = c.launch;
    c.fault->peer = peer;
    c.fault->code = code;
    c.fault->flag = flag;
    c.fault->expected = expected;
    c.fault->seen = seen;
    state = kind;
  }

  void await(int peer, long long number, unsigned epoch) {
    auto start = std::chrono::steady_clock::now();
    while (true) {
      unsigned seen = flag(c.rank, number).load(std::memory_order_acquire);
      if (static_cast<int>(seen - epoch) >= 0)
        return;
      auto flagNumber = static_cast<unsigned>(number);
      if (std::atomic_ref(*const_cast<unsigned *>(c.stop)))
        return report(CCN_STOPPED, peer, 0, flagNumber, epoch, seen);
      if (std::chrono::steady_clock::now() - start >
          std::chrono::nanoseconds(c.timeLimit))
        return report(CCN_TIMED_OUT, peer, 0, flagNumber, epoch, seen);
      std::this_thread::yield();
    }
  }

  void meet(long long first, unsigned epoch) {
    if (c.segment >= 0)
      return;
    auto ranks = static_cast<int>(numbers[1]);
    int begin = c.rank / ranks * ranks;
    for (int peer = begin; peer < begin + ranks; ++peer)
      flag(peer, first + c.rank).store(epoch, std::memory_order_release);
    for (int peer = begin; peer < begin + ranks; ++peer)
      await(peer, first + peer, epoch);
  }

  /// Calls body(i) for the block's elements of `count`.
  template <typename Body> void forEach(long long count, Body body) {
    for (long long base = static_cast<long long>(index) * threads; base < count;
         base += static_cast<long long>(blocks) * threads)
      for (long long i = base; i < base + threads && i < count; ++i)
        body(i);
  }
};

void publish(Block &block) {
  unsigned epoch = block.nextEpoch();
  auto *x = static_cast<const float *>(block.arguments[0]);
  auto *own = reinterpret_cast<float *>(block.c.symmetric[block.c.rank]);
  block.forEach(block.numbers[0], [&](long long i) { own[i] = x[i]; });
  if (block.numbers[2] == 1)
    return;
  if (block.numbers[2] == 2 && block.index == 0)
    block.report(CCN_FAILED, 0, 1, 0, 0, 0);
  block.meet(0, epoch);
}

void update(Block &block) {
  if (block.numbers[2] == 1 || std::atomic_ref(block.c.fault->kind) != 0)
    return;
  unsigned epoch = block.nextEpoch();
  auto *y = static_cast<float *>(block.arguments[1]);
  float scale = *static_cast<const float *>(block.arguments[2]);
  block.forEach(block.numbers[0], [&](long long i) {
    float sum = 0;
    for (int rank = 0; rank < block.numbers[1]; ++rank)
      sum += reinterpret_cast<const float *>(block.c.symmetric[rank])[i];
    y[i] = y[i] + scale * sum;
  });
  block.meet(block.numbers[1], epoch);
}

void slice(Block &block) {
  auto *y = static_cast<const float *>(block.arguments[1]);
  auto *s = static_cast<float *>(block.arguments[3]);
  block.forEach(block.numbers[1],
                [&](long long i) { s[i] = y[block.numbers[0] + i]; });
}

void neighbour(Block &block) {
  unsigned epoch = block.nextEpoch();
  block.meet(0, epoch);
  long long next = (block.c.rank + 1) % block.numbers[1];
  auto *x = static_cast<const float *>(block.arguments[2 + next]);
  auto *y = static_cast<float *>(block.arguments[1]);
  block.forEach(block.numbers[0], [&](long long i) { y[i] = x[i]; });
  block.meet(block.numbers[1], epoch);
}

void count(Block &block) {
  unsigned epoch = block.nextEpoch();
  block.meet(block.numbers[2], epoch);
  if (block.index == 0)
    static_cast<float *>(block.arguments[1])[block.numbers[0]] += 1;
}

void box(Block &block) {
  alignas(1024) char tile[1024];
  int at[] = {static_cast<int>(block.numbers[0]),
              static_cast<int>(block.numbers[1])};
  ccn::emulator::decode(&block.tensorMaps[0]).load(tile, at);
  ccn::emulator::decode(&block.tensorMaps[1]).store(tile, at);
}

template <void (*body)(Block &)>
void run(unsigned blocks, unsigned threads, const void *context,
         const void *arguments, const void *numbers, const void *tensorMaps) {
  for (unsigned i = 0; i < blocks; ++i) {
    Block block{*static_cast<const CcnContext *>(context),
                i,
                blocks,
                threads,
                static_cast<const long long *>(numbers),
                static_cast<void *const *>(arguments),
                static_cast<const CcnTensorMap *>(tensorMaps)};
    body(block);
  }
}

#define CCN_BYTES(maps)                                                        \
  {sizeof(CcnContext), 32, 24, maps * sizeof(CcnTensorMap)}
const FakeKernel kernels[] = {{"publish", run<publish>, CCN_BYTES(0)},
                              {"update", run<update>, CCN_BYTES(0)},
                              {"slice", run<slice>, CCN_BYTES(0)},
                              {"neighbour", run<neighbour>, CCN_BYTES(0)},
                              {"count", run<count>, CCN_BYTES(0)},
                              {"box", run<box>, CCN_BYTES(2)}};
#undef CCN_BYTES

} // namespace

const FakeKernel *findFakeKernel(const char *name) {
  for (const FakeKernel &kernel : kernels)
    if (std::strcmp(kernel.name, name) == 0)
      return &kernel;
  return nullptr;
}
