//===- TransposesTest.cpp - Loops along two dimensions, on the CPU --------===//
//
// Kernels whose operands are contiguous along different dimensions against the
// interpreter: tiles with vectors of every element type, what is left of them,
// and elements one by one where vectors would not be aligned.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Cuda/ComparedTeam.h"
#include "test/unit/Cuda/PrintedPlan.h"

namespace ccn::test {

namespace {

/// How the tiles of a program's loops are: "8x4", or "8x4, no vectors" if their
/// elements are not in vectors; in the order of the kernels.
std::vector<std::string> tilesOf(mlir::ModuleOp plans) {
  return findAll(printedKernels(plans), " tile\\(([^)]*)\\)");
}

class Transposes : public testing::Test {
protected:
  /// Runs a program twice, with few blocks, and returns its tiles.
  static std::vector<std::string> check(const std::string &text,
                                        const std::string &schedule = "") {
    std::vector<std::string> tiles;
    checkInto(tiles, text, schedule);
    return tiles;
  }

private:
  static void checkInto(std::vector<std::string> &tiles,
                        const std::string &text, const std::string &schedule) {
    ComparedTeam compared;
    ASSERT_TRUE(compared.create(text, schedule, 3));
    tiles = tilesOf(compared.plans());
    for (uint64_t seed : {1, 2})
      ASSERT_TRUE(compared.run(seed)) << text;
  }
};

struct Shape {
  const char *sizes, *order;
};

/// One program of transposes alone.
std::string transposesOf(const std::string &element,
                         const std::vector<Shape> &shapes) {
  std::string arguments, body, results;
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    arguments += comma + "x" + n + ": " + element + shape.sizes;
    body += "  let y" + n + " = transpose(x" + n + ", " + shape.order + ")\n";
    results += comma + "y" + n;
  }
  return "mesh m (d = 1)\nprogram f(" + arguments + ") {\n" + body +
         "  return " + results + "\n}\n";
}

/// Of one line, fused with what it is made of.
std::string fused(const std::string &arguments, const std::string &lines,
                  const std::string &names) {
  return "mesh m (d = 1)\nprogram f(" + arguments + ") {\n" + lines +
         "  return y\n}\nschedule fused for f {\n  fuse " + names + "\n}\n";
}

using Tiles = std::vector<std::string>;

// Sizes of whole tiles, such as leave rests, and such as are less than one.
TEST_F(Transposes, OfEveryElementType) {
  struct Element {
    const char *name;
    Tiles tiles;
  };
  const std::string longRow = "4x8, no vectors", row = "4x4, no vectors";
  const Tiles bytes = {"16x8", "16x8", row, longRow, "8x8", "4x16", longRow},
              halves = {"8x8", "8x8", row, longRow, "8x8", "4x8", longRow},
              words = {"4x4", "4x4", row, longRow, "4x4", "4x4", longRow},
              longs = {"2x2", "2x2", row, longRow, "2x2", "2x2", longRow};
  for (const Element &element :
       {Element{"bool", bytes}, Element{"i8", bytes}, Element{"u8", bytes},
        Element{"f8e4m3", bytes}, Element{"f8e5m2", bytes},
        Element{"i16", halves}, Element{"u16", halves}, Element{"f16", halves},
        Element{"bf16", halves}, Element{"i32", words}, Element{"u32", words},
        Element{"f32", words}, Element{"i64", longs}, Element{"u64", longs},
        Element{"f64", longs}}) {
    SCOPED_TRACE(element.name);
    EXPECT_EQ(check(transposesOf(element.name, {{"[80, 144]", "[1, 0]"},
                                                {"[144, 48]", "[1, 0]"},
                                                {"[33, 65]", "[1, 0]"},
                                                {"[67, 9]", "[1, 0]"},
                                                {"[3, 24, 40]", "[0, 2, 1]"},
                                                {"[320, 4]", "[1, 0]"},
                                                {"[200, 7]", "[1, 0]"}})),
              element.tiles);
  }
}

TEST_F(Transposes, InEveryOrder) {
  std::vector<Shape> shapes;
  for (const char *sizes : {"[5, 33, 65]", "[16, 8, 24]", "[40, 1, 24]",
                            "[9, 72, 17]", "[20, 9, 32]"})
    for (const char *order :
         {"[0, 2, 1]", "[1, 0, 2]", "[1, 2, 0]", "[2, 0, 1]", "[2, 1, 0]"})
      shapes.push_back({sizes, order});
  for (const char *element : {"bf16", "f32"})
    EXPECT_GE(check(transposesOf(element, shapes)).size(), 12u);
  shapes.clear();
  for (const char *sizes : {"[3, 5, 8, 24]", "[8, 3, 16, 4]", "[17, 2, 8, 33]"})
    for (const char *order : {"[0, 1, 3, 2]", "[3, 2, 1, 0]", "[2, 3, 0, 1]",
                              "[0, 3, 1, 2]", "[0, 2, 3, 1]", "[3, 0, 2, 1]"})
      shapes.push_back({sizes, order});
  for (const char *element : {"f16", "i8"})
    EXPECT_GE(check(transposesOf(element, shapes)).size(), 9u);
}

// Few elements are the first block's, and where all are contiguous along one
// dimension there are no tiles.
TEST_F(Transposes, NotWithoutNeed) {
  EXPECT_EQ(check(transposesOf("f32", {{"[16, 32]", "[1, 0]"},
                                       {"[1, 4000]", "[1, 0]"},
                                       {"[500, 3]", "[1, 0]"},
                                       {"[9, 67]", "[1, 0]"},
                                       {"[8, 40, 64]", "[1, 0, 2]"},
                                       {"[0, 64]", "[1, 0]"}})),
            Tiles());
}

// Addresses that are only known when it runs, of what is loaded and stored.
TEST_F(Transposes, WhereverElementsBegin) {
  for (const char *element : {"f32", "bf16", "i8", "f64"})
    for (int first : {0, 1, 2, 4}) {
      std::string begin = std::to_string(first);
      EXPECT_EQ(check("mesh m (d = 1)\nprogram f(x: " + std::string(element) +
                      "[72 * 48 + 4]) {\n  let part = reshape(slice(x, 0, " +
                      begin + ", 72 * 48 + " + begin +
                      "), [72, 48])\n"
                      "  let y = transpose(part)\n"
                      "  return y\n}\n")
                    .size(),
                1u);
    }
}

// Rows and columns of which vectors are aligned, but are not all.
TEST_F(Transposes, LeaveRests) {
  for (auto [rows, columns] : {std::pair(65, 33), std::pair(7, 90),
                               std::pair(90, 9), std::pair(33, 31)}) {
    std::string r = std::to_string(rows), c = std::to_string(columns);
    EXPECT_EQ(check("mesh m (d = 1)\nprogram f(x: f16[" + c + ", 96], z: f16[" +
                    r + ", 96 - " + c + "]) {\n  let part = slice(x, 1, 0, " +
                    r +
                    ")\n"
                    "  let y = concat([transpose(part), z], 1)\n"
                    "  return y\n}\n"),
              Tiles{rows < 8 ? "4x8" : "8x8"})
        << r << " x " << c;
  }
}

TEST_F(Transposes, WithWhatIsFused) {
  for (const char *shape : {"[72, 72]", "[65, 65]", "[33, 33]"}) {
    SCOPED_TRACE(shape);
    for (const char *element : {"f32", "bf16", "i16", "f64", "i8"}) {
      std::string type = std::string(element) + shape;
      EXPECT_EQ(check(fused("x: " + type,
                            "  let t = transpose(x)\n"
                            "  let y = t + x\n",
                            "t, y"),
                      "fused")
                    .size(),
                1u);
    }
  }
}

// Vectors of as many elements of one as of the other, or of 16 bytes of each.
TEST_F(Transposes, OfSeveralTypes) {
  auto cast = [](const char *from, const char *to) {
    return check(fused(std::string("x: ") + from + "[80, 96]",
                       std::string("  let t = transpose(x)\n"
                                   "  let y = cast(t, ") +
                           to + ")\n",
                       "t, y"),
                 "fused");
  };
  EXPECT_EQ(cast("bf16", "f32"), Tiles{"8x4"});
  EXPECT_EQ(cast("f32", "bf16"), Tiles{"4x8"});
  EXPECT_EQ(cast("i8", "f64"), Tiles{"16x2"});
  EXPECT_EQ(cast("f64", "f16"), Tiles{"2x8"});
  EXPECT_EQ(cast("f8e4m3", "bf16"), Tiles{"16x8"});
}

// What is the same for rows, for columns, or for all; and other dimensions.
TEST_F(Transposes, WithWhatRepeats) {
  for (const char *element : {"f32", "bf16"})
    for (auto [rows, columns] :
         {std::pair("40", "72"), std::pair("33", "65")}) {
      std::string e = element,
                  shape = std::string("[3, ") + columns + ", " + rows + "]";
      EXPECT_EQ(check(fused("x: " + e + "[3, " + rows + ", " + columns +
                                "], a: " + e + "[" + rows + "], b: " + e + "[" +
                                columns + "], c: " + e + "[3, 1, 1], s: " + e,
                            "  let t = transpose(x, [0, 2, 1])\n"
                            "  let u = t * a\n"
                            "  let v = u + broadcast_to(reshape(b, [1, " +
                                std::string(columns) + ", 1]), " + shape +
                                ")\n"
                                "  let w = v - broadcast_to(c, " +
                                shape +
                                ")\n"
                                "  let y = w * s\n",
                            "t, u, v, w, y"),
                      "fused")
                    .size(),
                1u);
    }
}

// Bodies that fail, and that depend on where an element is; a long one is
// written out for few elements only.
TEST_F(Transposes, OfLongBodies) {
  EXPECT_EQ(check(fused("x: i8[72, 80], z: i32[80, 72]",
                        "  let t = cast(transpose(x), i32)\n"
                        "  let y = z / (t * t + 1)\n",
                        "t, y"),
                  "fused"),
            Tiles{"4x4"});
  for (const char *shape : {"[72, 80]", "[33, 65]"})
    EXPECT_EQ(check(fused(std::string("x: bf16") + shape,
                          "  let t = transpose(x)\n"
                          "  let y = dropout(t, 0.25, 7)\n",
                          "t, y"),
                    "fused")
                  .size(),
              1u);
}

// Slices, of which ranks have more and fewer, and what ranks have exchanged.
TEST_F(Transposes, OnSeveralRanks) {
  EXPECT_FALSE(check("mesh m (d = 3)\nprogram f(x: bf16[100, 72] sliced(0)) {\n"
                     "  let y = transpose(x)\n"
                     "  return y\n}\n")
                   .empty());
  for (const char *protocol : {"ll", "push"})
    EXPECT_EQ(
        check(std::string("mesh m (d = 2)\n"
                          "program f(x: i32[72, 80] local, r: i32[80, 72]) {\n"
                          "  let total = all_reduce(sum, x)\n"
                          "  let t = transpose(total)\n"
                          "  let y = t + r\n"
                          "  return y\n}\n"
                          "schedule fused for f {\n"
                          "  fuse total, t, y\n  protocol total = ") +
                  protocol + "\n}\n",
              "fused"),
        Tiles{"4x4"});
}

} // namespace

} // namespace ccn::test
