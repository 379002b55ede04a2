//===- FakeBlasLt.cpp - cuBLASLt without GPUs -----------------------------===//
//
// Products of f64, f16 and bf16 matrices by loops, in the streams of
// FakeCuda.cpp. Whatever the library documents as required is required here:
// what is not said of a matrix is not guessed.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "runtime/tensor/NarrowFloat.h"

#include <cublasLt.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>

using namespace ccn::runtime;

namespace {

struct Matrix {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t leading, stride = 0;
  int32_t batch = 1;

  int64_t place(int64_t matrix, uint64_t i, uint64_t j) const {
    return matrix * stride + static_cast<int64_t>(i) +
           static_cast<int64_t>(j) * leading;
  }
  double load(const void *data, int64_t place) const {
    if (type == CUDA_R_64F)
      return static_cast<const double *>(data)[place];
    uint16_t bits = static_cast<const uint16_t *>(data)[place];
    return type == CUDA_R_16F ? decodeAs<F16Format>(bits)
                              : decodeAs<BF16Format>(bits);
  }
  void store(void *data, int64_t place, double value) const {
    if (type == CUDA_R_64F) {
      static_cast<double *>(data)[place] = value;
      return;
    }
    auto sum = static_cast<float>(value);
    static_cast<uint16_t *>(data)[place] =
        static_cast<uint16_t>(type == CUDA_R_16F ? encodeAs<F16Format>(sum)
                                                 : encodeAs<BF16Format>(sum));
  }
  bool isRight() const {
    return (type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF) &&
           leading >= static_cast<int64_t>(rows);
  }
};

struct Desc {
  cublasComputeType_t compute;
  cudaDataType scale;
  cublasOperation_t left = CUBLAS_OP_N, right = CUBLAS_OP_N;
};

struct Product {
  Desc desc;
  Matrix a, b, c;
  void *left, *right, *out;

  uint64_t depth() const {
    return desc.left == CUBLAS_OP_N ? a.columns : a.rows;
  }
  bool isRight() const {
    auto size = [](const Matrix &m, cublasOperation_t op, bool rows) {
      return rows == (op == CUBLAS_OP_N) ? m.rows : m.columns;
    };
    return a.isRight() && b.isRight() && c.isRight() && a.batch == b.batch &&
           a.batch == c.batch && size(a, desc.left, true) == c.rows &&
           size(b, desc.right, false) == c.columns &&
           size(b, desc.right, true) == depth() && a.type == b.type &&
           a.type == c.type &&
           desc.compute == (c.type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                                                 : CUBLAS_COMPUTE_32F) &&
           desc.scale == (c.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F);
  }
  /// Adds in the type of the computation.
  template <typename T> void runAs() const {
    for (int32_t n = 0; n < c.batch; ++n)
      for (uint64_t i = 0; i < c.rows; ++i)
        for (uint64_t j = 0; j < c.columns; ++j) {
          T sum = 0;
          for (uint64_t k = 0; k < depth(); ++k) {
            bool isPlain = desc.left == CUBLAS_OP_N;
            double x =
                a.load(left, isPlain ? a.place(n, i, k) : a.place(n, k, i));
            isPlain = desc.right == CUBLAS_OP_N;
            double y =
                b.load(right, isPlain ? b.place(n, k, j) : b.place(n, j, k));
            sum += static_cast<T>(x) * static_cast<T>(y);
          }
          c.store(out, c.place(n, i, j), sum);
        }
  }
  void run() const {
    if (c.type == CUDA_R_64F)
      runAs<double>();
    else
      runAs<float>();
  }
};

Matrix &of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<Matrix *>(layout);
}
Desc &of(cublasLtMatmulDesc_t desc) { return *reinterpret_cast<Desc *>(desc); }

template <typename T>
cublasStatus_t set(T &value, const void *from, size_t size) {
  if (size != sizeof value)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, size);
  return CUBLAS_STATUS_SUCCESS;
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  static int one;
  *handle = reinterpret_cast<cublasLtHandle_t>(&one);
  return CUBLAS_STATUS_SUCCESS;
}
const char *cublasLtGetStatusString(cublasStatus_t) { return "fake failure"; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(new Desc{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete &of(desc);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *from, size_t size) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    return set(of(desc).left, from, size);
  return attribute == CUBLASLT_MATMUL_DESC_TRANSB
             ? set(of(desc).right, from, size)
             : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Matrix{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *from, size_t size) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return set(of(layout).batch, from, size);
  return attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
             ? set(of(layout).stride, from, size)
             : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new int(0));
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<int *>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                     cublasLtMatmulPreferenceAttributes_t,
                                     const void *, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,
    int *count) {
  bool isRight =
      Product{of(desc), of(a), of(b), of(c), nullptr, nullptr, nullptr}
          .isRight();
  *count = isRight;
  return isRight ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *left,
                              cublasLtMatrixLayout_t a, const void *right,
                              cublasLtMatrixLayout_t b, const void *beta,
                              const void *, cublasLtMatrixLayout_t, void *out,
                              cublasLtMatrixLayout_t c,
                              const cublasLtMatmulAlgo_t *, void *, size_t,
                              cudaStream_t stream) {
  auto scale = [&](const void *value) {
    return of(desc).scale == CUDA_R_64F ? *static_cast<const double *>(value)
                                        : *static_cast<const float *>(value);
  };
  if (scale(alpha) != 1 || scale(beta) != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  // Graphs may run it again, at any time.
  static std::mutex mutex;
  static auto &products = *new std::deque<Product>;
  std::lock_guard lock(mutex);
  Product *product = &products.emplace_back(
      Product{of(desc), of(a), of(b), of(c), const_cast<void *>(left),
              const_cast<void *>(right), out});
  fakeFunction<decltype(ccnFakeEnqueue)>("ccnFakeEnqueue")(
      stream, [](void *data) { static_cast<Product *>(data)->run(); }, product);
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
