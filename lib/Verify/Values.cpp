//===- Values.cpp - Values on which programs are compared -----------------===//
//
// Every element has its own 128 random bits (Philox); each kind of value uses
// as many of them as it needs.
//
//===----------------------------------------------------------------------===//

#include "lib/Verify/Values.h"

#include "lib/Interpreter/Placement.h"
#include "runtime/base/Hash.h"
#include "runtime/tensor/Blocks.h"
#include "runtime/tensor/Random.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::verify;
using runtime::ElementType;
using runtime::HostTensor;

StringRef verify::name(ValueSet set) {
  switch (set) {
  case ValueSet::Positive:
    return "positive";
  case ValueSet::Signed:
    return "signed";
  case ValueSet::Ties:
    return "ties";
  case ValueSet::Wide:
    return "wide";
  case ValueSet::Huge:
    return "huge";
  case ValueSet::Tiny:
    return "tiny";
  case ValueSet::Special:
    return "special";
  case ValueSet::Zero:
    return "zero";
  case ValueSet::OneZero:
    return "one zero";
  }
  llvm_unreachable("all value sets are named");
}

namespace {

/// The random bits of one element.
using Bits = std::array<uint32_t, 4>;

/// A number in (0, 1], from 24 bits.
double unit(uint32_t bits) { return ((bits >> 8) + 1) * 0x1p-24; }

double withSign(uint32_t bits, double magnitude) {
  return bits & 1 ? -magnitude : magnitude;
}

/// A number in [1, 2), from 24 bits.
double significand(uint32_t bits) { return 1 + (bits >> 8) * 0x1p-24; }

double drawSigned(const Bits &bits) {
  int exponent = static_cast<int>(bits[1] % 10) - 6;
  return withSign(bits[0], std::ldexp(significand(bits[2]), exponent));
}

double drawFloat(ValueSet set, const llvm::fltSemantics &semantics,
                 const Bits &bits) {
  int least = llvm::APFloat::semanticsMinExponent(semantics);
  int most = llvm::APFloat::semanticsMaxExponent(semantics);
  switch (set) {
  case ValueSet::Positive:
  case ValueSet::OneZero:
    return unit(bits[0]);
  case ValueSet::Signed:
    return drawSigned(bits);
  case ValueSet::Ties:
    return static_cast<double>(bits[0] % 7) - 3;
  case ValueSet::Wide: {
    int exponent =
        least + static_cast<int>(bits[1] % uint32_t(most - least + 1));
    // Only two bits follow the leading one, so rounding to a narrow type cannot
    // exceed the largest exponent.
    return withSign(bits[0],
                    std::ldexp(1 + (bits[2] >> 30) * 0x1p-2, exponent));
  }
  case ValueSet::Huge:
    return withSign(bits[0], std::ldexp(bits[1] & 1 ? 1.5 : 1, most));
  case ValueSet::Tiny: {
    int digits = static_cast<int>(llvm::APFloat::semanticsPrecision(semantics));
    int exponent = least - static_cast<int>(bits[1] % uint32_t(digits));
    return withSign(bits[0], std::ldexp(significand(bits[2]), exponent));
  }
  case ValueSet::Zero:
    return withSign(bits[0], 0);
  case ValueSet::Special:
    switch (bits[3] % 32) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return -std::numeric_limits<double>::infinity();
    case 3:
      return 0.0;
    case 4:
      return -0.0;
    default:
      return drawSigned(bits);
    }
  }
  llvm_unreachable("all value sets are drawn");
}

/// An integer; storing it wraps it to the type if it does not fit.
int64_t drawInteger(ValueSet set, Integers integers, ElementType type,
                    const Bits &bits) {
  switch (integers) {
  case Integers::Any:
    break;
  case Integers::OneToThree:
    return 1 + static_cast<int64_t>(bits[0] % 3);
  case Integers::One:
    return 1;
  case Integers::Zero:
    return 0;
  }
  switch (set) {
  case ValueSet::Positive:
    return bits[0] % 4;
  case ValueSet::Ties:
    return static_cast<int64_t>(bits[0] % 7) - 3;
  case ValueSet::Wide:
  case ValueSet::Huge: {
    int width = 8 * runtime::sizeInBytes(type);
    auto top = uint64_t(1) << (width - 1);
    uint64_t extremes[] = {top, top - 1, ~uint64_t(0), 0, 1};
    return static_cast<int64_t>(extremes[bits[0] % 5]);
  }
  default:
    return static_cast<int64_t>(uint64_t(bits[0]) << 32 | bits[1]);
  }
}

