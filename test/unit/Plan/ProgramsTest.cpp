//===- ProgramsTest.cpp - Small programs that plans once got wrong --------===//
//
// Found by random programs: each is executed as a package and compared with the
// interpreter.
//
//===----------------------------------------------------------------------===//

#include "ComparedPrograms.h"

using namespace ccn::test;

namespace ccn::verify {

namespace {

using PlansOfPrograms = ComparedPrograms;

// Who has nothing of a dimension that a sum runs over gives a sum of nothing.
TEST_F(PlansOfPrograms, ReduceNothing) {
  compare(R"(mesh m (a = 4)
program f(x: f32[3, 2] sliced(1), y: f32[0, 0]) {
  let s = sum(x, 1)
  let most = max(x * x, [1])
  let total = all_reduce(max, most)
  let length = norm(y)
  return s, total, length
})");
}

TEST_F(PlansOfPrograms, MultiplyNothing) {
  compare(R"(mesh m (a = 4)
program f(x: f32[2, 3] sliced(1), y: f32[3, 5] sliced(0), z: i32[2, 3, 5] sliced(1)) {
  let v = all_reduce(sum, matmul(x, y))
  let w = all_to_all(z, 1 -> 0)
  return v, w
})");
}

// A rank to which nobody sends keeps what it has, and others read it then.
TEST_F(PlansOfPrograms, ShareWhatWasKept) {
  compare(R"(mesh m (a = 5)
program f(x: f64[5, 5] local(a)) {
  let d = dropout(dropout(x, 0.5, 7), 0.5, 7)
  let moved = send(d, a, -1)
  let total = reduce(sum, x, 0, a)
  let parts = reduce_scatter(sum, moved, 0, a)
  return total, parts
})");
  compare(R"(mesh m (a = 3)
program f(x: f64[5, 5] local(a)) {
  let total = reduce(sum, 2 * x, 1, a)
  let again = reduce(sum, x, 2, a)
  let most = all_reduce(max, total, a)
  let sums = reduce_scatter(sum, again, 0, a)
  return most, sums
})");
}

TEST_F(PlansOfPrograms, GoAroundRingsInBlocks) {
  compare(R"(mesh m (a = 2, b = 2)
program f(x: i32[2, 5, 4] sliced(2, b), y: i32[4, 5] sliced(0, b), z: i32[3, 3] sliced(0, a)) {
  let product = matmul(x, y)
  let sums = reduce_scatter(sum, product, 0, b)
  let whole = all_gather(z, a)
  let twice = 2 * all_reduce(sum, product, b)
  return sums, whole, twice
}
schedule t for f {
  algorithm sums = ring
  algorithm whole = ring
  algorithm twice = ring
})",
          "t");
}

// Chunks that are two pieces on some ranks, of one row each.
TEST_F(PlansOfPrograms, PutPiecesInOneArgument) {
  compare(R"(mesh m (a = 2, b = 2)
program f(inout p0: i32[3, 8] sliced(0, a), inout p1: i32[8, 3] sliced(1, a),
          inout p2: i32[3, 3] sliced(1, a)) {
  let whole = all_gather(abs(p0), a)
  let product = matmul(whole, p1)
  p2 <- p2 + product
}
schedule t for f {
  overlap whole, product, p2
})",
          "t");
}

// Each takes a chunk of what the other has while that makes its next chunk,
// which lies elsewhere, as its slices have other sizes.
TEST_F(PlansOfPrograms, OverlapRaggedSlices) {
  compare(R"(mesh m (a = 2)
program f(x: i32[4, 5] partial(sum, a), inout p: i32[4, 5]) {
  let total = all_reduce(sum, x, a)
  let size = abs(total)
  let part = slice(size, 1)
  p <- p + part
  let both = concat([p, size], 1)
  return both
}
schedule t for f {
  overlap part, p, both chunks 2
})",
          "t");
}

// What loops compute they share, but not between types that order bits in
// different ways.
TEST_F(PlansOfPrograms, TellSignedFromUnsigned) {
  compare(R"(mesh m (a = 2)
program f(x: i32[8, 4], y: u32[8, 4], z: i8[5] sliced(0), w: u8[5] sliced(0)) {
  let v0 = max(x, [0])
  let v1 = max(y, [0])
  let v2 = min(x, [1])
  let v3 = min(y, [1])
  let v4 = cast(z, u8)
  let v5 = cast(w, i8)
  return v0, v1, v2, v3, v4, v5
})");
}

