//===- WholeProducts.h - Products whose warps have roles --------*- C++ -*-===//
//
// The skeleton of launches that are one product of matrices on the tensor cores
// of sm_90a, and loops that use each element of its result: a warp copies parts
// of the operands, others multiply them and pass the results to the loops
// (device/hopper_products.cuh).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_SKELETONS_WHOLEPRODUCTS_H
#define CCN_CODEGEN_GPU_SKELETONS_WHOLEPRODUCTS_H

#include "codegen/gpu/emit/CudaParts.h"
#include "codegen/gpu/map/LaunchMapper.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ccn::codegen {

/// How a block computes a tile of m x n elements: WarpTile of
/// device/hopper_products.cuh.
struct WarpTile {
  int64_t m, n;
  int stages, consumers;
  /// Whether the consumers have tiles of their own.
  bool takeTurns;

  int64_t threads() const { return 128 * (consumers + 1); }
  int64_t sharedBytes(runtime::ElementType type) const;
};

/// An operand of a product as a matrix of lines: rows of the left, columns of
/// the right one.
struct WholeOperand {
  runtime::View view;
  int64_t lines = 0, lineStride = 0, kStride = 0;
  /// How many matrices there are, one for all products or one for each, and the
  /// elements from one to the next.
  int64_t batches = 1, batchStride = 0;
  /// Whether neighbours in memory are neighbours in a line, or else of lines.
  bool isTransposed = false;
};

/// A loop's index over a result: of the dimensions from `first` to before
/// `second`, which are 0, the product's number, 1, the row, and 2, the column;
/// of the product's number only number / divisor % size, if size is not 0.
struct EpilogueIndex {
  int first, second;
  int64_t divisor = 1, size = 0;
};

/// A loop that uses each element of the result.
struct EpilogueLoop {
  LoopPlan loop;
  const runtime::Loop *info;
  /// The value that is the result's element: "v1".
  std::string given;
  std::vector<EpilogueIndex> indices;
};

struct WholeProductPlan : SkeletonPlan {
  using SkeletonPlan::SkeletonPlan;

  runtime::MatmulPart part;
  runtime::ElementType type = runtime::ElementType::BF16;
  int64_t batches = 1;
  WholeOperand a, b;
  WarpTile tile = {};
  /// The rows of tiles that blocks take one after the other, so that what they
  /// have in common is in the cache.
  int64_t group = 8;
  /// The loop that stores the product itself, if that is needed.
  std::unique_ptr<runtime::Loop> copy;
  /// Copies of the launch as loops, and loops in the order of the result's
  /// dimensions, where that is another one.
  std::vector<std::unique_ptr<runtime::Loop>> ordered;
  Scratch scratch;
  std::vector<EpilogueLoop> loops;
  /// Whether 8 elements of a row at once are passed to the loops, if addresses
  /// are aligned.
  bool takesVectors = false;

  std::optional<WholeWork> wholeWork() const override {
    WholeWork work{tile.m, tile.n};
    if (!copy)
      work.kept.push_back(part.c.buffer);
    return work;
  }
  /// The sizes of the result: products, rows, columns.
  std::array<int64_t, 3> sizes() const { return {batches, part.m, part.n}; }
};

/// The plan of a launch, without its tile; null if the skeleton does not take
/// it.
std::unique_ptr<WholeProductPlan>
matchWholeProduct(const LaunchMapper &launch, const KernelSkeleton &skeleton);
/// Chooses the tile, and how the kernel runs.
void mapWholeProduct(LaunchMapper &launch, WholeProductPlan &plan);

llvm::Error emitWholeProduct(CudaPart &part, const WholeProductPlan &plan);

//===----------------------------------------------------------------------===//
// What other skeletons of products have in common with this one
//===----------------------------------------------------------------------===//

/// A loop that uses the result, as its input number `given`.
struct ResultLoop {
  const runtime::Loop *loop;
  size_t given;
};

/// Finds out whether the skeleton takes a product's types, sizes and operands,
/// and says in the plan what they are.
bool matchOperands(const LaunchMapper &launch, WholeProductPlan &plan,
                   const runtime::MatmulPart &product);
/// Adds loops to the plan; false if they are not independent of each other and
/// of the operands, or do not use each element. They may store to the memory of
/// all ranks if `mayStoreAll`.
bool addResultLoops(const LaunchMapper &launch, WholeProductPlan &plan,
                    llvm::ArrayRef<ResultLoop> loops, bool mayStoreAll);
/// Finds out what becomes of the product that the plan has, if these loops are
/// all that the launch does with it.
bool matchResult(const LaunchMapper &launch, WholeProductPlan &plan,
                 llvm::ArrayRef<runtime::Part> loops);
/// Likewise of a product that another kernel makes of `operands`.
bool matchResultOf(const LaunchMapper &launch, WholeProductPlan &plan,
                   llvm::ArrayRef<runtime::View> operands,
                   llvm::ArrayRef<runtime::Part> loops);
/// The tile with which all tiles take the least time; `tilesOf` counts them.
WarpTile chooseTile(int64_t k, int64_t multiprocessors,
                    llvm::function_ref<int64_t(const WarpTile &)> tilesOf);
/// The map of an operand whose boxes have so many lines.
runtime::GpuTensorMap mapOf(const WholeOperand &operand, int64_t lines,
                            const WholeProductPlan &plan);

/// Prints " tile(128x128) stages(6) ...", all that a plan's line says of tiles.
void printTile(llvm::raw_ostream &os, const WholeProductPlan &plan);
/// Prints a line for each loop that uses the result.
void printEpilogue(llvm::raw_ostream &os, const WholeProductPlan &plan,
                   unsigned depth);

/// "WarpTile<bf16, 128, 128, 6, 2, true, false, false>".
std::string cudaTile(const WholeProductPlan &plan);
/// Writes the structure of what becomes of results, and returns a lambda that
/// makes it.
llvm::Expected<CudaText> writeEpilogue(CudaPart &part,
                                       const WholeProductPlan &plan);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_SKELETONS_WHOLEPRODUCTS_H
