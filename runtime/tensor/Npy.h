//===- Npy.h - Reading and writing NumPy's .npy files -----------*- C++ -*-===//
//
// Arrays enter and leave programs as .npy files
// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). ccn
// has its own reader because those packaged for Debian (xtensor's, cnpy) throw
// on malformed files or read past the end of truncated ones. They also support
// neither bfloat16 nor the 8-bit floats, which files hold as raw 'V2' and 'V1'
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

  /// The type as a header writes it: "<f4", "|b1", "|V2".
  std::string descr() const;

  /// Whether this reader and writer support the type.
  bool isSupported() const;
};

/// An open .npy file whose header has been read and checked against the file's
/// size. Move-only; closes the file when destroyed.
class NpyFile {
public:
  /// Opens a regular file of format version 1, 2 or 3.
  static Result<NpyFile> open(const std::string &path);

  NpyType type() const { return elementType; }
  /// The sizes, outermost first; empty for a scalar. The product of all sizes
  /// that are not zero, in bytes, fits an int64_t.
  const std::vector<int64_t> &shape() const { return sizes; }
  /// The number of elements times the size of one.
  int64_t byteCount() const { return bytes; }

  /// Reads all elements in row-major order into `data`, which has room for
  /// byteCount() bytes. A file in Fortran order is transposed, which needs as
  /// much memory again. May be called several times.
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

/// Writes row-major elements of `type` and `shape` to `path`, and replaces what
/// is there, as writeFileAtomically does.
Status writeNpy(const std::string &path, NpyType type,
                const std::vector<int64_t> &shape, const void *data);

} // namespace ccn

#endif // CCN_RUNTIME_TENSOR_NPY_H
