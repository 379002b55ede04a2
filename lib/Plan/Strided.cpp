//===- Strided.cpp - Strided regions of buffers ---------------------------===//
//
// Computes offsets, sizes and strides.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Strided.h"

#include "llvm/ADT/STLExtras.h"

using namespace ccn::plan;
using llvm::ArrayRef;

int64_t ccn::plan::countOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

Sizes ccn::plan::rowMajorStrides(ArrayRef<int64_t> sizes) {
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i])
    strides[i] = stride;
  return strides;
}

Strided Strided::whole(int buffer, ArrayRef<int64_t> sizes) {
  return {buffer, 0, Sizes(sizes), rowMajorStrides(sizes)};
}

Strided ccn::plan::subBox(Strided view, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> sizes) {
  for (auto [offset, stride] : llvm::zip_equal(offsets, view.strides))
    view.offset += offset * stride;
  view.sizes = Sizes(sizes);
  return view;
}

Strided ccn::plan::permute(const Strided &view, ArrayRef<int64_t> permutation) {
  Strided result = view;
  for (auto [to, from] : llvm::enumerate(permutation)) {
    result.sizes[to] = view.sizes[from];
    result.strides[to] = view.strides[from];
  }
  return result;
}

Strided ccn::plan::broadcastTo(const Strided &view, ArrayRef<int64_t> sizes) {
  Strided result = view;
  size_t missing = sizes.size() - view.sizes.size();
  result.sizes = Sizes(sizes);
  result.strides.assign(sizes.size(), 0);
  for (size_t dim = 0; dim < view.sizes.size(); ++dim)
    if (view.sizes[dim] == sizes[dim + missing])
      result.strides[dim + missing] = view.strides[dim];
  return result;
}

std::optional<Strided> ccn::plan::reshape(const Strided &view,
                                          ArrayRef<int64_t> sizes) {
  Strided result = view;
  result.sizes = Sizes(sizes);
  result.strides = rowMajorStrides(sizes);
  if (countOf(sizes) == 0)
    return result;
  // Matches, from the right, groups of old and new dimensions with the same
  // number of elements. The old dimensions of a group must be contiguous.
  size_t from = view.sizes.size(), to = sizes.size();
  while (to > 0) {
    int64_t wanted = 1, have = 1;
    size_t toEnd = to;
    do
      wanted *= sizes[--to];
    while (to > 0 && wanted == 1);
    // Strides of old dimensions of size 1 do not matter.
    std::optional<int64_t> stride;
    int64_t next = 0;
    while (have != wanted || (wanted == 1 && from > 0)) {
      if (have < wanted) {
        if (from == 0)
          return std::nullopt;
        --from;
        if (view.sizes[from] != 1) {
          if (stride && view.strides[from] != next)
            return std::nullopt;
          if (!stride)
            stride = view.strides[from];
          next = view.strides[from] * view.sizes[from];
          have *= view.sizes[from];
        }
      } else if (have > wanted) {
        if (to == 0)
          return std::nullopt;
        wanted *= sizes[--to];
      } else {
        break;
      }
    }
    int64_t step = stride.value_or(0);
    for (size_t dim = toEnd; dim-- > to; step *= sizes[dim])
      result.strides[dim] = step;
  }
  return result;
}

size_t ccn::plan::collapse(llvm::MutableArrayRef<Strided *> views, size_t first,
                           size_t last) {
  auto joins = [&](size_t dim) {
    return llvm::all_of(views, [&](Strided *view) {
      return view->sizes[dim] == 1 || view->sizes[dim + 1] == 1 ||
             view->strides[dim] ==
                 view->strides[dim + 1] * view->sizes[dim + 1];
    });
  };
  for (size_t dim = last; dim-- > first + 1;) {
    if (!joins(dim - 1))
      continue;
    for (Strided *view : views) {
      // The stride of a dimension of size 1 does not matter.
      if (view->sizes[dim] == 1)
        view->strides[dim] = view->strides[dim - 1];
      view->sizes[dim] *= view->sizes[dim - 1];
      view->sizes.erase(view->sizes.begin() + dim - 1);
      view->strides.erase(view->strides.begin() + dim - 1);
    }
    --last;
  }
  return last - first;
}
