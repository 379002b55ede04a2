//===- PlanKernelsTest.cpp - Products, convolutions and rows in plans -----===//
//
// The parts that are no loops, against the reference interpreter's kernels: the
// same bits on every element type, for strided, batched and remote operands.
//
//===----------------------------------------------------------------------===//

#include "PlanUtil.h"
#include "TensorUtil.h"
#include "lib/Interpreter/Conv.h"
#include "lib/Interpreter/Matmul.h"
#include "lib/Interpreter/Movement.h"

using namespace ccn;
using namespace ccn::runtime;

namespace {

HostTensor randomOf(ElementType type, const Shape &shape, uint64_t seed) {
  return *randomTensor(type, product(shape), seed).reshaped(shape);
}

void *dataOf(const HostTensor &tensor) {
  return const_cast<std::byte *>(tensor.data());
}

View plain(int buffer) { return {buffer, 0, {}, -1}; }

/// Runs a plan of one rank, whose arguments are some inputs and one output.
void expectOutput(const Plan &plan, const std::vector<HostTensor> &inputs,
                  const HostTensor &expected) {
  expectPlan(plan, [&](PlanExecutor &executor, int) {
    std::vector<uint64_t> out = storage(expected.byteCount());
    std::vector<void *> arguments;
    for (const HostTensor &input : inputs)
      arguments.push_back(dataOf(input));
    arguments.push_back(out.data());
    for (int call = 0; call < 2; ++call) {
      std::fill(out.begin(), out.end(), 7);
      if (Status status = executor.run(arguments); !status)
        return status;
      EXPECT_TRUE(sameBits(expected, out)) << name(expected.type());
    }
    return Status();
  });
}

} // namespace

TEST(PlanKernels, MatmulOnAllTypes) {
  for (ElementType type : allElementTypes) {
    if (type == ElementType::Bool)
      continue;
    // Sizes beyond one block and not multiples of a tile, and empty sums.
    for (const auto &[m, n, k] :
         std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                             {5, 7, 3},
                                             {67, 261, 131},
                                             {4, 0, 3},
                                             {3, 2, 0},
                                             {0, 2, 3}}) {
      PlanBuilder b(1);
      int a = b.argument(type, m * k, ArgumentKind::Input);
      int w = b.argument(type, k * n, ArgumentKind::Input);
      int c = b.argument(type, m * n);
      b.launch("product", [&](int) -> std::vector<Part> {
        return {MatmulPart{
            {}, m, n, k, {a, 0, {k, 1}}, {w, 0, {n, 1}}, {c, 0, {n, 1}}}};
      });
      HostTensor left = randomOf(type, {m, k}, 1);
      HostTensor right = randomOf(type, {k, n}, 2);
      expectOutput(b.plan, {left, right}, *interp::matmul(left, right));
    }
  }
}

TEST(PlanKernels, MatmulOfTransposedBatchesInOthersMemory) {
  // a [2, 3, m, k] is stored [k, m, 3, 2]; b serves all batches and is stored
  // transposed; c is written transposed. On each rank a and b are the other's.
  constexpr int64_t m = 9, n = 20, k = 35;
  for (ElementType type : {ElementType::F32, ElementType::F16, ElementType::I32,
                           ElementType::F64}) {
    PlanBuilder builder(2);
    int a = builder.argument(type, 6 * m * k, ArgumentKind::Input);
    int b = builder.argument(type, k * n, ArgumentKind::Input);
    int c = builder.argument(type, 6 * m * n);
    int sharedA = builder.symmetric(type, 6 * m * k);
    int sharedB = builder.symmetric(type, k * n);
    BarrierPart before = builder.barrier(), after = builder.barrier();
    builder.launch("product", [&](int rank) -> std::vector<Part> {
      return {copyAll(a, sharedA, 6 * m * k), copyAll(b, sharedB, k * n),
              before,
              MatmulPart{{2, 3},
                         m,
                         n,
                         k,
                         {sharedA, 0, {1, 2, 6, 6 * m}, 1 - rank},
                         {sharedB, 0, {0, 0, 1, k}, 1 - rank},
                         {c, 0, {3 * m * n, m * n, 1, m}, -1}},
              after};
    });
    expectPlan(builder.plan, [&](PlanExecutor &executor, int rank) {
      auto left = [&](int r) {
        return randomOf(type, {2, 3, m, k}, static_cast<uint64_t>(r));
      };
      auto right = [&](int r) {
        return randomOf(type, {k, n}, static_cast<uint64_t>(10 + r));
      };
      HostTensor storedA = *interp::transpose(left(rank), {3, 2, 1, 0});
      HostTensor storedB = *interp::transpose(right(rank), {1, 0});
      HostTensor product = *interp::transpose(
          *interp::matmul(left(1 - rank), right(1 - rank)), {0, 1, 3, 2});
      std::vector<uint64_t> out = storage(product.byteCount());
      void *arguments[] = {dataOf(storedA), dataOf(storedB), out.data()};
      Status status = executor.run(arguments);
      EXPECT_TRUE(sameBits(product, out)) << name(type);
      return status;
    });
  }
}

