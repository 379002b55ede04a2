//===- MeasureMachine.cpp - Figures of this machine -----------------------===//
//
// Each figure is the best of some repetitions: what else the machine does makes
// them slower, never faster.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/MeasureMachine.h"

#include "CpuMachine.h"
#include "runtime/tensor/Convolution.h"
#include "runtime/tensor/MatrixProduct.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

using namespace ccn;
using namespace ccn::runtime;

namespace {

using Words = std::vector<uint64_t>;

double nowUs() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// So that what is computed is needed.
std::atomic<uint64_t> sink;

/// Waits until `count` threads are here, again and again. Threads may outnumber
/// the cores that are free, so they let others go on.
class Meeting {
public:
  explicit Meeting(int count) : count(count) {}

  void wait() {
    int turn = turns.load();
    if (arrived.fetch_add(1) + 1 == count) {
      arrived = 0;
      ++turns;
      return;
    }
    for (int spins = 0; turns.load() == turn; ++spins)
      if (spins % 1000 == 999)
        std::this_thread::yield();
  }

private:
  int count;
  std::atomic<int> arrived = 0, turns = 0;
};

class Measurement {
public:
  Measurement();

  int cores = 1;
  int64_t cacheBytes = 0;

  /// Microseconds of `work(core)` on the first cores at once; the best of some.
  double bestUs(int threads, const std::function<void(int)> &work) const;

  nlohmann::ordered_json rates() const;

private:
  void addMemory(nlohmann::ordered_json &rates) const;
  void addWaits(nlohmann::ordered_json &rates) const;
  void addArithmetic(nlohmann::ordered_json &rates) const;
  double latencyUs() const;
  double flagUs() const;
  double wakeUs() const;
  template <typename T> double gops() const;
  double productTflops(ElementType type) const;
  double convolutionTflops() const;
};

/// The bytes of the largest cache that Linux names.
int64_t largestCache() {
  int64_t largest = 0;
  for (int i = 0; i < 8; ++i) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" +
                       std::to_string(i) + "/size");
    int64_t size = 0;
    char unit = 'K';
    if (file >> size >> unit)
      largest = std::max(largest, size * (unit == 'M' ? 1 << 20 : 1 << 10));
  }
  constexpr int64_t usual = 16 << 20;
  return largest > 0 ? largest : usual;
}

Measurement::Measurement() : cacheBytes(largestCache()) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    cores = std::max(1, CPU_COUNT(&set));
}

double Measurement::bestUs(int threads,
                           const std::function<void(int)> &work) const {
  constexpr int repetitions = 5;
  Meeting meeting(threads);
  double best = 0;
  auto run = [&](int core) {
    for (int i = 0; i < repetitions; ++i) {
      meeting.wait();
      double begin = nowUs();
      work(core);
      meeting.wait();
      double us = nowUs() - begin;
      if (core == 0)
        best = i == 0 ? us : std::min(best, us);
    }
  };
  std::vector<std::thread> others;
  for (int core = 1; core < threads; ++core)
    others.emplace_back(run, core);
  run(0);
  for (std::thread &other : others)
    other.join();
  return best;
}

/// GB/s, to the precision that is worth it; at least what a file may have.
double rounded(double number) {
  double least = std::max(number, 0.001);
  double scale = std::pow(10, 2 - std::floor(std::log10(least)));
  return std::round(least * scale) / scale;
}

