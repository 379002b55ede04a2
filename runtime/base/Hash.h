//===- Hash.h - Content hashes ----------------------------------*- C++ -*-===//
//
// SHA-256, which identifies packages, and a short hash for names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_HASH_H
#define CCN_RUNTIME_BASE_HASH_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ccn::runtime {

/// The 32 bytes of the SHA-256 of the concatenated parts.
std::string sha256(std::initializer_list<std::string_view> parts);

/// The 64-bit FNV-1a hash (offset 14695981039346656037, prime 1099511628211).
inline uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 14695981039346656037ULL;
  for (char c : text)
    hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ULL;
  return hash;
}

/// Two hexadecimal digits, lower case, for each byte.
std::string toHex(std::string_view bytes);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_HASH_H
