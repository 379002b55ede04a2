//===- EmulatedProductsTest.cpp - Products with roles, on the CPU ---------===//
//
// Runs kernels whose warps have roles on the emulator, in many orders of what
// copies, products and warps do: as they are, when results must be right, and
// with something taken away that they need, when some order must show it.
//
//===----------------------------------------------------------------------===//

#include "codegen/gpu/EmitCuda.h"
#include "codegen/plan/ExportPlan.h"
#include "runtime/plan/GpuAbi.h"
#include "test/common/emulator/Kernels.h"
#include "test/common/emulator/TensorMap.h"
#include "test/unit/Plan/PlanUtil.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>

using namespace ccn::runtime;

namespace ccn::test {

namespace {

/// y = relu(a b), of small whole numbers. Elements of 8 bits are along k.
struct Product {
  const char *name;
  ElementType type;
  int64_t m, n, k;
  /// Where there are few multiprocessors, small products have large tiles.
  bool onFewMultiprocessors;
  const char *tile;

  bool isAlongK() const { return sizeInBytes(type) == 1; }
  int64_t placeInB(int64_t atK, int64_t j) const {
    return isAlongK() ? j * k + atK : atK * n + j;
  }
  /// Of an operand; few are not 0 if sums would not be exact.
  float value(int64_t i) const {
    int64_t number = i * 7 + i / 13;
    bool isZero = isAlongK() && number % 16 != 0;
    return isZero ? 0 : static_cast<float>(number % 5 - 2);
  }
  std::string text() const;
};
void PrintTo(const Product &product, std::ostream *os) { *os << product.name; }

// Each consumer that takes turns passes over more stages than there are.
constexpr Product inTurns = {"InTurns", ElementType::F16,       200, 304, 840,
                             true,      "128, 128, 6, 2, true,"};
constexpr Product together = {
    "Together", ElementType::F16,        128, 256, 4096,
    true,       "128, 256, 4, 2, false,"};
constexpr Product alone = {"Alone", ElementType::F16, 200, 72, 1000,
                           false,   "64, 64, 12, 1,"};
constexpr Product narrow = {"Narrow", ElementType::F8E4M3,    200, 72, 208,
                            true,     "128, 128, 6, 2, true,"};

std::string Product::text() const {
  std::string element = type == ElementType::F16 ? "f16" : "f8e4m3";
  auto matrix = [&](int64_t rows, int64_t columns) {
    return element + "[" + std::to_string(rows) + ", " +
           std::to_string(columns) + "]";
  };
  return "mesh d (rank = 1)\nprogram f(a: " + matrix(m, k) +
         ", b: " + (isAlongK() ? matrix(n, k) : matrix(k, n)) +
         ") {\n  let p = matmul(a, " + (isAlongK() ? "transpose(b)" : "b") +
         ")\n  let y = relu(p)\n  return y\n}\n"
         "schedule s for f {\n  fuse p, y\n}\n";
}

/// An array.
class Elements {
public:
  explicit Elements(ElementType type) : type(type) {}
  void add(float value) {
    uint16_t bits = encodeFloat(type, value);
    for (int byte = 0; byte < sizeInBytes(type); ++byte)
      bytes.push_back(static_cast<unsigned char>(bits >> 8 * byte));
  }

  const ElementType type;
  std::vector<unsigned char> bytes;
};

class EmulatedProduct {
public:
  /// The kernel of a product, with the text that `change` makes of its.
  explicit EmulatedProduct(
      const Product &product,
      const std::function<void(std::string &)> &change = nullptr)
      : product(product) {
    emit();
    if (change)
      change(program.source);
    Result<std::string> object = emulator::compileKernels(program.source);
    if (!object)
      llvm::report_fatal_error(llvm::StringRef(object.message()));
    Result<std::unique_ptr<ObjectCode>> loaded = ObjectCode::load(*object);
    if (!loaded)
      llvm::report_fatal_error(llvm::StringRef(loaded.message()));
    code = *std::move(loaded);
    kernel = *emulator::findKernel(*code, properties().name);
    for (int64_t i = 0; i < product.m * product.k; ++i)
      a.add(product.value(i));
    for (int64_t i = 0; i < product.k * product.n; ++i)
      b.add(product.value(i));
    for (int64_t i = 0; i < product.m; ++i)
      for (int64_t j = 0; j < product.n; ++j) {
        float sum = 0;
        for (int64_t k = 0; k < product.k; ++k)
          sum += product.value(i * product.k + k) *
                 product.value(product.placeInB(k, j));
        expected.add(std::max(sum, 0.0f));
      }
  }

  const GpuLaunch &launch() const {
    return program.launches.front().front().preferred.front();
  }
  const GpuKernel &properties() const {
    return program.kernels[static_cast<size_t>(launch().kernel)];
  }
  const std::string &source() const { return program.source; }