// The old value of an argument after it has changed, as itself and as parts.
TEST_F(PlansOfPrograms, KeepOldValues) {
  compare(R"(mesh m (a = 2)
program f(inout p: f32[4, 6], inout q: f32[6, 4], x: f32[4, 6] sliced(0)) {
  let turned = transpose(p)
  let part = slice(p, 0, 1, 3)
  let flat = reshape(p, [24])
  let old = p
  p <- all_gather(x) + old
  q <- turned
  let late = part + slice(old, 0, 1, 3)
  p <- old - p
  let same = x
  return late, flat, old, same, turned
})");
}

TEST_F(PlansOfPrograms, StoreAnArgumentInAnotherOrder) {
  compare(R"(mesh m (a = 3)
program f(inout p: f32[4, 4], inout q: f32[3, 3] local(a), inout r: f32[2, 5] sliced(1)) {
  p <- transpose(p)
  q <- send(transpose(q), a, +1)
  r <- r
})");
}

// Some ranks keep what lies in an argument, which then changes; others got what
// lies elsewhere.
TEST_F(PlansOfPrograms, KeepWhatLiesInAnArgument) {
  compare(R"(mesh m (a = 4)
program f(inout p: f32[4, 3] local(a), x: f32[4, 3] local(a)) {
  let sent = send(p, a, +1)
  let summed = reduce(sum, p, 2, a)
  p <- 0.5 * p + sent * x
  let late = 2 * summed
  return sent, late
})");
}

// A copy on ranks whose slices are matrices, none where they are vectors.
TEST_F(PlansOfPrograms, ReshapeSlices) {
  compare(R"(mesh m (a = 4)
program f(x: f32[5, 4] sliced(0), y: f64[1, 1] sliced(1), z: f64[1, 1] sliced(0)) {
  let turned = transpose(x)
  let flat = reshape(turned, [2, 2, 5])
  let product = matmul(y, z)
  let sums = reduce_scatter(sum, product, 1)
  let difference = sums - sums
  let last = transpose(difference)
  return flat, last
})");
}

// In chunks, a slice of what is whole is cut from the pieces that are there.
TEST_F(PlansOfPrograms, SliceChunks) {
  const char *text = R"(mesh m (a = 4, b = 2)
program f(x: f32[5, 2] local(b), inout p: f32[5, 2] sliced(0, b), y: f32[6] sliced(0, a), z: f32[6]) {
  let most = all_reduce(max, x, b)
  let half = -1.5 * tanh(most)
  p <- 0.9 * p + half
  let whole = all_gather(y, a)
  let size = log(abs(whole) + 1)
  let parts = neg(y) * size
  return parts
}
schedule t for f {
  overlap most, half, p chunks 2
  overlap whole, size, parts chunks 2
})";
  compare(text, "t");
}

// A value that is the same for all chunks is made with the first: others may
// still read it when the next chunk is made.
TEST_F(PlansOfPrograms, MakeOnceWhatAllChunksTake) {
  compare(R"(mesh m (a = 6)
program f(inout p0: i32[5, 3] sliced(1, a), x1: i32[3, 5] sliced(0, a),
          x2: i32[5, 5]) {
  let v0 = matmul(p0, x1)
  let v1 = all_reduce(sum, v0)
  let v2 = v1 * x2
  let v3 = matmul(v2, v1)
  return v3
}
schedule t for f {
  let k3 = fuse v0, v1, v2
  let o4 = overlap k3, v3
})",
          "t");
  // Combined from the memory of others, elementwise, a scalar, views, a
  // reduction; taken by the kernel alone and by the next stage too.
  const char *text = R"(mesh m (a = 3)
program f(x: f32[7, 4] local(a), y: f32[7, 4], z: f32[4] local(a), s: f32) {
  let row = all_reduce(sum, z, a)
  let most = max(abs(row))
  let scaled = row / (most + s)
  let whole = all_reduce(sum, x, a)
  let t = whole + y * broadcast_to(scaled, [7, 4]) + most
  let w = transpose(broadcast_to(reshape(row, [1, 4]), [3, 4]))
  let u = matmul(t, w)
  return t, u
}
schedule t for f {
  let k = fuse row, most, scaled, whole, t, w
  overlap k, u chunks 3
})";
  compare(text, "t");
}

