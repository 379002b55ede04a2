//===- Workspace.cpp - Scratch memory of kernels --------------------------===//
//
// A page from calloc takes memory of the machine only when it is first touched,
// so memory that is requested but not used costs nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Workspace.h"

#include "runtime/base/FreeMemory.h"

#include <cstdlib>

namespace ccn::runtime {

void Workspace::Free::operator()(void *memory) const { std::free(memory); }

Result<std::byte *> Workspace::get(int64_t bytes) {
  constexpr int64_t alignment = 64;
  if (bytes <= size)
    return start;
  memory.reset();
  size = -1;
  if (Status status = checkPiece(bytes, [] { return "what is computed with"; });
      !status)
    return status;
  memory.reset(
      std::calloc(static_cast<size_t>(addSaturating(bytes, alignment)), 1));
  if (!memory)
    return error("there is no memory for ", bytes, " bytes");
  auto address = reinterpret_cast<uintptr_t>(memory.get());
  start = static_cast<std::byte *>(memory.get()) +
          (alignment - address % alignment) % alignment;
  size = bytes;
  return start;
}

} // namespace ccn::runtime
