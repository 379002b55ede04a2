//===- DeviceLibrary.h - The device files that code needs -------*- C++ -*-===//
//
// Generated code is pasted behind those files of codegen/gpu/device that it
// needs. The files of skeletons are required by name (map/Skeleton.h). The
// others are a library: a file of it is needed where a name occurs that it
// defines, in generated code or in other files that are needed.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_DEVICE_DEVICELIBRARY_H
#define CCN_CODEGEN_GPU_DEVICE_DEVICELIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace ccn::codegen {

/// A file of the library, and the names that it defines, between spaces.
struct LibraryFile {
  llvm::StringRef file, names;
};

/// The library, each file after those that it uses. All follow kernel.cuh.
llvm::ArrayRef<LibraryFile> deviceLibrary();

/// The files that `code` and the files `required` need, in an order in which
/// each comes after those that it uses: those of the library, and `required`.
std::vector<llvm::StringRef>
deviceFilesFor(llvm::StringRef code, llvm::ArrayRef<llvm::StringRef> required);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_DEVICE_DEVICELIBRARY_H
