//===- CudaParts.h - The parts of kernels in CUDA C++ -----------*- C++ -*-===//
//
// What the parts of a kernel are written with: the names of types, the bodies
// of loops, and where things are; and who writes which part.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
#define CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H

#include "codegen/cpu/CpuLoops.h"
#include "codegen/gpu/emit/CudaText.h"
#include "runtime/plan/Plan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace ccn::codegen {

/// What a block has of threads, but where one part alone wants fewer.
constexpr int64_t threadsPerBlock = 512;

/// The scalar bodies of loops as CUDA C++, each once.
class CudaBodies {
public:
  explicit CudaBodies(llvm::ArrayRef<LoopKernel> loops);

  const LoopKernel &loop(llvm::StringRef function) const {
    return *loops.find(function.str())->second;
  }
  /// The functor of a loop's body, where these inputs are uniform.
  llvm::Expected<std::string> functor(const LoopKernel &loop,
                                      llvm::ArrayRef<bool> isUniform);
  /// All functors so far.
  const std::string &text() const { return source; }

private:
  std::map<std::string, const LoopKernel *> loops;
  std::map<std::string, std::string> names;
  std::string source;
};

/// What a packet of an exchange has of elements, in bytes.
inline int64_t payloadOf(runtime::Exchange exchange) {
  return exchange == runtime::Exchange::LL ? 8 : 16;
}
/// What a thread has of packets on their way at once, in bytes of elements: its
/// registers hold them.
constexpr int64_t exchangedByThread = 64;

/// How an element is stored: "f16", "float", "signed char".
llvm::StringRef cudaStorage(runtime::ElementType type);
/// "Kind::Sum".
std::string cudaKind(runtime::ReduceKind kind);
/// `reinterpret_cast<const f16 *>(address)`.
CudaText cudaPointer(const llvm::Twine &type, const CudaText &address);

/// Where things are, as expressions.
class CudaPlaces {
public:
  /// `shared` are the arguments that ranks access of each other.
  CudaPlaces(const runtime::Plan &plan, llvm::ArrayRef<int> shared, int rank)
      : plan(plan), shared(shared), rank(rank) {}

  const runtime::RankPlan &own() const {
    return plan.ranks[static_cast<size_t>(rank)];
  }
  const std::vector<int> &members(int group) const {
    return plan.groups[static_cast<size_t>(group)];
  }
  /// A buffer of the plan, or of a launch.
  const runtime::Buffer &buffer(const runtime::View &view) const {
    auto number = static_cast<size_t>(view.buffer),
         planned = own().buffers.size();
    return number < planned ? own().buffers[number]
                            : workspace[number - planned];
  }
  runtime::ElementType type(const runtime::View &view) const {
    return buffer(view).type;
  }
  /// Whether it is a part of a list of buffers.
  bool isScattered(const runtime::View &view) const {
    const runtime::Buffer &viewed = buffer(view);
    return viewed.memory == runtime::Memory::Argument &&
           plan.arguments[static_cast<size_t>(viewed.offset)].scattered;
  }
  /// Whether two views of buffers may have memory in common.
  bool overlap(const runtime::View &one, const runtime::View &other) const;
  /// The address of a view's first element, in the memory of `of`, or of whom
  /// the view says if it is -1. Not of what is scattered.
  CudaText address(const runtime::View &view, int of = -1) const;
  /// Likewise `a.at[5]`: what a kernel gets for an argument, which is where the
  /// table is of one that is scattered.
  CudaText argument(const runtime::View &view, int of = -1) const;
  /// The view's elements as a pointer, or what stands for one if it is
  /// scattered.
  CudaText elements(const runtime::View &view,
                    llvm::StringRef qualifier = "") const;
  /// Adds a buffer that lies in a launch's workspace, from byte `offset` on,
  /// and returns its index.
  int addWorkspace(runtime::ElementType type, int64_t count, int64_t offset);
  /// The rank's own position in a group.
  int position(int group) const {
    const std::vector<int> &ranks = members(group);
    return static_cast<int>(llvm::find(ranks, rank) - ranks.begin());
  }
  /// `Group<2>{{0, 1}, 0}`.
  CudaText group(int group) const;

