//===- File.h - Whole files, read and written safely ------------*- C++ -*-===//
//
// What every reader and writer of files here needs: complete reads and writes,
// and files that appear under their name only when they are complete.
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

/// What errno says.
std::string systemError();

/// An open file's descriptor, closed when it goes. Move-only.
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

/// Opens a regular file for reading and gives its size in bytes. `what` is what
/// it should be, for errors, which do not name the path: "a .npy file". Never
/// waits for the other end of a pipe.
Result<FileDescriptor> openRegularFile(const std::string &path,
                                       const std::string &what, int64_t &size);

/// Reads a file, or a pipe or a device until it ends; `-` is standard input.
/// Nothing if there are more than `most` bytes, even if they never end. An
/// error does not name the path.
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

} // namespace ccn

#endif // CCN_RUNTIME_BASE_FILE_H
