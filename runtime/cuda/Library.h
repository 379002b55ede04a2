//===- Library.h - A shared library opened at run time ----------*- C++ -*-===//
//
// CUDA's driver and compiler are on some machines only, so nothing links them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_LIBRARY_H
#define CCN_RUNTIME_CUDA_LIBRARY_H

#include "runtime/base/Status.h"

#include <vector>

namespace ccn::runtime {

/// Stays open until the process ends.
class Library {
public:
  /// Opens the first of `names` that can be opened, names with a slash being
  /// paths. An error names `what` and what the dynamic linker says of each.
  static Result<Library> open(const std::string &what,
                              const std::vector<std::string> &names);

  /// Null if it has no such function.
  void *find(const char *function) const;

private:
  explicit Library(void *handle) : handle(handle) {}

  void *handle;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_LIBRARY_H
