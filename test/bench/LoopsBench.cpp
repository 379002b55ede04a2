//===- LoopsBench.cpp - Compiled loops: time to make and to run -----------===//
//
// How long 30 loops of a training step take to compile (the target is well
// under 120 ms), and how fast loops run: bytes a second of what they read and
// write, in the cache.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Codegen/LoopsUtil.h"

#include <benchmark/benchmark.h>

using namespace ccn;
using namespace ccn::codegen;

namespace {

struct Compiler : CpuLoops {
  void TestBody() override {}
  using CpuLoops::compile;
  using CpuLoops::context;
  using CpuLoops::kernel;
};

constexpr const char *adam = R"(
func.func @adam(%p: f32, %g: f32, %m: f32, %v: f32, %t: f32)
    -> (f32, f32, f32) {
  %b1 = arith.constant 0.9 : f32
  %c1 = arith.constant 0.1 : f32
  %b2 = arith.constant 0.999 : f32
  %c2 = arith.constant 0.001 : f32
  %eps = arith.constant 1.0e-8 : f32
  %base = arith.constant 0.9 : f64
  %t64 = arith.extf %t : f32 to f64
  %pow = math.powf %base, %t64 : f64
  %scale = arith.truncf %pow : f64 to f32
  %m0 = arith.mulf %b1, %m : f32
  %m1 = arith.mulf %c1, %g : f32
  %m2 = arith.addf %m0, %m1 : f32
  %g2 = arith.mulf %g, %g : f32
  %v0 = arith.mulf %b2, %v : f32
  %v1 = arith.mulf %c2, %g2 : f32
  %v2 = arith.addf %v0, %v1 : f32
  %root = math.sqrt %v2 : f32
  %denominator = arith.addf %root, %eps : f32
  %ratio = arith.divf %m2, %denominator : f32
  %step = arith.mulf %scale, %ratio : f32
  %new = arith.subf %p, %step : f32
  return %new, %m2, %v2 : f32, f32, f32
})";
constexpr const char *gelu = R"(
func.func @gelu(%x_: f32, %b: f32) -> f32 {
  %s = arith.addf %x_, %b : f32
  %x = arith.extf %s : f32 to f64
  %half = arith.constant 0.5 : f64
  %c = arith.constant -0.70710678118654752440 : f64
  %n = arith.mulf %x, %c : f64
  %e = math.erfc %n : f64
  %h = arith.mulf %half, %x : f64
  %r = arith.mulf %h, %e : f64
  %y = arith.truncf %r : f64 to f32
  return %y : f32
})";
constexpr const char *addBF16 = R"(
func.func @add(%a_: bf16, %b_: bf16) -> bf16 {
  %a = arith.extf %a_ : bf16 to f32
  %b = arith.extf %b_ : bf16 to f32
  %s = arith.addf %a, %b : f32
  %r = arith.truncf %s : f32 to bf16
  return %r : bf16
})";
constexpr const char *identity =
    "func.func @f(%x: f32) -> f32 { return %x : f32 }";

LoopKernel sum(Compiler &compiler) {
  LoopKernel loop = compiler.kernel(identity, 1, 2);
  loop.reducedDims = 1;
  loop.outputs[0].reduction = ReductionKind::sum;
  loop.outputs[0].innerStep = 0;
  return loop;
}

void compile30(benchmark::State &state) {
  Compiler compiler;
  std::vector<LoopKernel> kernels;
  for (int i = 0; i < 30; ++i) {
    switch (i % 5) {
    case 0:
      kernels.push_back(compiler.kernel(adam, 3));
      kernels.back().inputs[4].isUniform = true;
      break;
    case 1:
      kernels.push_back(compiler.kernel(gelu, 1, 2));
      break;
    case 2:
      kernels.push_back(compiler.kernel(addBF16, 1, 2));
      break;
    case 3:
      kernels.push_back(sum(compiler));
      break;
    default:
      kernels.push_back(compiler.kernel(identity, 1, 3));
      kernels.back().inputs[0].innerStep = -1;
    }
    kernels.back().name = "loop" + std::to_string(i);
  }
  for (auto _ : state) {
    auto loops = compileLoops(&compiler.context, kernels);
    if (!loops)
      return state.SkipWithError(llvm::toString(loops.takeError()).c_str());
    benchmark::DoNotOptimize(loops->object.data());
  }
}
BENCHMARK(compile30)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1)
    ->Name("compile 30 loops, first in the process");
BENCHMARK(compile30)->Unit(benchmark::kMillisecond)->Name("compile 30 loops");

void run(benchmark::State &state, const LoopKernel &kernel, Compiler &compiler,
         std::vector<int64_t> sizes, const std::vector<int64_t> &strides,
         int64_t bytes) {
  auto object = compiler.compile(kernel);
  runtime::LoopFunction loop = object->get(kernel.name);
  std::vector<std::vector<float>> buffers;
  std::vector<void *> data;
  for (size_t i = 0; i < kernel.inputs.size() + kernel.outputs.size(); ++i) {
    buffers.emplace_back(1 << 16, 0.001f);
    data.push_back(buffers.back().data());
  }
  int64_t status = 0;
  for (auto _ : state)
    loop(sizes.data(), data.data(), strides.data(), &status);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void runAdam(benchmark::State &state) {
  Compiler compiler;
  LoopKernel loop = compiler.kernel(adam, 3);
  loop.inputs[4].isUniform = true;
  run(state, loop, compiler, {4096}, {1, 1, 1, 1, 0, 1, 1, 1}, 7 * 4 * 4096);
}
BENCHMARK(runAdam)->Name("adam, f32[4096]");

void runAddBF16(benchmark::State &state) {
  Compiler compiler;
  run(state, compiler.kernel(addBF16, 1), compiler, {4096}, {1, 1, 1},
      3 * 2 * 4096);
}
BENCHMARK(runAddBF16)->Name("a + b, bf16[4096]");

void runGelu(benchmark::State &state) {
  Compiler compiler;
  run(state, compiler.kernel(gelu, 1), compiler, {4096}, {1, 1, 1},
      3 * 4 * 4096);
}
BENCHMARK(runGelu)->Name("gelu(a + b), f32[4096]");

void runRowSums(benchmark::State &state) {
  Compiler compiler;
  run(state, sum(compiler), compiler, {64, 512}, {512, 1, 1, 0}, 4 * 64 * 512);
}
BENCHMARK(runRowSums)->Name("sums of rows, f32[64, 512]");

void runColumnSums(benchmark::State &state) {
  Compiler compiler;
  LoopKernel loop = sum(compiler);
  loop.inputs[0].innerStep = -1;
  run(state, loop, compiler, {512, 64}, {1, 512, 1, 0}, 4 * 64 * 512);
}
BENCHMARK(runColumnSums)->Name("sums of columns, f32[64, 512]");

} // namespace

BENCHMARK_MAIN();
