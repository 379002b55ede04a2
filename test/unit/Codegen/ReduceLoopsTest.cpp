//===- ReduceLoopsTest.cpp - Reductions in compiled loops -----------------===//
//
// Every kind of reduction of every type over any of the dimensions, against the
// interpreter's.
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Reduce.h"
#include "test/unit/Codegen/TensorUtil.h"

#include <functional>

namespace ccn::codegen {
namespace {

using runtime::ReduceKind;

constexpr std::pair<ReductionKind, ReduceKind> kinds[] = {
    {ReductionKind::sum, ReduceKind::Sum},
    {ReductionKind::prod, ReduceKind::Prod},
    {ReductionKind::max, ReduceKind::Max},
    {ReductionKind::min, ReduceKind::Min},
    {ReductionKind::mean, ReduceKind::Mean}};

constexpr double divisor = 7;

struct Case {
  Shape shape;
  std::vector<int64_t> dims;
};
const Case cases[] = {
    {{}, {}},
    {{5}, {}},
    {{0}, {0}},
    {{1}, {0}},
    {{37}, {0}},
    {{3, 41}, {1}},
    {{41, 19}, {0}},
    {{33, 2}, {0}},
    {{0, 3}, {0}},
    {{3, 0}, {0}},
    {{17, 0}, {1}},
    {{6, 5, 7}, {0, 2}},
    {{6, 5, 7}, {1}},
    {{3, 5, 18}, {0, 1}},
    {{2, 5, 9}, {0, 1, 2}},
    {{2, 0, 9}, {0, 2}},
    {{2, 0, 9}, {0, 1}},
};

class ReduceLoops : public CpuLoops {
protected:
  /// The kernel of one case, with the kept dimensions first.
  LoopKernel reduction(ElementType type, ReductionKind kind, const Case &shape,
                       bool knowsStep) {
    std::string scalar = scalarName(type);
    LoopKernel loop = kernel("func.func @f(%x: " + scalar + ") -> " + scalar +
                                 " { return %x : " + scalar + " }",
                             1, static_cast<int64_t>(shape.shape.size()));
    loop.reducedDims = static_cast<int64_t>(shape.dims.size());
    Layout layout = layoutOf(shape);
    auto known = [&](const std::vector<int64_t> &strides) -> int64_t {
      bool isKnown = knowsStep && !strides.empty() &&
                     (strides.back() == 0 || strides.back() == 1);
      return isKnown ? strides.back() : -1;
    };
    mlir::Type element = this->type(elementName(type));
    loop.inputs = {{element, known(layout.from), false}};
    loop.outputs = {{element, known(layout.to), kind, divisor}};
    return loop;
  }

