//===- LibraryProduct.cpp - Matrix products by cuBLASLt -------------------===//
//
// The library's matrices are column-major, the plan's mostly row-major. So the
// library is asked for the transposed product: the operands change places, and
// in memory they already are their own transposes.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/LibraryProduct.h"

#include <array>

namespace ccn::runtime {

namespace {

/// How the library sees a matrix of these sizes and strides; nothing if no
/// dimension has stride 1.
std::optional<LibraryMatrix> seen(int64_t rows, int64_t columns,
                                  int64_t rowStride, int64_t columnStride) {
  // Along a dimension of one element nothing is ever stepped.
  auto leading = [](int64_t stride, int64_t steps, int64_t length) {
    return steps == 1 ? length : stride;
  };
  if (rowStride == 1 || rows == 1)
    if (int64_t next = leading(columnStride, columns, rows); next >= rows)
      return LibraryMatrix{rows, columns, next, false};
  if (columnStride == 1 || columns == 1)
    if (int64_t next = leading(rowStride, rows, columns); next >= columns)
      return LibraryMatrix{columns, rows, next, true};
  return std::nullopt;
}

/// The single stride of a batch of several dimensions; nothing if the batch has
/// no single stride.
std::optional<int64_t> batchStride(const std::vector<int64_t> &sizes,
                                   const std::vector<int64_t> &strides) {
  std::optional<int64_t> stride;
  int64_t count = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1)
      continue;
    if (stride && strides[i] != *stride * count)
      return std::nullopt;
    if (!stride)
      stride = strides[i];
    count *= sizes[i];
  }
  return stride.value_or(0);
}

bool isWithin32Bits(const LibraryMatrix &matrix) {
  return matrix.rows <= INT32_MAX && matrix.columns <= INT32_MAX &&
         matrix.leading <= INT32_MAX;
}

} // namespace

std::optional<LibraryForm> libraryForm(const MatmulPart &part) {
  LibraryForm form;
  for (int64_t size : part.batch)
    if (__builtin_mul_overflow(form.batch, size, &form.batch))
      return std::nullopt;
  if (part.m == 0 || part.n == 0 || part.k == 0 || form.batch == 0 ||
      form.batch > INT32_MAX)
    return std::nullopt;
  size_t dims = part.batch.size();
  auto strides = [&](const View &view) {
    return std::pair(view.strides[dims], view.strides[dims + 1]);
  };
  auto [aRow, aColumn] = strides(part.a);
  auto [bRow, bColumn] = strides(part.b);
  auto [cRow, cColumn] = strides(part.c);
  std::optional<LibraryMatrix> a, b, c = seen(part.m, part.n, cRow, cColumn);
  if (!c)
    return std::nullopt;
  form.isSwapped = c->isTransposed;
  if (form.isSwapped) {
    a = seen(part.k, part.m, aColumn, aRow);
    b = seen(part.n, part.k, bColumn, bRow);
    c = seen(part.n, part.m, cColumn, cRow);
  } else {
    a = seen(part.m, part.k, aRow, aColumn);
    b = seen(part.k, part.n, bRow, bColumn);
  }
  if (!a || !b || !c || c->isTransposed)
    return std::nullopt;
  for (auto [matrix, view] : {std::pair(&*a, &part.a), std::pair(&*b, &part.b),
                              std::pair(&*c, &part.c)}) {
    std::optional<int64_t> stride =
        batchStride(part.batch, std::vector(view->strides.begin(),
                                            view->strides.begin() +
                                                static_cast<int64_t>(dims)));
    if (!stride || *stride < 0 || !isWithin32Bits(*matrix))
      return std::nullopt;
    matrix->batchStride = *stride;
  }
  form.left = form.isSwapped ? *b : *a;
  form.right = form.isSwapped ? *a : *b;
  form.out = *c;
  return form;
}

std::optional<LibraryForm> paddedForm(const LibraryForm &form, int64_t size,
                                      int64_t alignment) {
  // On an H200 a product of bf16 in rows of odd lengths runs at 155 TFLOP/s
  // rather than at 750, and copies at 0.7 TB/s: they pay off from some 500
  // elements of each dimension on.
  constexpr double least = 160;
  const LibraryMatrix &left = form.left, &out = form.out;
  auto n = static_cast<double>(out.columns), m = static_cast<double>(out.rows),
       k = static_cast<double>(left.isTransposed ? left.rows : left.columns);
  auto isAligned = [&](const LibraryMatrix &matrix) {
    return matrix.leading * size % alignment == 0;
  };
  if (form.batch > 1 || 1 / (1 / m + 1 / n + 1 / k) < least ||
      (isAligned(form.left) && isAligned(form.right) && isAligned(form.out)))
    return std::nullopt;
  LibraryForm padded = form;
  for (LibraryMatrix *matrix : {&padded.left, &padded.right, &padded.out}) {
    int64_t step = std::max<int64_t>(alignment / size, 1);
    for (int64_t *length : {&matrix->rows, &matrix->columns})
      *length = (*length + step - 1) / step * step;
    matrix->leading = matrix->rows;
  }
  return padded;
}

