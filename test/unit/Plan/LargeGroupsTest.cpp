//===- LargeGroupsTest.cpp - Groups of more ranks than a GPU's kernel has -===//
//
// In such groups one part copies from all members: programs on 17 and more
// ranks are executed and compared with the interpreter. The plans of many ranks
// have as many operations for each rank as those of few.
//
//===----------------------------------------------------------------------===//

#include "ComparedPrograms.h"
#include "lib/Plan/MemberPieces.h"

#include <random>
#include <set>

namespace ccn::verify {

namespace {

std::string withMesh(const std::string &mesh, const std::string &program) {
  return "mesh m (" + mesh + ")\n" + program;
}

class LargeGroups : public ComparedPrograms {
protected:
  /// The number of operations of the plans, and of gathers among them.
  std::pair<int64_t, int64_t> countOps(const std::string &text) {
    std::string messages;
    auto plans =
        compiler.compileTo(Phase::Plan, text, {.phase = Phase::Plan}, messages);
    EXPECT_TRUE(plans) << messages;
    int64_t all = 0, gathers = 0;
    if (plans)
      plans->walk([&](mlir::Operation *op) {
        ++all;
        gathers += isa<plan::GatherPartOp>(op);
      });
    return {all, gathers};
  }
};

constexpr const char *moves = R"(
program f(x: f16[37, 5] sliced(0), y: f64[41, 3] sliced(1), z: i8[70, 43] sliced(0),
          w: f32[23] sliced(0), b: f32[3, 2] local, inout p: f32[23]) {
  let whole = all_gather(x)
  let columns = all_gather(y)
  let turned = all_to_all(z, 0 -> 1)
  let back = all_to_all(turned, 1 -> 0)
  let one = gather(w, 3)
  let part = scatter(b, 5, 0)
  let same = broadcast(b, 2)
  let next = send(b, m, +1)
  p <- 2 * p + all_gather(w)
  return whole, columns, turned, back, one, part, same, next
})";

} // namespace

TEST_F(LargeGroups, MoveAlongOneAxis) {
  for (const char *ranks : {"16", "17", "20", "33"})
    compare(withMesh(std::string("m = ") + ranks, moves));
}

TEST_F(LargeGroups, MoveAlongSeveralAxes) {
  constexpr const char *program = R"(
program f(x: f16[11, 13] sliced(0, a) sliced(1, b), y: f64[29] sliced(0, a) sliced(0, b),
          z: i32[29, 9] sliced(0, b) sliced(0, a), u: f32[8, 21, 5] sliced(1, a) sliced(2, b)) {
  let v0 = all_gather(x, a, b)
  let v1 = all_gather(x, b, a)
  let v2 = all_gather(y, a, b)
  let v3 = all_gather(z, b, a)
  let v4 = reshard(x, sliced(0, b))
  let v5 = reshard(y, sliced(0, b))
  let v6 = reshard(z, sliced(1, a) sliced(1, b))
  let v7 = reshard(u, sliced(0, b) sliced(2, a))
  let v8 = all_gather(u, b)
  return v0, v1, v2, v3, v4, v5, v6, v7, v8
})";
  for (const char *axes : {"a = 3, b = 7", "a = 5, b = 4", "a = 2, b = 18"})
    compare(withMesh(axes, program));
}

TEST_F(LargeGroups, Reduce) {
  constexpr const char *program = R"(
program f(x: f16[7, 5] local, y: f64[3, 21] local, inout p: f32[7, 5], q: f32[9, 40] sliced(1),
          r: f32[40, 6] sliced(0)) {
  let total = all_reduce(sum, x)
  p <- p + cast(total, f32)
  let parts = reduce_scatter(max, y, 1)
  let one = reduce(sum, y, 4)
  let product = all_reduce(sum, matmul(q, r))
  let s = slice(p, 0)
  return total, parts, one, product, s
})";
  for (const char *ranks : {"17", "33"})
    compare(withMesh(std::string("m = ") + ranks, program));
}

