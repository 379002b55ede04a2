//===- DiskCache.cpp - Results that outlive the compiler ------------------===//
//
// An entry is a line with the hash of the rest, then the size of the question
// in a line, the question, and the answer.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/DiskCache.h"

#include "runtime/base/CacheFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Path.h"

using namespace ccn;
using llvm::StringRef;

namespace {

/// Larger entries, in bytes, are not read.
constexpr int64_t maxBytes = int64_t(1) << 30;

std::string hashOf(StringRef text) {
  llvm::BLAKE3 hasher;
  hasher.update(text);
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

/// The text after the first line of an entry.
std::string bodyOf(StringRef question, StringRef answer) {
  return std::to_string(question.size()) + "\n" + question.str() + answer.str();
}

} // namespace

DiskCache::DiskCache() : folder(cacheFolder()) {}

std::string DiskCache::pathOf(StringRef question) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, hashOf(question));
  return path.str().str();
}

std::optional<std::string> DiskCache::find(StringRef question) const {
  if (folder.empty())
    return std::nullopt;
  std::optional<std::string> entry = readCached(pathOf(question), maxBytes);
  if (!entry)
    return std::nullopt;
  auto [hash, body] = StringRef(*entry).split('\n');
  if (hashOf(body) != hash)
    return std::nullopt;
  auto [length, rest] = body.split('\n');
  size_t size;
  if (length.getAsInteger(10, size) || !rest.starts_with(question) ||
      size != question.size())
    return std::nullopt;
  return rest.drop_front(size).str();
}

void DiskCache::keep(StringRef question, StringRef answer) const {
  std::string body = bodyOf(question, answer);
  if (!folder.empty() && static_cast<int64_t>(body.size()) < maxBytes)
    (void)writeCached(pathOf(question), {hashOf(body), "\n", body});
}
