//===- Npy.h - Reading and writing NumPy's .npy files -----------*- C++ -*-===//
//
// Arrays enter and leave ccn programs as .npy files
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
// This reader is our own because those packaged for Debian (xtensor's, cnpy)
// throw on malformed files or read past the end of truncated ones, and know
// neither bfloat16 nor the 8-bit floats, which travel as raw 'V2' and 'V1'
// elements (as the Python package ml_dtypes writes them).
//
// Every malformed file is an error that names the path, what was expected and
// what was found. Only little-endian machines are supported.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_TENSOR_NPY_H
#define CCN_RUNTIME_TENSOR_NPY_H

#include "runtime/base/File.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ccn {

/// The type of a .npy file's elements: a kind and a size in bytes. Kinds are
/// NumPy's: 'f' floating point (2, 4, 8), 'i' signed and 'u' unsigned integers
/// (1, 2, 4, 8), 'b' bool (1), 'V' raw bytes (1: some 8-bit float, 2:
/// bfloat16).
struct NpyType {
  char kind = 'f';
  int size = 4;

  bool operator==(const NpyType &) const = default;

  /// As in a header: "<f4", "|b1", "|V2".
  std::string descr() const;

  /// Whether .npy files of this type are read and written here.
  bool isSupported() const;
};

/// An open .npy file whose header has been read and checked against the file's
/// size. Move-only; closes the file when destroyed.
class NpyFile {
public:
  /// Opens a regular file of format version 1, 2 or 3.
  static Result<NpyFile> open(const std::string &path);

  NpyType type() const { return elementType; }
  /// Sizes, outermost first; empty for a scalar. Their product in bytes fits
  /// an int64_t, also with the sizes that are zero left out.
  const std::vector<int64_t> &shape() const { return sizes; }
  /// The number of elements times the size of one.
  int64_t byteCount() const { return bytes; }

  /// Reads all elements in row-major order into `data`, which holds
  /// byteCount() bytes. A file in Fortran order is transposed (for which it
  /// takes as much memory again). May be called more than once.
  Status read(void *data) const;

private:
  NpyFile() = default;

  std::string path;
  FileDescriptor file;
  NpyType elementType;
  bool fortranOrder = false;
  std::vector<int64_t> sizes;
  int64_t bytes = 0;
  int64_t dataOffset = 0;
};

/// Writes `shape` elements of `type` in row-major order to `path`, replacing
/// what is there. The bytes go to a temporary file in the same folder that is
/// renamed when complete, so a failed write leaves the former file untouched.
/// A symbolic link is followed; anything but a regular file is refused.
Status writeNpy(const std::string &path, NpyType type,
                const std::vector<int64_t> &shape, const void *data);

} // namespace ccn

#endif // CCN_RUNTIME_TENSOR_NPY_H
