//===- CudaScalarsTest.cpp - Scalars in CUDA C++ --------------------------===//
//
// The conversions of codegen/gpu/device, compiled for the CPU, against the
// runtime's, for all patterns and all neighbours of ties; and bodies as
// functors: what is computed when and in which type, and the operations that
// ScalarBodiesTest does not have, against compiled loops.
//
//===----------------------------------------------------------------------===//

#include "test/unit/Codegen/CudaUtil.h"

#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/emit/CudaScalars.h"
#include "runtime/tensor/Combine.h"
#include "runtime/tensor/NarrowFloat.h"
#include "test/unit/Codegen/LoopsUtil.h"

#include "test/common/emulator/Intrinsics.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace cuda {
#include "test/unit/Codegen/DeviceScalars.h"
} // namespace cuda

namespace ccn::codegen {
namespace {

//===----------------------------------------------------------------------===//
// Device files
//===----------------------------------------------------------------------===//

template <typename T> struct Narrow {};
template <> struct Narrow<cuda::f16> {
  using Format = runtime::F16Format;
};
template <> struct Narrow<cuda::bf16> {
  using Format = runtime::BF16Format;
};
template <> struct Narrow<cuda::f8e4m3> {
  using Format = runtime::F8E4M3Format;
};
template <> struct Narrow<cuda::f8e5m2> {
  using Format = runtime::F8E5M2Format;
};

template <typename T> class CudaNarrow : public testing::Test {};
using NarrowTypes =
    testing::Types<cuda::f16, cuda::bf16, cuda::f8e4m3, cuda::f8e5m2>;
TYPED_TEST_SUITE(CudaNarrow, NarrowTypes);

TYPED_TEST(CudaNarrow, DecodesAllPatterns) {
  using Format = typename Narrow<TypeParam>::Format;
  for (uint32_t bits = 0; bits < 2 * Format::signBit; ++bits) {
    TypeParam x;
    x.bits = static_cast<decltype(x.bits)>(bits);
    float expected = runtime::decodeAs<Format>(bits), found = cuda::toFloat(x);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(found)) << bits;
    else
      ASSERT_EQ(std::bit_cast<uint32_t>(found),
                std::bit_cast<uint32_t>(expected))
          << bits;
  }
}

TYPED_TEST(CudaNarrow, EncodesAroundTies) {
  using Format = typename Narrow<TypeParam>::Format;
  auto check = [](double value) {
    ASSERT_EQ(cuda::toHalf<TypeParam>(value).bits,
              runtime::encodeAs<Format>(value))
        << std::hexfloat << value;
    auto single = static_cast<float>(value);
    ASSERT_EQ(cuda::toHalf<TypeParam>(single).bits,
              runtime::encodeAs<Format>(single))
        << std::hexfloat << single;
  };
  double previous = 0;
  for (uint32_t bits = 0; bits <= Format::overflow; ++bits) {
    double value = runtime::decodeAs<Format>(bits);
    if (!std::isfinite(value))
      value = 2 * previous;
    for (double part : {0.0, 0.25, 0.5, 0.75}) {
      double between = previous + (value - previous) * part;
      for (double x : {between, std::nextafter(between, INFINITY),
                       std::nextafter(between, -INFINITY),
                       double(std::nextafter(float(between), INFINITY)),
                       double(std::nextafter(float(between), -INFINITY))}) {
        check(x);
        check(-x);
      }
    }
    previous = value;
  }
  for (double value :
       {0x1p-1074, 0x1p-150, 1e308, double(INFINITY), double(NAN)})
    for (double x : {value, -value})
      check(x);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    check(std::bit_cast<double>(random()));
    check(std::bit_cast<float>(static_cast<uint32_t>(random())));
  }
}

/// Of each pattern, what `found` gives rounds to what `expected` does, or to
/// its neighbour, as f32 has some bits too few where that lies between two.
template <typename T>
void expectRounded(float (*found)(float), double (*expected)(double)) {
  using Format = typename Narrow<T>::Format;
  for (uint32_t bits = 0; bits < 2 * Format::signBit; ++bits) {
    float x = runtime::decodeAs<Format>(bits);
    uint32_t result = cuda::toHalf<T>(found(x)).bits,
             exact = runtime::encodeAs<Format>(expected(x));
    double value = runtime::decodeAs<Format>(exact);
    if (std::isnan(value))
      ASSERT_TRUE(std::isnan(runtime::decodeAs<Format>(result))) << x;
    else
      ASSERT_LE(std::max(result, exact) - std::min(result, exact), 1u)
          << x << ": " << runtime::decodeAs<Format>(result) << ", " << value;
  }
}