namespace {

/// The library's name of a type. Nothing for types that the library does not
/// accumulate as plans demand: f32, for example, must be accumulated in f64.
std::optional<cudaDataType> libraryType(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return CUDA_R_16F;
  case ElementType::BF16:
    return CUDA_R_16BF;
  case ElementType::F64:
    return CUDA_R_64F;
  default:
    return std::nullopt;
  }
}

} // namespace

bool LibraryProduct::takes(ElementType type) {
  return libraryType(type).has_value();
}

Result<std::unique_ptr<LibraryProduct>>
LibraryProduct::create(const GpuDevice &device, const MatmulPart &part,
                       ElementType type, int64_t &spare) {
  std::unique_ptr<LibraryProduct> none;
  std::optional<LibraryForm> form = libraryForm(part);
  std::optional<cudaDataType> data = libraryType(type);
  if (!form || !data)
    return none;
  Result<const BlasLt *> opened = BlasLt::get();
  if (!opened)
    return opened.status();
  const BlasLt &blas = **opened;
  Result<cublasLtHandle_t> handle = blas.handle(device.number);
  if (!handle)
    return handle.status();
  std::unique_ptr<LibraryProduct> made(new LibraryProduct(device, blas));
  if (int64_t size = sizeInBytes(type);
      std::optional<LibraryForm> padded = paddedForm(*form, size, alignment))
    // Without memory for the copies the product takes longer.
    if (made->addCopies(*form, *padded, size, spare))
      form = padded;
  made->handle = *handle;
  made->isSwapped = form->isSwapped;
  made->isDouble = type == ElementType::F64;
  if (Status status = made->describe(*form, *data); !status)
    return status;
  Result<bool> isFound = made->findAlgorithm();
  if (!isFound)
    return isFound.status();
  return *isFound ? std::move(made) : std::move(none);
}

bool LibraryProduct::addCopies(const LibraryForm &form,
                               const LibraryForm &padded, int64_t size,
                               int64_t &spare) {
  int64_t bytes = 0;
  for (const LibraryMatrix *copy : {&padded.left, &padded.right, &padded.out})
    bytes += copy->leading * copy->columns * size;
  if (bytes > spare)
    return false;
  for (auto [matrix, copy] : {std::pair(&form.left, &padded.left),
                              std::pair(&form.right, &padded.right),
                              std::pair(&form.out, &padded.out)})
    if (!addCopy(*matrix, *copy, size)) {
      copies.clear();
      return false;
    }
  spare -= bytes;
  return true;
}

