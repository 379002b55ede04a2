//===- ElementwiseLoopsTest.cpp - Operations in compiled loops ------------===//
//
// What bodies compute, against the interpreter's kernels: chains on every type,
// functions, minimum and maximum, bool.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Codegen/TensorUtil.h"

#include <cmath>

namespace ccn::codegen {
namespace {

/// A function of operands of `type` as a body: floats compute in `wide`.
std::string chain(ElementType type, const std::string &wide, size_t operands,
                  const std::string &code) {
  std::string scalar = scalarName(type), result = "func.func @f(", prefix;
  for (size_t i = 0; i < operands; ++i) {
    std::string name(1, static_cast<char>('a' + i));
    result += (i ? ", %" : "%") + name + "_: " + scalar;
    prefix += "%" + name + " = " +
              (scalar == wide ? "arith.bitcast" : "arith.extf") + " %" + name +
              "_ : " + scalar + " to " + wide + "\n";
  }
  return result + ") -> " + scalar + " {\n" + prefix + code +
         "%r = " + (scalar == wide ? "arith.bitcast" : "arith.truncf") +
         " %w : " + wide + " to " + scalar + "\n return %r : " + scalar + " }";
}

std::string computeType(ElementType type) {
  if (runtime::isNarrowFloat(type) || type == ElementType::F32)
    return "f32";
  return scalarName(type);
}

class ElementwiseLoops : public CpuLoops {
protected:
  /// The kernel's result for tensors of one type and shape; the same if it is
  /// compiled quickly.
  HostTensor apply(const LoopKernel &loop, std::vector<HostTensor> inputs,
                   const Target &target = Target::host()) {
    LoopKernel rare = loop;
    rare.isRare = !loop.isRare;
    HostTensor result = applyOne(loop, inputs, target);
    expectEqual(applyOne(rare, inputs, target), result, "compiled quickly");
    return result;
  }

private:
  HostTensor applyOne(const LoopKernel &loop,
                      const std::vector<HostTensor> &inputs,
                      const Target &target) {
    const HostTensor &first = inputs.front();
    HostTensor result = get(HostTensor::zeros(first.type(), first.shape()));
    auto object = compile(loop, target);
    runtime::LoopFunction function = object ? object->get("loop") : nullptr;
    if (!function)
      return result;
    std::vector<void *> data;
    for (const HostTensor &input : inputs)
      data.push_back(const_cast<std::byte *>(input.data()));
    data.push_back(result.mutableData());
    std::vector<int64_t> strides(data.size(), 1);
    int64_t size = first.count(), status = 0;
    function(&size, data.data(), strides.data(), &status);
    EXPECT_EQ(status, 0);
    return result;
  }
};

TEST_F(ElementwiseLoops, SumOfProductOnEveryType) {
  for (ElementType type : runtime::allElementTypes) {
    if (type == ElementType::Bool)
      continue;
    std::string wide = computeType(type), scalar = scalarName(type);
    std::string text;
    if (runtime::isNarrowFloat(type))
      // Rounded after each operation, as between two kernels.
      text = chain(type, wide, 3,
                   "%m = arith.mulf %a, %b : f32\n %n = arith.truncf %m : f32 "
                   "to " +
                       scalar + "\n %o = arith.extf %n : " + scalar +
                       " to f32\n %w = arith.addf %o, %c : f32\n");
    else if (runtime::isFloat(type))
      text = chain(type, wide, 3,
                   "%m = arith.mulf %a, %b : " + wide +
                       "\n %w = arith.addf %m, %c : " + wide + "\n");
    else
      text = chain(type, wide, 3,
                   "%m = arith.muli %a, %b : " + wide +
                       "\n %w = arith.addi %m, %c : " + wide + "\n");
    LoopKernel loop = kernel(text, 1);
    for (int64_t size : {0, 1, 7, 64, 1001}) {
      HostTensor a = randomTensor(type, {size}, 1),
                 b = randomTensor(type, {size}, 2),
                 c = randomTensor(type, {size}, 3);
      HostTensor expected = get(binary("add", get(binary("mul", a, b)), c));
      for (CpuLevel level : {CpuLevel::X86_64, Target::host().cpu})
        expectEqual(apply(loop, {a, b, c}, {level}), expected,
                    a.describe() + " a * b + c");
    }
  }
}

TEST_F(ElementwiseLoops, FloatBinaries) {
  const std::tuple<const char *, const char *, bool> ops[] = {
      {"sub", "arith.subf", false},     {"div", "arith.divf", false},
      {"rem", "arith.remf", false},     {"min", "arith.minimumf", false},
      {"max", "arith.maximumf", false}, {"pow", "math.powf", true}};
  for (ElementType type : runtime::allElementTypes) {
    if (!runtime::isFloat(type))
      continue;
    for (auto [op, name, isDouble] : ops) {
      std::string wide = isDouble ? "f64" : computeType(type);
      LoopKernel loop = kernel(
          chain(type, wide, 2,
                std::string("%w = ") + name + " %a, %b : " + wide + "\n"),
          1);
      HostTensor a = randomTensor(type, {1003}, 4),
                 b = randomTensor(type, {1003}, 5);
      expectEqual(apply(loop, {a, b}), get(binary(op, a, b)), name);
    }
  }
}

TEST_F(ElementwiseLoops, FloatUnaries) {
  const std::tuple<const char *, const char *, bool> ops[] = {
      {"abs", "math.absf", false},  {"neg", "arith.negf", false},
      {"sqrt", "math.sqrt", false}, {"exp", "math.exp", true},
      {"log", "math.log", true},    {"tanh", "math.tanh", true}};
  for (ElementType type : runtime::allElementTypes) {
    if (!runtime::isFloat(type))
      continue;
    for (auto [op, name, isDouble] : ops) {
      std::string wide = isDouble ? "f64" : computeType(type);
      LoopKernel loop =
          kernel(chain(type, wide, 1,
                       std::string("%w = ") + name + " %a : " + wide + "\n"),
                 1);
      HostTensor a = randomTensor(type, {1003}, 6);
      expectEqual(apply(loop, {a}), get(unary(op, a)), name);
    }
    std::string scale = "%h = arith.constant 0.5 : f64\n %s = arith.constant "
                        "-0.70710678118654752440 : f64\n";
    LoopKernel gelu = kernel(
        chain(type, "f64", 1,
              scale + "%n = arith.mulf %a, %s : f64\n %e = math.erfc %n : "
                      "f64\n %x = arith.mulf %h, %a : f64\n %w = arith.mulf "
                      "%x, %e : f64\n"),
        1);
    HostTensor a = randomTensor(type, {1003}, 7);
    expectEqual(apply(gelu, {a}), get(unary("gelu", a)), "gelu");
  }
}

/// Functions that an optimizer knows special cases of.
TEST_F(ElementwiseLoops, FunctionsStayThoseOfLibm) {
  for (double exponent : {0.5, 2.0, 3.0, -1.0}) {
    std::string value = std::to_string(exponent);
    LoopKernel loop =
        kernel("func.func @f(%x: f64) -> f64 { %c = arith.constant " + value +
                   " : f64\n %r = math.powf %x, %c : f64\n return %r : f64 }",
               1);
    auto text = printOptimizedLoops(&context, loop);
    ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
    EXPECT_NE(text->find("@pow"), std::string::npos) << *text;
    HostTensor a = randomTensor(ElementType::F64, {1003}, 8);
    expectEqual(
        apply(loop, {a}),
        get(binary("pow", a,
                   get(HostTensor::splat(ElementType::F64, {1003}, exponent)))),
        "pow " + value);
  }
}

TEST_F(ElementwiseLoops, IntegersAndBool) {
  struct Operation {
    const char *op;
    const char *isSigned, *isUnsigned;
  };
  const Operation ops[] = {{"sub", "arith.subi", "arith.subi"},
                           {"min", "arith.minsi", "arith.minui"},
                           {"max", "arith.maxsi", "arith.maxui"}};
  for (ElementType type : runtime::allElementTypes) {
    if (runtime::isFloat(type))
      continue;
    std::string scalar = scalarName(type);
    for (const Operation &operation : ops) {
      if (type == ElementType::Bool && operation.op == std::string("sub"))
        continue;
      const char *name = runtime::isSignedInteger(type) ? operation.isSigned
                                                        : operation.isUnsigned;
      LoopKernel loop = kernel(
          chain(type, scalar, 2,
                std::string("%w = ") + name + " %a, %b : " + scalar + "\n"),
          1);
      HostTensor a = randomTensor(type, {1003}, 9),
                 b = randomTensor(type, {1003}, 10);
      expectEqual(apply(loop, {a, b}), get(binary(operation.op, a, b)),
                  std::string(name) + " of " + a.describe());
    }
  }
}

} // namespace
} // namespace ccn::codegen