const llvm::fltSemantics &semanticsOf(RankedTensorType type) {
  return cast<FloatType>(type.getElementType()).getFloatSemantics();
}

/// The number of rows of the smallest table into which the argument's elements
/// are indices, directly or after movement; none if there is no such table.
std::optional<int64_t> rowsIndexedBy(BlockArgument argument) {
  std::optional<int64_t> rows;
  SmallVector<Value> queue = {argument};
  llvm::SmallDenseSet<Value> seen;
  auto indexes = [&](Value table) {
    int64_t size = cast<RankedTensorType>(table.getType()).getDimSize(0);
    rows = std::min(rows.value_or(size), size);
  };
  while (!queue.empty()) {
    Value value = queue.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (auto gather = dyn_cast<GatherRowsOp>(user)) {
        if (gather.getIndices() == value)
          indexes(gather.getTable());
      } else if (auto scatter = dyn_cast<ScatterRowsOp>(user)) {
        if (scatter.getIndices() == value)
          indexes(scatter.getTable());
      } else if (isa<TransposeOp, ReshapeOp, ExtractOp, ConcatOp, BroadcastToOp,
                     UpdateOp, CastOp, SelectOp, ReshardOp>(user) ||
                 isa<CollectiveOpInterface>(user)) {
        llvm::append_range(queue, user->getResults());
      }
    }
  }
  return rows;
}

} // namespace

FailureOr<interp::NamedTensors>
verify::drawInputs(ProgramOp program, ValueSet set, Integers integers,
                   uint64_t seed, unsigned zero) {
  interp::RankMesh mesh(program.getMesh());
  interp::NamedTensors inputs;
  std::array<uint32_t, 2> key = {uint32_t(seed), uint32_t(seed >> 32)};
  for (BlockArgument argument : program.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    ElementType element = elementTypeOf(type.getElementType());
    std::string name = program.getArgName(argument.getArgNumber()).str();
    Result<HostTensor> tensor =
        HostTensor::uninitialized(element, mesh.externalShape(type));
    if (!tensor)
      return emitError(argument.getLoc())
             << "argument '" << name << "': " << tensor.message();
    uint64_t stream = runtime::fnv1a(name + "/" + verify::name(set).str());
    auto fill = [&](auto zero, auto draw) {
      decltype(zero) values[runtime::blockSize];
      runtime::forEachBlock(tensor->count(), [&](int64_t first, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          auto index = static_cast<uint64_t>(first + i);
          values[i] = draw(
              runtime::philox4x32({uint32_t(index), uint32_t(index >> 32),
                                   uint32_t(stream), uint32_t(stream >> 32)},
                                  key));
        }
        runtime::store(element, tensor->mutableData(), first, n, values);
      });
    };
    std::optional<int64_t> rows = rowsIndexedBy(argument);
    bool isZero = set == ValueSet::OneZero && argument.getArgNumber() == zero;
    if (runtime::isFloat(element))
      fill(double(), [&](const Bits &bits) {
        return drawFloat(isZero ? ValueSet::Zero : set, semanticsOf(type),
                         bits);
      });
    else if (element == ElementType::Bool)
      fill(uint64_t(), [](const Bits &bits) { return uint64_t(bits[0] & 1); });
    else if (rows && *rows > 0)
      fill(int64_t(), [&](const Bits &bits) {
        return static_cast<int64_t>(bits[0] % uint64_t(*rows));
      });
    else
      fill(int64_t(), [&](const Bits &bits) {
        return drawInteger(set, integers, element, bits);
      });
    inputs.emplace(std::move(name), *std::move(tensor));
  }
  return inputs;
}
