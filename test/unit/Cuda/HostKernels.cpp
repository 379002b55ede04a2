//===- HostKernels.cpp - Generated kernels on the fake driver -------------===//

#include "HostKernels.h"

#include "runtime/GpuAbi.h"
#include "test/unit/Gpu/FakeCuda.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

using namespace ccn::runtime;

namespace ccn::test {

/// The source, for HostCuda.h, with a function for each kernel that runs one of
/// its blocks.
static std::string hostSource(const GpuProgram &program) {
  std::string source = program.source;
  source = std::regex_replace(
      source, std::regex("extern __shared__ [^\\n]*sharedMemory\\[\\];"),
      "static Byte sharedMemory[1 << 18];");
  for (const GpuKernel &kernel : program.kernels) {
    std::string name = kernel.name;
    std::smatch found;
    std::regex parameters(name + "\\(const __grid_constant__ CcnContext c, "
                                 "const __grid_constant__ (\\S+) a, const "
                                 "__grid_constant__ (\\S+) n\\)");
    if (!std::regex_search(source, found, parameters))
      continue;
    std::string arguments = found[1], numbers = found[2];
    source += "extern \"C\" void run_" + name +
              "(unsigned block, unsigned blocks, unsigned threads, const void "
              "*c, const void *a, const void *n) {\n  runBlock(block, blocks, "
              "threads, [&] { " +
              name +
              "(*static_cast<const CcnContext *>(c), *static_cast<const " +
              arguments + " *>(a), *static_cast<const " + numbers +
              " *>(n)); });\n}\n";
  }
  return source;
}

std::unique_ptr<HostKernels>
HostKernels::create(GpuProgram &program, size_t addresses, std::string &error) {
  auto *add = fakeFunction<decltype(ccnFakeAddKernel)>("ccnFakeAddKernel");
  if (!add) {
    error = "this is no driver that takes other kernels";
    return nullptr;
  }
  auto made = std::make_unique<HostKernels>();
  std::string pattern =
      (std::filesystem::temp_directory_path() / "host-kernels-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    error = "no folder for temporary files";
    return nullptr;
  }
  made->folder = pattern;
  made->path = made->folder + "/kernels.so";
  std::string source = made->folder + "/kernels.cpp",
              log = made->folder + "/log";
  std::ofstream(source) << hostSource(program);
  std::string command =
      std::string(CCN_CXX_COMPILER) +
      " -std=c++20 -O1 -w -fno-strict-aliasing -ffp-contract=off -fPIC -shared "
      "-fvisibility-inlines-hidden -I " CCN_SOURCE
      " -include test/unit/Cuda/HostCuda.h " +
      source + " -o " + made->path + " > " + log + " 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::ifstream file(log);
    error.assign(std::istreambuf_iterator<char>(file), {});
    return nullptr;
  }
  for (GpuKernel &kernel : program.kernels) {
    made->kernels.push_back(
        std::make_unique<Kernel>(Kernel{made.get(), kernel.name}));
    add(kernel.name.c_str(), 8 * addresses,
        8 * static_cast<size_t>(kernel.numbers), run,
        made->kernels.back().get());
    // Those of products, and of blocks that share rows, have their number of
    // threads in their text.
    std::string threads = std::to_string(kernel.threads);
    auto has = [&](const std::string &text) {
      return program.source.find(text) != std::string::npos;
    };
    if (!has(", " + threads + ">(") &&
        !has("BlockTeam<" + threads + "> team") && !kernel.clusters)
      kernel.threads = 32;
  }
  for (std::vector<GpuLaunch> &launches : program.launches)
    for (GpuLaunch &launch : launches)
      launch.blocks = std::min<int64_t>(launch.blocks, 2);
  return made;
}

void *HostKernels::moduleOf(int rank, int launch, unsigned block) {
  std::lock_guard lock(mutex);
  void *&module = modules[{rank, launch, block}];
  if (!module) {
    // A library of another name is another one.
    std::string copy = folder + "/" + std::to_string(modules.size()) + ".so";
    std::filesystem::copy_file(path, copy);
    module = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
  }
  return module;
}

void HostKernels::run(void *data, unsigned blocks, unsigned threads,
                      const void *context, const void *arguments,
                      const void *numbers) {
  auto &kernel = *static_cast<Kernel *>(data);
  const auto &c = *static_cast<const CcnContext *>(context);
  std::vector<std::thread> running;
  for (unsigned block = 0; block < blocks; ++block)
    running.emplace_back([&, block] {
      void *module = kernel.all->moduleOf(c.rank, c.launch, block);
      auto function =
          reinterpret_cast<Run>(dlsym(module, ("run_" + kernel.name).c_str()));
      function(block, blocks, threads, context, arguments, numbers);
    });
  for (std::thread &thread : running)
    thread.join();
}

HostKernels::~HostKernels() {
  for (const auto &[key, module] : modules)
    if (module)
      dlclose(module);
  if (!folder.empty())
    std::filesystem::remove_all(folder);
}

} // namespace ccn::test
