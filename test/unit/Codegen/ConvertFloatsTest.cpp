//===- ConvertFloatsTest.cpp - Narrow floats in compiled loops ------------===//
//
// Every pattern of every narrow float is decoded, and every neighbour of every
// tie encoded, on every level of the CPU: against runtime/tensor/ElementType.h,
// bit for bit.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/ElementType.h"
#include "test/unit/Codegen/LoopsUtil.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace ccn::codegen {
namespace {

using runtime::ElementType;

struct Narrow {
  ElementType type;
  const char *mlirName;
};
constexpr Narrow narrowTypes[] = {{ElementType::F16, "f16"},
                                  {ElementType::BF16, "bf16"},
                                  {ElementType::F8E4M3, "f8E4M3FN"},
                                  {ElementType::F8E5M2, "f8E5M2"}};

std::vector<Target> targets() {
  std::vector<Target> result;
  for (CpuLevel level :
       {CpuLevel::X86_64, CpuLevel::X86_64_V3, CpuLevel::X86_64_V4})
    if (level <= Target::host().cpu)
      result.push_back({level});
  return result;
}

class ConvertFloats : public CpuLoops {
protected:
  /// A loop that does one conversion.
  LoopKernel conversion(const std::string &op, const std::string &from,
                        const std::string &to) {
    return kernel("func.func @f(%x: " + from + ") -> " + to + " { %y = " + op +
                      " %x : " + from + " to " + to + "\n return %y : " + to +
                      " }",
                  1);
  }

  template <typename To, typename From>
  std::vector<To> apply(const LoopKernel &kernel, const Target &target,
                        std::vector<From> from) {
    std::vector<To> to(from.size());
    auto object = compile(kernel, target);
    runtime::LoopFunction loop = object ? object->get("loop") : nullptr;
    if (!loop)
      return to;
    int64_t size = static_cast<int64_t>(from.size()), status = 0;
    void *data[] = {from.data(), to.data()};
    int64_t strides[] = {1, 1};
    loop(&size, data, strides, &status);
    return to;
  }

  template <typename Bits>
  void decodes(const Narrow &narrow, const Target &target) {
    std::vector<Bits> patterns(size_t(1) << (8 * sizeof(Bits)));
    for (size_t i = 0; i < patterns.size(); ++i)
      patterns[i] = static_cast<Bits>(i);
    auto floats = apply<uint32_t>(
        conversion("arith.extf", narrow.mlirName, "f32"), target, patterns);
    auto doubles = apply<uint64_t>(
        conversion("arith.extf", narrow.mlirName, "f64"), target, patterns);
    for (size_t i = 0; i < patterns.size(); ++i) {
      float expected = runtime::decodeFloat(narrow.type, patterns[i]);
      ASSERT_EQ(floats[i], std::bit_cast<uint32_t>(expected))
          << narrow.mlirName << " " << i;
      ASSERT_EQ(doubles[i],
                std::bit_cast<uint64_t>(static_cast<double>(expected)))
          << narrow.mlirName << " " << i;
    }
  }

  template <typename Bits, typename Wide>
  void encodes(const Narrow &narrow, const Target &target,
               const std::vector<Wide> &values) {
    auto found = apply<Bits>(conversion("arith.truncf",
                                        sizeof(Wide) == 8 ? "f64" : "f32",
                                        narrow.mlirName),
                             target, values);
    for (size_t i = 0; i < values.size(); ++i) {
      // A NaN passes through the conversion to double with its sign.
      ASSERT_EQ(found[i], runtime::encodeFloat(narrow.type, values[i]))
          << narrow.mlirName << " of " << std::hexfloat << values[i];
    }
  }
};

/// Values of the narrow type, the ties between them, and what is next to both.
template <typename Wide> std::vector<Wide> neighbours(const Narrow &narrow) {
  bool isByte = runtime::sizeInBytes(narrow.type) == 1;
  std::vector<Wide> result;
  const Wide infinity = std::numeric_limits<Wide>::infinity();
  auto add = [&](Wide value) {
    for (Wide x : {value, std::nextafter(value, infinity),
                   std::nextafter(value, Wide(0))})
      for (Wide y : {x, -x})
        result.push_back(y);
  };
  double previous = 0;
  for (uint32_t bits = 0; bits < (isByte ? 0x80u : 0x8000u); ++bits) {
    double value =
        runtime::decodeFloat(narrow.type, static_cast<uint16_t>(bits));
    if (!std::isfinite(value))
      break;
    add(static_cast<Wide>(value));
    // The sums and quarters are exact in double; f32 may round them.
    for (double part : {0.25, 0.5, 0.75})
      add(static_cast<Wide>(previous + (value - previous) * part));
    previous = value;
  }
  for (double x : {1.0, 1.25, 1.5, 2.0, 4.0, 1e30})
    add(static_cast<Wide>(previous * x));
  for (Wide x :
       {std::numeric_limits<Wide>::max(), std::numeric_limits<Wide>::min(),
        std::numeric_limits<Wide>::denorm_min(),
        std::numeric_limits<Wide>::quiet_NaN(), infinity})
    add(x);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    if constexpr (sizeof(Wide) == 8)
      result.push_back(std::bit_cast<double>(bits));
    else
      result.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    // Of a magnitude that the narrow types have.
    result.push_back(static_cast<Wide>(
        std::ldexp(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-63,
                   static_cast<int>(bits % 61) - 30)));
  }
  return result;
}

TEST_F(ConvertFloats, DecodeAllPatterns) {
  for (const Target &target : targets())
    for (const Narrow &narrow : narrowTypes)
      if (runtime::sizeInBytes(narrow.type) == 1)
        decodes<uint8_t>(narrow, target);
      else
        decodes<uint16_t>(narrow, target);
}

TEST_F(ConvertFloats, EncodeFromF32) {
  for (const Target &target : targets())
    for (const Narrow &narrow : narrowTypes)
      if (runtime::sizeInBytes(narrow.type) == 1)
        encodes<uint8_t>(narrow, target, neighbours<float>(narrow));
      else
        encodes<uint16_t>(narrow, target, neighbours<float>(narrow));
}

TEST_F(ConvertFloats, EncodeFromF64RoundsOnce) {
  for (const Target &target : targets())
    for (const Narrow &narrow : narrowTypes)
      if (runtime::sizeInBytes(narrow.type) == 1)
        encodes<uint8_t>(narrow, target, neighbours<double>(narrow));
      else
        encodes<uint16_t>(narrow, target, neighbours<double>(narrow));
}

TEST_F(ConvertFloats, ConversionsAreVectorized) {
  for (const char *level : {"v3"}) {
    (void)level;
    for (const Narrow &narrow : narrowTypes)
      for (const char *wide : {"f32", "f64"})
        for (bool decode : {true, false}) {
          LoopKernel loop =
              decode ? conversion("arith.extf", narrow.mlirName, wide)
                     : conversion("arith.truncf", wide, narrow.mlirName);
          auto text =
              printOptimizedLoops(&context, loop, {CpuLevel::X86_64_V3});
          ASSERT_TRUE(bool(text)) << llvm::toString(text.takeError());
          EXPECT_NE(text->find("vector.body"), std::string::npos)
              << narrow.mlirName << " and " << wide << ", decode: " << decode;
        }
  }
}

} // namespace
} // namespace ccn::codegen
