//===- PackageRuns.cpp - Plans executed by ccrun --------------------------===//
//
// Arrays travel in files of a temporary folder.
//
//===----------------------------------------------------------------------===//

#include "PackageRuns.h"

#include "codegen/package/BuildPackage.h"
#include "runtime/plan/Package.h"
#include "runtime/tensor/NpyTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Program.h"

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace ccn;
using namespace ccn::random;
using namespace ccn::runtime;

bool PackageRuns::hasGpus() { return *CCN_FAKE_LIBRARIES; }

PackageRuns::~PackageRuns() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

Result<std::unique_ptr<PackageRuns>>
PackageRuns::create(mlir::ModuleOp plans, llvm::StringRef program,
                    const Target &target) {
  codegen::PackageOptions options;
  options.program = program.str();
  options.target = target;
  Result<Package> package = codegen::buildPackage(plans, options);
  if (!package)
    return error("no package: ", package.message());
  Result<std::string> bytes = encodePackage(*package);
  if (!bytes)
    return error("the package cannot be written: ", bytes.message());
  std::unique_ptr<PackageRuns> made(new PackageRuns);
  made->plan = std::move(package->plan);
  std::string pattern =
      (std::filesystem::temp_directory_path() / "random-programs-XXXXXX")
          .string();
  if (!mkdtemp(pattern.data()))
    return error("no folder for temporary files");
  made->folder = pattern;
  std::ofstream file(made->folder + "/p.ccnpkg", std::ios::binary);
  file << *bytes;
  file.close();
  if (!file)
    return error("the package cannot be written");
  return made;
}

std::string random::differenceOf(const PackageRuns::Outputs &first,
                                 const PackageRuns::Outputs &second,
                                 const std::string &how) {
  for (const auto &[a, b] : llvm::zip_equal(first, second))
    if (auto index = runtime::firstDifference(a.tensor, b.tensor))
      return "element " + std::to_string(*index) + " of '" + a.name + "' is " +
             a.tensor.textAt(*index) + ", " + how + " " +
             b.tensor.textAt(*index);
  return "";
}

Result<PackageRuns::Outputs>
PackageRuns::onGpus(const interp::NamedTensors &inputs) {
  // A device for each rank, as messages need it. Streams are late by more than
  // most of what kernels do takes.
  std::vector<std::string> variables = {
      "LD_LIBRARY_PATH=" CCN_FAKE_LIBRARIES,
      "CCN_CACHE_DIR=" + folder + "/cache",
      "CCN_FAKE_GPUS=" + std::to_string(plan.ranks.size()),
      "CCN_FAKE_LATE=2000",
      std::string("CCN_PRODUCTS=") + (runs++ % 2 == 0 ? "auto" : "kernels")};
  auto runBy = [&](const char *transport) {
    std::vector<std::string> all = variables;
    all.push_back(std::string("CCN_GPU_TRANSPORT=") + transport);
    return run(inputs, std::move(all), {"--target", "cuda"});
  };
  Result<Outputs> accessed = runBy("peer");
  if (!accessed)
    return accessed;
  Result<Outputs> sent = runBy("nccl");
  if (!sent)
    return error("by messages, ", sent.message());
  std::string wrong = differenceOf(*accessed, *sent, "by messages");
  return wrong.empty() ? std::move(accessed) : error(wrong);
}

Result<PackageRuns::Outputs>
PackageRuns::asProcesses(const interp::NamedTensors &inputs) {
  return run(inputs, {},
             {"--target", "cpu", "--nproc", std::to_string(plan.ranks.size())});
}

Result<PackageRuns::Outputs>
PackageRuns::run(const interp::NamedTensors &inputs,
                 std::vector<std::string> variables,
                 std::vector<std::string> options) {
  std::vector<std::string> arguments = {"env"};
  llvm::append_range(arguments, variables);
  llvm::append_range(arguments,
                     std::initializer_list<std::string>{
                         CCN_RUN, folder + "/p.ccnpkg", "--timeout", "20"});
  llvm::append_range(arguments, options);
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
