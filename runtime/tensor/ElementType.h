//===- ElementType.h - The element types of tensors -------------*- C++ -*-===//
//
// The element types of the language, as the interpreter and the runtime store
// them, and conversions of the 16- and 8-bit floating point types. Conversions
// round once, to nearest, ties to even, as llvm::APFloat does.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_ELEMENTTYPE_H
#define CCN_RUNTIME_TENSOR_ELEMENTTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace ccn::runtime {

/// - F16 is IEEE binary16, BF16 the upper half of binary32.
/// - F8E4M3 is the OCP type that LLVM calls E4M3FN: bias 7, no infinities,
///   largest value 448, NaN 0x7f and 0xff; overflow gives NaN.
/// - F8E5M2 is IEEE-like: bias 15, infinities, largest finite value 57344.
/// - Bool takes a byte that is 0 or 1.
enum class ElementType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3,
  F8E5M2,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool
};

inline constexpr ElementType allElementTypes[] = {
    ElementType::F64,  ElementType::F32,    ElementType::F16,
    ElementType::BF16, ElementType::F8E4M3, ElementType::F8E5M2,
    ElementType::I8,   ElementType::I16,    ElementType::I32,
    ElementType::I64,  ElementType::U8,     ElementType::U16,
    ElementType::U32,  ElementType::U64,    ElementType::Bool};

/// The size of one element in bytes.
int sizeInBytes(ElementType type);

/// The type's name in the language: "f32", "f8e4m3", "bool".
std::string_view name(ElementType type);

/// The type of that name, if there is one.
std::optional<ElementType> parseElementType(std::string_view name);

bool isFloat(ElementType type);
bool isSignedInteger(ElementType type);
bool isUnsignedInteger(ElementType type);
/// Signed or unsigned; not bool.
bool isInteger(ElementType type);
/// F16, BF16, F8E4M3, F8E5M2: the types whose sums accumulate in f32.
bool isNarrowFloat(ElementType type);

/// The value of a narrow float with the given bits. Exact; a NaN stays a NaN of
/// the same sign.
float decodeFloat(ElementType narrow, uint16_t bits);

/// The bits of the narrow float nearest to `value`, ties to even, rounded once.
/// Overflow gives an infinity, or NaN if the type has no infinities. A NaN
/// gives the quiet NaN of the same sign.
uint16_t encodeFloat(ElementType narrow, double value);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_TENSOR_ELEMENTTYPE_H
