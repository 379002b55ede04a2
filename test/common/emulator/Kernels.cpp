//===- Kernels.cpp - Generated kernels compiled for the CPU ---------------===//
//
// For each kernel `f` a shared object has `f_bytes`, those of a parameter, and
// `f_call`, a thread of it.
//
//===----------------------------------------------------------------------===//

#include "test/common/emulator/Kernels.h"

#include "test/common/emulator/Blocks.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

using namespace ccn;
using namespace ccn::emulator;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<std::string> emulator::compile(const std::string &text, bool isWatched) {
  std::error_code failed;
  std::string folder =
      (std::filesystem::temp_directory_path(failed) / "emulated-XXXXXX")
          .string();
  if (failed || !mkdtemp(folder.data()))
    return error("no folder for temporary files");
  std::string source = folder + "/kernels.cpp", object = folder + "/kernels.so",
              log = folder + "/log";
  std::ofstream(source) << "#include \"test/common/emulator/Intrinsics.h\"\n"
                        << text;
  std::string command = std::string(CCN_CXX_COMPILER) +
                        " -std=c++17 -O1 -w -ffp-contract=off "
                        "-fno-strict-aliasing -fPIC -shared "
                        "-fvisibility-inlines-hidden -Wl,--as-needed " +
                        (isWatched ? "-fsanitize=thread -mllvm "
                                     "-tsan-instrument-func-entry-exit=0 "
                                   : "") +
                        "-I'" + CCN_SOURCE "' '" + source +
                        "' '" CCN_EMULATOR "' -o '" + object + "' > '" + log +
                        "' 2>&1";
  bool isMade = std::system(command.c_str()) == 0;
  Result<std::string> result =
      isMade ? Result<std::string>(readFile(object))
             : error("the compiler fails: ", readFile(log));
  std::filesystem::remove_all(folder, failed);
  return result;
}

/// What kernels have to begin with: dynamic shared memory, as much as blocks
/// can have, and what is made of each.
static const char prelude[] = R"(
extern "C" {
alignas(1024) thread_local unsigned char sharedMemory[227 * 1024];
}
namespace emulated {
template <class... T> unsigned long bytesOf(void (*)(T...), int parameter) {
  const unsigned long bytes[] = {sizeof(T)...};
  return parameter < int(sizeof...(T)) ? bytes[parameter] : 0;
}
template <class C, class A, class N>
void call(void (*kernel)(C, A, N), const void *const *p) {
  kernel(*(const C *)p[0], *(const A *)p[1], *(const N *)p[2]);
}
template <class C, class A, class N, class T>
void call(void (*kernel)(C, A, N, T), const void *const *p) {
  useSharedMemory(sharedMemory, sizeof sharedMemory);
  kernel(*(const C *)p[0], *(const A *)p[1], *(const N *)p[2],
         *(const T *)p[3]);
}
}
)";

Result<std::string> emulator::compileKernels(const std::string &source,
                                             bool isWatched) {
  std::string text = prelude + source;
  const std::regex kernel("__launch_bounds__\\([\\d, ]+\\) (\\w+)\\(");
  for (std::sregex_iterator it(source.begin(), source.end(), kernel), end;
       it != end; ++it) {
    std::string name = (*it)[1];
    text += "extern \"C\" unsigned long " + name +
            "_bytes(int parameter) { return emulated::bytesOf(" + name +
            ", parameter); }\nextern \"C\" void " + name +
            "_call(const void *const *p) { emulated::call(" + name +
            ", p); }\n";
  }
  return compile(text, isWatched);
}

void Kernel::run(const Launch &launch, const void *const *parameters) const {
  bool hasClusters = launch.clusterBlocks > 1;
  int count = hasClusters || !launch.room
                  ? launch.blocks
                  : std::min(launch.blocks, launch.room->blocks);
  std::deque<Cluster> clusters;
  std::vector<std::thread> running;
  for (int first = 0; first < count; ++first) {
    if (hasClusters && first % launch.clusterBlocks == 0)
      clusters.emplace_back(launch.clusterBlocks, launch.threads);
    running.emplace_back([&, first, delay = flagDelay,
                          cluster = hasClusters ? &clusters.back() : nullptr] {
      flagDelay = delay;
      if (launch.seed != 0)
        seedOrder(launch.seed + static_cast<unsigned>(first));
      for (int block = first; block < launch.blocks; block += count) {
        std::optional<Room::Place> place;
        if (launch.room)
          place.emplace(*launch.room);
        runBlock(
            block, launch.blocks, launch.threads, [&] { call(parameters); },
            /*mayEnd=*/true, cluster);
      }
    });
  }
  for (std::thread &thread : running)
    thread.join();
}

std::optional<Kernel> emulator::findKernel(const runtime::ObjectCode &code,
                                           const std::string &name) {
  // Of loops, it says, which these are not.
  auto find = [&](const char *what) {
    return reinterpret_cast<void *>(code.find(name + what));
  };
  auto bytes = reinterpret_cast<size_t (*)(int)>(find("_bytes"));
  auto call = reinterpret_cast<decltype(Kernel::call)>(find("_call"));
  if (!bytes || !call)
    return std::nullopt;
  return Kernel{{bytes(0), bytes(1), bytes(2), bytes(3)}, call};
}
