//===- Workspace.cpp - Memory that kernels use and leave ------------------===//
//
// Memory from calloc is taken from the machine as it is first touched, so what
// is asked for and not needed costs nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Workspace.h"

#include <cstdlib>
#include <unistd.h>

namespace ccn::runtime {

int64_t machineMemory() {
  int64_t pages = sysconf(_SC_PHYS_PAGES);
  int64_t pageSize = sysconf(_SC_PAGESIZE);
  int64_t bytes;
  if (pages <= 0 || pageSize <= 0 ||
      __builtin_mul_overflow(pages, pageSize, &bytes))
    return INT64_MAX;
  return bytes;
}

void Workspace::Free::operator()(void *memory) const { std::free(memory); }

Result<std::byte *> Workspace::get(int64_t bytes) {
  constexpr int64_t alignment = 64;
  if (bytes <= size)
    return start;
  memory.reset();
  size = -1;
  int64_t padded;
  if (!__builtin_add_overflow(bytes, alignment, &padded) &&
      padded <= machineMemory())
    memory.reset(std::calloc(static_cast<size_t>(padded), 1));
  if (!memory)
    return error("there is no memory for ", bytes, " bytes");
  auto address = reinterpret_cast<uintptr_t>(memory.get());
  start = static_cast<std::byte *>(memory.get()) +
          (alignment - address % alignment) % alignment;
  size = bytes;
  return start;
}

} // namespace ccn::runtime
