//===- LibraryProduct.h - Matrix products by cuBLASLt -----------*- C++ -*-===//
//
// A product of matrices that the library does in place of a generated kernel.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H
#define CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H

#include "runtime/cuda/BlasLt.h"
#include "runtime/cuda/GpuDevice.h"
#include "runtime/plan/Plan.h"

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

/// The form for copies of the matrices whose rows and columns are filled up
/// with zeros to multiples of `alignment` bytes. Nothing if the matrices have
/// such rows and columns themselves, or if the copies would cost more than the
/// library gains by them. Elements have `size` bytes.
std::optional<LibraryForm> paddedForm(const LibraryForm &form, int64_t size,
                                      int64_t alignment);

/// The product as the library does it. Nothing if it cannot, as operands need a
/// dimension of stride 1, and batches one stride; nor if there is nothing to
/// do.
std::optional<LibraryForm> libraryForm(const MatmulPart &part);

class LibraryProduct {
public:
  /// The workspace that products may use, in bytes.
  static constexpr int64_t workspaceBytes = 32 << 20;
  /// All matrices' addresses are multiples of this many bytes.
  static constexpr int64_t alignment = 16;

  /// Whether the library accumulates products of this type as plans say.
  static bool takes(ElementType type);

  /// Prepares a product of matrices of `type`; nothing if the library has none
  /// that accumulates as the plan says. What copies of matrices take, if that
  /// is at most `spare` bytes, is taken off `spare`. The device's context is
  /// current.
  static Result<std::unique_ptr<LibraryProduct>> create(const GpuDevice &device,
                                                        const MatmulPart &part,
                                                        ElementType type,
                                                        int64_t &spare);

  /// Whether addresses must be aligned.
  bool mustAlign() const { return copies.empty(); }
  /// Starts it. Whoever calls it has the device's context current.
  Status run(void *a, void *b, void *c, void *workspace, CUstream stream) const;

private:
  LibraryProduct(const GpuDevice &device, const BlasLt &blas)
      : device(device), blas(blas) {}

  /// A matrix with more rows and columns than one of the product.
  struct Copy {
    DeviceMemory memory;
    /// In bytes: a column, and the distance from one column to the next in the
    /// matrix and in the copy. Then the number of columns.
    size_t width, pitch, ownPitch, columns;
  };
  /// Copies of all matrices for the padded form, of `size` bytes an element;
  /// whether there was memory for them, of which they take at most `spare`.
  bool addCopies(const LibraryForm &form, const LibraryForm &padded,
                 int64_t size, int64_t &spare);
  /// Tells the library of the product, and of its matrices.
  Status describe(const LibraryForm &form, cudaDataType type);
  /// Whether the library has an algorithm for what it was told.
  Result<bool> findAlgorithm();
  Status addCopy(const LibraryMatrix &matrix, const LibraryMatrix &padded,
                 int64_t size);
  Status copy(const Copy &copy, void *matrix, bool isBack,
              CUstream stream) const;

  template <typename T>
  using Object =
      std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

  const GpuDevice &device;
  const BlasLt &blas;
  cublasLtHandle_t handle = nullptr;
  bool isSwapped = false, isDouble = false;
  Object<cublasLtMatmulDesc_t> desc{nullptr, nullptr};
  Object<cublasLtMatrixLayout_t> left{nullptr, nullptr},
      right{nullptr, nullptr}, out{nullptr, nullptr};
  cublasLtMatmulAlgo_t algorithm{};
  /// Of left, right and out, or none.
  std::vector<Copy> copies;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_LIBRARYPRODUCT_H
