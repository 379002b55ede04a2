//===- PlanBuilder.h - Plans made by hand in tests --------------*- C++ -*-===//
//
// Plans of one launch, whose parts are copies, barriers and products, which
// need no compiled loops.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_PLANBUILDER_H
#define CCN_TEST_UNIT_CUDA_PLANBUILDER_H

#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/Plan.h"

namespace ccn::test {

class PlanBuilder {
public:
  /// `ranks` ranks with a launch that does nothing yet, and a group of all.
  explicit PlanBuilder(int ranks);

  /// Adds a buffer of f32 to all ranks, of as many elements as `counts` has for
  /// each; one count is all ranks'. Returns its index, on all ranks the same.
  int add(runtime::Memory memory, std::vector<int64_t> counts);
  int argument(std::vector<int64_t> counts) {
    return add(runtime::Memory::Argument, std::move(counts));
  }
  int symmetric(std::vector<int64_t> counts) {
    return add(runtime::Memory::Symmetric, std::move(counts));
  }
  int privateBuffer(std::vector<int64_t> counts) {
    return add(runtime::Memory::Private, std::move(counts));
  }

  /// Adds a part to the last launch of a rank; a barrier of all to all ranks.
  void add(int rank, runtime::Part part);
  void barrier();
  /// Another launch on all ranks.
  void launch();

  std::vector<runtime::Part> &parts(int rank, size_t launch = 0) {
    return plan.ranks[static_cast<size_t>(rank)].launches[launch].parts;
  }

  runtime::Plan plan;

private:
  int64_t flags = 0;
};

/// A contiguous view from `offset` on, of one dimension.
runtime::View view(int buffer, int64_t offset = 0, int rank = -1);

/// Copies `count` contiguous elements.
runtime::CopyPart copy(int64_t count, runtime::View from, runtime::View to);

/// A loop over `count` elements that copies one operand to another.
runtime::RowsPart loop(int64_t count, runtime::LoopOperand from,
                       runtime::LoopOperand to);

/// Copies rows from one view, of two dimensions, to scratch and from there to
/// another.
runtime::RowsPart throughScratch(int64_t rows, int64_t columns,
                                 runtime::View from, runtime::View to);

/// How many copies the ranks make in all their launches.
int copies(const runtime::Plan &plan);

/// The buffers of reduceRows.
struct ReducedRows {
  int in, slots, result, out;
};

/// Has two ranks sum up rows, in phases that go together in chunks: each sends
/// the half that the other sums up, and keeps its own; sums up its half for
/// both; and copies all through scratch. Symmetric buffers have so many
/// elements `more` than that takes.
ReducedRows reduceRows(PlanBuilder &plan, int64_t rows, int64_t columns,
                       int64_t more = 0);

/// The kernels, which there must be.
runtime::GpuProgram emit(const runtime::Plan &plan);

/// Why there are no kernels.
std::string errorOf(const runtime::Plan &plan);

/// A text without the spaces that its lines begin with.
std::string unindented(const std::string &text);

/// The body of a kernel, without what it declares before, and not indented.
std::string
bodyOf(const runtime::GpuProgram &program, size_t kernel = 0,
       runtime::KernelTransport transport = runtime::KernelTransport::Peers);

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_PLANBUILDER_H
