//===- FakeNvrtc.cpp - Compiles kernels for the fake driver ---------------===//
//
// A libnvrtc.so whose machine code is a shared object for the CPU: with it and
// the fake driver generated kernels run where no GPU is, on as many threads as
// a GPU's.
//
//===----------------------------------------------------------------------===//

#include "test/common/emulator/Kernels.h"

#include <nvrtc.h>

#include <cstring>
#include <string>

struct _nvrtcProgram {
  std::string source, log, object;
};

namespace {

nvrtcResult give(const std::string &bytes, char *to) {
  std::memcpy(to, bytes.c_str(), bytes.size() + 1);
  return NVRTC_SUCCESS;
}

} // namespace

extern "C" {

/// Not a version that there is: what is compiled is kept apart. Another one
/// where the fake driver no longer takes what was compiled.
nvrtcResult nvrtcVersion(int *major, int *minor) {
  *major = 99;
  *minor = 1;
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
  ccn::Result<std::string> object =
      ccn::emulator::compileKernels(program->source);
  program->log = object.message();
  if (!object)
    return NVRTC_ERROR_COMPILATION;
  program->object = *std::move(object);
  return NVRTC_SUCCESS;
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
