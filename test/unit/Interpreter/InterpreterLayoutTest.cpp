//===- InterpreterLayoutTest.cpp - Operations under every layout ----------===//
//
// Every operation, distributed, against the same computation without layouts:
// a local tensor of the first program is one with a leading dimension in the
// second, and both draw the same inputs. Elements are integers wherever sums
// are taken in another order, so that results must be equal. Meshes are larger
// than some sizes, so slices are ragged and empty.
//
//===----------------------------------------------------------------------===//

#include "ProgramUtil.h"

using namespace ccn;
using namespace ccn::interp;

namespace {

struct Case {
  const char *name;
  /// Arguments and body of the program that is distributed over axis `a` (and
  /// `b`), and of the one that is not. Both leave the same values.
  std::string distributed;
  std::string reference;
};

void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

/// For floats whose sums are rounded in another order.
testing::AssertionResult close(const HostTensor &a, const HostTensor &b) {
  if (!isFloat(a.type()) || a.shape() != b.shape())
    return same(a, b);
  for (int64_t i = 0; i < a.count(); ++i) {
    double x = a.doubleAt(i), y = b.doubleAt(i);
    double tolerance = a.type() == ElementType::F64 ? 1e-12 : 0;
    if (x != y && !(std::abs(x - y) <= tolerance * std::abs(y)) &&
        !(std::isnan(x) && std::isnan(y)))
      return testing::AssertionFailure()
             << "element " << describeIndex(a.shape(), i) << ": " << x
             << " is not " << y;
  }
  return testing::AssertionSuccess();
}

void check(const Case &c, const std::string &axes, const Settings &mesh,
           const Settings &params) {
  std::string header = "mesh m (" + axes + ")\nparam N = 1\nprogram p";
  RunOptions options;
  options.seed = 5;
  TestProgram reference(header + c.reference, mesh, params);
  std::vector<Output> expected = reference.outputs({}, options);
  for (Phase phase : {Phase::Parse, Phase::Schedule}) {
    TestProgram distributed(header + c.distributed, mesh, params, phase);
    std::vector<Output> found = distributed.outputs({}, options);
    ASSERT_EQ(found.size(), expected.size());
    ASSERT_FALSE(found.empty());
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      EXPECT_TRUE(close(found[i].tensor, expected[i].tensor));
    }
  }
}

std::string program(const std::string &args, const std::string &body) {
  return "(" + args + ") {\n" + body + "\n}\n";
}

/// A program that returns one value.
std::string returns(const std::string &args, const std::string &value) {
  return program(args, "let out = " + value + "\nreturn out");
}

//===----------------------------------------------------------------------===//
// One axis
//===----------------------------------------------------------------------===//

class OneAxis : public testing::TestWithParam<Case> {};

TEST_P(OneAxis, IsAsWithoutLayouts) {
  for (const char *ranks : {"1", "2", "3", "8"})
    for (const char *size : {"0", "1", "5", "12"}) {
      SCOPED_TRACE(std::string("a = ") + ranks + ", N = " + size);
      ASSERT_NO_FATAL_FAILURE(
          check(GetParam(), "a = 2", {{"a", ranks}}, {{"N", size}}));
    }
}

const std::string localX = "x: i32[N, 3] local", stackX = "x: i32[a, N, 3]";
const std::string plainX = "x: i32[N, 3]", slicedX = "x: i32[N, 3] sliced(0)";

