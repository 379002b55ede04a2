//===- TensorMap.cpp - Tensors that are copied in boxes -------------------===//

#include "test/common/emulator/TensorMap.h"

#include "runtime/tensor/ElementType.h"
#include "test/common/emulator/WeakMachine.h"

#include <algorithm>
#include <cstring>

using namespace ccn;
using namespace ccn::emulator;

/// What is moved as one, and exchanged by swizzles.
static constexpr size_t unitBytes = 16;

size_t TensorMap::boxBytes() const {
  size_t bytes = elementBytes;
  for (int dim = 0; dim < dims; ++dim)
    bytes *= box[dim];
  return bytes;
}

const char *TensorMap::whyNot(const char *shared, const int *at,
                              int indices) const {
  if (magic != right)
    return "of a tensor map that the driver has not made";
  if (indices != dims)
    return "with another number of indices than the tensor has";
  auto place = reinterpret_cast<uintptr_t>(shared);
  size_t alignment = swizzle ? size_t(8) * swizzle : size_t(128);
  if (place % alignment != 0)
    return "to or from an address in shared memory that is not aligned for "
           "its swizzle";
  if (swizzle && box[0] * size_t(elementBytes) != swizzle)
    return "of a box that is narrower than its swizzle";
  if (int64_t(at[0]) * elementBytes % static_cast<int64_t>(unitBytes) != 0)
    return "of a box that does not begin at a multiple of 16 bytes";
  return nullptr;
}

/// Calls copy(where in shared memory, where in the tensor, bytes inside of it)
/// for each unit of a box.
template <typename Copy>
void TensorMap::forEachUnit(const int *at, Copy copy) const {
  size_t rowBytes = box[0] * size_t(elementBytes), shared = 0;
  int index[maxDims] = {};
  for (;;) {
    bool isInside = true;
    char *row = address;
    for (int dim = 1; dim < dims; ++dim) {
      int64_t place = int64_t(at[dim]) + index[dim];
      isInside &= place >= 0 && place < static_cast<int64_t>(sizes[dim]);
      row += place * static_cast<int64_t>(strides[dim - 1]);
    }
    auto end = static_cast<int64_t>(sizes[0] * elementBytes);
    for (size_t byte = 0; byte < rowBytes; byte += unitBytes) {
      int64_t place =
          int64_t(at[0]) * elementBytes + static_cast<int64_t>(byte);
      int64_t first = std::max<int64_t>(0, -place),
              last = std::min<int64_t>(unitBytes, end - place);
      bool isEmpty = !isInside || first >= last;
      copy(shared + byte, isEmpty ? nullptr : row + place,
           isEmpty ? 0 : static_cast<size_t>(first),
           isEmpty ? 0 : static_cast<size_t>(last));
    }
    shared += rowBytes;
    int dim = 1;
    while (dim < dims && ++index[dim] == box[dim])
      index[dim++] = 0;
    if (dim >= dims)
      return;
  }
}

static char *unitAt(const char *shared, size_t byte, int swizzle) {
  auto address = reinterpret_cast<uintptr_t>(shared) + byte;
  return reinterpret_cast<char *>(swizzled(address, swizzle));
}

void TensorMap::load(char *to, const int *at) const {
  forEachUnit(at, [&](size_t byte, char *from, size_t first, size_t last) {
    char *unit = unitAt(to, byte, swizzle);
    if (last - first < unitBytes)
      std::memset(unit, 0, unitBytes);
    if (first >= last)
      return;
    if (WeakMachine *machine = WeakMachine::current())
      machine->beforeLoad(from + first, last - first);
    std::memcpy(unit + first, from + first, last - first);
  });
}

void TensorMap::store(const char *from, const int *at) const {
  forEachUnit(at, [&](size_t byte, char *to, size_t first, size_t last) {
    if (first >= last)
      return;
    if (WeakMachine *machine = WeakMachine::current())
      machine->beforeStore(to + first, last - first);
    std::memcpy(to + first, unitAt(from, byte, swizzle) + first, last - first);
  });
}

CcnTensorMap emulator::encode(const runtime::GpuTensorMap &tensor,
                              void *address) {
  CcnTensorMap result{};
  TensorMap map;
  map.magic = TensorMap::right;
  map.address = static_cast<char *>(address);
  size_t dims = tensor.sizes.size();
  map.dims = static_cast<uint8_t>(dims);
  map.elementBytes = static_cast<uint8_t>(runtime::sizeInBytes(tensor.type));
  map.swizzle = static_cast<uint8_t>(tensor.swizzle);
  for (size_t dim = 0; dim < dims; ++dim) {
    size_t from = dims - 1 - dim;
    if (tensor.sizes[from] == 0)
      return result;
    map.sizes[dim] = static_cast<uint64_t>(tensor.sizes[from]);
    map.box[dim] = static_cast<uint16_t>(tensor.box[from]);
    if (dim > 0)
      map.strides[dim - 1] =
          static_cast<uint64_t>(tensor.strides[from]) * map.elementBytes;
  }
  std::memcpy(&result, &map, sizeof map);
  return result;
}

/// Where a tensor begins.
static unsigned char *beginOf(const runtime::Plan &plan,
                              const runtime::GpuProgram &program,
                              const runtime::GpuTensorMap &tensor,
                              const CcnContext &context,
                              std::span<void *const> addresses) {
  bool isOwn = tensor.rank < 0 || tensor.rank == context.rank;
  auto owner = static_cast<size_t>(isOwn ? context.rank : tensor.rank);
  if (tensor.memory == runtime::TensorMemory::Workspace)
    return context.workspace;
  if (tensor.memory == runtime::TensorMemory::Symmetric)
    return context.symmetric[owner];
  const runtime::Buffer &buffer =
      plan.ranks[static_cast<size_t>(context.rank)]
          .buffers[static_cast<size_t>(tensor.buffer)];
  if (buffer.memory == runtime::Memory::Private)
    return context.privateMemory + buffer.offset;
  if (buffer.memory == runtime::Memory::Symmetric)
    return context.symmetric[owner] + buffer.offset;
  auto place = static_cast<size_t>(buffer.offset);
  const std::vector<int> &shared = program.sharedArguments;
  if (!isOwn) {
    auto found = std::find(shared.begin(), shared.end(), buffer.offset);
    place = plan.arguments.size() +
            static_cast<size_t>(found - shared.begin()) * plan.ranks.size() +
            owner;
  }
  return static_cast<unsigned char *>(addresses[place]);
}

std::vector<CcnTensorMap>
emulator::encodeAll(const runtime::Plan &plan,
                    const runtime::GpuProgram &program,
                    const runtime::GpuLaunch &launch, const CcnContext &context,
                    std::span<void *const> addresses) {
  std::vector<CcnTensorMap> maps;
  for (const runtime::GpuTensorMap &tensor : launch.tensorMaps)
    maps.push_back(
        encode(tensor, beginOf(plan, program, tensor, context, addresses) +
                           tensor.offset));
  return maps;
}

TensorMap emulator::decode(const void *map) {
  TensorMap result;
  std::memcpy(&result, map, sizeof result);
  return result;
}
