//===- CpuLoopsTest.cpp - Loop nests ------------------------------------===//
//
// The nests around bodies: strides, sizes, aliasing, failures, reductions.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Codegen/LoopsUtil.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

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

// The linker, which a process may have used before, resets LLVM's options.
TEST_F(CpuLoops, SameAgain) {
  LoopKernel adam = kernel(adamBody, 3);
  std::string first;
  for (int i = 0; i < 3; ++i) {
    auto compiled = compileLoops(&context, adam, {CpuLevel::X86_64_V3});
    ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
    if (i == 0)
      first = compiled->object;
    EXPECT_TRUE(compiled->object == first);
  }
}

//===----------------------------------------------------------------------===//
// Strides and sizes
//===----------------------------------------------------------------------===//

/// 3 a + 5 b - 7 position, in 64-bit integers.
constexpr const char *mixBody = R"(
func.func @mix(%a_: i32, %b: i64, %p: i64) -> i64 {
  %three = arith.constant 3 : i64
  %five = arith.constant 5 : i64
  %seven = arith.constant 7 : i64
  %a = arith.extsi %a_ : i32 to i64
  %x = arith.muli %three, %a : i64
  %y = arith.muli %five, %b : i64
  %z = arith.muli %seven, %p : i64
  %s = arith.addi %x, %y : i64
  %r = arith.subi %s, %z : i64
  return %r : i64
})";

struct Nest {
  std::vector<int64_t> sizes;
  /// Of a, b, the position and the output.
  std::vector<int64_t> strides[4];
  /// Where each operand's index 0 lies, so that no index is negative.
  int64_t offsets[4] = {}, extents[4] = {};
};

/// A nest whose output has elements of its own for all indices.
Nest randomNest(std::mt19937 &random) {
  Nest nest;
  size_t dims = random() % 5;
  for (size_t dim = 0; dim < dims; ++dim)
    nest.sizes.push_back(random() % 12 == 0 ? 0
                         : dim + 1 == dims  ? 1 + random() % 70
                                            : 1 + random() % 5);
  for (int operand = 0; operand < 4; ++operand) {
    std::vector<int64_t> &strides = nest.strides[operand];
    strides.assign(dims, 0);
    bool isUniform = operand < 2 && random() % 3 == 0;
    int64_t stride = random() % 3 ? 1 : 2;
    std::vector<size_t> order(dims);
    for (size_t i = 0; i < dims; ++i)
      order[i] = dims - 1 - i;
    if (random() % 2)
      std::shuffle(order.begin(), order.end(), random);
    for (size_t dim : order) {
      if (isUniform || (operand < 2 && random() % 4 == 0))
        continue;
      strides[dim] = random() % 8 ? stride : -stride;
      stride *= nest.sizes[dim] + static_cast<int64_t>(random() % 2);
      if (stride == 0)
        stride = 1;
    }
    int64_t &offset = nest.offsets[operand], &extent = nest.extents[operand];
    extent = 1;
    for (size_t dim = 0; dim < dims; ++dim) {
      int64_t reach = strides[dim] * std::max<int64_t>(0, nest.sizes[dim] - 1);
      extent += std::abs(reach);
      if (reach < 0)
        offset -= reach;
    }
  }
  return nest;
}

