//===- NpyTensor.h - Host tensors in .npy files -----------------*- C++ -*-===//
//
// Loads and saves host tensors as .npy files: the bridge between the element
// types of the language and those NumPy knows.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_NPYTENSOR_H
#define CCN_RUNTIME_TENSOR_NPYTENSOR_H

#include "runtime/tensor/HostTensor.h"
#include "runtime/tensor/Npy.h"

namespace ccn::runtime {

/// The file type that holds elements of `type`. bf16 is raw "V2", both 8-bit
/// floats are raw "V1".
NpyType npyType(ElementType type);

/// Opens `path`, which must hold elements of `type` in `shape`; a file of
/// another type or shape is an error naming both.
Result<NpyFile> openNpy(const std::string &path, ElementType type,
                        const Shape &shape);

/// Reads such a file. Nothing is converted.
Result<HostTensor> loadNpy(const std::string &path, ElementType type,
                           const Shape &shape);

/// Writes `tensor` to `path`, replacing what is there only once all is written.
Status saveNpy(const std::string &path, const HostTensor &tensor);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_NPYTENSOR_H
