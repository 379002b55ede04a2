//===- Utf8.h - One character at a time from untrusted bytes ----*- C++ -*-===//
//
// The lexer, which refuses bad text, and the renderer, which must show it,
// both step through bytes that may or may not be UTF-8.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_UTF8_H
#define CCN_LIB_FRONTEND_UTF8_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include <cstdint>

namespace ccn {

/// The character that starts a text.
struct Utf8Char {
  uint32_t codePoint = 0;
  /// Bytes; 1 for a byte that starts no valid character.
  unsigned size = 1;
  bool valid = false;
};

/// Decodes the character at the start of `text`, which is not empty.
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