TEST_F(CpuLoops, RandomNests) {
  std::mt19937 random(1);
  mlir::func::FuncOp mix = body(mixBody);
  std::vector<LoopKernel> kernels;
  std::vector<Nest> nests;
  for (int i = 0; i < 400; ++i) {
    Nest nest = randomNest(random);
    LoopKernel loop;
    loop.name = "loop" + std::to_string(i);
    loop.body = mix;
    loop.dims = static_cast<int64_t>(nest.sizes.size());
    loop.positions = 1;
    loop.isRare = i % 2 != 0;
    auto known = [&](int operand) -> int64_t {
      const std::vector<int64_t> &strides = nest.strides[operand];
      bool isKnown = !strides.empty() && random() % 4 != 0 &&
                     (strides.back() == 0 || strides.back() == 1);
      return isKnown ? strides.back() : -1;
    };
    auto isUniform = [&](int operand) {
      return random() % 4 != 0 &&
             llvm::all_of(nest.strides[operand],
                          [](int64_t stride) { return stride == 0; });
    };
    loop.inputs = {{type("i32"), known(0), isUniform(0)},
                   {type("si64"), known(1), isUniform(1)}};
    loop.outputs = {{type("ui64"), known(3), std::nullopt, 0}};
    kernels.push_back(loop);
    nests.push_back(nest);
  }
  auto object = compile(kernels);
  ASSERT_TRUE(object);

  for (size_t i = 0; i < nests.size(); ++i) {
    const Nest &nest = nests[i];
    std::vector<int32_t> a(static_cast<size_t>(nest.extents[0]));
    std::vector<int64_t> b(static_cast<size_t>(nest.extents[1]));
    for (int32_t &value : a)
      value = static_cast<int32_t>(random());
    for (int64_t &value : b)
      value = static_cast<int64_t>(random()) << 20;
    int64_t position = 1000, status = 0;
    std::vector<int64_t> found(static_cast<size_t>(nest.extents[3]), 42);
    std::vector<int64_t> expected = found;
    std::vector<int64_t> index(nest.sizes.size());
    int64_t count = 1;
    for (int64_t size : nest.sizes)
      count *= size;
    for (int64_t n = 0; n < count; ++n) {
      int64_t at[4];
      for (int operand = 0; operand < 4; ++operand) {
        at[operand] = nest.offsets[operand];
        for (size_t dim = 0; dim < index.size(); ++dim)
          at[operand] += index[dim] * nest.strides[operand][dim];
      }
      expected[static_cast<size_t>(at[3])] =
          3 * int64_t(a[static_cast<size_t>(at[0])]) +
          5 * b[static_cast<size_t>(at[1])] -
          7 * (position + at[2] - nest.offsets[2]);
      for (size_t dim = index.size(); dim-- > 0;) {
        if (++index[dim] < nest.sizes[dim])
          break;
        index[dim] = 0;
      }
    }
    void *data[] = {a.data() + nest.offsets[0], b.data() + nest.offsets[1],
                    &position, found.data() + nest.offsets[3]};
    std::vector<int64_t> strides;
    for (const std::vector<int64_t> &operand : nest.strides)
      strides.insert(strides.end(), operand.begin(), operand.end());
    object->get(kernels[i].name)(nest.sizes.data(), data, strides.data(),
                                 &status);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(found, expected) << "nest " << i;
  }
}

TEST_F(CpuLoops, OfNothing) {
  EXPECT_TRUE(compile({}));
  EXPECT_TRUE(bool(printOptimizedLoops(&context, {})));
}

/// Kernels of both kinds in one object keep their names.
TEST_F(CpuLoops, RareAmongOthers) {
  std::vector<LoopKernel> kernels;
  for (int i = 0; i < 3; ++i) {
    LoopKernel loop = kernel(R"(
func.func @f(%a: f64) -> f64 {
  %c = arith.constant )" + std::to_string(i) +
                                 R"(.5 : f64
  %r = arith.addf %a, %c : f64
  return %r : f64
})",
                             1);
    loop.name = "loop" + std::to_string(i);
    loop.isRare = i == 1;
    kernels.push_back(loop);
  }
  auto object = compile(kernels);
  ASSERT_TRUE(object);
  for (size_t i = 0; i < kernels.size(); ++i) {
    double from = 8, to = 0;
    void *data[] = {&from, &to};
    int64_t size = 1, strides[] = {1, 1}, status = 0;
    object->get(kernels[i].name)(&size, data, strides, &status);
    EXPECT_EQ(to, 8.5 + static_cast<double>(i));
  }
}

