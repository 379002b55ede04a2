//===- NpyCopy.cpp - Copies a .npy file through our reader and writer -----===//
//
// NpyCopy IN OUT: for npy_interop.py. Exit code 1 with a message if IN is
// refused.
//
//===----------------------------------------------------------------------===//

#include "runtime/tensor/Npy.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: NpyCopy IN OUT\n");
    return 2;
  }
  auto fail = [](const ccn::Status &status) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  };
  ccn::Result<ccn::NpyFile> file = ccn::NpyFile::open(argv[1]);
  if (!file)
    return fail(file.status());
  std::vector<char> data(static_cast<size_t>(file->byteCount()));
  if (ccn::Status status = file->read(data.data()); !status)
    return fail(status);
  ccn::Status status =
      ccn::writeNpy(argv[2], file->type(), file->shape(), data.data());
  return status ? 0 : fail(status);
}
