//===- Workspace.h - Scratch memory of kernels ------------------*- C++ -*-===//
//
// Scratch memory that grows to the largest size asked for and is kept, so that
// later runs allocate nothing. As sizes may come from files, a lack of memory
// is an error, not an exception.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_WORKSPACE_H
#define CCN_RUNTIME_BASE_WORKSPACE_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ccn::runtime {

class Workspace {
public:
  /// Returns at least `bytes` bytes, aligned to 64 bytes. Their content is
  /// unspecified, but initialized. Memory that earlier calls returned is no
  /// longer valid. An error if there is not enough memory.
  Result<std::byte *> get(int64_t bytes);

private:
  struct Free {
    void operator()(void *memory) const;
  };
  std::unique_ptr<void, Free> memory;
  std::byte *start = nullptr;
  int64_t size = -1;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_WORKSPACE_H