TEST_F(CpuLoops, RareAreNotVectorized) {
  LoopKernel loop = kernel(R"(
func.func @f(%a: f64, %b: f64) -> f64 {
  %r = arith.addf %a, %b : f64
  return %r : f64
})",
                           1);
  auto textOf = [&] {
    auto text = printOptimizedLoops(&context, loop, {CpuLevel::X86_64_V3});
    return text ? *text : llvm::toString(text.takeError());
  };
  EXPECT_NE(textOf().find("fadd <4 x double>"), std::string::npos);
  loop.isRare = true;
  EXPECT_EQ(textOf().find("x double>"), std::string::npos);
  EXPECT_NE(textOf().find("fadd double"), std::string::npos);
}

TEST_F(CpuLoops, EmptyLoopsTouchNoMemory) {
  LoopKernel loop = kernel(mixBody, 1, 2);
  loop.inputs.pop_back();
  loop.positions = 1;
  loop.inputs[0].isUniform = true;
  auto object = compile(loop);
  ASSERT_TRUE(object);
  int64_t position = 0, status = 0, strides[8] = {};
  void *data[] = {nullptr, nullptr, &position, nullptr};
  for (std::array<int64_t, 2> sizes :
       {std::array<int64_t, 2>{0, 3}, {3, 0}, {0, 0}})
    object->get("loop")(sizes.data(), data, strides, &status);
  EXPECT_EQ(status, 0);
}

/// The vectorizer needs the unit stride or a test for it, but none for
/// overlap, although the operands are of one type.
TEST_F(CpuLoops, NoChecksForOverlap) {
  LoopKernel loop = kernel(
      "func.func @f(%x: f32, %y: f32) -> f32 { %z = arith.addf %x, %y : f32\n "
      "return %z : f32 }",
      1, 2);
  auto text = printOptimizedLoops(&context, loop, {CpuLevel::X86_64_V3});
  ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
  EXPECT_NE(text->find("fadd <8 x float>"), std::string::npos) << *text;
  EXPECT_EQ(text->find("memcheck"), std::string::npos) << *text;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// x / y and x / z, which fail if y or z is 0.
constexpr const char *divideBody = R"(
func.func @divide(%x: i32, %y: i32, %z: i32) -> (i32, i32, i1, i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %yBad = arith.cmpi eq, %y, %zero : i32
  %zBad = arith.cmpi eq, %z, %zero : i32
  %ySafe = arith.select %yBad, %one, %y : i32
  %zSafe = arith.select %zBad, %one, %z : i32
  %q = arith.divui %x, %ySafe : i32
  %r = arith.divui %x, %zSafe : i32
  return %q, %r, %yBad, %zBad : i32, i32, i1, i1
})";

TEST_F(CpuLoops, FailuresSetTheStatus) {
  for (bool isUniform : {false, true}) {
    LoopKernel loop = kernel(divideBody, 2);
    loop.inputs[2].isUniform = isUniform;
    loop.firstFailure = 10;
    auto object = compile(loop);
    ASSERT_TRUE(object);
    for (auto [yZero, zZero, expected] :
         {std::tuple<int, int, int64_t>{-1, -1, 0},
          {0, -1, 11},
          {32, -1, 11},
          {-1, 0, 12},
          {36, 0, 11}}) {
      std::vector<int32_t> x(37, 100), y(37, 7), z(37, 9), q(37), r(37);
      if (yZero >= 0)
        y[static_cast<size_t>(yZero)] = 0;
      if (zZero >= 0)
        z[static_cast<size_t>(zZero)] = 0;
      void *data[] = {x.data(), y.data(), z.data(), q.data(), r.data()};
      int64_t strides[] = {1, 1, isUniform ? 0 : 1, 1, 1}, size = 37,
              status = 0;
      object->get("loop")(&size, data, strides, &status);
      EXPECT_EQ(status, expected);
      EXPECT_EQ(q[5], yZero == 5 ? 100 : 14);
      // Nothing fails where nothing is computed.
      size = status = 0;
      object->get("loop")(&size, data, strides, &status);
      EXPECT_EQ(status, 0);
    }
  }
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

TEST_F(CpuLoops, HostHasWhatItNeeds) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  std::set<std::string> flags;
  while (flags.empty() && std::getline(file, line))
    if (line.rfind("flags", 0) == 0) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;)
        flags.insert(word);
    }
  LoopKernel loop =
      kernel("func.func @f(%x: f32) -> f32 { return %x : f32 }", 1);
  size_t previous = 0;
  for (CpuLevel level :
       {CpuLevel::X86_64, CpuLevel::X86_64_V3, CpuLevel::X86_64_V4}) {
    auto loops = compileLoops(&context, loop, {level});
    ASSERT_TRUE(bool(loops)) << llvm::toString(loops.takeError());
    if (level == CpuLevel::X86_64)
      EXPECT_TRUE(loops->cpuFeatures.empty());
    else
      EXPECT_GT(loops->cpuFeatures.size(), previous);
    previous = loops->cpuFeatures.size();
    bool hasAll =
        llvm::all_of(loops->cpuFeatures, [&](const std::string &feature) {
          return flags.count(feature) > 0;
        });
    EXPECT_EQ(hasAll, level <= Target::host().cpu);
  }
}

