//===- FakeTensorMaps.cpp - Tensor maps of the driver without GPUs --------===//
//
// Refuses what cuda.h says that the driver refuses, and what the emulator does
// not have.
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"

#include "test/common/emulator/TensorMap.h"

#include <cstring>

using ccn::emulator::TensorMap;

/// The bytes of an element; 0 of a type that is packed, or unknown.
static unsigned bytesOf(CUtensorMapDataType type) {
  switch (type) {
  case CU_TENSOR_MAP_DATA_TYPE_UINT8:
    return 1;
  case CU_TENSOR_MAP_DATA_TYPE_UINT16:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
  case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    return 2;
  case CU_TENSOR_MAP_DATA_TYPE_UINT32:
  case CU_TENSOR_MAP_DATA_TYPE_INT32:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    return 4;
  case CU_TENSOR_MAP_DATA_TYPE_UINT64:
  case CU_TENSOR_MAP_DATA_TYPE_INT64:
  case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    return 8;
  default:
    return 0;
  }
}

static bool isMultiple(const void *address, size_t of) {
  return reinterpret_cast<uintptr_t>(address) % of == 0;
}

extern "C" CUresult cuTensorMapEncodeTiled(
    CUtensorMap *to, CUtensorMapDataType type, cuuint32_t dims, void *address,
    const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill) {
  CCN_CONTEXT(cuTensorMapEncodeTiled)
  constexpr unsigned spans[] = {0, 32, 64, 128};
  TensorMap map;
  map.magic = TensorMap::right;
  bool isRight = to && isMultiple(to, 64) && address && isMultiple(address, 16);
  isRight &= dims >= 1 && dims <= TensorMap::maxDims && bytesOf(type) > 0;
  isRight &= interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
  isRight &= swizzle <= CU_TENSOR_MAP_SWIZZLE_128B;
  isRight &= promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  isRight &= fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  if (!isRight)
    return CUDA_ERROR_INVALID_VALUE;
  map.address = static_cast<char *>(address);
  map.dims = static_cast<uint8_t>(dims);
  map.elementBytes = static_cast<uint8_t>(bytesOf(type));
  map.swizzle = static_cast<uint8_t>(spans[swizzle]);
  for (cuuint32_t dim = 0; dim < dims; ++dim) {
    isRight &= sizes[dim] >= 1 && sizes[dim] <= cuuint64_t(1) << 32;
    isRight &= box[dim] >= 1 && box[dim] <= 256 && steps[dim] == 1;
    map.sizes[dim] = sizes[dim];
    map.box[dim] = static_cast<uint16_t>(box[dim]);
    if (dim + 1 == dims)
      break;
    isRight &= strides[dim] % 16 == 0 && strides[dim] < cuuint64_t(1) << 40;
    map.strides[dim] = strides[dim];
  }
  size_t width = size_t(box[0]) * map.elementBytes;
  isRight &= width % 16 == 0 && (map.swizzle == 0 || width <= map.swizzle);
  if (!isRight)
    return CUDA_ERROR_INVALID_VALUE;
  std::memset(to, 0, sizeof *to);
  std::memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}
