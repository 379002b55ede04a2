//===- ScalarBodiesTest.cpp - Operations through bodies to machine code ---===//
//
// Every elementwise operation of the ccn dialect on every element type: made
// into a body, compiled to a loop, and compared with the interpreter's kernels
// bit for bit. Types of 8 and 16 bits take all their patterns. The same bodies
// as CUDA C++, compiled for the CPU, may differ in the patterns of NaN and in
// the last places of CUDA's functions.
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/ScalarBodies.h"

#include "codegen/gpu/emit/CudaScalars.h"
#include "runtime/tensor/Random.h"
#include "test/unit/Codegen/CudaUtil.h"
#include "test/unit/Codegen/TensorUtil.h"

#include <cstring>

namespace ccn::codegen {
namespace {

using interp::CompareOp;

/// The values at which conversions to integers, and sums, turn.
std::vector<double> turningPoints() {
  std::vector<double> values;
  for (int exponent : {-1, 0, 1, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64})
    for (double base : {std::ldexp(1.0, exponent), -std::ldexp(1.0, exponent)})
      for (double value : {base, std::nextafter(base, INFINITY),
                           std::nextafter(base, -INFINITY), base - 1, base + 1,
                           base - 0.5, base + 0.5})
        values.push_back(value);
  return values;
}

/// Elements of any pattern. Of types of 8 and 16 bits with seed 0 all patterns
/// in order, with another seed such that two operands of 8 bits meet in all
/// pairs; of larger types special values, random patterns, and integers of all
/// widths.
HostTensor patterns(ElementType type, unsigned seed) {
  std::mt19937_64 random(seed);
  constexpr int64_t count = (1 << 16) + 3;
  if (type == ElementType::Bool || runtime::sizeInBytes(type) > 2) {
    HostTensor result = randomTensor(type, {count}, seed);
    std::byte *data = result.mutableData();
    auto size = static_cast<size_t>(runtime::sizeInBytes(type));
    if (type == ElementType::Bool)
      return result;
    for (int64_t i = 0; i < count / 2; ++i) {
      uint64_t bits = random();
      // Next to ties of bf16 and of f32, which rounding to double first misses.
      if (!runtime::isFloat(type) && i % 4 == 0) {
        int kept = i % 8 ? 8 : 24;
        bits = (bits >> (63 - kept) | 1 | uint64_t(1) << kept)
               << (random() % static_cast<uint64_t>(63 - kept));
        bits += random() % 3 - 1;
        if (random() % 2)
          bits = 0 - bits;
      } else if (!runtime::isFloat(type) && i % 2)
        bits = static_cast<uint64_t>(static_cast<int64_t>(bits) >>
                                     (random() % 64));
      std::memcpy(data + static_cast<size_t>(i) * size, &bits, size);
    }
    if (runtime::isFloat(type)) {
      std::vector<double> special = turningPoints();
      auto n = static_cast<int64_t>(special.size());
      HostTensor converted = get(HostTensor::fromDoubles(type, {n}, special));
      // Spread out, so that two operands meet in other pairs.
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(data + (static_cast<size_t>(i) * (seed + 1)) * size,
                    converted.data() + static_cast<size_t>(i) * size, size);
    }
    return result;
  }
  HostTensor result = get(HostTensor::uninitialized(type, {count}));
  for (int64_t i = 0; i < count; ++i) {
    bool isByte = runtime::sizeInBytes(type) == 1;
    uint64_t bits = isByte && seed ? static_cast<uint64_t>(i >> 8)
                    : seed         ? random()
                                   : static_cast<uint64_t>(i);
    std::memcpy(result.mutableData() + i * (isByte ? 1 : 2), &bits,
                isByte ? 1 : 2);
  }
  return result;
}

/// The pattern of an element of floats, such that patterns are in the order of
/// their values.
int64_t orderedPattern(const HostTensor &tensor, int64_t i) {
  int64_t size = runtime::sizeInBytes(tensor.type());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + i * size, static_cast<size_t>(size));
  auto magnitude =
      static_cast<int64_t>(bits & ((uint64_t(1) << (8 * size - 1)) - 1));
  return bits >> (8 * size - 1) ? -magnitude : magnitude;
}

/// Equal but for the patterns of NaN and, of operations for which CUDA's
/// functions of f32 stand in, the last places.
void expectClose(const HostTensor &found, const HostTensor &expected,
                 const std::string &op) {
  ElementType type = expected.type();
  if (!runtime::isFloat(type))
    return expectEqual(found, expected, op);
  ASSERT_EQ(found.describe(), expected.describe()) << op;
  bool isApproximate = false;
  for (const char *name : {"ccn.exp ", "ccn.log ", "ccn.tanh "})
    isApproximate |= type != ElementType::F64 && op.find(name) == 0;
  for (const char *name : {"ccn.sigmoid ", "ccn.silu ", "ccn.gelu "})
    isApproximate |= runtime::sizeInBytes(type) <= 2 && op.find(name) == 0;
  int64_t tolerance = !isApproximate ? 0 : type == ElementType::F32 ? 2 : 1;
  for (int64_t i = 0; i < found.count(); ++i) {
    double value = found.doubleAt(i), wanted = expected.doubleAt(i);
    bool isSame = std::isnan(wanted)
                      ? std::isnan(value)
                      : std::abs(orderedPattern(found, i) -
                                 orderedPattern(expected, i)) <= tolerance &&
                            std::signbit(value) == std::signbit(wanted);
    ASSERT_TRUE(isSame) << op << ": element " << i << " is " << found.textAt(i)
                        << ", expected " << expected.textAt(i);
  }
}

class ScalarBodies : public CpuLoops {
protected:
  ScalarBodies() { context.loadDialect<CcnDialect>(); }