const Case collectives[] = {
    {"all_reduce_sum", returns(localX, "all_reduce(sum, x)"),
     returns(stackX, "sum(x, 0)")},
    {"all_reduce_prod", returns(localX, "all_reduce(prod, x)"),
     returns(stackX, "prod(x, 0)")},
    {"all_reduce_max", returns(localX, "all_reduce(max, x)"),
     returns(stackX, "max(x, [0])")},
    {"all_reduce_min", returns(localX, "all_reduce(min, x)"),
     returns(stackX, "min(x, [0])")},
    {"all_reduce_partial",
     returns("x: i32[N, 3] partial(sum)", "all_reduce(sum, x)"),
     returns(stackX, "sum(x, 0)")},
    {"all_reduce_bool", returns("x: bool[N, 3] local", "all_reduce(max, x)"),
     returns("x: bool[a, N, 3]", "max(x, [0])")},
    {"reduce_scatter_0", returns(localX, "reduce_scatter(sum, x, 0)"),
     returns(stackX, "sum(x, 0)")},
    {"reduce_scatter_1", returns(localX, "reduce_scatter(max, x, 1)"),
     returns(stackX, "max(x, [0])")},
    {"all_gather", returns(slicedX, "all_gather(x)"),
     returns(plainX, "neg(-x)")},
    {"all_gather_1", returns("x: i32[2, N] sliced(1)", "all_gather(x)"),
     returns("x: i32[2, N]", "neg(-x)")},
    {"slice", returns(plainX, "slice(x, 0, a)"), returns(plainX, "neg(-x)")},
    {"all_to_all", returns("x: i32[N, 7] sliced(0)", "all_to_all(x, 0 -> 1)"),
     returns("x: i32[N, 7]", "neg(-x)")},
    {"all_to_all_back",
     returns("x: i32[2, N, 7] sliced(2)", "all_to_all(x, 2 -> 1)"),
     returns("x: i32[2, N, 7]", "neg(-x)")},
    {"broadcast", returns(localX, "broadcast(x, a - 1)"),
     returns(stackX, "reshape(slice(x, 0, a - 1, a), [N, 3])")},
    {"reduce", returns(localX, "reduce(sum, x, 0)"),
     returns(stackX, "concat([reshape(sum(x, 0), [1, N, 3]), "
                     "slice(x, 0, 1, a)], 0)")},
    {"reduce_broadcast",
     returns(localX, "broadcast(reduce(min, x, a - 1), a - 1)"),
     returns(stackX, "min(x, [0])")},
    {"gather", returns(slicedX, "gather(x, 0)"),
     returns(plainX, "concat([reshape(x, [1, N, 3]), "
                     "0 * broadcast_to(x, [a - 1, N, 3])], 0)")},
    {"gather_last", returns(slicedX, "all_reduce(sum, gather(x, a - 1))"),
     returns(plainX, "neg(-x)")},
    {"scatter", returns(localX, "scatter(x, a - 1, 1)"),
     returns(stackX, "reshape(slice(x, 0, a - 1, a), [N, 3])")},
    {"send", returns(localX, "send(x, +1)"),
     returns(stackX, "concat([slice(x, 0, 0, 1), slice(x, 0, 0, a - 1)], 0)")},
    {"send_back", returns(localX, "send(x, -1)"),
     returns(stackX, "concat([slice(x, 0, 1, a), slice(x, 0, a - 1, a)], 0)")},
};

const Case elementwise[] = {
    {"sliced_and_replicated",
     returns("x: i32[N, 3] sliced(0), y: i32[N, 3], s: i32",
             "select(x < y, x * y - s, s + max(x, y))"),
     returns("x: i32[N, 3], y: i32[N, 3], s: i32",
             "select(x < y, x * y - s, s + max(x, y))")},
    {"sliced_last",
     returns("x: f32[3, N], y: f32[3, N] sliced(1)",
             "gelu(x) / (y + 1) - sqrt(x) * exp(cast(cast(y, f16), f32))"),
     returns("x: f32[3, N], y: f32[3, N]",
             "gelu(x) / (y + 1) - sqrt(x) * exp(cast(cast(y, f16), f32))")},
    {"local_and_replicated",
     returns(localX + ", y: i32[N, 3], s: i32", "x * y + s"),
     returns(stackX + ", y: i32[N, 3], s: i32",
             "x * broadcast_to(y, [a, N, 3]) + s")},
    {"partial",
     returns("x: i32[N] partial(sum), z: i32[N] partial(sum), s: i32",
             "all_reduce(sum, neg(x * s) + z)"),
     returns("x: i32[a, N], z: i32[a, N], s: i32", "sum(neg(x * s) + z, 0)")},
    {"dropout_sliced_0",
     returns("x: f32[N, 6] sliced(0), s: i64", "dropout(x, 0.4, s)"),
     returns("x: f32[N, 6], s: i64", "dropout(x, 0.4, s)")},
    {"dropout_sliced_1",
     returns("x: bf16[N, 6] sliced(1), s: i64", "dropout(x, 0.4, s)"),
     returns("x: bf16[N, 6], s: i64", "dropout(x, 0.4, s)")},
    {"constants",
     returns("x: bool[N] sliced(0), y: u8[N]", "select(x, y, 200) + 7"),
     returns("x: bool[N], y: u8[N]", "select(x, y, 200) + 7")},
    {"softmax", returns("x: f64[3, N] sliced(1)", "softmax(x, 1)"),
     returns("x: f64[3, N]", "softmax(x, 1)")},
    {"norm", returns("x: f64[N, 3] sliced(0)", "norm(x)"),
     returns("x: f64[N, 3]", "norm(x)")},
};