  const runtime::Plan &plan;
  llvm::ArrayRef<int> shared;
  int rank;

private:
  /// After the plan's buffers.
  std::vector<runtime::Buffer> workspace;
};

/// The kernel that is being written.
struct CudaPart {
  CudaKernel &kernel;
  CudaPlaces &places;
  CudaBodies &bodies;
  /// For names of its own.
  int number = 0;
  /// How many signals it has so far.
  int signals = 0;
  /// What the first block has to do when all blocks have come to the next
  /// barrier, before any goes on.
  CudaText last = {};
  /// What that writes.
  std::vector<runtime::View> lastWrites = {};

  /// Says that so many blocks have something to do.
  void needBlocks(int64_t blocks) {
    kernel.launch.blocks = std::max(kernel.launch.blocks, blocks);
  }
  void endLast() {
    last = {};
    lastWrites.clear();
  }
  /// Lets the blocks wait for each other.
  void gridBarrier() {
    if (last.text.empty())
      kernel.body << "gridBarrier(c);\n";
    else
      kernel.body << "gridBarrier(c, [&] {\n" << last << "});\n";
    endLast();
    kernel.properties.waits = true;
  }
};

/// How many threads blocks of a launch have. Parts that share a kernel need
/// threadsPerBlock, as who touches what depends on it.
int64_t threadsFor(const runtime::Launch &launch);

/// How many rows a block of threadsPerBlock threads takes at a time, if blocks
/// take them in turns: those from i times as many on are block i's, modulo the
/// number of blocks, or cluster i's in a kernel of clusters. 0 if they are
/// shared out in another way.
int64_t rowsOfBlock(const runtime::RowsPart &rows);

/// Whether few long rows, each of a block, may be those of clusters of blocks,
/// in a kernel that has all of a multiprocessor's registers.
bool suitClusters(CudaPlaces &places, CudaBodies &bodies,
                  const runtime::RowsPart &rows);

/// Whether every element is for itself.
bool isElementwise(const runtime::RowsPart &rows);
/// Whether all blocks together sum up all elements of one row.
bool sumsAll(const runtime::RowsPart &rows);

/// What blocks take of a part.
struct BlockShare {
  /// Where every element is for itself, or all are summed: so many at a time in
  /// turns, a multiple of 8, if that is not 0.
  int64_t tile = 0;
  /// If not 0: of each so many units those from `first` to `last`, variables of
  /// the kernel. A unit is `unit` elements that are for themselves, or a row.
  int64_t units = 0, unit = 0;
  /// Whether all blocks share out sums that rows are not teams' of
  /// (CudaColumns.h).
  bool byColumns = false;
};

/// An exchange by packets of the rows of the part that comes next.
struct RowExchange {
  const runtime::ExchangePart *part;
  /// Where in symmetric memory its packets are, and its first segment.
  int64_t slots, segment;
};

/// Whether those threads of clusters that take elements of rows may exchange
/// them themselves and have what comes in registers: only the part's first loop
/// may need it, each thread what it then has.
bool suitExchange(CudaPlaces &places, CudaBodies &bodies,
                  const runtime::RowsPart &rows,
                  const runtime::ExchangePart &exchange);

/// Adds loops over rows to a kernel, maybe with the exchange of the rows.
llvm::Error emitRows(CudaPart &part, const runtime::RowsPart &rows,
                     const BlockShare &share = {},
                     const RowExchange *exchange = nullptr);

/// Lets what loops over rows read come nearer while blocks wait for what comes
/// before: of each team's first row, but for what is written to buffer
/// `awaited`.
void prefetchRows(CudaPart &part, const runtime::RowsPart &rows, int awaited);

/// Adds a copy: a loop that stores its one input.
llvm::Error emitCopy(CudaPart &part, const runtime::CopyPart &copy,
                     const BlockShare &share = {});

/// Adds a product of matrices, a convolution, or rows taken from a table or
/// added to one.
llvm::Error emitProduct(CudaPart &part, const runtime::Part &product);

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_EMIT_CUDAPARTS_H
