//===- File.h - Whole files, read and written safely ------------*- C++ -*-===//
//
// Functions that read and write files completely. A file that is written
// appears under its name only when it is complete.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_FILE_H
#define CCN_RUNTIME_BASE_FILE_H

#include "runtime/base/Status.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ccn {

/// The text of errno.
std::string systemError();

/// The descriptor of an open file, which the destructor closes. Move-only.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number(number) {}
  FileDescriptor(FileDescriptor &&other) noexcept : number(other.release()) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number = -1;
};

/// Opens a regular file for reading and sets `size` to its bytes. `what` says
/// in errors what was expected: "a .npy file". Errors do not name the path.
/// Never waits for the other end of a pipe.
Result<FileDescriptor> openRegularFile(const std::string &path,
                                       const std::string &what, int64_t &size);

/// Reads a file, pipe or device up to its end; `-` is standard input. Returns
/// nothing if there are more than `most` bytes, so it also ends if the input
/// never does. Errors do not name the path.
Result<std::optional<std::string>> readText(const std::string &path,
                                            int64_t most);

/// Reads up to `size` bytes at `offset`; fewer only at the end of the file.
/// Returns how many, or -1 with errno set.
int64_t readAt(int file, void *data, int64_t size, int64_t offset);

/// Writes all bytes; on failure false, with errno set.
bool writeAll(int file, const void *data, int64_t size);

/// Writes the parts one after the other to `path`, replacing what is there. The
/// bytes go to a temporary file in the same folder that is renamed when
/// complete, so a failed write leaves the former file untouched. A symbolic
/// link is followed; anything but a regular file is refused. Errors name the
/// path.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::string_view> parts);

/// The same, but a link, a pipe or another special file at `path` is itself
/// replaced. Several threads and processes may do it at once: from the first
/// one's end on, there is always a whole file.
Status replaceFileAtomically(const std::string &path,
                             std::initializer_list<std::string_view> parts);

} // namespace ccn

#endif // CCN_RUNTIME_BASE_FILE_H