const Case reductions[] = {
    {"sum_all", returns(slicedX, "all_reduce(sum, sum(x))"),
     returns(plainX, "sum(x)")},
    {"sum_other", returns(slicedX, "sum(x, 1)"), returns(plainX, "sum(x, 1)")},
    {"prod", returns(slicedX, "all_reduce(prod, prod(x + 1, 0))"),
     returns(plainX, "prod(x + 1, 0)")},
    {"max", returns(slicedX, "all_reduce(max, max(x, [0]))"),
     returns(plainX, "max(x, [0])")},
    {"min_f8",
     returns("x: f8e4m3[N, 3] sliced(0)", "all_reduce(min, min(x, [0]))"),
     returns("x: f8e4m3[N, 3]", "min(x, [0])")},
    {"max_f32", returns("x: f32[2, N] sliced(1)", "all_reduce(max, max(x))"),
     returns("x: f32[2, N]", "max(x)")},
    {"mean", returns("x: f64[N, 3] sliced(0)", "all_reduce(sum, mean(x))"),
     returns("x: f64[N, 3]", "mean(x)")},
    {"mean_other", returns("x: f64[3, N] sliced(1)", "mean(x, 0)"),
     returns("x: f64[3, N]", "mean(x, 0)")},
    {"local", returns(localX, "max(x, [1])"), returns(stackX, "max(x, [2])")},
    {"partial_stays",
     returns("x: i32[N, 3] partial(sum)", "all_reduce(sum, sum(x, 0))"),
     returns(stackX, "sum(x, [0, 1])")},
};

const std::string matrixA = "x: i32[N, 5]", matrixB = "w: i32[5, 7]";
const std::string plainMatmul =
    returns(matrixA + ", " + matrixB, "matmul(x, w)");
const std::string plainConv =
    returns("x: i32[N, 3, 5, 5], w: i32[4, 3, 3, 2]", "conv2d(x, w, 2, 1)");