// Fused kernels have parts for each member only in small groups.
TEST_F(LargeGroups, FusedProducts) {
  constexpr const char *program = R"(
program f(x: f32[40, 6] sliced(0), w: f32[6, 35] sliced(1), v: f32[35, 5] sliced(0)) {
  let all = all_gather(x)
  let hidden = matmul(all, w)
  let part = matmul(hidden, v)
  let y = reduce_scatter(sum, part, 0)
  return y
}
schedule s for f {
  fuse all, hidden
  fuse part, y
}
schedule r for f {
  overlap all, hidden
}
)";
  for (const char *ranks : {"16", "17", "20"})
    for (const char *schedule : {"s", "r"})
      compare(withMesh(std::string("m = ") + ranks, program), schedule);
}

// In a small group there is a copy for each member, in a large one a gather.
TEST_F(LargeGroups, HaveOperationsInProportionToRanks) {
  constexpr const char *line = R"(
program f(x: f32[1003] sliced(0), y: f32[5000, 1030] sliced(0), g: f32[1003] local,
          inout p: f32[1003]) {
  let whole = all_gather(x)
  let turned = all_to_all(y, 0 -> 1)
  let avg = all_reduce(sum, g)
  p <- p - avg * whole
  let part = reduce_scatter(sum, g, 0)
  return turned, part
})";
  auto [few, none] = countOps(withMesh("m = 16", line));
  EXPECT_EQ(none, 0);
  auto [many, gathers] = countOps(withMesh("m = 1024", line));
  // Of full slices and of the last one, which is shorter.
  EXPECT_GT(gathers, 1024);
  EXPECT_LE(gathers, 4 * 1024);
  EXPECT_LT(many, 64 * few);

  constexpr const char *grid = R"(
program f(x: f32[1003, 203] sliced(0, a) sliced(1, b)) {
  let whole = all_gather(x, a, b)
  return whole
})";
  // Each of the full and the short slices of a with those of b.
  EXPECT_LE(countOps(withMesh("a = 32, b = 32", grid)).second, 4 * 1024);
}

TEST(MemberPieces, EachIsInOneGrid) {
  using plan::MemberPieces;
  using Place = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    // A grid of full and short pieces, of which some are missing.
    auto rows = static_cast<int64_t>(1 + random() % 6),
         columns = static_cast<int64_t>(1 + random() % 6);
    bool isWhole = round % 2;
    std::vector<MemberPieces> pieces;
    std::multiset<Place> expected, found;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        if (!isWhole && random() % 4 == 0)
          continue;
        int64_t size = 3 - (row + 1 == rows) - (column + 1 == columns);
        plan::Strided from = plan::Strided::whole(0, {size}),
                      to = plan::Strided::whole(1, {size});
        from.offset = isWhole ? 0 : static_cast<int64_t>(random() % 3);
        to.offset = row * 100 + column * 3;
        int64_t member = row * columns + column;
        pieces.push_back({member, from, to});
        expected.insert({size, member, from.offset, to.offset});
      }
    std::vector<MemberPieces> joined = plan::joinPieces(std::move(pieces));
    if (isWhole) {
      EXPECT_LE(joined.size(), 4u);
    }
    for (const MemberPieces &grid : joined) {
      std::vector<Place> places = {
          {grid.from.sizes[0], grid.member, grid.from.offset, grid.to.offset}};
      for (const plan::GridDim &dim : grid.grid) {
        std::vector<Place> wider;
        for (auto [size, member, from, to] : places)
          for (int64_t i = 0; i < dim.count; ++i)
            wider.push_back({size, member + i * dim.member, from + i * dim.from,
                             to + i * dim.to});
        places = wider;
      }
      found.insert(places.begin(), places.end());
    }
    EXPECT_EQ(found, expected);
  }
}

} // namespace ccn::verify
