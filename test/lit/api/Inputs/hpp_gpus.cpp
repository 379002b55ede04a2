// ccn.hpp on GPUs: the driver is one whose devices are threads of the process
// and whose memory is the host's. The package is `average` of SamplePackages.h:
// y <- y + scale * all_reduce(sum, x), and s is a slice of y.
#include <ccn.hpp>

#include <cstdio>
#include <vector>

extern "C" {
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxPushCurrent_v2(void *context);
int cuStreamCreate(void **stream, unsigned flags);
int cuMemAlloc_v2(unsigned long long *address, size_t bytes);
}

namespace {

/// Elements in a device's memory, which stays.
ccn::Span<float> onDevice(size_t count, float value) {
  unsigned long long address = 0;
  if (cuMemAlloc_v2(&address, (count + 1) * sizeof(float)) != 0)
    throw std::runtime_error("no memory");
  auto *data = reinterpret_cast<float *>(address);
  for (size_t i = 0; i < count; ++i)
    data[i] = value;
  return {data, count};
}

void runRank(ccn::Rank &rank, const ccn::Program &program) {
  ccn::Executor executor = rank.makeExecutor(program);
  void *context = nullptr, *stream = nullptr;
  if (cuDevicePrimaryCtxRetain(&context, executor.device()) != 0 ||
      cuCtxPushCurrent_v2(context) != 0 || cuStreamCreate(&stream, 1) != 0)
    throw std::runtime_error("no stream");
  auto part = [&](const char *name) {
    return static_cast<size_t>(
        program.part(program.find(name), rank.index()).count);
  };
  auto x = onDevice(part("x"), static_cast<float>(rank.index()));
  auto y = onDevice(part("y"), 1);
  auto s = onDevice(part("s"), 0);
  auto scale = onDevice(1, 2);
  // A value in host memory, then one in the device's.
  executor.run({x, y, 0.5f, s}, stream);
  executor.bind({x, y, 0.5f, s});
  executor.run({x, y, scale, s}, stream);
  executor.synchronize(stream);
  rank.meet();
  if (rank.index() == 3)
    std::printf("device %d: y = %g, %g; copies %d\n", executor.device(), y[0],
                s[s.size() - 1], executor.copies(program.find("y")));
  rank.meet();
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2 || cuInit(0) != 0)
    return 2;
  try {
    ccn::Program program = ccn::Program::load(argv[1], CCN_TARGET_GPU);
    ccn::Team team = ccn::Team::create({program});
    team.setRunsAtOnce(1);
    team.run([&](ccn::Rank &rank) { runRank(rank, program); });
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