const Case products[] = {
    {"matmul_m", returns(matrixA + " sliced(0), " + matrixB, "matmul(x, w)"),
     plainMatmul},
    {"matmul_n",
     returns(matrixA + ", " + matrixB + " sliced(1)", "matmul(x, w)"),
     plainMatmul},
    {"matmul_k",
     returns(matrixA + " sliced(1), " + matrixB + " sliced(0)",
             "all_reduce(sum, matmul(x, w))"),
     plainMatmul},
    {"matmul_k_left",
     returns(matrixA + " sliced(1), " + matrixB,
             "all_reduce(sum, matmul(x, w))"),
     plainMatmul},
    {"matmul_k_right",
     returns(matrixA + ", " + matrixB + " sliced(0)",
             "reduce_scatter(sum, matmul(x, w), 1)"),
     plainMatmul},
    {"matmul_local",
     returns("x: i32[N, 5] local, w: i32[5, 7]", "matmul(x, w)"),
     returns("x: i32[a, N, 5], w: i32[5, 7]", "matmul(x, w)")},
    {"matmul_partial",
     returns("x: i32[N, 5] partial(sum), w: i32[5, 7]",
             "all_reduce(sum, matmul(x, w))"),
     returns("x: i32[a, N, 5], w: i32[5, 7]", "sum(matmul(x, w), 0)")},
    {"batch_left",
     returns("x: i32[N, 2, 3] sliced(0), w: i32[N, 3, 2]", "matmul(x, w)"),
     returns("x: i32[N, 2, 3], w: i32[N, 3, 2]", "matmul(x, w)")},
    {"batch_right",
     returns("x: i32[N, 2, 3], w: i32[N, 3, 2] sliced(0)", "matmul(x, w)"),
     returns("x: i32[N, 2, 3], w: i32[N, 3, 2]", "matmul(x, w)")},
    {"batch_of_one_matrix",
     returns("x: i32[N, 2, 3], w: i32[3, 2] sliced(0)",
             "all_reduce(sum, matmul(x, w))"),
     returns("x: i32[N, 2, 3], w: i32[3, 2]", "matmul(x, w)")},
    {"conv_n",
     returns("x: i32[N, 3, 5, 5] sliced(0), w: i32[4, 3, 3, 2]",
             "conv2d(x, w, 2, 1)"),
     plainConv},
    {"conv_o",
     returns("x: i32[N, 3, 5, 5], w: i32[4, 3, 3, 2] sliced(0)",
             "conv2d(x, w, 2, 1)"),
     plainConv},
    {"conv_c",
     returns("x: i32[N, 3, 5, 5] sliced(1), w: i32[4, 3, 3, 2]",
             "all_reduce(sum, conv2d(x, w, 2, 1))"),
     plainConv},
    {"conv_c_both",
     returns("x: i32[N, 3, 5, 5] sliced(1), w: i32[4, 3, 3, 2] sliced(1)",
             "all_reduce(sum, conv2d(x, w, 2, 1))"),
     plainConv},
};

/// Arguments with `layout` for the distributed program and without for the
/// other; `value` is the same.
Case both(const char *name, const std::string &before,
          const std::string &layout, const std::string &after,
          const std::string &value) {
  return {name, returns(before + layout + after, value),
          returns(before + after, value)};
}

const Case movement[] = {
    both("transpose", "x: i32[N, 3, 4]", " sliced(0)", "",
         "transpose(x, [2, 0, 1])"),
    both("reshape", "x: i32[N, 6]", " sliced(0)", "", "reshape(x, [N, 2, 3])"),
    both("reshape_middle", "x: i32[2, N, 3]", " sliced(1)", "",
         "reshape(x, [2, N, 3, 1])"),
    both("extract", "x: i32[N, 4]", " sliced(0)", "", "slice(x, 1, 1, 3)"),
    both("concat", "x: i32[N, 4]", " sliced(0)", ", y: i32[N, 1]",
         "concat([x, y, x], 1)"),
    both("broadcast_one", "x: i32[N, 1]", " sliced(0)", "",
         "broadcast_to(x, [2, N, 5])"),
    both("broadcast_new", "x: i32[N]", " sliced(0)", "",
         "broadcast_to(x, [3, N])"),
    both("gather_rows", "i: i32[N]", " sliced(0)", ", t: f16[6, 3]",
         "gather_rows(t, i)"),
    both("gather_columns", "t: f16[6, N]", " sliced(1)", ", i: u8[4]",
         "gather_rows(t, i)"),
    both("scatter_table", "t: i32[6, N]", " sliced(1)",
         ", i: i64[5], r: i32[5, N]", "scatter_rows(t, i, r)"),
    both("scatter_rows", "r: i32[5, N]", " sliced(1)",
         ", i: i64[5], t: i32[6, N]", "scatter_rows(t, i, r)"),
    {"gather_local",
     returns("t: i32[4, N], i: i32[3] local",
             "all_reduce(sum, gather_rows(t, i))"),
     returns(
         "t: i32[4, N], i: i32[a, 3]",
         "sum(reshape(gather_rows(t, reshape(i, [a * 3])), [a, 3, N]), 0)")},
    {"reshard_cut", returns(plainX, "reshard(x, sliced(1))"),
     returns(plainX, "neg(-x)")},
    {"reshard_whole", returns(slicedX, "reshard(x, replicated)"),
     returns(plainX, "neg(-x)")},
    {"reshard_move", returns(slicedX, "reshard(x, sliced(1))"),
     returns(plainX, "neg(-x)")},
    {"reshard_sum",
     returns("x: i32[N, 3] partial(sum)", "reshard(x, replicated)"),
     returns(stackX, "sum(x, 0)")},
    {"reshard_sum_cut",
     returns("x: i32[N, 3] partial(max)", "reshard(x, sliced(1))"),
     returns(stackX, "max(x, [0])")},
    {"reshard_repeat", returns(plainX, "reshard(x, local)"),
     returns(plainX, "broadcast_to(x, [a, N, 3])")},
    {"updates",
     program("inout p: i32[N, 3] sliced(0), inout q: i32[N, 3], " + plainX,
             "p <- p + x\nlet z = p * 2\np <- p * p - z\nreturn z"),
     program("inout p: i32[N, 3], inout q: i32[N, 3], " + plainX,
             "p <- p + x\nlet z = p * 2\np <- p * p - z\nreturn z")},
};