  struct Case {
    /// An operation as text, of operands %a0, %a1, ...
    std::string op;
    /// Of rank 1, or scalars.
    std::vector<HostTensor> values;
    HostTensor expected;
    bool hasPosition = false;
  };

  static std::string tensorOf(const HostTensor &value) {
    return std::string("tensor<") + (value.rank() ? "8x" : "") +
           elementName(value.type()) + ">";
  }

  /// "ccn.<what> %a0, %a1<rest> : (types) -> result"
  static Case make(const std::string &what, std::vector<HostTensor> values,
                   Result<HostTensor> expected, const std::string &rest = "") {
    Case result;
    result.expected = get(std::move(expected));
    std::string names, types;
    for (size_t i = 0; i < values.size(); ++i) {
      std::string comma = i ? ", " : "";
      names += comma + "%a" + std::to_string(i);
      types += comma + tensorOf(values[i]);
    }
    result.op = "ccn." + what + " " + names + rest + " : (" + types + ") -> " +
                tensorOf(result.expected);
    result.values = std::move(values);
    return result;
  }

  /// The loop of an operation over contiguous tensors and scalars.
  LoopKernel loopOf(const Case &test, std::vector<std::string> *failures) {
    std::string text = "func.func private @g(";
    for (size_t i = 0; i < test.values.size(); ++i)
      text += (i ? ", %a" : "%a") + std::to_string(i) + ": " +
              tensorOf(test.values[i]);
    text += ") {\n %r = " + test.op + "\n return }";
    mlir::func::FuncOp source = body(text);
    LoopKernel loop;
    if (!source)
      return loop;
    mlir::Operation *op = &source.getBody().front().front();

    auto scalar = [&](ElementType type) {
      return this->type(scalarName(type));
    };
    llvm::SmallVector<mlir::Type> arguments;
    for (const HostTensor &value : test.values) {
      arguments.push_back(scalar(value.type()));
      loop.inputs.push_back({type(elementName(value.type())),
                             value.rank() ? 1 : 0, value.rank() == 0});
    }
    mlir::OpBuilder builder(&context);
    if (test.hasPosition) {
      arguments.push_back(builder.getI64Type());
      loop.positions = 1;
    }
    builder.setInsertionPointToEnd(modules.back()->getBody());
    auto made = mlir::func::FuncOp::create(
        builder, op->getLoc(), "f", builder.getFunctionType(arguments, {}));
    mlir::Block *block = made.addEntryBlock();
    builder.setInsertionPointToStart(block);
    plan::BodyContext bodyContext;
    if (test.hasPosition)
      bodyContext.index = block->getArguments().back();
    auto value = plan::emitScalar(
        builder, op,
        mlir::ValueRange(block->getArguments()).take_front(test.values.size()),
        bodyContext);
    EXPECT_TRUE(mlir::succeeded(value)) << test.op;
    if (mlir::failed(value))
      return loop;
    llvm::SmallVector<mlir::Value> results = {*value};
    for (auto &[failed, why] : bodyContext.failures) {
      results.push_back(failed);
      if (failures)
        failures->push_back(why);
    }
    mlir::func::ReturnOp::create(builder, op->getLoc(), results);
    made.setFunctionType(builder.getFunctionType(
        arguments, mlir::ValueRange(results).getTypes()));
    loop.body = made;
    loop.dims = 1;
    loop.outputs.push_back(
        {type(elementName(test.expected.type())), 1, std::nullopt, 0});
    return loop;
  }

