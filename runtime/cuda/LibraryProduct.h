//===- LibraryProduct.h - Matrix products by cuBLASLt -----------*- C++ -*-===//
//
// A product of matrices that the library does in place of a generated kernel.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H
#define CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H

#include "runtime/Plan.h"
#include "runtime/cuda/BlasLt.h"
#include "runtime/cuda/GpuDevice.h"

#include <memory>
#include <optional>

namespace ccn::runtime {

/// How the library sees one matrix of a product, column-major: rows, columns
/// and the elements from one column to the next. A transposed operand has its
/// rows and columns exchanged.
struct LibraryMatrix {
  int64_t rows = 0, columns = 0, leading = 0;
  bool isTransposed = false;
  /// The elements from one matrix of a batch to the next.
  int64_t batchStride = 0;
};

/// A product as the library does it: out = left * right, where the operands may
/// have changed places.
struct LibraryForm {
  LibraryMatrix left, right, out;
  bool isSwapped = false;
  int64_t batch = 1;
};

/// Nothing if the library cannot: its operands need a dimension of stride 1,
/// and a batch one stride; nor if there is nothing to do.
std::optional<LibraryForm> libraryForm(const MatmulPart &part);

class LibraryProduct {
public:
  /// The workspace that products may use, in bytes.
  static constexpr int64_t workspaceBytes = 32 << 20;
  /// What the addresses of all matrices are multiples of, in bytes.
  static constexpr int64_t alignment = 16;

  /// Prepares a product of matrices of `type`; nothing if the library has none
  /// that accumulates as the plan says. The device's context is current.
  static Result<std::unique_ptr<LibraryProduct>>
  create(const GpuDevice &device, const MatmulPart &part, ElementType type);

  /// Starts it. Whoever calls it has the device's context current.
  Status run(const void *a, const void *b, void *c, void *workspace,
             CUstream stream) const;

private:
  explicit LibraryProduct(const BlasLt &blas) : blas(blas) {}

  template <typename T>
  using Object =
      std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

  const BlasLt &blas;
  cublasLtHandle_t handle = nullptr;
  bool isSwapped = false, isDouble = false;
  Object<cublasLtMatmulDesc_t> desc{nullptr, nullptr};
  Object<cublasLtMatrixLayout_t> left{nullptr, nullptr},
      right{nullptr, nullptr}, out{nullptr, nullptr};
  cublasLtMatmulAlgo_t algorithm{};
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H