template <typename T> void expectActivations() {
  expectRounded<T>(cuda::gelu, [](double x) {
    return 0.5 * x * std::erfc(-x * 0.70710678118654752440);
  });
  auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  expectRounded<T>(cuda::sigmoid, sigmoid);
  expectRounded<T>(cuda::silu, [](double x) {
    double e = std::exp(x < 0 ? x : -x);
    return x * ((x < 0 ? e : 1) / (1 + e));
  });
}

TEST(CudaActivations, RoundToF16) { expectActivations<cuda::f16>(); }
TEST(CudaActivations, RoundToBF16) { expectActivations<cuda::bf16>(); }

/// Elements of three ranks through combine.cuh and runtime::combine.
template <typename T, cuda::Kind kind>
void combines(runtime::ElementType type, runtime::ReduceKind reduction) {
  constexpr size_t count = 1 << 12;
  std::mt19937_64 random(7);
  std::vector<T> parts[3], found(count), expected(count);
  for (std::vector<T> &part : parts) {
    part.resize(count);
    for (T &x : part) {
      uint64_t bits = random();
      // Small numbers often, so that not all that is not NaN overflows.
      if (random() % 2)
        bits &= 0x83ffu | uint64_t(0x43ff) << 48 | uint64_t(0x43ff) << 16;
      std::memcpy(&x, &bits, sizeof(T));
    }
  }
  const std::byte *data[3];
  for (size_t i = 0; i < 3; ++i)
    data[i] = reinterpret_cast<const std::byte *>(parts[i].data());
  runtime::combine(reduction, type, data, count,
                   reinterpret_cast<std::byte *>(expected.data()));
  using C = cuda::Compute<T>;
  for (size_t i = 0; i < count; ++i) {
    auto sum = C::load(parts[0][i]);
    for (size_t part : {1, 2})
      sum = cuda::combine<kind>(sum, C::load(parts[part][i]));
    found[i] = C::store(cuda::finish<kind>(sum, 3));
    auto isNaN = [](T x) {
      if constexpr (std::is_integral_v<T>)
        return false;
      else
        return C::load(x) != C::load(x);
    };
    if (isNaN(expected[i]))
      ASSERT_TRUE(isNaN(found[i]));
    else
      ASSERT_EQ(std::memcmp(&found[i], &expected[i], sizeof(T)), 0)
          << runtime::name(type) << " " << name(reduction) << " " << i;
  }
}

template <typename T> void combinesAll(runtime::ElementType type) {
  using runtime::ReduceKind;
  combines<T, cuda::Kind::Sum>(type, ReduceKind::Sum);
  combines<T, cuda::Kind::Prod>(type, ReduceKind::Prod);
  combines<T, cuda::Kind::Max>(type, ReduceKind::Max);
  combines<T, cuda::Kind::Min>(type, ReduceKind::Min);
  if constexpr (!std::is_integral_v<T>)
    combines<T, cuda::Kind::Mean>(type, ReduceKind::Mean);
}

TEST(CudaCombine, IsTheRuntimes) {
  using runtime::ElementType;
  combinesAll<double>(ElementType::F64);
  combinesAll<float>(ElementType::F32);
  combinesAll<cuda::f16>(ElementType::F16);
  combinesAll<cuda::bf16>(ElementType::BF16);
  combinesAll<cuda::f8e4m3>(ElementType::F8E4M3);
  combinesAll<cuda::f8e5m2>(ElementType::F8E5M2);
  combinesAll<signed char>(ElementType::I8);
  combinesAll<short>(ElementType::I16);
  combinesAll<int>(ElementType::I32);
  combinesAll<long long>(ElementType::I64);
  combinesAll<unsigned char>(ElementType::U8);
  combinesAll<unsigned short>(ElementType::U16);
  combinesAll<unsigned>(ElementType::U32);
  combinesAll<unsigned long long>(ElementType::U64);
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      EXPECT_EQ(cuda::combine<cuda::Kind::Max>(a, b), a || b);
      EXPECT_EQ(cuda::combine<cuda::Kind::Min>(a, b), a && b);
    }
}