TEST_F(PlansOfPrograms, MakeWhatAllChunksTakeInOnePart) {
  const char *text = R"(mesh m (a = 2)
program f(x: f32[8, 3] sliced(1), y: f32[3, 8] sliced(0), z: f32[8, 8]) {
  let square = all_reduce(sum, matmul(x, y))
  let scaled = square * z
  let product = matmul(scaled, square)
  return product
}
schedule t for f {
  let k = fuse square, scaled
  overlap k, product chunks 4
})";
  std::string messages;
  auto plans = compiler.compileTo(
      Phase::Plan, text, {.phase = Phase::Plan, .schedule = "t"}, messages);
  ASSERT_TRUE(plans) << messages;
  // One of x and y, and one in each chunk.
  for (auto program : plans->getOps<plan::PlanOp>()) {
    int products = 0;
    program.walk([&](plan::MatmulPartOp) { ++products; });
    EXPECT_EQ(products, 1 + 4);
  }
  compare(text, "t");
}

TEST_F(PlansOfPrograms, GatherNoColumns) {
  compare(R"(mesh m (a = 2, b = 2)
program f(x: f64[3, 3] sliced(0, a), i: i32[3]) {
  let whole = all_gather(x, a)
  let rows = gather_rows(whole, i)
  return rows
}
schedule t for f {
  overlap whole, rows
})",
          "t");
}

// What a product, or rows of a table, are stored to is one of their operands:
// they are made elsewhere. A table may get its rows where it is.
TEST_F(PlansOfPrograms, StoreToAnOperand) {
  compare(R"(mesh m (a = 2)
program f(x: f32[4, 4], i: i32[4], inout p: f32[4, 4], inout q: f32[4, 4],
          inout r: f32[4, 4], inout s: f32[4, 4], inout t: f32[4, 4],
          inout u: f32[4, 4], inout c: f32[1, 1, 3, 3], k: f32[1, 1, 1, 1],
          inout j: i32[4]) {
  p <- matmul(p, x)
  q <- matmul(x, q)
  r <- gather_rows(r, i)
  s <- scatter_rows(x, i, s)
  t <- scatter_rows(t, i, t)
  u <- scatter_rows(u, i, x)
  c <- conv2d(c, k)
  j <- gather_rows(i, j)
})");
}

// Filters of one pixel are matrices; images may lie in any order, and be
// overwritten by what is made of them.
TEST_F(PlansOfPrograms, ConvolutionsOfPixels) {
  compare(R"(mesh m (a = 2)
program f(x: f32[3, 4, 2, 5] sliced(1), inout y: f32[2, 3, 4, 1],
          w: f32[6, 4, 1, 1], v: f32[3, 3, 1, 1], s: f32[2, 3, 2, 2]) {
  let r = relu(conv2d(all_gather(x), w, 1, 0) + 1.0)
  let t = conv2d(transpose(s, [0, 1, 3, 2]), v, 1, 0)
  let e = conv2d(slice(s, 0, 0, 0), v, 1, 0)
  y <- conv2d(y, v, 1, 0)
  let around = conv2d(s, v, 1, 1)
  let steps = conv2d(s, v, 2, 0)
  return r, transpose(t, [1, 0, 2, 3]), e, around, steps
})");
}

// Rows of one element, of a matrix, and of a matrix in blocks.
TEST_F(PlansOfPrograms, RowsOfAnyShape) {
  compare(R"(mesh m (a = 2)
program f(x: f32[5], t: f32[4, 2, 3], i: i32[3], r: f32[3], q: f32[3, 2, 3],
          b: f32[4, 2, 4] sliced(2)) {
  let u = gather_rows(x, i)
  let v = gather_rows(t, i)
  let w = scatter_rows(x, i, r)
  let y = scatter_rows(t, i, q)
  let z = gather_rows(b, i)
  return u, v, w, y, z
})");
}

TEST_F(PlansOfPrograms, ReturnTheSameTwice) {
  compare(R"(mesh m (a = 2)
program f(x: f32[5] sliced(0), inout p: f32[5] sliced(0), s: i64) {
  let one = cast(1, f32)
  let same = x
  let y = x + p
  p <- y
  let z = y
  let seed = s
  return same, one, y, z, seed
})");
}

} // namespace

} // namespace ccn::verify