  static int64_t call(runtime::LoopFunction function, const Case &test,
                      HostTensor &found, int64_t position = 0) {
    std::vector<void *> data;
    std::vector<int64_t> strides;
    for (const HostTensor &value : test.values) {
      data.push_back(const_cast<std::byte *>(value.data()));
      strides.push_back(value.rank());
    }
    if (test.hasPosition) {
      data.push_back(&position);
      strides.push_back(1);
    }
    data.push_back(found.mutableData());
    strides.push_back(1);
    int64_t size = found.count(), status = 0;
    function(&size, data.data(), strides.data(), &status);
    return status;
  }

  /// Compiles all cases at once, for the least CPU and for this one, and as
  /// CUDA C++.
  void check(const std::vector<Case> &cases, int64_t position = 0) {
    std::vector<LoopKernel> kernels;
    for (const Case &test : cases) {
      LoopKernel loop = loopOf(test, nullptr);
      ASSERT_TRUE(loop.body) << test.op;
      loop.name = "loop" + std::to_string(kernels.size());
      kernels.push_back(loop);
    }
    for (CpuLevel level : {CpuLevel::X86_64, Target::host().cpu}) {
      auto object = compile(kernels, {level});
      if (!object)
        continue;
      for (size_t i = 0; i < cases.size(); ++i) {
        HostTensor found = get(HostTensor::zeros(cases[i].expected.type(),
                                                 cases[i].expected.shape()));
        EXPECT_EQ(call(object->get(kernels[i].name), cases[i], found, position),
                  0)
            << cases[i].op;
        expectEqual(found, cases[i].expected,
                    cases[i].op + ", level " +
                        std::to_string(static_cast<int>(level)));
      }
    }
    checkFunctors(cases, kernels, position);
  }

