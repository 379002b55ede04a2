//===- NpyTensor.cpp - Host tensors in .npy files -------------------------===//
//
// Compares a file's type and shape with those that the program expects.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/NpyTensor.h"

namespace ccn::runtime {

NpyType npyType(ElementType type) {
  int size = sizeInBytes(type);
  switch (type) {
  case ElementType::BF16:
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
    return {'V', size};
  case ElementType::Bool:
    return {'b', size};
  default:
    break;
  }
  return {isFloat(type) ? 'f' : isSignedInteger(type) ? 'i' : 'u', size};
}

Result<NpyFile> openNpy(const std::string &path, ElementType type,
                        const Shape &shape) {
  Result<NpyFile> file = NpyFile::open(path);
  if (!file)
    return file;
  if (file->type() != npyType(type))
    return error('\'', path, "': expected ", name(type), " elements ('",
                 npyType(type).descr(), "' in .npy files), found '",
                 file->type().descr(), "'");
  if (file->shape() != shape)
    return error('\'', path, "': expected ", describe(type, shape), ", found ",
                 describe(type, file->shape()));
  return file;
}

Result<HostTensor> loadNpy(const std::string &path, ElementType type,
                           const Shape &shape) {
  Result<NpyFile> file = openNpy(path, type, shape);
  if (!file)
    return file.status();
  Result<HostTensor> tensor = HostTensor::uninitialized(type, shape);
  if (!tensor)
    return tensor;
  if (Status status = file->read(tensor->mutableData()); !status)
    return status;
  if (type == ElementType::Bool) {
    uint8_t *bytes = tensor->mutableDataAs<uint8_t>();
    for (int64_t i = 0; i < tensor->count(); ++i)
      bytes[i] = bytes[i] != 0;
  }
  return tensor;
}

Status saveNpy(const std::string &path, const HostTensor &tensor) {
  return writeNpy(path, npyType(tensor.type()), tensor.shape(), tensor.data());
}

} // namespace ccn::runtime
