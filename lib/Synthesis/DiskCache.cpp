//===- DiskCache.cpp - Results that outlive the compiler ------------------===//
//
// An entry is a line with the hash of what follows it, the question, and the
// answer; it is written beside its place and renamed into it.
//
//===----------------------------------------------------------------------===//

#include "lib/Synthesis/DiskCache.h"

#include "runtime/CacheFolder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace ccn;
using llvm::StringRef;

namespace {

std::string hashOf(StringRef text) {
  llvm::BLAKE3 hasher;
  hasher.update(text);
  return llvm::toHex(hasher.final<16>(), /*LowerCase=*/true);
}

/// What follows the first line of an entry.
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
  auto buffer = llvm::MemoryBuffer::getFile(pathOf(question));
  if (!buffer)
    return std::nullopt;
  auto [hash, body] = (*buffer)->getBuffer().split('\n');
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
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  std::string path = pathOf(question);
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  std::string body = bodyOf(question, answer);
  llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
  os << hashOf(body) << "\n" << body;
  os.flush();
  bool written = !os.has_error();
  os.clear_error();
  llvm::consumeError(written ? file->keep(path) : file->discard());
}
