//===- Skeleton.h - A parametric kernel, or a part of one -------*- C++ -*-===//
//
// A skeleton says which parts of a launch it does, decides how, and writes
// that. Composed ones do a part, or a few that belong together, and come one
// after the other in a kernel; a whole one does all parts of a launch, and
// chooses the kernel's threads.
//
// A new one is a class with its plan, in files of its own, a file for the
// device if it needs one, and a line in skeletons/Skeletons.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_SKELETON_H
#define CCN_CODEGEN_GPU_MAP_SKELETON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <initializer_list>
#include <memory>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ccn::codegen {

struct CudaPart;
class LaunchMapper;
class KernelSkeleton;

/// How a skeleton does the parts that it has taken.
struct SkeletonPlan {
  explicit SkeletonPlan(const KernelSkeleton &skeleton) : skeleton(skeleton) {}
  virtual ~SkeletonPlan() = default;

  const KernelSkeleton &skeleton;
};

/// Files for the device (codegen/gpu/device) beside those that all kernels
/// begin with, each after those that it uses.
class DeviceFiles {
public:
  void add(std::initializer_list<llvm::StringRef> more) {
    for (llvm::StringRef file : more)
      files.insert(file);
  }
  llvm::ArrayRef<llvm::StringRef> list() const { return files.getArrayRef(); }

private:
  llvm::SetVector<llvm::StringRef> files;
};

class KernelSkeleton {
public:
  virtual ~KernelSkeleton() = default;

  /// How many parts of a launch it does, from number `part` on: 0 if that is
  /// none of its. Who does more than one waits in it where these must, and what
  /// is left for a barrier is done before.
  virtual size_t match(const LaunchMapper &launch, size_t part) const = 0;
  /// Decides how it does them.
  virtual llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const = 0;
  /// Adds the files for the device that its text calls.
  virtual void require(const SkeletonPlan &plan, DeviceFiles &files) const = 0;
  /// Writes it.
  virtual llvm::Error emit(CudaPart &part, const SkeletonPlan &plan) const = 0;
  /// Prints a line, and one for each loop or part in it, which is `depth` times
  /// two spaces in.
  virtual void print(llvm::raw_ostream &os, const SkeletonPlan &plan,
                     unsigned depth) const = 0;
};

/// In the order in which they are asked.
using Skeletons = llvm::ArrayRef<const KernelSkeleton *>;

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_SKELETON_H