//===----------------------------------------------------------------------===//
// Kernels that are none
//===----------------------------------------------------------------------===//

class InvalidLoops : public CpuLoops {
protected:
  void refuses(llvm::ArrayRef<LoopKernel> kernels, const std::string &part) {
    auto loops = compileLoops(&context, kernels);
    ASSERT_FALSE(bool(loops)) << "expected: " << part;
    std::string message = llvm::toString(loops.takeError());
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
};

TEST_F(InvalidLoops, AreRefused) {
  LoopKernel good =
      kernel("func.func @f(%x: f32) -> f32 { return %x : f32 }", 1);
  refuses({good, good}, "expected a name of its own for each loop, found "
                        "'loop'");
  LoopKernel loop = good;
  loop.name = "exp";
  refuses(loop, "found 'exp'");
  loop = good;
  loop.body = {};
  refuses(loop, "loop 'loop': expected a body of one block");
  loop = good;
  loop.inputs[0].element = type("f64");
  refuses(loop, "expected a body of type (f64) -> f32, found (f32) -> f32");
  loop = good;
  loop.outputs.clear();
  refuses(loop, "expected a body of type (f32) -> i1, found (f32) -> f32");
  loop = good;
  loop.inputs[0].element = type("tensor<3xf32>");
  refuses(loop, "expected an element type");
  loop = good;
  loop.reducedDims = 1;
  refuses(loop, "expected a reduction of every output");
  loop.reducedDims = 2;
  refuses(loop,
          "expected 0 <= reduced dimensions <= dimensions, found 2 and 1");
  loop = kernel("func.func @f(%x: i32) -> i32 { return %x : i32 }", 1);
  loop.outputs[0].reduction = ReductionKind::mean;
  refuses(loop, "mean is not defined for i32");
  refuses(kernel("func.func @f(%x: bf16) -> bf16 { %y = arith.addf %x, %x : "
                 "bf16\n return %y : bf16 }",
                 1),
          "'arith.addf' is not supported in a loop, of type (bf16, bf16) -> "
          "bf16");
  for (const char *op : {"math.sin", "arith.negf", "arith.maxnumf"}) {
    std::string name = op;
    std::string operands = name == "arith.maxnumf" ? "%x, %x" : "%x";
    std::string flags = name == "arith.negf" ? " fastmath<fast>" : "";
    refuses(kernel("func.func @f(%x: f32) -> f32 { %y = " + name + " " +
                       operands + flags + " : f32\n return %y : f32 }",
                   1),
            "'" + name + "' is not supported in a loop");
  }
  refuses(kernel("func.func private @g(f32) -> f32\n"
                 "func.func @f(%x: f32) -> f32 { %y = call @g(%x) : (f32) -> "
                 "f32\n return %y : f32 }",
                 1),
          "expected a body of one block");
}

} // namespace
} // namespace ccn::codegen