void Measurement::addMemory(nlohmann::ordered_json &rates) const {
  // All cores together access several times what the cache holds.
  int64_t bytes = std::clamp<int64_t>(4 * cacheBytes, 64 << 20, 1 << 30);
  auto words = static_cast<size_t>(bytes / 8 / cores);
  std::vector<Words> own;
  for (int core = 0; core < cores; ++core)
    own.emplace_back(words, 1);
  auto moved = static_cast<double>(words) * 8;
  auto read = [&](size_t count, int times) {
    return [&own, count, times](int core) {
      const Words &mine = own[static_cast<size_t>(core)];
      for (int i = 0; i < times; ++i)
        sink += std::accumulate(
            mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(count),
            uint64_t(0));
    };
  };
  auto write = [&](int core) {
    Words &mine = own[static_cast<size_t>(core)];
    std::fill(mine.begin(), mine.end(), uint64_t(core) + sink.load() % 2);
  };
  double all = moved * cores / 1000;
  rates["memory_read_gbps"] = rounded(all / bestUs(cores, read(words, 1)));
  rates["memory_write_gbps"] = rounded(all / bestUs(cores, write));
  rates["memory_us"] = rounded(latencyUs());
  double one = rounded(moved / 1000 / bestUs(1, read(words, 1)));
  rates["core_gbps"] = one;
  rates["cache_bytes"] = cacheBytes;
  // Half of the cache, so that nothing else drives it out.
  size_t held =
      std::min(words, static_cast<size_t>(cacheBytes / 2 / 8 / cores));
  constexpr int times = 8;
  rates["cache_gbps"] = rounded(static_cast<double>(held) * 8 * cores * times /
                                1000 / bestUs(cores, read(held, times)));
  // Ranks share the memory: what they send each other they store in it.
  double stored = rounded(moved / 1000 / bestUs(1, write));
  rates["link_store_gbps"] = stored;
  rates["link_load_gbps"] = one;
  rates["link_us"] = rounded(flagUs());
  rates["core_link_gbps"] = stored;
}

/// From a load to the next one whose address it is, in more than the cache.
double Measurement::latencyUs() const {
  constexpr size_t line = 8;
  size_t lines = static_cast<size_t>(
      std::clamp<int64_t>(2 * cacheBytes, 32 << 20, 256 << 20) / 64);
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Words next(lines * line);
  for (size_t i = 0; i < lines; ++i)
    next[order[i] * line] = order[(i + 1) % lines] * line;
  constexpr int loads = 200'000;
  return bestUs(1,
                [&](int) {
                  uint64_t at = 0;
                  for (int i = 0; i < loads; ++i)
                    at = next[at];
                  sink += at;
                }) /
         loads;
}

/// From a store of one core until another one sees it. On a single core, from
/// one thread to the next.
double Measurement::flagUs() const {
  constexpr int rounds = 2000;
  std::atomic<int> ball = 0;
  return bestUs(2,
                [&](int core) {
                  for (int i = 0; i < rounds; ++i) {
                    for (int spins = 0; ball.load() % 2 != core; ++spins)
                      if (spins % 1000 == 999)
                        std::this_thread::yield();
                    ++ball;
                  }
                }) /
         (2 * rounds);
}

/// From a thread's signal until another one that sleeps has woken.
double Measurement::wakeUs() const {
  constexpr int rounds = 200;
  std::mutex mutex;
  std::condition_variable changed;
  int ball = 0;
  return bestUs(2,
                [&](int core) {
                  for (int i = 0; i < rounds; ++i) {
                    std::unique_lock lock(mutex);
                    changed.wait(lock, [&] { return ball % 2 == core; });
                    ++ball;
                    changed.notify_all();
                  }
                }) /
         (2 * rounds);
}

void Measurement::addWaits(nlohmann::ordered_json &rates) const {
  double wake = rounded(wakeUs());
  constexpr int rounds = 500;
  Meeting meeting(std::max(cores, 2));
  double barrier = bestUs(std::max(cores, 2),
                          [&](int) {
                            for (int i = 0; i < rounds; ++i)
                              meeting.wait();
                          }) /
                   rounds;
  // A run wakes the threads of its ranks, and waits until they are done. They
  // call what they launch, and wake each other between streams.
  rates["run_us"] = rounded(2 * wake);
  constexpr int calls = 100'000;
  std::function<void()> empty = [] { sink += 1; };
  double call = rounded(bestUs(1,
                               [&](int) {
                                 for (int i = 0; i < calls; ++i)
                                   empty();
                               }) /
                        calls);
  rates["graph_launch_us"] = call;
  rates["stream_launch_us"] = call;
  rates["event_us"] = wake;
  rates["barrier_us"] = rounded(barrier);
  // A CPU's kernel is one thread.
  for (const char *none : {"grid_us", "cluster_us", "block_us"})
    rates[none] = 0.001;
}

/// Multiplications and additions of all cores.
template <typename T> double Measurement::gops() const {
  constexpr size_t lanes = 256;
  constexpr int turns = 20'000;
  double us = bestUs(cores, [&](int core) {
    T values[lanes];
    std::fill(std::begin(values), std::end(values), T(core));
    for (int i = 0; i < turns; ++i)
      for (T &value : values)
        value = value * T(0.999) + T(0.001);
    sink +=
        static_cast<uint64_t>(std::accumulate(values, values + lanes, T(0)));
  });
  return 2.0 * lanes * turns * cores / us / 1000;
}