std::string caseName(const testing::TestParamInfo<Case> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Collectives, OneAxis, testing::ValuesIn(collectives),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Elementwise, OneAxis, testing::ValuesIn(elementwise),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Reductions, OneAxis, testing::ValuesIn(reductions),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Products, OneAxis, testing::ValuesIn(products),
                         caseName);
INSTANTIATE_TEST_SUITE_P(Movement, OneAxis, testing::ValuesIn(movement),
                         caseName);

//===----------------------------------------------------------------------===//
// Two axes
//===----------------------------------------------------------------------===//

class TwoAxes : public testing::TestWithParam<Case> {};

TEST_P(TwoAxes, IsAsWithoutLayouts) {
  const std::pair<const char *, const char *> meshes[] = {
      {"2", "3"}, {"3", "2"}, {"1", "4"}, {"2", "1"}};
  for (auto [a, b] : meshes)
    for (const char *size : {"0", "1", "7", "12"}) {
      SCOPED_TRACE(std::string("a = ") + a + ", b = " + b + ", N = " + size);
      ASSERT_NO_FATAL_FAILURE(check(GetParam(), "a = 2, b = 2",
                                    {{"a", a}, {"b", b}}, {{"N", size}}));
    }
}

const std::string nested = "x: i32[N, 3] sliced(0, a) sliced(0, b)";
const std::string squareX = "x: i32[a, b, N, 3]";

