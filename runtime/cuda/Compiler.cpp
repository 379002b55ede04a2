//===- Compiler.cpp - Compiles kernels for a GPU --------------------------===//
//
// NVRTC is opened at run time.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"

#include "runtime/cuda/Library.h"

#include <nvrtc.h>

namespace ccn::runtime {

namespace {

struct Nvrtc {
  static Result<const Nvrtc *> get();

  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) getErrorString = nullptr;
  decltype(&::nvrtcCreateProgram) createProgram = nullptr;
  decltype(&::nvrtcDestroyProgram) destroyProgram = nullptr;
  decltype(&::nvrtcCompileProgram) compileProgram = nullptr;
  decltype(&::nvrtcGetProgramLogSize) getProgramLogSize = nullptr;
  decltype(&::nvrtcGetProgramLog) getProgramLog = nullptr;
  decltype(&::nvrtcGetCUBINSize) getCubinSize = nullptr;
  decltype(&::nvrtcGetCUBIN) getCubin = nullptr;

  Status check(nvrtcResult result, const char *call) const {
    if (result == NVRTC_SUCCESS)
      return Status();
    return error(call, " failed: ", getErrorString(result));
  }
};

Result<Nvrtc> load() {
  std::vector<std::string> names;
  for (const char *folder : {"", "/usr/local/cuda/lib64/"})
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so", "libnvrtc.so.12"})
      names.push_back(std::string(folder) + name);
  Result<Library> library =
      Library::open("NVRTC, the compiler of CUDA,", names);
  if (!library)
    return library.status();
  Nvrtc nvrtc;
  std::string missing;
  auto find = [&](auto &member, const char *name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(
        library->find(name));
    if (!member)
      missing += " " + std::string(name);
  };
  find(nvrtc.version, "nvrtcVersion");
  find(nvrtc.getErrorString, "nvrtcGetErrorString");
  find(nvrtc.createProgram, "nvrtcCreateProgram");
  find(nvrtc.destroyProgram, "nvrtcDestroyProgram");
  find(nvrtc.compileProgram, "nvrtcCompileProgram");
  find(nvrtc.getProgramLogSize, "nvrtcGetProgramLogSize");
  find(nvrtc.getProgramLog, "nvrtcGetProgramLog");
  find(nvrtc.getCubinSize, "nvrtcGetCUBINSize");
  find(nvrtc.getCubin, "nvrtcGetCUBIN");
  if (!missing.empty())
    return error("NVRTC is too old: it lacks", missing);
  return nvrtc;
}

Result<const Nvrtc *> Nvrtc::get() {
  static const Result<Nvrtc> nvrtc = load();
  if (!nvrtc)
    return nvrtc.status();
  return &*nvrtc;
}

/// A compilation.
class Program {
public:
  explicit Program(const Nvrtc &nvrtc) : nvrtc(nvrtc) {}
  ~Program() {
    if (program)
      (void)nvrtc.destroyProgram(&program);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  Result<CompiledKernels> compile(const std::string &source,
                                  const std::vector<std::string> &options);

private:
  Result<std::string> log() const;

  const Nvrtc &nvrtc;
  nvrtcProgram program = nullptr;
};

Result<std::string> Program::log() const {
  size_t size = 0;
  if (Status status = nvrtc.check(nvrtc.getProgramLogSize(program, &size),
                                  "nvrtcGetProgramLogSize");
      !status)
    return status;
  // One more than what NVRTC counts, which ends with a zero.
  std::string text(size + 1, '\0');
  if (Status status = nvrtc.check(nvrtc.getProgramLog(program, text.data()),
                                  "nvrtcGetProgramLog");
      !status)
    return status;
  text.resize(text.find('\0'));
  return text;
}

Result<CompiledKernels>
Program::compile(const std::string &source,
                 const std::vector<std::string> &options) {
  if (Status status = nvrtc.check(nvrtc.createProgram(&program, source.c_str(),
                                                      "ccn-kernels.cu", 0,
                                                      nullptr, nullptr),
                                  "nvrtcCreateProgram");
      !status)
    return status;
  std::vector<const char *> words;
  for (const std::string &option : options)
    words.push_back(option.c_str());
  nvrtcResult result = nvrtc.compileProgram(
      program, static_cast<int>(words.size()), words.data());
  Result<std::string> said = log();
  if (result == NVRTC_ERROR_COMPILATION && said)
    return error("the kernels do not compile:\n", *said);
  if (Status status = nvrtc.check(result, "nvrtcCompileProgram"); !status)
    return said && !said->empty() ? error(status.message(), ":\n", *said)
                                  : status;
  if (!said)
    return said.status();
  CompiledKernels kernels;
  kernels.log = *std::move(said);
  size_t size = 0;
  if (Status status =
          nvrtc.check(nvrtc.getCubinSize(program, &size), "nvrtcGetCUBINSize");
      !status)
    return status;
  kernels.cubin.resize(size);
  if (Status status = nvrtc.check(nvrtc.getCubin(program, kernels.cubin.data()),
                                  "nvrtcGetCUBIN");
      !status)
    return status;
  if (kernels.cubin.empty())
    return error("NVRTC made no machine code");
  return kernels;
}

} // namespace

Result<std::string> compilerVersion() {
  Result<const Nvrtc *> nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.status();
  int major = 0, minor = 0;
  if (Status status =
          (*nvrtc)->check((*nvrtc)->version(&major, &minor), "nvrtcVersion");
      !status)
    return status;
  return std::to_string(major) + "." + std::to_string(minor);
}

Result<CompiledKernels> compileKernels(const std::string &source,
                                       std::string_view architecture) {
  Result<const Nvrtc *> nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.status();
  return Program(**nvrtc).compile(source, compilerOptions(architecture));
}

} // namespace ccn::runtime
