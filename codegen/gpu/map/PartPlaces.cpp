//===- PartPlaces.cpp - The memory that a launch's parts access -----------===//

#include "codegen/gpu/map/PartPlaces.h"

#include "runtime/plan/PartAccesses.h"

using namespace ccn::codegen;

bool PartPlaces::overlap(const runtime::View &one,
                         const runtime::View &other) const {
  // Compares whole buffers, in whichever rank's memory they are.
  auto bytes = [&](const runtime::View &view) {
    return runtime::bytesOf(buffer(view), 0, 0, buffer(view).count);
  };
  return bytes(one).meets(bytes(other));
}

int PartPlaces::addWorkspace(runtime::ElementType type, int64_t count,
                             int64_t offset) {
  workspace.push_back({runtime::Memory::Private, type, count, offset});
  return static_cast<int>(own().buffers.size() + workspace.size() - 1);
}
