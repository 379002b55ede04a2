//===- PartPlaces.cpp - What the parts of a rank's launch access ----------===//

#include "codegen/gpu/map/PartPlaces.h"

using namespace ccn::codegen;

bool PartPlaces::overlap(const runtime::View &one,
                         const runtime::View &other) const {
  const runtime::Buffer &x = buffer(one), &y = buffer(other);
  if (x.memory != y.memory)
    return false;
  if (x.memory == runtime::Memory::Argument)
    return x.offset == y.offset;
  return x.offset < y.offset + y.count * runtime::sizeInBytes(y.type) &&
         y.offset < x.offset + x.count * runtime::sizeInBytes(x.type);
}

int PartPlaces::addWorkspace(runtime::ElementType type, int64_t count,
                             int64_t offset) {
  workspace.push_back({runtime::Memory::Private, type, count, offset});
  return static_cast<int>(own().buffers.size() + workspace.size() - 1);
}
