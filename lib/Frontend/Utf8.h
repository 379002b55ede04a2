//===- Utf8.h - One character at a time from untrusted bytes ----*- C++ -*-===//
//
// Decodes bytes that may not be valid UTF-8: the lexer reports them, and the
// renderer must show them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_UTF8_H
#define CCN_LIB_FRONTEND_UTF8_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include <cstdint>

namespace ccn {

/// The first character of a text.
struct Utf8Char {
  uint32_t codePoint = 0;
  /// In bytes; 1 for a byte that does not start a valid character.
  unsigned size = 1;
  bool valid = false;
};

/// Decodes the first character of `text`, which must not be empty.
inline Utf8Char decodeUtf8(llvm::StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return {first, 1, true};
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const llvm::UTF8 *begin = at;
  llvm::UTF32 codePoint = 0;
  if (llvm::convertUTF8Sequence(&at, begin + text.size(), &codePoint,
                                llvm::strictConversion) != llvm::conversionOK)
    return {first, 1, false};
  return {codePoint, static_cast<unsigned>(at - begin), true};
}

} // namespace ccn

#endif // CCN_LIB_FRONTEND_UTF8_H
