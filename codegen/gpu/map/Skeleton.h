//===- Skeleton.h - A parametric kernel or a part of one --------*- C++ -*-===//
//
// A skeleton says which parts of a launch it executes, decides how, and writes
// the code for that. A composed skeleton executes one part, or a few that
// belong together; a kernel contains several of them, one after the other. A
// whole skeleton executes all parts of a launch and chooses the kernel's
// threads.
//
// To add a skeleton, write a class and its plan in files of their own, a device
// file if the skeleton needs one, and a line in skeletons/Skeletons.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_SKELETON_H
#define CCN_CODEGEN_GPU_MAP_SKELETON_H

#include "runtime/plan/GpuProgram.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace ccn::codegen {

struct CudaPart;
class LaunchMapper;
class KernelSkeleton;

/// What a prediction has to know of a whole skeleton that multiplies matrices.
struct WholeWork {
  /// The rows and columns of the tile that a block computes at a time.
  int64_t rows = 0, columns = 0;
  /// The plan's buffers whose values no memory gets, as they stay in registers.
  std::vector<int> kept = {};
  /// Whether a block has the rows of the left operand all the time, and goes
  /// through all columns.
  bool keepsRows = false;
  /// Of the tiles, the part that is not left out.
  double part = 1;
  /// Whether the launch's products are one, whose tiles ranks store in each
  /// other's memory, where the plan has the ranks load them.
  bool isScattered = false;
};

/// How a skeleton executes its parts.
struct SkeletonPlan {
  explicit SkeletonPlan(const KernelSkeleton &skeleton) : skeleton(skeleton) {}
  virtual ~SkeletonPlan() = default;
  /// None of skeletons that are predicted as the parts that they execute.
  virtual std::optional<WholeWork> wholeWork() const { return std::nullopt; }

  const KernelSkeleton &skeleton;
};

/// The device files (codegen/gpu/device) that skeletons require for the kernels
/// of one transport. A file comes after those that it uses.
class DeviceFiles {
public:
  explicit DeviceFiles(runtime::KernelTransport transport)
      : transport(transport) {}

  bool areForMessages() const {
    return transport == runtime::KernelTransport::Messages;
  }
  void add(std::initializer_list<llvm::StringRef> more) {
    for (llvm::StringRef file : more)
      files.insert(file);
  }
  bool has(llvm::StringRef file) const { return files.contains(file); }
  llvm::ArrayRef<llvm::StringRef> list() const { return files.getArrayRef(); }

private:
  runtime::KernelTransport transport;
  llvm::SetVector<llvm::StringRef> files;
};

class KernelSkeleton {
public:
  virtual ~KernelSkeleton() = default;

  /// How many parts of a launch this skeleton executes from number `part` on; 0
  /// if it does not execute that part. A skeleton that executes several parts
  /// contains the waits between them; deferred work (LaunchMapper.h) is done
  /// before.
  virtual size_t match(const LaunchMapper &launch, size_t part) const = 0;
  /// Whether its kernels need tensor maps, which not all GPUs have, and not of
  /// all addresses. If so it takes all parts of a launch or none, and other
  /// skeletons map the launch, too.
  virtual bool needsTensorMaps() const { return false; }
  /// Decides how to execute these parts.
  virtual llvm::Expected<std::unique_ptr<SkeletonPlan>>
  map(LaunchMapper &launch, size_t part) const = 0;
  /// Adds the device files of its own that its code needs. Those of the library
  /// (device/DeviceLibrary.h) are found by the names that the code uses.
  virtual void require(const SkeletonPlan &plan, DeviceFiles &files) const {}
  /// Writes the code.
  virtual llvm::Error emit(CudaPart &part, const SkeletonPlan &plan) const = 0;
  /// Prints a line for the plan, and one for each loop or part in it. The
  /// plan's line is indented by `depth` times two spaces.
  virtual void print(llvm::raw_ostream &os, const SkeletonPlan &plan,
                     unsigned depth) const = 0;
};

/// Skeletons, in the order in which their match() is called.
using Skeletons = llvm::ArrayRef<const KernelSkeleton *>;

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_SKELETON_H