//===----------------------------------------------------------------------===//
// Functors
//===----------------------------------------------------------------------===//

class CudaScalars : public CpuLoops {
protected:
  std::string emit(const std::string &text, std::vector<bool> uniform,
                   int64_t positions = 0) {
    llvm::SmallVector<bool> isUniform(uniform.begin(), uniform.end());
    llvm::Expected<std::string> functor =
        emitBody("F", body(text), isUniform, positions);
    return functor ? *functor : "error: " + llvm::toString(functor.takeError());
  }

  /// Whether a text is in the constructor; fails if it is nowhere.
  static bool isInConstructor(const std::string &functor,
                              const std::string &text) {
    size_t at = functor.find(text);
    EXPECT_NE(at, std::string::npos) << text << " in " << functor;
    return at < functor.find("operator()");
  }
};

TEST_F(CudaScalars, ComputesUniformValuesOnce) {
  std::string functor = emit(R"(
    func.func @f(%x: f32, %t: f32, %unused: f64) -> (f32, i1) {
      %base = arith.constant 0.9 : f64
      %one = arith.constant 1.0 : f32
      %t64 = arith.extf %t : f32 to f64
      %pow = math.powf %base, %t64 : f64
      %pow32 = arith.truncf %pow : f64 to f32
      %correction = arith.subf %one, %pow32 : f32
      %r = arith.divf %x, %correction : f32
      %dead = math.exp %x : f32
      %zero = arith.cmpf oeq, %correction, %one : f32
      return %r, %zero : f32, i1
    })",
                             {false, true, true});
  EXPECT_TRUE(isInConstructor(functor, "pow("));
  EXPECT_TRUE(isInConstructor(functor, " - "));
  EXPECT_FALSE(isInConstructor(functor, " / "));
  EXPECT_EQ(functor.find("expf("), std::string::npos) << functor;
  EXPECT_NE(functor.find("explicit F(float a1, double a2)"), std::string::npos)
      << functor;
  EXPECT_NE(functor.find("operator()(float a0, float &r0, bool &r1) const"),
            std::string::npos)
      << functor;
  // The correction and whether it is 1.
  std::string members = functor.substr(0, functor.find("__device__"));
  EXPECT_EQ(std::count(members.begin(), members.end(), ';'), 2) << functor;
}

TEST_F(CudaScalars, FunctionsOfF32) {
  auto one = [&](const std::string &function, const std::string &to) {
    return emit("func.func @f(%x: bf16) -> " + to +
                    " {\n %w = arith.extf %x : bf16 to f64\n"
                    " %n = arith.negf %w : f64\n %y = " +
                    function + " %n : f64\n %r = arith.truncf %y : f64 to " +
                    to + "\n return %r : " + to + " }",
                {false});
  };
  for (const char *name : {"exp", "log", "tanh", "erf"})
    for (const char *to : {"f32", "f16"}) {
      std::string functor = one(std::string("math.") + name, to);
      EXPECT_NE(functor.find(std::string(name) + "f("), std::string::npos)
          << functor;
      EXPECT_EQ(functor.find("double"), std::string::npos) << functor;
    }
  std::string erfc = one("math.erfc", "f32");
  EXPECT_NE(erfc.find("erfc("), std::string::npos) << erfc;
  // Rounded twice it would not be exact.
  EXPECT_NE(one("math.sqrt", "f32").find("sqrtf("), std::string::npos);
  EXPECT_NE(one("math.sqrt", "f16").find("sqrt("), std::string::npos);
}

TEST_F(CudaScalars, QuotientsOfF32) {
  auto one = [&](const std::string &to) {
    return emit("func.func @f(%x: f32, %y: f32) -> " + to +
                    " {\n %q = arith.divf %x, %y : f32\n %r = " +
                    (to == "f64" ? "arith.extf" : "arith.truncf") +
                    " %q : f32 to " + to + "\n return %r : " + to + " }",
                {false, false});
  };
  for (const char *to : {"f16", "bf16", "f8E4M3FN"})
    EXPECT_NE(one(to).find("quotient(a0, a1)"), std::string::npos) << one(to);
  EXPECT_NE(one("f64").find("a0 / a1"), std::string::npos) << one("f64");
}

