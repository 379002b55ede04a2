//===- NpyTensor.h - Host tensors in .npy files -----------------*- C++ -*-===//
//
// Loads and saves host tensors as .npy files, and maps the element types of the
// language to those of NumPy.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_NPYTENSOR_H
#define CCN_RUNTIME_TENSOR_NPYTENSOR_H

#include "runtime/tensor/HostTensor.h"
#include "runtime/tensor/Npy.h"

namespace ccn::runtime {

/// The .npy type for elements of `type`: raw "V2" for bf16, raw "V1" for both
/// 8-bit floats.
NpyType npyType(ElementType type);

/// Opens the file `path`. An error, which names both, if its type or shape is
/// not `type` or `shape`.
Result<NpyFile> openNpy(const std::string &path, ElementType type,
                        const Shape &shape);

/// Reads such a file, without conversions.
Result<HostTensor> loadNpy(const std::string &path, ElementType type,
                           const Shape &shape);

/// Writes `tensor` to `path`. Replaces an existing file only after everything
/// was written.
Status saveNpy(const std::string &path, const HostTensor &tensor);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_NPYTENSOR_H