  struct Layout {
    Shape sizes, result;
    std::vector<int64_t> from, to;
  };
  static Layout layoutOf(const Case &shape) {
    Layout layout;
    std::vector<int64_t> strides = runtime::rowMajorStrides(shape.shape);
    auto isReduced = [&](size_t dim) {
      return llvm::is_contained(shape.dims, static_cast<int64_t>(dim));
    };
    for (bool reduced : {false, true})
      for (size_t dim = 0; dim < shape.shape.size(); ++dim)
        if (isReduced(dim) == reduced) {
          layout.sizes.push_back(shape.shape[dim]);
          layout.from.push_back(strides[dim]);
          if (!reduced)
            layout.result.push_back(shape.shape[dim]);
        }
    layout.to = runtime::rowMajorStrides(layout.result);
    layout.to.resize(layout.sizes.size());
    return layout;
  }
};

TEST_F(ReduceLoops, EveryKindOfEveryType) {
  for (ElementType type : runtime::allElementTypes) {
    std::vector<LoopKernel> kernels;
    std::vector<std::function<void(const LoadedObject &)>> checks;
    for (auto [kind, reduceKind] : kinds) {
      if (!runtime::checkReduction(reduceKind, type, ""))
        continue;
      for (const Case &shape : cases)
        for (auto [knowsStep, isRare] : {std::pair(false, false),
                                         {false, true},
                                         {true, false},
                                         {true, true}}) {
          LoopKernel loop = reduction(type, kind, shape, knowsStep);
          loop.name = "loop" + std::to_string(kernels.size());
          loop.isRare = isRare;
          kernels.push_back(loop);
          ReduceKind expectedKind = reduceKind;
          checks.push_back([=, name = loop.name](const LoadedObject &object) {
            Layout layout = layoutOf(shape);
            std::vector<int64_t> strides = layout.from;
            strides.insert(strides.end(), layout.to.begin(), layout.to.end());
            // The sum of -0 alone is -0.
            for (const HostTensor &x :
                 {randomTensor(type, shape.shape, 1),
                  get(HostTensor::splat(type, shape.shape, -0.0))}) {
              HostTensor found =
                  get(HostTensor::uninitialized(type, layout.result));
              void *data[] = {const_cast<std::byte *>(x.data()),
                              found.mutableData()};
              int64_t status = 0;
              object.get(name)(layout.sizes.data(), data, strides.data(),
                               &status);
              EXPECT_EQ(status, 0);
              expectEqual(
                  found,
                  get(interp::reduce(expectedKind, x, shape.dims, divisor)),
                  std::string(runtime::name(expectedKind)) + " of " +
                      x.describe());
            }
          });
        }
    }
    auto object = compile(kernels);
    ASSERT_TRUE(object);
    for (const auto &check : checks)
      check(*object);
  }
}

/// Several reductions of computed values at once, with an operand that the
/// innermost loop does not move, one that is uniform, and positions: sums of
/// exp(x - y) of each row, largest x * t + position, and whether x < y was met.
TEST_F(ReduceLoops, OfComputedValues) {
  LoopKernel loop = kernel(R"(
func.func @f(%x: f32, %y: f32, %t: f32, %p: i64) -> (f32, f32, i1, i1) {
  %d = arith.subf %x, %y : f32
  %d64 = arith.extf %d : f32 to f64
  %e64 = math.exp %d64 : f64
  %e = arith.truncf %e64 : f64 to f32
  %pf = arith.sitofp %p : i64 to f32
  %m = arith.mulf %x, %t : f32
  %s = arith.addf %m, %pf : f32
  %less = arith.cmpf olt, %x, %y : f32
  %limit = arith.constant 100.0 : f32
  %bad = arith.cmpf ogt, %y, %limit : f32
  return %e, %s, %less, %bad : f32, f32, i1, i1
})",
                           3, 2);
  loop.reducedDims = 1;
  loop.inputs.pop_back();
  loop.positions = 1;
  loop.inputs[1].innerStep = 0;
  loop.inputs[2].isUniform = true;
  for (LoopOutput &output : loop.outputs)
    output.innerStep = 0;
  loop.outputs[0].reduction = ReductionKind::sum;
  loop.outputs[1].reduction = loop.outputs[2].reduction = ReductionKind::max;
  auto object = compile(loop);
  ASSERT_TRUE(object);
  for (int64_t rows : {1, 3, 4, 11}) {
    const int64_t columns = 37;
    std::vector<float> x(static_cast<size_t>(rows * columns)),
        y(static_cast<size_t>(rows)), largest(y.size());
    // One more, which nobody writes.
    std::vector<float> sum(y.size() + 1, 42);
    std::vector<uint8_t> less(y.size());
    std::mt19937 random(1);
    std::uniform_real_distribution<float> values(-2, 2);
    for (float &value : x)
      value = values(random);
    for (float &value : y)
      value = values(random) - 1.9f;
    float t = 3;
    int64_t position = 5, status = 0;
    auto run = [&] {
      void *data[] = {x.data(),   y.data(),       &t,         &position,
                      sum.data(), largest.data(), less.data()};
      // The position counts down the columns.
      int64_t strides[] = {columns, 1, 1, 0, 0, 0, 0, -1, 1, 0, 1, 0, 1, 0};
      int64_t sizes[] = {rows, columns};
      object->get("loop")(sizes, data, strides, &status);
    };
    run();
    EXPECT_EQ(status, 0);
    for (int64_t i = 0; i < rows; ++i) {
      double expected = 0;
      float most = -INFINITY;
      bool any = false;
      auto row = static_cast<size_t>(i);
      for (int64_t j = 0; j < columns; ++j) {
        float value = x[static_cast<size_t>(i * columns + j)];
        expected +=
            static_cast<float>(std::exp(static_cast<double>(value - y[row])));
        most = std::max(most, value * t + static_cast<float>(position - j));
        any = any || value < y[row];
      }
      EXPECT_EQ(sum[row], static_cast<float>(expected));
      EXPECT_EQ(largest[row], most);
      EXPECT_EQ(less[row], any);
    }
    EXPECT_EQ(sum.back(), 42);
    y.back() = 101;
    run();
    EXPECT_EQ(status, 1);
  }
}

} // namespace
} // namespace ccn::codegen
