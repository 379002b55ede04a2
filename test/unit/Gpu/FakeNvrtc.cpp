//===- FakeNvrtc.cpp - Compiles kernels for the fake driver ---------------===//
//
// A libnvrtc.so whose machine code is a shared object for the CPU, made by the
// compiler that builds ccn: with it and the fake driver generated kernels run
// where no GPU is, on as many threads as a GPU's. For each kernel `f` the
// object has `f_sizes`, those of its parameters, and `f_call`, which runs one
// of the shares of its blocks.
//
//===----------------------------------------------------------------------===//

#include <nvrtc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <unistd.h>

struct _nvrtcProgram {
  std::string source, log, object;
};

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string sourceFor(const std::string &cuda) {
  std::string text = "#include \"test/unit/Gpu/FakeDevice.h\"\n" + cuda;
  const std::string dynamic = "extern __shared__ __align__(16)";
  for (size_t at; (at = text.find(dynamic)) != text.npos;)
    text.replace(at, dynamic.size(), "extern thread_local");
  const std::regex kernel("__launch_bounds__\\([\\d, ]+\\) (\\w+)\\(");
  std::string calls;
  for (std::sregex_iterator it(cuda.begin(), cuda.end(), kernel), end;
       it != end; ++it) {
    std::string name = (*it)[1];
    calls += "extern \"C\" const size_t " + name +
             "_sizes[] = {sizeof(CcnContext), sizeof(A_" + name +
             "), sizeof(N_" + name + ")};\nextern \"C\" void " + name +
             "_call(const void *const *p, int blocks, int threads, int first, "
             "int step, CudaCluster *cluster) {\n  for (int block = first; "
             "block < blocks; block += "
             "step)\n"
             "    runBlock(block, blocks, threads, [=] { " +
             name + "(*(const CcnContext *)p[0], *(const A_" + name +
             " *)p[1], *(const N_" + name + " *)p[2]); }, true, cluster);\n}\n";
  }
  return text + calls;
}

nvrtcResult give(const std::string &bytes, char *to) {
  std::memcpy(to, bytes.c_str(), bytes.size() + 1);
  return NVRTC_SUCCESS;
}

} // namespace

extern "C" {

/// Not a version that there is: what is compiled is kept apart.
nvrtcResult nvrtcVersion(int *major, int *minor) {
  *major = 99;
  *minor = 0;
  return NVRTC_SUCCESS;
}
const char *nvrtcGetErrorString(nvrtcResult) { return "an error"; }

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source,
                               const char *, int, const char *const *,
                               const char *const *) {
  *program = new _nvrtcProgram{source, "", ""};
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int,
                                const char *const *) {
  const char *temporary = std::getenv("TMPDIR");
  std::string base =
      std::string(temporary ? temporary : "/tmp") + "/fake-nvrtc-XXXXXX";
  if (!mkdtemp(base.data()))
    return NVRTC_ERROR_OUT_OF_MEMORY;
  std::string source = base + "/kernels.cpp", object = base + "/kernels.so",
              log = base + "/log";
  std::ofstream(source) << sourceFor(program->source);
  std::string command = std::string(CCN_CXX_COMPILER) +
                        " -std=c++20 -O1 -w -ffp-contract=off "
                        "-fno-strict-aliasing -fPIC -shared "
                        "-I" CCN_SOURCE_DIR " '" +
                        source + "' '" CCN_FAKE_CUDA "' -o '" + object +
                        "' > '" + log + "' 2>&1";
  int result = std::system(command.c_str());
  program->log = readFile(log);
  program->object = readFile(object);
  for (const std::string &file : {source, object, log})
    unlink(file.c_str());
  rmdir(base.c_str());
  return result == 0 ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
  *size = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  return give(program->log, log);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
  *size = program->object.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *bytes) {
  return give(program->object, bytes);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t *size) {
  *size = 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram, char *bytes) { return give("", bytes); }
}