  static void checkFunctors(const std::vector<Case> &cases,
                            llvm::ArrayRef<LoopKernel> kernels,
                            int64_t position) {
    llvm::Expected<std::string> compiled = compileFunctors(kernels);
    ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
    LoadedObject object(*compiled);
    for (auto [test, kernel] : llvm::zip_equal(cases, kernels)) {
      HostTensor found =
          get(HostTensor::zeros(test.expected.type(), test.expected.shape()));
      runtime::LoopFunction function = object.get(kernel.name);
      ASSERT_TRUE(function);
      EXPECT_EQ(call(function, test, found, position), 0) << test.op;
      expectClose(found, test.expected, test.op);
    }
    if (!hasNvrtc())
      return;
    llvm::Expected<std::string> source = emitFunctors(kernels);
    ASSERT_TRUE(bool(source)) << llvm::toString(source.takeError());
    EXPECT_EQ(compileCuda(*source, "sm_80"), "") << *source;
  }
};

class ScalarBodiesOf : public ScalarBodies,
                       public testing::WithParamInterface<ElementType> {};

INSTANTIATE_TEST_SUITE_P(Types, ScalarBodiesOf,
                         testing::ValuesIn(runtime::allElementTypes),
                         [](const auto &info) {
                           return std::string(runtime::name(info.param));
                         });

TEST_P(ScalarBodiesOf, Unary) {
  HostTensor x = patterns(GetParam(), 0);
  std::vector<Case> cases;
  for (const ElementwiseFunction *function : elementwiseFunctions())
    if (function->numOperands == 1 && function->takes(GetParam())) {
      std::string name(function->name);
      cases.push_back(make(name, {x}, unary(name, x)));
    }
  check(cases);
}

/// The functions of neural networks are found in the bodies that they become.
TEST_P(ScalarBodiesOf, Activations) {
  ElementType type = GetParam();
  if (!runtime::isFloat(type))
    return;
  HostTensor x = patterns(type, 0);
  for (const char *name : {"sigmoid", "silu", "gelu"}) {
    LoopKernel loop = loopOf(make(name, {x}, unary(name, x)), nullptr);
    ASSERT_TRUE(loop.body);
    llvm::Expected<std::string> functor = emitBody("F", loop.body, {false}, 0);
    ASSERT_TRUE(bool(functor)) << llvm::toString(functor.takeError());
    bool isSingle = functor->find("double") == std::string::npos &&
                    functor->find(std::string(name) + "(") != std::string::npos;
    EXPECT_EQ(isSingle, runtime::sizeInBytes(type) <= 2) << *functor;
  }
}

TEST_P(ScalarBodiesOf, Binary) {
  ElementType type = GetParam();
  HostTensor a = patterns(type, 0), b = patterns(type, 1);
  // Divisors that are not 0.
  HostTensor divisor = b;
  if (!runtime::isFloat(type) && type != ElementType::Bool) {
    HostTensor zero = get(HostTensor::splatInteger(type, {}, 0)),
               one = get(HostTensor::splatInteger(type, {}, 1));
    divisor = get(
        interp::select(get(interp::compare(CompareOp::Eq, b, zero)), one, b));
  }
  std::vector<Case> cases;
  for (const ElementwiseFunction *function : elementwiseFunctions()) {
    if (function->numOperands != 2 || !function->takes(type))
      continue;
    std::string name(function->name);
    const HostTensor &y = function->zeroDivisor.empty() ? b : divisor;
    cases.push_back(make(name, {a, y}, binary(name, a, y)));
    // A scalar on either side is computed with before the loop.
    HostTensor three = get(HostTensor::splatInteger(type, {}, 3));
    cases.push_back(make(name, {a, three}, binary(name, a, three)));
    cases.push_back(make(name, {three, y}, binary(name, three, y)));
  }
  check(cases);
}

TEST_P(ScalarBodiesOf, CompareAndSelect) {
  const std::pair<const char *, CompareOp> ops[] = {
      {"eq", CompareOp::Eq}, {"ne", CompareOp::Ne}, {"lt", CompareOp::Lt},
      {"le", CompareOp::Le}, {"gt", CompareOp::Gt}, {"ge", CompareOp::Ge}};
  HostTensor a = patterns(GetParam(), 0), b = patterns(GetParam(), 1),
             condition = patterns(ElementType::Bool, 2);
  // Of large types few are equal by chance.
  b = get(interp::select(patterns(ElementType::Bool, 3), a, b));
  std::vector<Case> cases;
  for (auto [name, op] : ops)
    cases.push_back(make(std::string("compare") + " " + name, {a, b},
                         interp::compare(op, a, b)));
  cases.push_back(
      make("select", {condition, a, b}, interp::select(condition, a, b)));
  check(cases);
}

TEST_P(ScalarBodiesOf, Cast) {
  HostTensor x = patterns(GetParam(), 0);
  std::vector<Case> cases;
  for (ElementType to : runtime::allElementTypes)
    cases.push_back(
        make("cast", {x}, interp::cast(x, to), " to " + elementName(to)));
  check(cases);
}

TEST_P(ScalarBodiesOf, Dropout) {
  ElementType type = GetParam();
  if (!runtime::isFloat(type))
    return;
  HostTensor x = patterns(type, 0);
  // Beyond 32 bits, and not a multiple of the four that one counter serves.
  const int64_t first = (int64_t(1) << 35) + 3;
  runtime::GlobalPosition position{{int64_t(1) << 36}, {first}};
  std::vector<Case> cases;
  for (auto [seedType, seed] : {std::pair{ElementType::I64, int64_t(-7)},
                                {ElementType::U64, int64_t(0x123456789abcdef0)},
                                {ElementType::I8, -1},
                                {ElementType::U8, -1},
                                {ElementType::I32, -5}})
    for (auto [rate, text] : {std::pair{0.0, "0.0"},
                              {0.1, "0.1"},
                              {0x1p-24, "5.9604644775390625e-8"},
                              {0.75, "0.75"}}) {
      HostTensor seedTensor = get(HostTensor::splatInteger(seedType, {}, seed));
      Case test =
          make("dropout", {x, seedTensor},
               runtime::dropout(x, rate,
                                static_cast<uint64_t>(seedTensor.integerAt(0)),
                                position),
               std::string(" rate ") + text);
      test.hasPosition = true;
      cases.push_back(std::move(test));
    }
  check(cases, first);
}

TEST_P(ScalarBodiesOf, Constant) {
  ElementType type = GetParam();
  std::string name = elementName(type);
  std::vector<std::pair<std::string, HostTensor>> constants;
  if (runtime::isFloat(type))
    for (auto [text, value] :
         {std::pair{"0.1", 0.1}, {"-0.0", -0.0}, {"1.5", 1.5}})
      constants.emplace_back(text, get(HostTensor::splat(type, {3}, value)));
  else if (type == ElementType::Bool)
    for (auto [text, value] : {std::pair{"true", 1}, {"false", 0}})
      constants.emplace_back(text,
                             get(HostTensor::splatInteger(type, {3}, value)));
  else
    for (int64_t value :
         {int64_t(0), int64_t(100),
          runtime::isSignedInteger(type) ? int64_t(-128) : int64_t(255)})
      constants.emplace_back(std::to_string(value),
                             get(HostTensor::splatInteger(type, {3}, value)));
  std::vector<Case> cases;
  for (auto &[text, expected] : constants) {
    Case test;
    test.op = "ccn.constant " + text;
    if (type != ElementType::Bool)
      test.op += " : " + name;
    test.expected = expected;
    cases.push_back(std::move(test));
  }
  check(cases);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_P(ScalarBodiesOf, ZeroDivisors) {
  ElementType type = GetParam();
  if (runtime::isFloat(type) || type == ElementType::Bool)
    return;
  for (auto [name, text] : {std::pair{"div", "division by zero at "},
                            {"rem", "remainder by zero at "}}) {
    HostTensor a = patterns(type, 0),
               b = get(HostTensor::splatInteger(type, a.shape(), 5));
    Case test = make(name, {a, b}, binary(name, a, b));
    std::vector<std::string> failures;
    LoopKernel loop = loopOf(test, &failures);
    ASSERT_TRUE(loop.body);
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].find(text), 0u) << failures[0];
    // A line and a column of the text above.
    EXPECT_NE(failures[0].find(":2:7"), std::string::npos) << failures[0];
    loop.name = "loop";
    loop.firstFailure = 4;
    auto object = compile(loop);
    ASSERT_TRUE(object);
    HostTensor found = get(HostTensor::zeros(type, a.shape()));
    EXPECT_EQ(call(object->get("loop"), test, found), 0);
    expectEqual(found, test.expected, name);
    // One zero among many, at either end and in between.
    for (int64_t at : {int64_t(0), b.count() / 2, b.count() - 1}) {
      HostTensor wrong =
          get(HostTensor::fromBytes(type, b.shape(), b.data(), b.byteCount()));
      std::memset(wrong.mutableData() + at * runtime::sizeInBytes(type), 0,
                  static_cast<size_t>(runtime::sizeInBytes(type)));
      Case bad = test;
      bad.values[1] = wrong;
      EXPECT_EQ(call(object->get("loop"), bad, found), 5) << name << " " << at;
    }
  }
}

} // namespace
} // namespace ccn::codegen