double Measurement::productTflops(ElementType type) const {
  constexpr int64_t size = 192;
  auto bytes = static_cast<size_t>(size * size * sizeInBytes(type));
  std::vector<std::vector<std::byte>> matrices(static_cast<size_t>(3 * cores),
                                               std::vector<std::byte>(bytes));
  std::vector<Workspace> workspaces(static_cast<size_t>(cores));
  double us = bestUs(cores, [&](int core) {
    auto at = static_cast<size_t>(core);
    if (!multiplyMatrices(type, {size, size, size},
                          {matrices[3 * at].data(), size, 1},
                          {matrices[3 * at + 1].data(), size, 1},
                          matrices[3 * at + 2].data(), size, 1, workspaces[at]))
      sink += 1;
  });
  return 2.0 * size * size * size * cores / us / 1e6;
}

double Measurement::convolutionTflops() const {
  constexpr int64_t size = 32, channels = 16, filter = 3;
  ConvolutionSizes sizes{1, channels, channels, {}, {}};
  for (ConvolutionAxis *axis : {&sizes.vertical, &sizes.horizontal}) {
    axis->size = size;
    axis->filter = filter;
    axis->stride = 1;
    axis->before = axis->after = 1;
    axis->setResult();
  }
  using Floats = std::vector<float>;
  std::vector<Floats> x(static_cast<size_t>(cores),
                        Floats(size * size * channels, 1));
  std::vector<Floats> y = x;
  Floats w(channels * channels * filter * filter, 1);
  std::vector<Workspace> workspaces(static_cast<size_t>(cores));
  auto bytes = [](Floats &floats) {
    return reinterpret_cast<std::byte *>(floats.data());
  };
  double us = bestUs(cores, [&](int core) {
    auto at = static_cast<size_t>(core);
    if (!convolve(ElementType::F32, sizes, bytes(x[at]), bytes(w), bytes(y[at]),
                  workspaces[at]))
      sink += 1;
  });
  return 2.0 * size * size * channels * channels * filter * filter * cores /
         us / 1e6;
}

void Measurement::addArithmetic(nlohmann::ordered_json &rates) const {
  rates["f64_gops"] = rounded(gops<double>());
  rates["other_gops"] = rounded(gops<float>());
  constexpr int chain = 1'000'000;
  rates["operation_us"] =
      rounded(bestUs(1,
                     [&](int) {
                       auto value = static_cast<float>(sink.load() % 2);
                       for (int i = 0; i < chain; ++i)
                         value = value * 0.999F + 0.001F;
                       sink += static_cast<uint64_t>(value);
                     }) /
              chain);
  nlohmann::ordered_json products;
  for (auto type : {ElementType::F32, ElementType::F64, ElementType::BF16,
                    ElementType::F16})
    products[std::string(name(type))] = rounded(productTflops(type));
  rates["library_tflops"] = products;
  rates["kernel_tflops"] = products;
  rates["convolution_tflops"] = rounded(convolutionTflops());
  rates["padded_gbps"] = rates["core_gbps"];
}

/// The name that the CPU gives itself.
std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "a CPU";
}

std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

nlohmann::ordered_json Measurement::rates() const {
  nlohmann::ordered_json rates;
  rates["on"] = cpuName() + ", " + std::to_string(cores) + " core" +
                (cores == 1 ? "" : "s") +
                ", by ccrun --measure-machine; the size of the cache is what "
                "the system says";
  rates["shared"] = true;
  rates["cores"] = cores;
  addMemory(rates);
  addWaits(rates);
  addArithmetic(rates);
  return rates;
}

} // namespace

Result<std::string> ccn::measureMachine(const std::string &name) {
  Measurement measurement;
  auto machine = nlohmann::ordered_json::parse(cpuMachine);
  nlohmann::ordered_json rates = measurement.rates();
  machine["name"] = name;
  machine["measured"]["on"] = cpuName();
  machine["measured"]["date"] = today();
  machine["measured"]["how"] =
      "rates by ccrun --measure-machine; choices are those of cpu";
  machine["rates"] = std::move(rates);
  return machine.dump(2) + "\n";
}
