//===- CpuLoopsTest.cpp - Loop nests ------------------------------------===//
//
// The nests around bodies: strides, sizes, aliasing, failures, reductions.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Codegen/LoopsUtil.h"

#include <cmath>

namespace ccn::codegen {
namespace {

constexpr const char *adamBody = R"(
func.func @adam(%p: f32, %g: f32, %m: f32, %v: f32, %t: f32)
    -> (f32, f32, f32) {
  %b1 = arith.constant 0.9 : f32
  %c1 = arith.constant 0.1 : f32
  %b2 = arith.constant 0.999 : f32
  %c2 = arith.constant 0.001 : f32
  %lr = arith.constant 0.01 : f32
  %eps = arith.constant 1.0e-8 : f32
  %one = arith.constant 1.0 : f32
  %base = arith.constant 0.9 : f64
  %t64 = arith.extf %t : f32 to f64
  %pow = math.powf %base, %t64 : f64
  %pow32 = arith.truncf %pow : f64 to f32
  %correction = arith.subf %one, %pow32 : f32
  %m0 = arith.mulf %b1, %m : f32
  %m1 = arith.mulf %c1, %g : f32
  %m2 = arith.addf %m0, %m1 : f32
  %g2 = arith.mulf %g, %g : f32
  %v0 = arith.mulf %b2, %v : f32
  %v1 = arith.mulf %c2, %g2 : f32
  %v2 = arith.addf %v0, %v1 : f32
  %mhat = arith.divf %m2, %correction : f32
  %root = math.sqrt %v2 : f32
  %denominator = arith.addf %root, %eps : f32
  %ratio = arith.divf %mhat, %denominator : f32
  %step = arith.mulf %lr, %ratio : f32
  %new = arith.subf %p, %step : f32
  return %new, %m2, %v2 : f32, f32, f32
})";

TEST_F(CpuLoops, AdamInPlace) {
  LoopKernel adam = kernel(adamBody, 3);
  adam.inputs[4].isUniform = true;
  auto object = compile(adam);
  ASSERT_TRUE(object);
  runtime::LoopFunction loop = object->get("loop");
  ASSERT_TRUE(loop);
  const int64_t n = 1003;
  std::vector<float> p(n), g(n), m(n), v(n);
  for (int64_t i = 0; i < n; ++i) {
    p[i] = std::sin(float(i));
    g[i] = std::cos(float(3 * i));
    m[i] = std::sin(float(7 * i));
    v[i] = std::fabs(std::sin(float(11 * i)));
  }
  float t = 3;
  std::vector<float> p1 = p, m1 = m, v1 = v;
  for (int64_t i = 0; i < n; ++i) {
    m1[i] = 0.9f * m[i] + 0.1f * g[i];
    v1[i] = 0.999f * v[i] + 0.001f * (g[i] * g[i]);
    float correction = 1.0f - static_cast<float>(std::pow(0.9, double(t)));
    p1[i] =
        p[i] - 0.01f * ((m1[i] / correction) / (std::sqrt(v1[i]) + 1.0e-8f));
  }
  void *data[] = {p.data(), g.data(), m.data(), v.data(),
                  &t,       p.data(), m.data(), v.data()};
  int64_t strides[] = {1, 1, 1, 1, 0, 1, 1, 1}, status = 0;
  loop(&n, data, strides, &status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(p, p1);
  EXPECT_EQ(m, m1);
  EXPECT_EQ(v, v1);
}

TEST_F(CpuLoops, AdamIsVectorized) {
  LoopKernel adam = kernel(adamBody, 3);
  adam.inputs[4].isUniform = true;
  auto text = printOptimizedLoops(&context, adam, {CpuLevel::X86_64_V3});
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  for (const char *expected :
       {"@llvm.sqrt.v8f32", "fdiv <8 x float>", "fmul <8 x float>",
        "fadd <8 x float>", "store <8 x float>"})
    EXPECT_NE(text->find(expected), std::string::npos) << expected;
  EXPECT_EQ(text->find("vector.memcheck"), std::string::npos) << *text;
  // One call, before the loop.
  size_t call = text->find("call double @pow");
  ASSERT_NE(call, std::string::npos);
  EXPECT_EQ(text->find("call double @pow", call + 1), std::string::npos);
  EXPECT_LT(call, text->find("vector.body"));
}

} // namespace
} // namespace ccn::codegen
