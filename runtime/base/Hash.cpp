//===- Hash.cpp - Content hashes ------------------------------------------===//
//
// libmd computes SHA-256.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Hash.h"

#include <sys/types.h>

#include <sha2.h>

namespace ccn::runtime {

std::string sha256(std::initializer_list<std::string_view> parts) {
  SHA2_CTX context;
  SHA256Init(&context);
  for (std::string_view part : parts)
    SHA256Update(&context, reinterpret_cast<const uint8_t *>(part.data()),
                 part.size());
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256Final(reinterpret_cast<uint8_t *>(digest.data()), &context);
  return digest;
}

std::string toHex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace ccn::runtime
