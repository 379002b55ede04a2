//===- Library.cpp - A shared library opened at run time ------------------===//
//
// A thin layer over dlopen.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Library.h"

#include <dlfcn.h>

namespace ccn::runtime {

Result<Library> Library::open(const std::string &what,
                              const std::vector<std::string> &names) {
  std::string reasons;
  for (const std::string &name : names) {
    if (void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return Library(handle);
    const char *reason = dlerror();
    reasons +=
        (reasons.empty() ? "" : "; ") + std::string(reason ? reason : name);
  }
  return error("cannot open ", what, ": ", reasons);
}

void *Library::find(const char *function) const {
  return dlsym(handle, function);
}

} // namespace ccn::runtime
