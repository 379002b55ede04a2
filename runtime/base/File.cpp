//===- File.cpp - Whole files, read and written safely --------------------===//
//
// Thin layers over system calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/File.h"

#include "runtime/base/FreeMemory.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace ccn {

std::string systemError() { return std::strerror(errno); }

FileDescriptor::~FileDescriptor() {
  if (number >= 0)
    ::close(number);
}

Result<FileDescriptor> openRegularFile(const std::string &path,
                                       const std::string &what, int64_t &size) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would hang.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0)
    return error("cannot open: ", systemError());
  if (!S_ISREG(info.st_mode))
    return error("expected ", what, ", found ",
                 S_ISDIR(info.st_mode) ? "a directory" : "a special file");
  size = info.st_size;
  return file;
}

Result<std::optional<std::string>> readText(const std::string &path,
                                            int64_t most) {
  FileDescriptor file(path == "-" ? dup(STDIN_FILENO)
                                  : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0)
    return Status::failure(systemError());
  // Refuse a file that is too large before reading it.
  if (S_ISREG(info.st_mode) && info.st_size > most)
    return std::optional<std::string>();
  constexpr int64_t chunk = int64_t(1) << 20;
  std::string text, piece(static_cast<size_t>(chunk), '\0');
  for (;;) {
    ssize_t n = ::read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return Status::failure(systemError());
    if (n == 0)
      return std::optional(std::move(text));
    if (n > most - static_cast<int64_t>(text.size()))
      return std::optional<std::string>();
    // When `text` grows, the old and the new memory exist at the same time.
    if (text.size() + static_cast<size_t>(n) > text.capacity())
      if (Status status = checkPiece(3 * static_cast<int64_t>(text.size()) + n,
                                     [] { return "what is read"; });
          !status)
        return status;
    text.append(piece, 0, static_cast<size_t>(n));
  }
}

int64_t readAt(int file, void *data, int64_t size, int64_t offset) {
  int64_t done = 0;
  while (done < size) {
    ssize_t n = pread(file, static_cast<char *>(data) + done,
                      static_cast<size_t>(size - done), offset + done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    done += n;
  }
  return done;
}

bool writeAll(int file, const void *data, int64_t size) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t n = write(file, bytes, static_cast<size_t>(size));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    bytes += n;
    size -= n;
  }
  return true;
}

namespace {

/// The file that `path` names after following symbolic links; `path` itself if
/// there is no such file yet.
Result<std::string> resolveTarget(const std::string &path, mode_t &mode) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT)
      return path;
    return error("cannot write: ", systemError());
  }
  if (stat(path.c_str(), &info) != 0)
    return error("cannot write through a symbolic link: ", systemError());
  if (!S_ISREG(info.st_mode))
    return error("cannot write: expected a regular file, found ",
                 S_ISDIR(info.st_mode) ? "a directory" : "a special file");
  if (access(path.c_str(), W_OK) != 0)
    return error("cannot write: ", systemError());
  mode = info.st_mode & 07777;
  std::unique_ptr<char, decltype(&std::free)> real(
      realpath(path.c_str(), nullptr), &std::free);
  if (!real)
    return error("cannot write: ", systemError());
  return std::string(real.get());
}

/// The mode of a file that nothing was at the place of: what umask leaves.
constexpr mode_t newFile = ~mode_t(0);

/// Writes a temporary file and renames it to `target`. Errors do not name the
/// path.
Status writeAndRename(const std::string &target, mode_t mode,
                      std::initializer_list<std::string_view> parts) {
  // The temporary file is in the same folder, so that it can be renamed to the
  // target. A killed process with the same id may have left a file of that
  // name.
  static std::atomic<unsigned> counter{0};
  std::string temporary;
  int file = -1;
  for (int attempt = 0; file < 0 && attempt < 100; ++attempt) {
    temporary = target + ".tmp-" + std::to_string(getpid()) + '-' +
                std::to_string(counter++);
    file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  0666);
    if (file < 0 && errno != EEXIST)
      break;
  }
  if (file < 0)
    return error("cannot create '", temporary, "': ", systemError());
  bool written = true;
  for (std::string_view part : parts)
    written = written &&
              writeAll(file, part.data(), static_cast<int64_t>(part.size()));
  written = written && (mode == newFile || fchmod(file, mode) == 0);
  int cause = errno;
  if (::close(file) != 0 && written) {
    written = false;
    cause = errno;
  }
  if (written && std::rename(temporary.c_str(), target.c_str()) != 0) {
    written = false;
    cause = errno;
  }
  if (written)
    return Status();
  unlink(temporary.c_str());
  return error("cannot write: ", std::strerror(cause));
}

/// Names the path in what went wrong.
Status at(const std::string &path, const Status &status) {
  return status ? status : error('\'', path, "': ", status.message());
}

} // namespace

Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::string_view> parts) {
  mode_t mode = newFile;
  Result<std::string> target = resolveTarget(path, mode);
  if (!target)
    return at(path, error(target.message()));
  return at(path, writeAndRename(*target, mode, parts));
}

Status replaceFileAtomically(const std::string &path,
                             std::initializer_list<std::string_view> parts) {
  return at(path, writeAndRename(path, newFile, parts));
}

} // namespace ccn