TEST_F(CudaScalars, FunctionsOfF64Stay) {
  // Of an operand that is no f32, and of a result that is used as it is.
  for (const char *text :
       {"%y = math.exp %x : f64\n %r = arith.truncf %y : f64 to f32\n"
        " return %r, %x : f32, f64",
        "%w = arith.extf %z : f32 to f64\n %y = math.exp %w : f64\n"
        " %r = arith.truncf %y : f64 to f32\n return %r, %y : f32, f64",
        "%c = arith.constant 0.1 : f64\n %w = arith.extf %z : f32 to f64\n"
        " %s = arith.mulf %w, %c : f64\n %y = math.exp %s : f64\n"
        " %r = arith.truncf %y : f64 to f32\n return %r, %x : f32, f64"}) {
    std::string functor =
        emit("func.func @f(%x: f64, %z: f32) -> (f32, f64) {\n" +
                 std::string(text) + " }",
             {false, false});
    EXPECT_NE(functor.find("exp("), std::string::npos) << functor;
    EXPECT_EQ(functor.find("f("), std::string::npos) << functor;
  }
}

TEST_F(CudaScalars, Refuses) {
  EXPECT_EQ(emit("func.func @f(%x: f32) -> f32 { %y = math.sin %x : f32\n"
                 "return %y : f32 }",
                 {false}),
            "error: loop 'F': 'math.sin' is not supported in a loop, of type "
            "(f32) -> f32");
  EXPECT_EQ(emit("func.func @f(%x: i32) -> i32 { %y = arith.ceildivsi %x, %x "
                 ": i32\nreturn %y : i32 }",
                 {false}),
            "error: loop 'F': 'arith.ceildivsi' is not supported in a loop, "
            "of type (i32, i32) -> i32");
  EXPECT_EQ(emit("func.func @f(%x: f64) -> f32 { %y = arith.truncf %x "
                 "toward_zero : f64 to f32\nreturn %y : f32 }",
                 {false}),
            "error: loop 'F': 'arith.truncf' is not supported in a loop, of "
            "type (f64) -> f32");
  EXPECT_EQ(emit("func.func @f(%x: f32) -> f32 { %y = arith.addf %x, %x "
                 "fastmath<nnan> : f32\nreturn %y : f32 }",
                 {false}),
            "error: loop 'F': 'arith.addf' is not supported in a loop, of "
            "type (f32, f32) -> f32");
  EXPECT_EQ(
      emit("func.func @f(%x: f32) -> f32 { return %x : f32 }", {false}, 1),
      "error: loop 'F': expected a body of 2 operands, found 1");
}

/// Operations that no operation of the dialect becomes, on every type.
class OtherOperations : public CudaScalars {
protected:
  static constexpr int64_t count = 2000;

  void add(const std::string &arguments, const std::string &line,
           const std::string &result, const std::string &more = "") {
    kernels.push_back(kernel("func.func @f(" + arguments + ") -> " + result +
                                 " {\n" + more + "%r = " + line +
                                 "\n return %r : " + result + " }",
                             1));
  }
  void addIntegers(const std::string &type);
  void addFloats(const std::string &type);
  void addConstants();
  void addNarrowFloats();

  /// Numbers of a type at random, small ones and special ones among them.
  std::vector<uint64_t> draw(mlir::Type type);
  /// Runs one and the other on the same numbers.
  void compare(LoopKernel &kernel, const LoadedObject &one,
               const LoadedObject &other);

  std::vector<LoopKernel> kernels;
  std::mt19937_64 random{3};
};

