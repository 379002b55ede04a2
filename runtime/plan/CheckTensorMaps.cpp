//===- CheckTensorMaps.cpp - Checks the tensor maps of launches -----------===//
//
// The limits are those that cuda.h documents for cuTensorMapEncodeTiled.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckTensorMaps.h"

#include "runtime/plan/CheckParts.h"

#include <algorithm>

namespace ccn::runtime {

namespace {

constexpr size_t maxDims = 5;
constexpr int64_t maxSize = int64_t(1) << 32;
constexpr int64_t maxStrideBytes = int64_t(1) << 40;
constexpr int64_t maxBox = 256;
/// The bytes that a copy moves as one.
constexpr int64_t unit = 16;

/// The bytes of the part of an argument that a rank has.
int64_t argumentBytes(const Plan &plan, int rank, size_t argument) {
  int64_t bytes = sizeInBytes(plan.arguments[argument].type);
  for (int64_t size :
       plan.ranks[static_cast<size_t>(rank)].placements[argument].sizes)
    bytes *= size;
  return bytes;
}

/// The bytes of a buffer of this rank, or of the same one of another rank.
Result<int64_t> bufferBytes(const Plan &plan, const GpuProgram &program,
                            int rank, const GpuTensorMap &map) {
  const std::vector<Buffer> &buffers =
      plan.ranks[static_cast<size_t>(rank)].buffers;
  auto count = static_cast<int>(buffers.size());
  if (map.buffer < 0 || map.buffer >= count)
    return error("expected a buffer below ", count, ", found ", map.buffer);
  const Buffer &buffer = buffers[static_cast<size_t>(map.buffer)];
  bool isOwn = map.rank < 0 || map.rank == rank;
  if (buffer.memory == Memory::Argument) {
    auto argument = static_cast<size_t>(buffer.offset);
    if (plan.arguments[argument].scattered)
      return error("expected memory in one piece, found buffer ", map.buffer,
                   ", which is scattered");
    const std::vector<int> &shared = program.sharedArguments;
    if (!isOwn &&
        std::find(shared.begin(), shared.end(), buffer.offset) == shared.end())
      return error("expected own memory or a shared argument, found buffer ",
                   map.buffer, " of rank ", map.rank);
    if (!isOwn)
      return argumentBytes(plan, map.rank, argument);
  } else if (buffer.memory == Memory::Private && !isOwn) {
    return error("expected own memory, found buffer ", map.buffer, " of rank ",
                 map.rank);
  }
  return buffer.count * sizeInBytes(buffer.type);
}

/// The bytes of the memory that the tensor is in.
Result<int64_t> memoryBytes(const Plan &plan, const GpuProgram &program,
                            int rank, const GpuLaunch &launch,
                            const GpuTensorMap &map) {
  auto ranks = static_cast<int>(plan.ranks.size());
  if (map.rank < -1 || map.rank >= ranks)
    return error("expected a rank below ", ranks, ", or -1, found ", map.rank);
  switch (map.memory) {
  case TensorMemory::Buffer:
    return bufferBytes(plan, program, rank, map);
  case TensorMemory::Symmetric:
    return program.symmetricBytes;
  case TensorMemory::Workspace:
    if (map.rank >= 0 && map.rank != rank)
      return error("expected own memory, found the workspace of rank ",
                   map.rank);
    return launch.workspaceBytes;
  }
  return error("expected a kind of memory, found ",
               static_cast<int>(map.memory));
}

/// Checks everything but where the elements are.
Status checkShape(const GpuTensorMap &map) {
  size_t dims = map.sizes.size();
  if (dims < 1 || dims > maxDims)
    return error("expected 1 to ", maxDims, " dimensions, found ", dims);
  if (map.strides.size() != dims || map.box.size() != dims)
    return error("expected ", dims, " strides and sizes of a box, found ",
                 map.strides.size(), " and ", map.box.size());
  if (!isValid(map.type))
    return error("expected an element type");
  int64_t bytes = sizeInBytes(map.type);
  if (map.offset < 0 || map.offset % unit != 0)
    return error("expected an offset that is a multiple of ", unit, ", found ",
                 map.offset);
  for (size_t dim = 0; dim < dims; ++dim) {
    if (map.sizes[dim] < 0 || map.sizes[dim] > maxSize)
      return error("expected sizes of 0 to ", maxSize, ", found ",
                   map.sizes[dim]);
    if (map.box[dim] < 1 || map.box[dim] > maxBox)
      return error("expected a box of 1 to ", maxBox,
                   " elements in each dimension, found ", map.box[dim]);
    int64_t stride = map.strides[dim];
    if (dim + 1 < dims && (stride < 0 || stride >= maxStrideBytes / bytes ||
                           stride * bytes % unit != 0))
      return error("expected strides that are multiples of ", unit,
                   " bytes and less than ", maxStrideBytes, ", found ", stride,
                   " elements of ", bytes, " bytes");
  }
  if (map.strides.back() != 1)
    return error("expected 1 as the last stride, found ", map.strides.back());
  int64_t width = map.box.back() * bytes;
  if (width % unit != 0)
    return error("expected a box whose rows are multiples of ", unit,
                 " bytes, found ", width);
  if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 &&
      map.swizzle != 128)
    return error("expected a swizzle of 0, 32, 64 or 128 bytes, found ",
                 map.swizzle);
  if (map.swizzle > 0 && width > map.swizzle)
    return error("expected a box whose rows have at most the ", map.swizzle,
                 " bytes of its swizzle, found ", width);
  return Status();
}

} // namespace

Status checkTensorMap(const Plan &plan, const GpuProgram &program, int rank,
                      const GpuLaunch &launch, const GpuTensorMap &map) {
  Result<int64_t> size = memoryBytes(plan, program, rank, launch, map);
  if (!size)
    return size.status();
  if (Status status = checkShape(map); !status)
    return status;
  if (std::find(map.sizes.begin(), map.sizes.end(), 0) != map.sizes.end())
    return Status();
  int64_t bytes = sizeInBytes(map.type);
  // Of what is behind the first element.
  int64_t left = *size - bytes - map.offset;
  for (size_t dim = 0; left >= 0 && dim < map.sizes.size(); ++dim) {
    int64_t stride = map.strides[dim] * bytes;
    bool fits = stride == 0 || map.sizes[dim] - 1 <= left / stride;
    left = fits ? left - (map.sizes[dim] - 1) * stride : -1;
  }
  if (left < 0)
    return error("the tensor at ", map.offset, " is not inside of the ", *size,
                 " bytes of its memory");
  return Status();
}

} // namespace ccn::runtime
