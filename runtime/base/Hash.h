//===- Hash.h - Content hashes ----------------------------------*- C++ -*-===//
//
// SHA-256, by which packages are known.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_HASH_H
#define CCN_RUNTIME_BASE_HASH_H

#include <initializer_list>
#include <string>
#include <string_view>

namespace ccn::runtime {

/// The 32 bytes of the SHA-256 of the parts one after the other.
std::string sha256(std::initializer_list<std::string_view> parts);

/// Two hexadecimal digits, lower case, for each byte.
std::string toHex(std::string_view bytes);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_HASH_H
