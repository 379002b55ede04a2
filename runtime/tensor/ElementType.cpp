//===- ElementType.cpp - The element types of tensors ---------------------===//
//
// Names, sizes and classes of the element types, and the conversions of single
// narrow floats.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/ElementType.h"

#include "runtime/tensor/NarrowFloat.h"

#include <cassert>

namespace ccn::runtime {

int sizeInBytes(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
  case ElementType::U64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
  case ElementType::U32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
  case ElementType::U16:
    return 2;
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

std::string_view name(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "f64";
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F8E4M3:
    return "f8e4m3";
  case ElementType::F8E5M2:
    return "f8e5m2";
  case ElementType::I8:
    return "i8";
  case ElementType::I16:
    return "i16";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::U8:
    return "u8";
  case ElementType::U16:
    return "u16";
  case ElementType::U32:
    return "u32";
  case ElementType::U64:
    return "u64";
  case ElementType::Bool:
    return "bool";
  }
  return "";
}

std::optional<ElementType> parseElementType(std::string_view text) {
  for (ElementType type : allElementTypes)
    if (name(type) == text)
      return type;
  return std::nullopt;
}

bool isFloat(ElementType type) { return type <= ElementType::F8E5M2; }

bool isSignedInteger(ElementType type) {
  return type >= ElementType::I8 && type <= ElementType::I64;
}

bool isUnsignedInteger(ElementType type) {
  return type >= ElementType::U8 && type <= ElementType::U64;
}

bool isInteger(ElementType type) {
  return isSignedInteger(type) || isUnsignedInteger(type);
}

bool isNarrowFloat(ElementType type) {
  return type >= ElementType::F16 && type <= ElementType::F8E5M2;
}

float decodeFloat(ElementType narrow, uint16_t bits) {
  assert(isNarrowFloat(narrow));
  switch (narrow) {
  case ElementType::F16:
    return decodeAs<F16Format>(bits);
  case ElementType::BF16:
    return decodeAs<BF16Format>(bits);
  case ElementType::F8E4M3:
    return decodeAs<F8E4M3Format>(bits & 0xff);
  default:
    return decodeAs<F8E5M2Format>(bits & 0xff);
  }
}

uint16_t encodeFloat(ElementType narrow, double value) {
  assert(isNarrowFloat(narrow));
  switch (narrow) {
  case ElementType::F16:
    return static_cast<uint16_t>(encodeAs<F16Format>(value));
  case ElementType::BF16:
    return static_cast<uint16_t>(encodeAs<BF16Format>(value));
  case ElementType::F8E4M3:
    return static_cast<uint16_t>(encodeAs<F8E4M3Format>(value));
  default:
    return static_cast<uint16_t>(encodeAs<F8E5M2Format>(value));
  }
}

} // namespace ccn::runtime