const Case twoAxes[] = {
    {"nested", returns(nested, "neg(-x)"), returns(plainX, "neg(-x)")},
    {"nested_and_outer",
     returns(nested + ", y: i32[N, 3] sliced(0, a), z: i32[N, 3]", "x * y + z"),
     returns(plainX + ", y: i32[N, 3], z: i32[N, 3]", "x * y + z")},
    {"gather_inner",
     returns(nested + ", y: i32[N, 3] sliced(0, a)", "all_gather(x, b) * y"),
     returns(plainX + ", y: i32[N, 3]", "x * y")},
    {"gather_both", returns(nested, "all_gather(x, a, b)"),
     returns(plainX, "neg(-x)")},
    {"gather_both_reversed", returns(nested, "all_gather(x, b, a)"),
     returns(plainX, "neg(-x)")},
    {"slice_both", returns(plainX, "slice(x, 0, b, a)"),
     returns(plainX, "neg(-x)")},
    {"grid",
     returns("x: i32[N, 3] sliced(0, a) sliced(1, b)", "all_gather(x, a, b)"),
     returns(plainX, "neg(-x)")},
    {"all_reduce_both",
     returns("x: i32[N, 3] local(a) local(b)", "all_reduce(sum, x, a, b)"),
     returns(squareX, "sum(x, [0, 1])")},
    {"all_reduce_one",
     returns("x: i32[N, 3] sliced(0, a) local(b)", "all_reduce(max, x, b)"),
     returns("x: i32[b, N, 3]", "max(x, [0])")},
    {"all_reduce_first",
     returns("x: i32[N, 3] local(a) local(b)", "all_reduce(sum, x, a)"),
     returns(squareX, "sum(x, 0)")},
    {"reduce_scatter_both",
     returns("x: i32[N, 3] local(a) local(b)",
             "reduce_scatter(sum, x, 0, a, b)"),
     returns(squareX, "sum(x, [0, 1])")},
    {"reduce_scatter_reversed",
     returns("x: i32[N, 3] local(a) local(b)",
             "reduce_scatter(sum, x, 0, b, a)"),
     returns(squareX, "sum(x, [0, 1])")},
    {"reduce_scatter_further",
     returns("x: i32[3, N] sliced(1, b) partial(sum, a)",
             "reduce_scatter(sum, x, 1, a)"),
     returns("x: i32[a, 3, N]", "sum(x, 0)")},
    {"broadcast",
     returns("x: i32[N, 3] sliced(0, a) local(b)", "broadcast(x, b - 1, b)"),
     returns("x: i32[b, N, 3]", "reshape(slice(x, 0, b - 1, b), [N, 3])")},
    {"scatter",
     returns("x: i32[N, 3] sliced(0, a) local(b)", "scatter(x, 0, 0, b)"),
     returns("x: i32[b, N, 3]", "reshape(slice(x, 0, 0, 1), [N, 3])")},
    {"send", returns("x: i32[N, 3] sliced(0, a) local(b)", "send(x, b, +1)"),
     returns("x: i32[b, N, 3]",
             "concat([slice(x, 0, 0, 1), slice(x, 0, 0, b - 1)], 0)")},
    {"all_to_all",
     returns("x: i32[N, 6] sliced(0, a) sliced(0, b)",
             "all_to_all(x, 0 -> 1, b)"),
     returns("x: i32[N, 6]", "neg(-x)")},
    {"matmul_grid",
     returns("x: i32[N, 5] sliced(0, a), w: i32[5, 7] sliced(1, b)",
             "matmul(x, w)"),
     plainMatmul},
    {"matmul_nested_k",
     returns(
         "x: i32[N, 5] sliced(1, a) sliced(1, b), w: i32[5, 7] sliced(0, a)",
         "all_reduce(sum, matmul(x, w), a, b)"),
     plainMatmul},
    {"matmul_nested_k_right",
     returns(
         "x: i32[N, 5] sliced(1, b), w: i32[5, 7] sliced(0, b) sliced(0, a)",
         "all_reduce(sum, matmul(x, w), b, a)"),
     plainMatmul},
    {"matmul_stage",
     returns("x: i32[N, 4] local(a) sliced(1, b), w: i32[4, 4] local(a) "
             "sliced(0, b)",
             "all_reduce(sum, matmul(x, w), b)"),
     returns("x: i32[a, N, 4], w: i32[a, 4, 4]", "matmul(x, w)")},
    {"dropout",
     returns("x: f32[N, 6] sliced(1, a) sliced(0, b), s: i64",
             "dropout(x, 0.3, s)"),
     returns("x: f32[N, 6], s: i64", "dropout(x, 0.3, s)")},
    {"reductions",
     returns("x: i32[N, 6] sliced(0, a) sliced(1, b)",
             "all_reduce(max, max(x), a, b)"),
     returns("x: i32[N, 6]", "max(x)")},
    {"reshard_swap", returns(nested, "reshard(x, sliced(0, b) sliced(0, a))"),
     returns(plainX, "neg(-x)")},
    {"reshard_cross",
     returns("x: i32[N, 6] sliced(0, a) sliced(1, b)",
             "reshard(x, sliced(0, b) sliced(1, a))"),
     returns("x: i32[N, 6]", "neg(-x)")},
    {"reshard_outer", returns(nested, "reshard(x, sliced(0, b))"),
     returns(plainX, "neg(-x)")},
    {"reshard_partial",
     returns("x: i32[N, 6] partial(sum, a) sliced(0, b)",
             "reshard(x, sliced(0, a) sliced(1, b))"),
     returns("x: i32[a, N, 6]", "sum(x, 0)")},
    {"reshard_partials",
     returns("x: i32[N, 3] partial(sum, a) partial(sum, b)",
             "reshard(x, replicated)"),
     returns(squareX, "sum(x, [0, 1])")},
};

INSTANTIATE_TEST_SUITE_P(All, TwoAxes, testing::ValuesIn(twoAxes), caseName);

} // namespace