TEST(PlanKernels, ConvolutionOnAllTypes) {
  for (ElementType type : allElementTypes) {
    if (type == ElementType::Bool)
      continue;
    for (int64_t stride : {1, 2})
      for (int64_t padding : {0, 2}) {
        Shape xShape = {2, 3, 6, 5}, wShape = {4, 3, 3, 2};
        HostTensor x = randomOf(type, xShape, 1), w = randomOf(type, wShape, 2);
        HostTensor y = *interp::conv2d(
            x, w, {stride, stride, padding, padding, padding, padding});
        PlanBuilder b(1);
        int xs = b.argument(type, x.count(), ArgumentKind::Input);
        int ws = b.argument(type, w.count(), ArgumentKind::Input);
        int ys = b.argument(type, y.count());
        b.launch("convolution", [&](int) -> std::vector<Part> {
          return {Conv2dPart{xShape, wShape, y.shape(), stride, padding,
                             plain(xs), plain(ws), plain(ys)}};
        });
        expectOutput(b.plan, {x, w}, y);
      }
  }
}

TEST(PlanKernels, RowsByIndex) {
  for (ElementType type : allElementTypes) {
    HostTensor table = randomOf(type, {5, 3}, 1);
    HostTensor indices =
        *HostTensor::fromIntegers(ElementType::U8, {6}, {4, 0, 4, 2, 4, 0});
    PlanBuilder gather(1);
    int from = gather.argument(type, 15, ArgumentKind::Input);
    int which = gather.argument(ElementType::U8, 6, ArgumentKind::Input);
    int to = gather.argument(type, 18);
    gather.launch("gather", [&](int) -> std::vector<Part> {
      return {GatherRowsPart{5, 3, 6, plain(from), plain(which), plain(to)}};
    });
    expectOutput(gather.plan, {table, indices},
                 *interp::gatherRows(table, indices));
    if (type == ElementType::Bool)
      continue;
    HostTensor rows = randomOf(type, {6, 3}, 2);
    PlanBuilder scatter(1);
    from = scatter.argument(type, 15, ArgumentKind::Input);
    which = scatter.argument(ElementType::U8, 6, ArgumentKind::Input);
    int added = scatter.argument(type, 18, ArgumentKind::Input);
    to = scatter.argument(type, 15);
    scatter.launch("scatter", [&](int) -> std::vector<Part> {
      return {ScatterRowsPart{5, 3, 6, plain(from), plain(which), plain(added),
                              plain(to)}};
    });
    expectOutput(scatter.plan, {table, indices, rows},
                 *interp::scatterRows(table, indices, rows));
  }
}

TEST(PlanKernels, AnIndexOutsideOfTheTableFailsTheTeam) {
  PlanBuilder b(2);
  int table = b.argument(ElementType::F32, 4),
      to = b.argument(ElementType::F32, 2);
  int indices = b.argument(ElementType::I64, 1);
  BarrierPart barrier = b.barrier();
  b.launch("embed", [&](int) -> std::vector<Part> {
    return {GatherRowsPart{2, 2, 1, plain(table), plain(indices), plain(to)},
            barrier};
  });
  std::vector<Status> statuses =
      runPlan(b.plan, [](PlanExecutor &executor, int rank) {
        std::vector<float> values(4), out(2);
        int64_t index = rank == 1 ? -3 : 0;
        void *arguments[] = {values.data(), out.data(), &index};
        return executor.run(arguments);
      });
  for (const Status &status : statuses)
    EXPECT_EQ(status.message(), "rank 1: row index -3 at position 0 is out of "
                                "range: there are 2 rows");
}
