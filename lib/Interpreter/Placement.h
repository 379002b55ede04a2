//===- Placement.h - Which part of a tensor a rank holds --------*- C++ -*-===//
//
// Translates between the types of ccn's IR and host tensors: computes the box
// of the global tensor that a rank holds in a layout, and the form in which
// distributed tensors enter and leave a program.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_INTERPRETER_PLACEMENT_H
#define CCN_INTERPRETER_PLACEMENT_H

#include "dialect/ccn/Placement.h"
#include "lib/Interpreter/Movement.h"
#include "runtime/tensor/HostTensor.h"

namespace ccn::interp {

using runtime::HostTensor;
using runtime::Shape;

/// The ranks of a mesh, by number. Only reads the mesh, so ranks' threads may
/// share it.
class RankMesh {
public:
  /// `mesh` is null for a program on one rank.
  explicit RankMesh(MeshOp mesh) : mesh(mesh) {}

  int64_t numRanks() { return mesh ? mesh.getNumRanks() : 1; }

  /// The ranks whose coordinates differ from those of `rank` only along the
  /// axes, including `rank`, in the order of their coordinates, with the last
  /// axis fastest.
  std::vector<int> group(int64_t rank, llvm::ArrayRef<mlir::StringAttr> axes);

  /// The coordinate of a rank along an axis of the mesh.
  int64_t coordinate(int64_t rank, mlir::StringAttr axis);

  /// The part of a tensor of the type that a rank holds: offsets in the global
  /// tensor, and sizes.
  Box boxOf(mlir::RankedTensorType type, int64_t rank);
  /// The same with another layout than the type's.
  Box boxOf(mlir::RankedTensorType type, const Layout &layout, int64_t rank);

  /// A rank in words, such as "rank 1 (dp = 0, tp = 1)".
  std::string describe(int64_t rank);

  /// The shape of a tensor's external form, and the box of that form that a
  /// rank holds; see dialect/ccn/Placement.h.
  Shape externalShape(mlir::RankedTensorType type);

  Box externalBox(mlir::RankedTensorType type, int64_t rank);

  /// The part of a tensor in external form that a rank holds.
  Result<HostTensor> takePart(mlir::RankedTensorType type,
                              const HostTensor &external, int64_t rank);

  /// The external form, assembled from the parts of all ranks, by rank. If
  /// several ranks hold the same part, the first one's is used.
  Result<HostTensor> joinParts(mlir::RankedTensorType type,
                               llvm::ArrayRef<HostTensor> parts);

  /// The index, in the external form, of element `linear` (row-major) of a
  /// rank's part.
  Shape externalIndex(mlir::RankedTensorType type, int64_t rank,
                      int64_t linear);

  /// The first of the ranks that hold the same part as `rank`, because the
  /// tensor is replicated along the axes in which they differ.
  int64_t firstReplica(mlir::RankedTensorType type, int64_t rank);

private:
  MeshOp mesh;
};

/// An output of a program.
struct Outcome {
  /// The name of the inout argument or returned value.
  std::string name;
  mlir::Value value;
  /// The type of the whole tensor.
  mlir::RankedTensorType type;
  mlir::Location loc;
};

/// The final values of the inout arguments, then the returned values.
std::vector<Outcome> outcomesOf(ProgramOp program);

} // namespace ccn::interp

#endif // CCN_INTERPRETER_PLACEMENT_H
