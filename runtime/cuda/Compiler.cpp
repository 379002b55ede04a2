//===- Compiler.cpp - Compiles kernels for a GPU --------------------------===//
//
// NVRTC is opened at run time.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Compiler.h"

#include "runtime/cuda/Library.h"

#include <nvrtc.h>

#include <algorithm>

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
  decltype(&::nvrtcGetPTXSize) getPtxSize = nullptr;
  decltype(&::nvrtcGetPTX) getPtx = nullptr;

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
  find(nvrtc.getPtxSize, "nvrtcGetPTXSize");
  find(nvrtc.getPtx, "nvrtcGetPTX");
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

  /// Returns the log.
  Result<std::string> compile(const std::string &source,
                              std::string_view architecture);
  Result<std::string> cubin() const {
    return get(nvrtc.getCubinSize, "nvrtcGetCUBINSize", nvrtc.getCubin,
               "nvrtcGetCUBIN");
  }
  /// Without the zero that ends it.
  Result<std::string> ptx() const {
    return textOf(
        get(nvrtc.getPtxSize, "nvrtcGetPTXSize", nvrtc.getPtx, "nvrtcGetPTX"));
  }

private:
  Result<std::string> log() const {
    return textOf(get(nvrtc.getProgramLogSize, "nvrtcGetProgramLogSize",
                      nvrtc.getProgramLog, "nvrtcGetProgramLog"));
  }
  /// What the program has of one kind.
  Result<std::string> get(nvrtcResult (*getSize)(nvrtcProgram, size_t *),
                          const char *sizeCall,
                          nvrtcResult (*getBytes)(nvrtcProgram, char *),
                          const char *bytesCall) const;
  static Result<std::string> textOf(Result<std::string> bytes) {
    if (bytes)
      bytes->resize(std::min(bytes->find('\0'), bytes->size()));
    return bytes;
  }

  const Nvrtc &nvrtc;
  nvrtcProgram program = nullptr;
};

Result<std::string> Program::get(nvrtcResult (*getSize)(nvrtcProgram, size_t *),
                                 const char *sizeCall,
                                 nvrtcResult (*getBytes)(nvrtcProgram, char *),
                                 const char *bytesCall) const {
  size_t size = 0;
  if (Status status = nvrtc.check(getSize(program, &size), sizeCall); !status)
    return status;
  std::string bytes(size, '\0');
  if (Status status = nvrtc.check(getBytes(program, bytes.data()), bytesCall);
      !status)
    return status;
  return bytes;
}

Result<std::string> Program::compile(const std::string &source,
                                     std::string_view architecture) {
  if (Status status = nvrtc.check(nvrtc.createProgram(&program, source.c_str(),
                                                      "ccn-kernels.cu", 0,
                                                      nullptr, nullptr),
                                  "nvrtcCreateProgram");
      !status)
    return status;
  std::vector<std::string> options = compilerOptions(architecture);
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
  return said;
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
                                       std::string_view architecture,
                                       std::string *ptx) {
  Result<const Nvrtc *> nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.status();
  Program program(**nvrtc);
  Result<std::string> log = program.compile(source, architecture);
  if (!log)
    return log.status();
  Result<std::string> cubin = program.cubin();
  if (!cubin)
    return cubin.status();
  if (cubin->empty())
    return error("NVRTC made no machine code");
  if (ptx) {
    Result<std::string> text = program.ptx();
    if (!text)
      return text.status();
    *ptx = *std::move(text);
  }
  return CompiledKernels{*std::move(cubin), *std::move(log)};
}

Result<std::string> compileToPtx(const std::string &source,
                                 std::string_view architecture) {
  Result<const Nvrtc *> nvrtc = Nvrtc::get();
  if (!nvrtc)
    return nvrtc.status();
  Program program(**nvrtc);
  // A virtual architecture, so that no machine code is made.
  std::string target(architecture);
  if (target.starts_with("sm_"))
    target.replace(0, 3, "compute_");
  Result<std::string> log = program.compile(source, target);
  return log ? program.ptx() : log;
}

} // namespace ccn::runtime
