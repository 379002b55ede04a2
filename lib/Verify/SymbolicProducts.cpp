//===- SymbolicProducts.cpp - Products, reductions and rows ---------------===//
//
// The symbolic kernels in which an element of the result depends on many
// elements.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/SymbolicArithmetic.h"
#include "lib/Verify/SymbolicGenerate.h"

#include <numeric>

namespace ccn::verify {

using namespace interp;

SymbolicKernels::Tensor SymbolicKernels::matmul(const HostTensor &a,
                                                const HostTensor &b) {
  int64_t m = a.size(a.rank() - 2), k = a.size(a.rank() - 1),
          n = b.size(b.rank() - 1);
  // A two-dimensional operand is used for every batch.
  Shape shape = a.rank() > 2 ? a.shape() : b.shape();
  shape[shape.size() - 2] = m;
  shape[shape.size() - 1] = n;
  int64_t aBatch = a.rank() > 2 ? m * k : 0, bBatch = b.rank() > 2 ? k * n : 0;
  const Expr *x = a.dataAs<Expr>(), *y = b.dataAs<Expr>();
  return generate(shape, [&](int64_t i) -> Result<Expr> {
    int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    std::vector<Term> terms;
    for (int64_t j = 0; j < k; ++j)
      terms.push_back(
          {Rational(1), exprs.product({x[batch * aBatch + row * k + j],
                                       y[batch * bBatch + j * n + column]})});
    return exprs.sum(std::move(terms));
  });
}

SymbolicKernels::Tensor SymbolicKernels::conv2d(const HostTensor &x,
                                                const HostTensor &w,
                                                const Conv2dOptions &options) {
  int64_t channels = x.size(1), height = x.size(2), width = x.size(3);
  int64_t filters = w.size(0), kh = w.size(2), kw = w.size(3);
  int64_t paddedH = height + options.padTop + options.padBottom;
  int64_t paddedW = width + options.padLeft + options.padRight;
  int64_t oh = paddedH < kh ? 0 : (paddedH - kh) / options.strideH + 1;
  int64_t ow = paddedW < kw ? 0 : (paddedW - kw) / options.strideW + 1;
  const Expr *image = x.dataAs<Expr>(), *filter = w.dataAs<Expr>();
  return generate({x.size(0), filters, oh, ow}, [&](int64_t i) -> Result<Expr> {
    int64_t n = i / (filters * oh * ow), o = i / (oh * ow) % filters;
    int64_t top = i / ow % oh * options.strideH - options.padTop;
    int64_t left = i % ow * options.strideW - options.padLeft;
    std::vector<Term> terms;
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t dh = 0; dh < kh; ++dh)
        for (int64_t dw = 0; dw < kw; ++dw) {
          int64_t row = top + dh, column = left + dw;
          if (row < 0 || row >= height || column < 0 || column >= width)
            continue;
          Expr pixel =
              image[((n * channels + c) * height + row) * width + column];
          Expr weight = filter[((o * channels + c) * kh + dh) * kw + dw];
          terms.push_back({Rational(1), exprs.product({pixel, weight})});
        }
    return exprs.sum(std::move(terms));
  });
}

Result<Expr> SymbolicKernels::reductionOf(ReduceKind kind, ElementType type,
                                          std::vector<Expr> args,
                                          double meanDivisor) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean: {
    if (kind == ReduceKind::Mean && meanDivisor == 0)
      return error("a mean of nothing has no value");
    Rational factor = kind == ReduceKind::Mean
                          ? Rational(1) / rationalOf(meanDivisor)
                          : Rational(1);
    std::vector<Term> terms;
    for (Expr arg : args)
      terms.push_back({factor, arg});
    return exprs.sum(std::move(terms));
  }
  case ReduceKind::Prod:
    return exprs.product(std::move(args));
  case ReduceKind::Max:
    return extremumOf(exprs, true, type, std::move(args));
  case ReduceKind::Min:
    return extremumOf(exprs, false, type, std::move(args));
  }
  return error("unknown reduction");
}

