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
    std::vector<int64_t> strides = interp::rowMajorStrides(shape.shape);
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
    layout.to = interp::rowMajorStrides(layout.result);
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
        for (bool knowsStep : {false, true}) {
          LoopKernel loop = reduction(type, kind, shape, knowsStep);
          loop.name = "loop" + std::to_string(kernels.size());
          kernels.push_back(loop);
          ReduceKind expectedKind = reduceKind;
          checks.push_back([=, name = loop.name](const LoadedObject &object) {
            Layout layout = layoutOf(shape);
            HostTensor x = randomTensor(type, shape.shape, 1);
            HostTensor found =
                get(HostTensor::uninitialized(type, layout.result));
            void *data[] = {const_cast<std::byte *>(x.data()),
                            found.mutableData()};
            std::vector<int64_t> strides = layout.from;
            strides.insert(strides.end(), layout.to.begin(), layout.to.end());
            int64_t status = 0;
            object.get(name)(layout.sizes.data(), data, strides.data(),
                             &status);
            EXPECT_EQ(status, 0);
            expectEqual(
                found,
                get(interp::reduce(expectedKind, x, shape.dims, divisor)),
                std::string(runtime::name(expectedKind)) + " of " +
                    x.describe());
          });
        }
    }
    auto object = compile(kernels);
    ASSERT_TRUE(object);
    for (const auto &check : checks)
      check(*object);
  }
}

} // namespace
} // namespace ccn::codegen
