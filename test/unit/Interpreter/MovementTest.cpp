//===- MovementTest.cpp - Kernels that move elements ----------------------===//

#include "lib/Interpreter/Movement.h"

#include "TestUtil.h"

#include <algorithm>

using namespace ccn::interp;

namespace {

using enum ElementType;

/// The index, by dimension, of a row-major position.
Shape indexOf(const Shape &shape, int64_t linear) {
  Shape strides = rowMajorStrides(shape), index;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    index.push_back(linear / strides[dim]);
    linear %= strides[dim];
  }
  return index;
}

int64_t linearOf(const Shape &shape, const Shape &index) {
  Shape strides = rowMajorStrides(shape);
  int64_t linear = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    linear += strides[dim] * index[dim];
  return linear;
}

TEST(Transpose, EveryPermutation) {
  for (ElementType type : {I8, I16, I32, I64})
    for (const Shape &shape :
         {Shape{3, 4}, Shape{2, 3, 4}, Shape{2, 1, 3, 4}, Shape{5}, Shape{}}) {
      HostTensor x = iota(type, shape);
      std::vector<int64_t> permutation;
      for (int64_t dim = 0; dim < x.rank(); ++dim)
        permutation.push_back(dim);
      do {
        HostTensor y = get(transpose(x, permutation));
        for (size_t dim = 0; dim < permutation.size(); ++dim)
          ASSERT_EQ(y.shape()[dim], x.size(permutation[dim]));
        for (int64_t i = 0; i < y.count(); ++i) {
          Shape index = indexOf(y.shape(), i), source(index.size());
          for (size_t dim = 0; dim < permutation.size(); ++dim)
            source[size_t(permutation[dim])] = index[dim];
          ASSERT_EQ(y.integerAt(i), x.integerAt(linearOf(x.shape(), source)));
        }
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
  EXPECT_EQ(get(transpose(get(HostTensor::zeros(F32, {0, 3})), {1, 0})).shape(),
            (Shape{3, 0}));
}

TEST(Transpose, Errors) {
  HostTensor x = iota(F32, {2, 3});
  expectError(transpose(x, {0, 0}), "f32[2, 3]", "[0, 0]");
  expectError(transpose(x, {0}), "[0]");
  expectError(transpose(x, {0, 2}), "[0, 2]");
  expectError(transpose(x, {0, -1}), "[0, -1]");
  expectError(transpose(x, {1, 0, 1}), "[1, 0, 1]");
}

TEST(Extract, Ranges) {
  HostTensor x = iota(I32, {2, 3, 2});
  EXPECT_EQ(integers(get(extract(x, 1, 1, 3))),
            (std::vector<int64_t>{2, 3, 4, 5, 8, 9, 10, 11}));
  EXPECT_EQ(integers(get(extract(x, 0, 1, 2))),
            (std::vector<int64_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(integers(get(extract(x, 2, 0, 1))),
            (std::vector<int64_t>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(get(extract(x, 1, 3, 3)).shape(), (Shape{2, 0, 2}));
  EXPECT_EQ(get(extract(x, 0, 0, 2)).data(), x.data());
  expectError(extract(x, 3, 0, 1), "dimension 3", "i32[2, 3, 2]");
  expectError(extract(x, -1, 0, 1), "dimension -1");
  expectError(extract(x, 1, 0, 4), "0 to 4", "i32[2, 3, 2]");
  expectError(extract(x, 1, 2, 1), "2 to 1");
  expectError(extract(x, 1, -1, 1), "-1 to 1");
}

TEST(Concat, UndoesExtract) {
  for (ElementType type : allElementTypes)
    for (int64_t dim : {0, 1, 2}) {
      HostTensor x = iota(type, {3, 4, 5});
      // Ragged, with an empty piece.
      std::vector<HostTensor> pieces = {get(extract(x, dim, 0, 1)),
                                        get(extract(x, dim, 1, 1)),
                                        get(extract(x, dim, 1, x.size(dim)))};
      EXPECT_TRUE(same(get(concat(dim, pieces)), x));
    }
  EXPECT_EQ(get(concat(0, {get(HostTensor::zeros(F32, {0, 2}))})).shape(),
            (Shape{0, 2}));
  HostTensor x = iota(F32, {2, 3});
  expectError(concat(0, {}), "nothing");
  expectError(concat(2, {x}), "dimension 2");
  expectError(concat(0, {x, iota(F32, {2, 4})}), "f32[2, 3]", "f32[2, 4]");
  expectError(concat(0, {x, iota(F32, {2})}), "f32[2]");
  expectError(concat(0, {x, iota(F64, {2, 3})}), "f64[2, 3]");
}

TEST(Broadcast, RightAligned) {
  HostTensor x = iota(I16, {2, 1});
  EXPECT_EQ(integers(get(broadcastTo(x, {2, 3}))),
            (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(integers(get(broadcastTo(iota(I16, {3}), {2, 3}))),
            (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(integers(get(broadcastTo(ints(I16, {}, {7}), {2, 2}))),
            (std::vector<int64_t>{7, 7, 7, 7}));
  EXPECT_EQ(integers(get(broadcastTo(iota(I16, {2, 1, 2}), {2, 2, 2}))),
            (std::vector<int64_t>{0, 1, 0, 1, 2, 3, 2, 3}));
  EXPECT_EQ(get(broadcastTo(x, {2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(get(broadcastTo(x, {0, 2, 0})).shape(), (Shape{0, 2, 0}));
  expectError(broadcastTo(x, {3, 3}), "i16[2, 1]", "i16[3, 3]");
  expectError(broadcastTo(x, {2}), "i16[2]");
  expectError(broadcastTo(iota(I16, {0, 2}), {2, 2}), "i16[0, 2]");
  expectError(broadcastTo(x, {1LL << 40, 2, 1LL << 10}), "not enough memory");
}

TEST(Reshape, SharesElements) {
  HostTensor x = iota(F32, {2, 3});
  HostTensor y = get(reshape(x, {3, 1, 2}));
  EXPECT_EQ(y.shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(doubles(y), doubles(x));
  expectError(reshape(x, {7}), "f32[2, 3]");
}

TEST(Boxes, EveryBoxOfASmallTensor) {
  Shape shape = {3, 2, 4};
  HostTensor x = iota(I32, shape);
  for (int64_t i = 0; i < 24; ++i)
    for (int64_t j = 0; j < 24; ++j) {
      Box box = {indexOf(shape, i), indexOf(shape, j)};
      bool inside = true;
      for (size_t dim = 0; dim < 3; ++dim)
        inside &= box.offsets[dim] + box.sizes[dim] <= shape[dim];
      if (!inside) {
        EXPECT_FALSE(extractBox(x, box).ok());
        continue;
      }
      HostTensor piece = get(extractBox(x, box));
      ASSERT_EQ(piece.shape(), box.sizes);
      HostTensor target = get(HostTensor::splat(I32, shape, -1));
      HostTensor y = get(insertBox(target, box.offsets, piece));
      EXPECT_EQ(target.integerAt(0), -1);
      for (int64_t k = 0; k < 24; ++k) {
        Shape index = indexOf(shape, k);
        bool in = true;
        for (size_t dim = 0; dim < 3; ++dim)
          in &= index[dim] >= box.offsets[dim] &&
                index[dim] < box.offsets[dim] + box.sizes[dim];
        ASSERT_EQ(y.integerAt(k), in ? k : -1);
      }
    }
}

TEST(Boxes, Errors) {
  HostTensor x = iota(I32, {3, 4});
  expectError(extractBox(x, {{0}, {1}}), "[1] at [0]", "i32[3, 4]");
  expectError(extractBox(x, {{0, -1}, {1, 1}}), "[0, -1]");
  expectError(extractBox(x, {{INT64_MAX, 0}, {1, 1}}), "does not lie inside");
  expectError(extractBox(x, {{1, 0}, {INT64_MAX, 1}}), "does not lie inside");
  expectError(insertBox(x, {3, 0}, iota(I32, {1, 1})), "[1, 1] at [3, 0]");
  expectError(insertBox(x, {0, 0}, iota(I8, {1, 1})), "i8[1, 1]");
  EXPECT_TRUE(
      same(get(insertBox(x, {3, 4}, get(HostTensor::zeros(I32, {0, 0})))), x));
  // Scalars are boxes of no dimensions.
  EXPECT_EQ(
      get(insertBox(ints(I32, {}, {1}), {}, ints(I32, {}, {2}))).integerAt(0),
      2);
}

TEST(GatherRows, EveryIndexType) {
  HostTensor table = iota(F16, {3, 2});
  for (ElementType type : allElementTypes)
    if (isInteger(type))
      EXPECT_EQ(doubles(get(gatherRows(table, ints(type, {4}, {2, 0, 2, 1})))),
                (std::vector<double>{4, 5, 0, 1, 4, 5, 2, 3}));
  EXPECT_EQ(doubles(get(gatherRows(iota(F32, {3}), ints(I32, {2}, {2, 1})))),
            (std::vector<double>{2, 1}));
  EXPECT_EQ(get(gatherRows(table, ints(I32, {0}, {}))).shape(), (Shape{0, 2}));
  EXPECT_EQ(get(gatherRows(get(HostTensor::zeros(F64, {0, 1LL << 60})),
                           ints(I32, {0}, {})))
                .count(),
            0);
  EXPECT_EQ(get(gatherRows(get(HostTensor::zeros(F32, {3, 0})),
                           ints(I32, {2}, {1, 2})))
                .shape(),
            (Shape{2, 0}));
}

TEST(GatherRows, Errors) {
  HostTensor table = iota(F32, {3, 2});
  expectError(gatherRows(table, ints(I32, {2}, {0, 3})),
              "index 3 at position 1", "3 rows");
  expectError(gatherRows(table, ints(I8, {1}, {-1})), "index -1 at position 0");
  expectError(gatherRows(table, ints(U64, {1}, {-1})),
              "index 18446744073709551615");
  expectError(gatherRows(iota(F32, {1, 2}), ints(I32, {1}, {1})),
              "there are 1 row");
  expectError(
      gatherRows(get(HostTensor::zeros(F32, {0, 2})), ints(I32, {1}, {0})),
      "0 rows");
  expectError(gatherRows(table, iota(F32, {2})), "rank 1", "f32[2]");
  expectError(gatherRows(table, iota(I32, {2, 2})), "rank 1");
  expectError(gatherRows(table, ints(Bool, {1}, {1})), "bool[1]");
  expectError(gatherRows(floats(F32, {}, {1}), ints(I32, {1}, {0})), "rank 1");
}

TEST(ScatterRows, AddsInOrder) {
  for (ElementType type : allElementTypes) {
    if (type == Bool)
      continue;
    HostTensor x = ints(type, {3, 2}, {1, 2, 3, 4, 5, 6});
    HostTensor rows = ints(type, {4, 2}, {1, 1, 2, 2, 2, 3, 4, 4});
    EXPECT_EQ(doubles(get(scatterRows(x, ints(I64, {4}, {2, 0, 2, 2}), rows))),
              (std::vector<double>{3, 4, 3, 4, 12, 14}))
        << name(type);
  }
  // One rounding for each row: f16 would stay at 2048.
  EXPECT_EQ(get(scatterRows(floats(F16, {1}, {2048}), ints(I32, {2}, {0, 0}),
                            floats(F16, {2}, {1, 1})))
                .doubleAt(0),
            2050);
  EXPECT_EQ(get(scatterRows(floats(F32, {1}, {0x1p24}), ints(I32, {2}, {0, 0}),
                            floats(F32, {2}, {1, 1})))
                .doubleAt(0),
            0x1p24 + 2);
  // In the order of the rows: in f32 the small ones vanish one by one.
  EXPECT_EQ(get(scatterRows(floats(BF16, {1}, {0}), ints(I32, {3}, {0, 0, 0}),
                            floats(BF16, {3}, {0x1p30, 1, -0x1p30})))
                .doubleAt(0),
            0);
  EXPECT_EQ(integers(get(scatterRows(ints(I8, {1}, {127}), ints(I32, {1}, {0}),
                                     ints(I8, {1}, {1})))),
            (std::vector<int64_t>{-128}));
}

TEST(ScatterRows, LongRowsAndOthersUntouched) {
  HostTensor x = get(HostTensor::splat(F32, {2, 3000}, NaN));
  HostTensor y = get(scatterRows(iota(F32, {2, 3000}), ints(U8, {2}, {1, 1}),
                                 iota(F32, {2, 3000})));
  for (int64_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(y.doubleAt(i), double(i));
    ASSERT_EQ(y.doubleAt(3000 + i), double(3000 + i + i + 3000 + i));
  }
  EXPECT_TRUE(same(get(scatterRows(x, ints(I32, {0}, {}),
                                   get(HostTensor::zeros(F32, {0, 3000})))),
                   x));
}

TEST(ScatterRows, Errors) {
  HostTensor x = iota(F32, {3, 2});
  expectError(scatterRows(x, ints(I32, {1}, {3}), iota(F32, {1, 2})),
              "index 3 at position 0", "3 rows");
  expectError(scatterRows(x, ints(I32, {2}, {0, 1}), iota(F32, {1, 2})),
              "f32[2, 2]", "f32[1, 2]");
  expectError(scatterRows(x, ints(I32, {1}, {0}), iota(F16, {1, 2})),
              "f16[1, 2]");
  expectError(
      scatterRows(floats(F32, {}, {1}), ints(I32, {1}, {0}), iota(F32, {1})),
      "rank 1");
  expectError(scatterRows(ints(Bool, {1}, {1}), ints(I32, {1}, {0}),
                          ints(Bool, {1}, {1})),
              "bool");
}

} // namespace
