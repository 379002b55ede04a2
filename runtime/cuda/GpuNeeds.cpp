//===- GpuNeeds.cpp - The memory that a plan needs of a GPU ---------------===//

#include "runtime/cuda/GpuState.h"

#include <algorithm>
#include <tuple>

namespace ccn::runtime {

namespace {

/// The elements between the first and the last that a matrix of a product has.
int64_t extentOf(const MatmulPart &part) {
  int64_t most = 0;
  for (auto [view, rows, columns] : {std::tuple(&part.a, part.m, part.k),
                                     std::tuple(&part.b, part.k, part.n),
                                     std::tuple(&part.c, part.m, part.n)}) {
    size_t dims = part.batch.size();
    int64_t extent = 1 + (rows - 1) * view->strides[dims] +
                     (columns - 1) * view->strides[dims + 1];
    for (size_t i = 0; i < dims; ++i)
      extent += (part.batch[i] - 1) * view->strides[i];
    most = std::max(most, extent);
  }
  return most;
}

} // namespace

/// The workspace of each stream, whose launches run one after the other and
/// share it. Grids are agreed on.
std::vector<int64_t>
GpuExecutor::State::workspaceBytes(const GpuProgram &program) const {
  const std::vector<GpuLaunch> &own =
      program.launches[static_cast<size_t>(rank)];
  std::vector<int64_t> bytes(static_cast<size_t>(plan.streams));
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].kernel < 0)
      continue;
    int64_t blockBytes =
        program.kernels[static_cast<size_t>(own[i].kernel)].blockBytes;
    int64_t &most = bytes[static_cast<size_t>(plan.launches[i].stream)];
    if (preferredKernel(own[i])) {
      const GpuLaunch &other = own[i].preferred.front();
      most = std::max(
          most,
          addSaturating(
              other.workspaceBytes,
              multiplySaturating(
                  program.kernels[static_cast<size_t>(other.kernel)].blockBytes,
                  launches[i].blocks)));
    }
    most = std::max(most, addSaturating(own[i].workspaceBytes,
                                        multiplySaturating(
                                            blockBytes, launches[i].blocks)));
    if (mayBeLibrary(own[i]))
      most = std::max(most, LibraryProduct::workspaceBytes);
  }
  return bytes;
}

/// Whether the library may do a launch's product.
bool GpuExecutor::State::mayBeLibrary(const GpuLaunch &launch) const {
  if (!usesLibrary || !launch.product || launch.kernel < 0)
    return false;
  // The library would leave the rest of the launch to a second kernel.
  if (!launch.product->isAll && options.products == ProductChoice::Auto &&
      preferredKernel(launch))
    return false;
  auto buffer = static_cast<size_t>(launch.product->part.c.buffer);
  return LibraryProduct::takes(plan.buffers[buffer].type);
}

/// As much as any matrix has that the library may multiply, a multiple of 256.
int64_t GpuExecutor::State::matrixBytes(const GpuProgram &program) const {
  int64_t most = 0;
  for (const GpuLaunch &launch : program.launches[static_cast<size_t>(rank)]) {
    if (!mayBeLibrary(launch))
      continue;
    const MatmulPart &part = launch.product->part;
    ElementType type = plan.buffers[static_cast<size_t>(part.c.buffer)].type;
    most = std::max(most, extentOf(part) * sizeInBytes(type));
  }
  return (most + 255) / 256 * 256;
}

/// What this rank takes of its device in any case, besides symmetric memory.
MemoryNeeds GpuExecutor::State::ownNeeds() const {
  MemoryNeeds needs;
  needs.add("private memory", 1, plan.privateBytes);
  needs.add("private memory", static_cast<int64_t>(plan.launches.size()),
            controlBytes);
  needs.add("arguments and results", 1, options.callerBytes);
  return needs;
}

/// Likewise with workspaces, and what products take. Messages' copies are not
/// in it.
MemoryNeeds GpuExecutor::State::ownNeeds(const GpuProgram &program) const {
  MemoryNeeds needs = ownNeeds();
  for (int64_t bytes : workspaceBytes(program))
    needs.add("workspaces", 1, bytes);
  // Products are tried, and what that takes given back, before the rest is
  // taken.
  MemoryNeeds tried;
  if (int64_t bytes = matrixBytes(program))
    tried.add("trying products", 1,
              addSaturating(bytes, LibraryProduct::workspaceBytes));
  return tried.total() > needs.total() ? tried : needs;
}

} // namespace ccn::runtime
