//===- GpuTeam.cpp - Plans executed by ccrun on GPUs ----------------------===//
//
// Arrays travel in files of a temporary folder.
//
//===----------------------------------------------------------------------===//

#include "GpuTeam.h"

#include "codegen/BuildPackage.h"
#include "runtime/NpyTensor.h"
#include "runtime/Package.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Program.h"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ccn;
using namespace ccn::random;
using namespace ccn::runtime;

bool GpuTeam::isThere() { return *CCN_FAKE_LIBRARIES; }

GpuTeam::~GpuTeam() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::unique_ptr<GpuTeam>> GpuTeam::create(mlir::ModuleOp plans,
                                                 llvm::StringRef program) {
  codegen::PackageOptions options;
  options.program = program.str();
  options.gpu = true;
  Result<Package> package = codegen::buildPackage(plans, options);
  if (!package)
    return error("no package: ", package.message());
  Result<std::string> bytes = encodePackage(*package);
  if (!bytes)
    return error("the package cannot be written: ", bytes.message());
  std::unique_ptr<GpuTeam> team(new GpuTeam);
  team->plan = std::move(package->plan);
  std::string pattern =
      (std::filesystem::temp_directory_path() / "random-programs-XXXXXX")
          .string();
  if (!mkdtemp(pattern.data()))
    return error("no folder for temporary files");
  team->folder = pattern;
  std::ofstream file(team->folder + "/p.ccnpkg", std::ios::binary);
  file << *bytes;
  file.close();
  if (!file)
    return error("the package cannot be written");
  return team;
}

Result<GpuTeam::Outputs> GpuTeam::run(const interp::NamedTensors &inputs) {
  const char *products = runs++ % 2 == 0 ? "auto" : "kernels";
  Result<Outputs> accessed = run(inputs, "peer", products);
  if (!accessed)
    return accessed;
  Result<Outputs> sent = run(inputs, "nccl", products);
  if (!sent)
    return error("by messages, ", sent.message());
  for (const auto &[a, b] : llvm::zip_equal(*accessed, *sent))
    if (auto index = interp::firstDifference(a.tensor, b.tensor))
      return error("element ", *index, " of '", a.name, "' is ",
                   a.tensor.textAt(*index), ", by messages ",
                   b.tensor.textAt(*index));
  return accessed;
}

Result<GpuTeam::Outputs> GpuTeam::run(const interp::NamedTensors &inputs,
                                      const std::string &transport,
                                      const std::string &products) {
  // A device for each rank, as messages need it. Streams are late by more than
  // most of what kernels do takes.
  std::vector<std::string> arguments = {"env",
                                        "LD_LIBRARY_PATH=" CCN_FAKE_LIBRARIES,
                                        "CCN_CACHE_DIR=" + folder + "/cache",
                                        "CCN_GPU_TRANSPORT=" + transport,
                                        "CCN_FAKE_GPUS=" +
                                            std::to_string(plan.ranks.size()),
                                        "CCN_FAKE_LATE=2000",
                                        "CCN_PRODUCTS=" + products,
                                        CCN_RUN,
                                        folder + "/p.ccnpkg",
                                        "--timeout",
                                        "20"};
  std::vector<std::pair<size_t, std::string>> files;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    if (argument.kind != ArgumentKind::Result) {
      std::string path = folder + "/in" + std::to_string(i) + ".npy";
      auto input = inputs.find(argument.name);
      if (input == inputs.end())
        return error("the plan has an argument '", argument.name,
                     "', which the program does not have");
      if (Status status = saveNpy(path, input->second); !status)
        return status;
      arguments.insert(arguments.end(),
                       {"--input", argument.name + "=" + path});
    }
    if (argument.kind != ArgumentKind::Input) {
      files.emplace_back(i, folder + "/out" + std::to_string(i) + ".npy");
      arguments.insert(arguments.end(),
                       {"--output", argument.name + "=" + files.back().second});
    }
  }
  llvm::ErrorOr<std::string> env = llvm::sys::findProgramByName("env");
  if (!env)
    return error("there is no 'env'");
  std::vector<llvm::StringRef> words(arguments.begin(), arguments.end());
  std::string log = folder + "/log", why;
  std::optional<llvm::StringRef> redirects[] = {"", log, log};
  int code = llvm::sys::ExecuteAndWait(*env, words, std::nullopt, redirects, 0,
                                       0, &why);
  if (code != 0) {
    std::ifstream text(log);
    why.append(std::istreambuf_iterator<char>(text), {});
    return error("ccrun ends with ", code, ": ", why);
  }
  Outputs outputs;
  for (const auto &[i, path] : files) {
    const Argument &argument = plan.arguments[i];
    Result<HostTensor> tensor = loadNpy(path, argument.type, argument.shape);
    if (!tensor)
      return tensor.status();
    outputs.push_back({argument.name, *std::move(tensor)});
  }
  return outputs;
}