  /// Whether the result is right, of two blocks. Threads wait for so many
  /// seconds at most.
  bool isRight(unsigned seed, double seconds = 60) {
    std::vector<unsigned char> y(expected.bytes.size(), 0xff);
    CcnControl control{};
    CcnFault fault{};
    unsigned stop = 0;
    CcnContext context{};
    context.control = &control;
    context.fault = &fault;
    context.stop = &stop;
    context.timeLimit = static_cast<unsigned long long>(seconds * 1e9);
    context.segment = -1;
    std::vector<void *> addresses = {a.bytes.data(), b.bytes.data(), y.data()};
    std::vector<CcnTensorMap> maps =
        emulator::encodeAll(plan, program, launch(), context, addresses);
    const void *parameters[] = {&context, addresses.data(),
                                launch().numbers.data(), maps.data()};
    kernel.run({.blocks = 2,
                .threads = static_cast<int>(properties().threads),
                .seed = seed},
               parameters);
    return fault.kind == CCN_NO_FAULT && y == expected.bytes;
  }

private:
  void emit() {
    PlanCompiler compiler;
    std::string messages;
    auto plans =
        compiler.compileTo(Phase::Plan, product.text(),
                           {.phase = Phase::Plan, .schedule = "s"}, messages);
    ASSERT_TRUE(plans) << messages;
    codegen::LoopLibrary library;
    plan = codegen::exportPlan(*plans, "f", library);
    Machine machine = Machine::of(Target::anyGpu());
    if (product.onFewMultiprocessors)
      machine.gpu->multiprocessors = 1;
    llvm::Expected<GpuProgram> emitted =
        codegen::emitCuda(plan, library.kernels, Target::anyGpu(), machine);
    ASSERT_TRUE(static_cast<bool>(emitted))
        << llvm::toString(emitted.takeError());
    program = *std::move(emitted);
    ASSERT_EQ(program.launches.front().front().preferred.size(), 1u);
  }

  const Product product;
  Plan plan;
  GpuProgram program;
  std::unique_ptr<ObjectCode> code;
  emulator::Kernel kernel{};
  Elements a{product.type}, b{product.type}, expected{product.type};
};

class EmulatedProducts : public testing::TestWithParam<Product> {};

std::string nameOf(const testing::TestParamInfo<Product> &info) {
  return info.param.name;
}

/// What is taken away.
struct Mutation {
  const char *name;
  Product product;
  std::string from, to;
};

void PrintTo(const Mutation &mutation, std::ostream *os) {
  *os << mutation.name;
}

class MutatedProducts : public testing::TestWithParam<Mutation> {};

} // namespace

TEST_P(EmulatedProducts, AreRightInEveryOrder) {
  EmulatedProduct product(GetParam());
  ASSERT_NE(product.source().find(GetParam().tile), std::string::npos);
  for (unsigned seed = 1; seed <= 12; ++seed)
    ASSERT_TRUE(product.isRight(1000 * seed)) << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedProducts,
                         testing::Values(inTurns, together, alone, narrow),
                         nameOf);

// Wrong results, threads that wait in vain, or what the emulator says that
// hardware leaves undefined.
TEST_P(MutatedProducts, AreFound) {
  const Mutation &mutation = GetParam();
  auto run = [&] {
    EmulatedProduct product(mutation.product, [&](std::string &source) {
      size_t at = source.find(mutation.from);
      if (at == source.npos ||
          source.find(mutation.from, at + 1) != source.npos)
        std::exit(3);
      source.replace(at, mutation.from.size(), mutation.to);
    });
    for (unsigned seed = 1; seed <= 12; ++seed)
      if (!product.isRight(1000 * seed, 0.5)) {
        std::fputs("a wrong result\n", stderr);
        std::abort();
      }
  };
  EXPECT_EXIT((run(), std::exit(0)), testing::KilledBySignal(SIGABRT),
              "a wrong result|thread .* of block|waits for ever");
}

INSTANTIATE_TEST_SUITE_P(
    All, MutatedProducts,
    testing::Values(
        Mutation{"NobodyWaitsUntilStagesAreFull", alone,
                 "waits.wait(ring.full(place.stage), place.parity);", ""},
        Mutation{"NobodyWaitsUntilStagesAreEmpty", alone,
                 "waits.wait(ring.empty(place.stage), place.parity ^ 1);", ""},
        Mutation{"StagesAreEmptyByTheOtherParity", alone,
                 "waits.wait(ring.empty(place.stage), place.parity ^ 1);",
                 "waits.wait(ring.empty(place.stage), place.parity);"},
        Mutation{"NobodySaysThatAStageIsEmpty", alone,
                 "if (isLeader)\n        arrive(ring.empty(before));", ""},
        Mutation{"NobodySaysThatTheLastStageIsEmpty", alone,
                 "if (threadIdx.x % 32 == 0)\n      arrive(ring.empty(last));",
                 ""},
        Mutation{"StagesAreEmptyWhenOneWarpSaysSo", together,
                 "Tile::takeTurns ? 4 : 4 * Tile::consumers", "1"},
        Mutation{"StagesAreEmptyBeforeTheirProductsAreDone", alone,
                 "awaitProducts<1>();", ""},
        Mutation{"SumsAreUsedBeforeTheyAreThere", alone, "awaitProducts<0>();",
                 ""},
        Mutation{"RegistersAreNotFenced", alone, "beginProducts();", ""},
        Mutation{"ProductsAreNotCommitted", alone, "commitProducts();", ""},
        Mutation{"BytesAreNotAnnounced", alone,
                 "arriveExpecting(full, Tile::stageBytes);", "arrive(full);"},
        Mutation{"FewerBytesAreAnnounced", alone,
                 "arriveExpecting(full, Tile::stageBytes);",
                 "arriveExpecting(full, Tile::aBytes);"},
        Mutation{"CopiesDoNotSeeBarriers", alone, "publishBarriers();", ""},
        Mutation{"ConsumersDoNotTakeTurns", inTurns,
                 "syncThreads(1 + consumer, both);", ";"},
        Mutation{"ResultsAreReadBeforeTheyAreStored", alone,
                 "__syncwarp();\n      passOn<Tile>", "passOn<Tile>"},
        // Those of 16 bits are stored by all lanes at once.
        Mutation{"ResultsAreStoredBeforeTheyAreRead", narrow,
                 "// Nobody reads what was there before.\n      __syncwarp();",
                 ""}),
    [](const auto &info) { return info.param.name; });

} // namespace ccn::test