Status LibraryProduct::describe(const LibraryForm &form, cudaDataType type) {
  cublasLtMatmulDesc_t made = nullptr;
  if (Status status = blas.check(
          blas.descCreate(&made,
                          isDouble ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                          isDouble ? CUDA_R_64F : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
      !status)
    return status;
  desc = {made, blas.descDestroy};
  for (auto [matrix, attribute] :
       {std::pair(&form.left, CUBLASLT_MATMUL_DESC_TRANSA),
        std::pair(&form.right, CUBLASLT_MATMUL_DESC_TRANSB)}) {
    cublasOperation_t operation =
        matrix->isTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (Status status = blas.check(
            blas.descSet(made, attribute, &operation, sizeof operation),
            "cublasLtMatmulDescSetAttribute");
        !status)
      return status;
  }

  auto batch = static_cast<int32_t>(form.batch);
  for (auto [matrix, layout] :
       {std::pair(&form.left, &left), std::pair(&form.right, &right),
        std::pair(&form.out, &out)}) {
    cublasLtMatrixLayout_t own = nullptr;
    if (Status status = blas.check(
            blas.layoutCreate(&own, type, static_cast<uint64_t>(matrix->rows),
                              static_cast<uint64_t>(matrix->columns),
                              matrix->leading),
            "cublasLtMatrixLayoutCreate");
        !status)
      return status;
    *layout = {own, blas.layoutDestroy};
    Status status =
        blas.check(blas.layoutSet(own, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                  &batch, sizeof batch),
                   "cublasLtMatrixLayoutSetAttribute");
    if (status)
      status = blas.check(
          blas.layoutSet(own, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                         &matrix->batchStride, sizeof matrix->batchStride),
          "cublasLtMatrixLayoutSetAttribute");
    if (!status)
      return status;
  }
  return Status();
}

Result<bool> LibraryProduct::findAlgorithm() {
  cublasLtMatmulPreference_t preference = nullptr;
  if (Status status = blas.check(blas.preferenceCreate(&preference),
                                 "cublasLtMatmulPreferenceCreate");
      !status)
    return status;
  Object<cublasLtMatmulPreference_t> owned{preference, blas.preferenceDestroy};
  auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute,
                    auto value) {
    return blas.check(
        blas.preferenceSet(preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
  };
  Status status = prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                         static_cast<uint64_t>(workspaceBytes));
  // Sums of parts of k are not rounded to 16 bits in between.
  if (status)
    status =
        prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
               static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    if (status)
      status = prefer(attribute, static_cast<uint32_t>(alignment));
  if (!status)
    return status;
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  cublasStatus_t answer =
      blas.heuristic(handle, desc.get(), left.get(), right.get(), out.get(),
                     out.get(), preference, 1, &found, &count);
  // The library may have no algorithm for such strides.
  if (answer == CUBLAS_STATUS_NOT_SUPPORTED ||
      (answer == CUBLAS_STATUS_SUCCESS && count == 0))
    return false;
  status = blas.check(answer, "cublasLtMatmulAlgoGetHeuristic");
  if (!status)
    return status;
  algorithm = found.algo;
  return true;
}

/// The memory is zeroed, so that elements beyond the product's matrix stay
/// zero.
Status LibraryProduct::addCopy(const LibraryMatrix &matrix,
                               const LibraryMatrix &padded, int64_t size) {
  int64_t bytes = padded.leading * padded.columns * size;
  Result<DeviceMemory> memory =
      allocateMemory(device, bytes, "a matrix that is filled up");
  if (!memory)
    return memory.status();
  if (Status status = zeroMemory(device, *memory, bytes); !status)
    return status;
  copies.push_back({*std::move(memory), static_cast<size_t>(matrix.rows * size),
                    static_cast<size_t>(matrix.leading * size),
                    static_cast<size_t>(padded.leading * size),
                    static_cast<size_t>(matrix.columns)});
  return Status();
}

Status LibraryProduct::copy(const Copy &copy, void *matrix, bool isBack,
                            CUstream stream) const {
  auto place = reinterpret_cast<CUdeviceptr>(matrix);
  CUDA_MEMCPY2D both{};
  both.srcMemoryType = both.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  both.srcDevice = isBack ? copy.memory.get() : place;
  both.srcPitch = isBack ? copy.ownPitch : copy.pitch;
  both.dstDevice = isBack ? place : copy.memory.get();
  both.dstPitch = isBack ? copy.pitch : copy.ownPitch;
  both.WidthInBytes = copy.width;
  both.Height = copy.columns;
  return device.check(device.driver.memcpy2DAsync(&both, stream),
                      "cuMemcpy2DAsync");
}

Status LibraryProduct::run(void *a, void *b, void *c, void *workspace,
                           CUstream stream) const {
  const double one = 1, zero = 0;
  const float oneF = 1, zeroF = 0;
  const void *alpha = isDouble ? static_cast<const void *>(&one) : &oneF;
  const void *beta = isDouble ? static_cast<const void *>(&zero) : &zeroF;
  std::array<void *, 3> matrices = {isSwapped ? b : a, isSwapped ? a : b, c};
  auto at = [&](size_t i) {
    return copies.empty() ? matrices[i]
                          : reinterpret_cast<void *>(copies[i].memory.get());
  };
  Status status;
  for (size_t i = 0; status && i < 2 && !copies.empty(); ++i)
    status = copy(copies[i], matrices[i], /*isBack=*/false, stream);
  if (status)
    status = blas.check(blas.matmul(handle, desc.get(), alpha, at(0),
                                    left.get(), at(1), right.get(), beta, at(2),
                                    out.get(), at(2), out.get(), &algorithm,
                                    workspace, workspaceBytes, stream),
                        "cublasLtMatmul");
  if (status && !copies.empty())
    status = copy(copies[2], c, /*isBack=*/true, stream);
  return status;
}

} // namespace ccn::runtime