void OtherOperations::addIntegers(const std::string &type) {
  std::string two = "%x: " + type + ", %y: " + type;
  for (const char *op : {"addi", "subi", "muli", "andi", "ori", "xori", "maxsi",
                         "maxui", "minsi", "minui"})
    add(two, "arith." + std::string(op) + " %x, %y : " + type, type);
  for (const char *predicate :
       {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
    add(two, "arith.cmpi " + std::string(predicate) + ", %x, %y : " + type,
        "i1");
  // A shift by the width or more has no result.
  if (type != "i1")
    for (const char *op : {"shli", "shrsi", "shrui"})
      add(two, "arith." + std::string(op) + " %x, %s : " + type, type,
          "%m = arith.constant 7 : " + type +
              "\n%s = arith.andi %y, %m : " + type + "\n");
  for (const char *op : {"math.absi", "math.ctlz", "math.cttz", "math.ctpop"})
    add("%x: " + type, std::string(op) + " %x : " + type, type);
  // The upper halves.
  for (const char *op : {"mului_extended", "mulsi_extended"})
    kernels.push_back(
        kernel("func.func @f(" + two + ") -> (" + type + ", " + type +
                   ") {\n%r:2 = arith." + op + " %x, %y : " + type +
                   "\n return %r#0, %r#1 : " + type + ", " + type + " }",
               2));
  kernels.push_back(kernel("func.func @f(" + two + ") -> (" + type +
                               ", i1) {\n%r:2 = arith.addui_extended %x, "
                               "%y : " +
                               type + ", i1\n return %r#0, %r#1 : " + type +
                               ", i1 }",
                           2));
  for (std::string other : {"i1", "i8", "i16", "i32", "i64"}) {
    auto width = [](const std::string &t) { return std::stoi(t.substr(1)); };
    if (width(type) < width(other))
      for (const char *op : {"extsi", "extui"})
        add("%x: " + type,
            "arith." + std::string(op) + " %x : " + type + " to " + other,
            other);
    if (width(type) > width(other))
      add("%x: " + type, "arith.trunci %x : " + type + " to " + other, other);
  }
  for (std::string real : {"f32", "f64"})
    for (const char *op : {"sitofp", "uitofp"})
      add("%x: " + type,
          "arith." + std::string(op) + " %x : " + type + " to " + real, real);
}

void OtherOperations::addFloats(const std::string &type) {
  std::string two = "%x: " + type + ", %y: " + type;
  for (const char *op :
       {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf",
        "arith.maximumf", "arith.minimumf", "math.copysign", "math.powf"})
    add(two, std::string(op) + " %x, %y : " + type, type);
  for (const char *op : {"arith.negf", "math.absf", "math.sqrt", "math.erfc"})
    add("%x: " + type, std::string(op) + " %x : " + type, type);
  for (const char *predicate :
       {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt",
        "uge", "ult", "ule", "une", "uno", "true"}) {
    add(two, "arith.cmpf " + std::string(predicate) + ", %x, %y : " + type,
        "i1");
    // In f32, as the numbers are.
    if (type == "f64")
      add("%a: f32, %b: f16",
          "arith.cmpf " + std::string(predicate) + ", %x, %y : " + type, "i1",
          "%x = arith.extf %a : f32 to f64\n%y = arith.extf %b : f16 to "
          "f64\n");
  }
  std::string bits = type == "f32" ? "i32" : "i64";
  add("%x: " + type, "arith.bitcast %x : " + type + " to " + bits, bits);
  add("%x: " + bits, "arith.bitcast %x : " + bits + " to " + type, type);
}

void OtherOperations::addConstants() {
  for (const char *constant :
       {"0x7F800000 : f32", "0xFF800000 : f32", "0x7FC00000 : f32",
        "0x80000001 : f32", "-0.0 : f32", "0xFFF0000000000000 : f64",
        "0x0000000000000001 : f64", "-1.0e300 : f64", "-128 : i8", "-1 : i16",
        "-2147483648 : i32", "-9223372036854775808 : i64", "0x7E01 : f16",
        "-0.0 : bf16", "-1.0 : f8E4M3FN"}) {
    std::string text = constant;
    add("%x: i1", "arith.constant " + text, text.substr(text.find(": ") + 2));
  }
}

void OtherOperations::addNarrowFloats() {
  // Arithmetic of f64 that f32 does with the same result.
  for (const char *op : {"addf", "subf", "mulf", "divf", "remf"})
    add("%a: f32, %b: f32", "arith.truncf %z : f64 to f32", "f32",
        "%x = arith.extf %a : f32 to f64\n%y = arith.extf %b : f32 to f64\n"
        "%z = arith." +
            std::string(op) + " %x, %y : f64\n");
  for (std::string type : {"f16", "bf16", "f8E4M3FN", "f8E5M2"}) {
    std::string bits = type[1] == '8' ? "i8" : "i16";
    add("%x: " + type, "arith.bitcast %x : " + type + " to " + bits, bits);
    add("%x: " + bits, "arith.bitcast %x : " + bits + " to " + type, type);
    add("%c: i1, %x: " + type, "arith.select %c, %x, %y : " + type, type,
        "%y = arith.constant 1.5 : " + type + "\n");
  }
}

std::vector<uint64_t> OtherOperations::draw(mlir::Type type) {
  std::vector<uint64_t> words(static_cast<size_t>(count));
  unsigned width = type.getIntOrFloatBitWidth();
  auto *bytes = reinterpret_cast<std::byte *>(words.data());
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random();
    if (width == 1)
      bits &= 1;
    // Small integers, and zeros, infinities and NaN.
    else if (i % 4 == 0)
      bits =
          static_cast<uint64_t>(static_cast<int64_t>(bits) >> (random() % 64));
    else if (type.isF32() && i % 4 == 1)
      bits = bits & 0xff800000u;
    else if (type.isF64() && i % 4 == 1)
      bits = bits & 0xfff0000000000000u;
    size_t size = width == 1 ? 1 : width / 8;
    std::memcpy(bytes + static_cast<size_t>(i) * size, &bits, size);
  }
  return words;
}

void OtherOperations::compare(LoopKernel &kernel, const LoadedObject &one,
                              const LoadedObject &other) {
  std::string text;
  llvm::raw_string_ostream(text) << kernel.body;
  std::vector<std::vector<uint64_t>> memory;
  for (mlir::Type type : kernel.body.getArgumentTypes())
    memory.push_back(draw(type));
  auto run = [&](const LoadedObject &object) {
    std::vector<std::vector<uint64_t>> results(
        kernel.outputs.size(),
        std::vector<uint64_t>(static_cast<size_t>(count)));
    std::vector<void *> data;
    for (std::vector<uint64_t> &input : memory)
      data.push_back(input.data());
    for (auto &result : results)
      data.push_back(result.data());
    std::vector<int64_t> strides(data.size(), 1);
    int64_t size = count, status = 0;
    if (runtime::LoopFunction function = object.get(kernel.name))
      function(&size, data.data(), strides.data(), &status);
    return results;
  };
  auto expected = run(one), found = run(other);
  for (auto [i, type] : llvm::enumerate(kernel.body.getResultTypes())) {
    // NaN of any pattern.
    auto equal = [&]<typename T>(T) {
      auto *x = reinterpret_cast<const T *>(expected[i].data());
      auto *y = reinterpret_cast<const T *>(found[i].data());
      for (int64_t at = 0; at < count; ++at)
        if (!(std::isnan(x[at]) && std::isnan(y[at])) &&
            std::memcmp(x + at, y + at, sizeof(T)) != 0)
          return false;
      return true;
    };
    bool isEqual = type.isF64()   ? equal(double())
                   : type.isF32() ? equal(float())
                                  : expected[i] == found[i];
    EXPECT_TRUE(isEqual) << text;
  }
}

TEST_F(OtherOperations, AreThoseOfCompiledLoops) {
  for (const char *type : {"i1", "i8", "i16", "i32", "i64"})
    addIntegers(type);
  for (const char *type : {"f32", "f64"})
    addFloats(type);
  addConstants();
  addNarrowFloats();
  for (size_t i = 0; i < kernels.size(); ++i)
    kernels[i].name = "loop" + std::to_string(i);

  auto cpu = compile(kernels);
  ASSERT_TRUE(cpu);
  llvm::Expected<std::string> compiled = compileFunctors(kernels);
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  LoadedObject functors(*compiled);

  for (LoopKernel &kernel : kernels)
    compare(kernel, *cpu, functors);
  if (!hasNvrtc())
    GTEST_SKIP() << "no NVRTC";
  llvm::Expected<std::string> source = emitFunctors(kernels);
  ASSERT_TRUE(bool(source));
  for (const char *target : {"sm_80", "sm_90a"})
    EXPECT_EQ(compileCuda(*source, target), "") << *source;
}

} // namespace
} // namespace ccn::codegen