SymbolicKernels::Tensor
SymbolicKernels::reduce(ReduceKind kind, ElementType type, const HostTensor &x,
                        const std::vector<int64_t> &dims, double meanDivisor) {
  // Moves the reduced dimensions to the end.
  std::vector<int64_t> order;
  Shape shape;
  int64_t inner = 1;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) {
      order.push_back(dim);
      shape.push_back(x.size(dim));
    }
  for (int64_t dim : dims) {
    order.push_back(dim);
    inner *= x.size(dim);
  }
  Tensor sorted = transpose(x, order);
  if (!sorted)
    return sorted;
  const Expr *in = sorted->dataAs<Expr>();
  return generate(shape, [&](int64_t i) {
    return reductionOf(kind, type, {in + i * inner, in + (i + 1) * inner},
                       meanDivisor);
  });
}

SymbolicKernels::Tensor
SymbolicKernels::combine(ReduceKind kind, ElementType type,
                         const std::vector<HostTensor> &tensors) {
  return generate(tensors.front().shape(), [&](int64_t i) {
    std::vector<Expr> args;
    for (const HostTensor &tensor : tensors)
      args.push_back(tensor.dataAs<Expr>()[i]);
    return reductionOf(kind, type, std::move(args),
                       static_cast<double>(tensors.size()));
  });
}

Status SymbolicKernels::checkIndices(const HostTensor &indices, int64_t rows) {
  for (int64_t i = 0; i < indices.count(); ++i) {
    Expr index = indices.dataAs<Expr>()[i];
    if (!exprs.isNumber(index))
      continue;
    const Rational &value = exprs.numberOf(index);
    if (value < Rational(0) || value >= Rational(rows))
      return error("index ", describe(value), " is not in 0 .. ", rows - 1);
  }
  return Status();
}

SymbolicKernels::Tensor SymbolicKernels::gatherRows(const HostTensor &table,
                                                    const HostTensor &indices) {
  int64_t rows = table.size(0);
  if (rows == 0 && indices.count() > 0)
    return error("a table without rows has none to look up");
  if (Status status = checkIndices(indices, rows); !status)
    return status;
  Shape shape = table.shape();
  shape[0] = indices.count();
  int64_t width = std::accumulate(shape.begin() + 1, shape.end(), int64_t(1),
                                  std::multiplies<>());
  const Expr *in = table.dataAs<Expr>();
  return generate(shape, [&](int64_t i) -> Result<Expr> {
    Expr index = indices.dataAs<Expr>()[i / width];
    Expr result = exprs.apply(Function::OutOfRange, {index});
    if (exprs.node(in[0]).isTruth)
      result = exprs.equal(result, exprs.number(0));
    for (int64_t row = rows; row-- > 0;)
      result = exprs.choose(exprs.equal(index, exprs.number(row)),
                            in[row * width + i % width], result);
    return result;
  });
}

SymbolicKernels::Tensor SymbolicKernels::scatterRows(const HostTensor &x,
                                                     const HostTensor &indices,
                                                     const HostTensor &rows) {
  if (Status status = checkIndices(indices, x.size(0)); !status)
    return status;
  int64_t width = x.size(0) ? x.count() / x.size(0) : 0;
  const Expr *added = rows.dataAs<Expr>();
  return generate(x.shape(), [&](int64_t i) -> Result<Expr> {
    std::vector<Term> terms = {{Rational(1), x.dataAs<Expr>()[i]}};
    for (int64_t j = 0; j < indices.count(); ++j) {
      Expr hits =
          exprs.equal(indices.dataAs<Expr>()[j], exprs.number(i / width));
      terms.push_back(
          {Rational(1),
           exprs.choose(hits, added[j * width + i % width], exprs.number(0))});
    }
    return exprs.sum(std::move(terms));
  });
}

} // namespace ccn::verify
