//===- CheckGpuProgram.cpp - Checks GPU programs --------------------------===//
//
// The limits are those of CUDA's programming guide for compute capability 9.0;
// earlier ones have no larger limits. The executor refuses what the device at
// hand cannot do.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/CheckGpuProgram.h"

#include "runtime/plan/CheckParts.h"
#include "runtime/plan/CheckTensorMaps.h"
#include "runtime/plan/GpuAbi.h"
#include "runtime/plan/SymmetricMemory.h"

#include <algorithm>
#include <set>

namespace ccn::runtime {

namespace {

constexpr int64_t warp = 32, maxThreads = 1024;
constexpr int64_t maxSharedBytes = 227 * 1024;
/// The most bytes of all parameters of a kernel.
constexpr int64_t maxParameterBytes = 32764;
constexpr int64_t maxBlocks = INT32_MAX;
/// Multiplied by the number of blocks of any device, this does not overflow.
constexpr int64_t maxBlockBytes = int64_t(1) << 30;

bool isIdentifier(const std::string &name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return isLetter(c) || (c >= '0' && c <= '9');
         });
}

Status checkWorkspace(int64_t bytes, int64_t most) {
  if (bytes < 0 || bytes > most || bytes % symmetricAlignment != 0)
    return error("expected a workspace of 0 to ", most,
                 " bytes, a multiple of ", symmetricAlignment, ", found ",
                 bytes);
  return Status();
}

Status checkKernel(const Plan &plan, const GpuProgram &program,
                   const GpuKernel &kernel) {
  if (!isIdentifier(kernel.name))
    return error("expected a name that is an identifier of C");
  if (kernel.threads < warp || kernel.threads > maxThreads ||
      kernel.threads % warp != 0)
    return error("expected ", warp, " to ", maxThreads,
                 " threads, a multiple of ", warp, ", found ", kernel.threads);
  if (kernel.clusters && kernel.threads < CCN_CLUSTER_THREADS / 2)
    return error("expected at least ", CCN_CLUSTER_THREADS / 2,
                 " threads, as blocks of clusters may have, found ",
                 kernel.threads);
  if (kernel.sharedBytes < 0 || kernel.sharedBytes > maxSharedBytes)
    return error("expected at most ", maxSharedBytes,
                 " bytes of shared memory, found ", kernel.sharedBytes);
  if (Status status = checkWorkspace(kernel.blockBytes, maxBlockBytes); !status)
    return status;
  // The maps are the last parameter, and aligned.
  constexpr int64_t mapBytes = sizeof(CcnTensorMap);
  auto others = static_cast<int64_t>(sizeof(CcnContext) +
                                     8 * addressCount(plan, program));
  int64_t mostMaps = (maxParameterBytes - others - 8) / mapBytes - 1;
  if (kernel.tensorMaps < 0 ||
      kernel.tensorMaps > std::max(mostMaps, int64_t(0)))
    return error("expected 0 to ", std::max(mostMaps, int64_t(0)),
                 " tensor maps, found ", kernel.tensorMaps);
  if (kernel.tensorMaps > 0)
    others += (kernel.tensorMaps + 1) * mapBytes;
  if (kernel.numbers < 1 || kernel.numbers > (maxParameterBytes - others) / 8)
    return error("expected 1 to ",
                 std::max<int64_t>((maxParameterBytes - others) / 8, 1),
                 " numbers, found ", kernel.numbers);
  return Status();
}

/// Checks a product that a library may compute. Libraries cannot access
/// scattered arguments.
Status checkProduct(const Plan &plan, int rank, const MatmulPart &product) {
  if (Status status = checkPart(plan, rank, product); !status)
    return status;
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  for (const View *view : {&product.a, &product.b, &product.c}) {
    if (view->rank >= 0 && view->rank != rank)
      return error("expected own memory, found that of rank ", view->rank);
    const Buffer &buffer = own.buffers[static_cast<size_t>(view->buffer)];
    if (buffer.memory == Memory::Argument &&
        plan.arguments[static_cast<size_t>(buffer.offset)].scattered)
      return error("expected memory in one piece, found buffer ", view->buffer,
                   ", which is scattered");
  }
  return Status();
}

Status checkLaunch(const Plan &plan, const GpuProgram &program, int rank,
                   const GpuLaunch &launch) {
  auto kernels = static_cast<int>(program.kernels.size());
  if (launch.kernel < -1 || launch.kernel >= kernels)
    return error("expected a kernel below ", kernels, ", or -1, found ",
                 launch.kernel);
  if (launch.blocks < 0 || launch.blocks > maxBlocks)
    return error("expected 0 to ", maxBlocks, " blocks, found ", launch.blocks);
  if (Status status = checkWorkspace(launch.workspaceBytes, maxSymmetricBytes);
      !status)
    return status;
  if (launch.product)
    if (Status status = checkProduct(plan, rank, launch.product->part); !status)
      return error("its product: ", status.message());
  if (launch.kernel < 0) {
    if (launch.tensorMaps.empty())
      return Status();
    return error("expected no tensor maps without a kernel, found ",
                 launch.tensorMaps.size());
  }
  const GpuKernel &kernel = program.kernels[static_cast<size_t>(launch.kernel)];
  if (static_cast<int64_t>(launch.numbers.size()) != kernel.numbers)
    return error("expected the ", kernel.numbers, " numbers of kernel '",
                 kernel.name, "', found ", launch.numbers.size());
  if (static_cast<int64_t>(launch.tensorMaps.size()) != kernel.tensorMaps)
    return error("expected the ", kernel.tensorMaps, " tensor maps of kernel '",
                 kernel.name, "', found ", launch.tensorMaps.size());
  for (size_t i = 0; i < launch.tensorMaps.size(); ++i)
    if (Status status =
            checkTensorMap(plan, program, rank, launch, launch.tensorMaps[i]);
        !status)
      return error("tensor map ", i, ": ", status.message());
  return Status();
}

/// What is preferred to a launch.
Status checkPreferred(const Plan &plan, const GpuProgram &program, int rank,
                      const GpuLaunch &launch) {
  if (launch.preferred.empty())
    return Status();
  if (launch.kernel < 0)
    return error("expected nothing that is preferred to no kernel");
  if (launch.preferred.size() > 1)
    return error("expected at most one launch that is preferred to a kernel, "
                 "found ",
                 launch.preferred.size());
  const GpuLaunch &other = launch.preferred.front();
  if (Status status = checkLaunch(plan, program, rank, other); !status)
    return error("preferred: ", status.message());
  const GpuKernel *kernel =
      other.kernel < 0 ? nullptr
                       : &program.kernels[static_cast<size_t>(other.kernel)];
  if (!kernel || kernel->tensorMaps == 0 || kernel->clusters || other.product ||
      !other.preferred.empty())
    return error("preferred: expected a kernel with tensor maps, without "
                 "clusters, product or another one that is preferred");
  const GpuKernel &own = program.kernels[static_cast<size_t>(launch.kernel)];
  if (kernel->waits && (!own.waits || own.clusters))
    return error("preferred: expected a kernel that does not wait, as the "
                 "launch's does not, or has clusters");
  if (kernel->isOfAllRanks && !kernel->waits)
    return error("preferred: expected a kernel of all ranks that waits");
  return Status();
}

/// Whether all ranks prefer a kernel of all ranks to a launch, or none does.
Status checkAgreement(const GpuProgram &program, size_t number) {
  auto isOfAll = [&](const std::vector<GpuLaunch> &own) {
    const std::vector<GpuLaunch> &preferred = own[number].preferred;
    return !preferred.empty() &&
           program.kernels[static_cast<size_t>(preferred.front().kernel)]
               .isOfAllRanks;
  };
  auto count =
      std::count_if(program.launches.begin(), program.launches.end(), isOfAll);
  if (count != 0 && static_cast<size_t>(count) != program.launches.size())
    return error("preferred: expected a kernel of all ranks on all ",
                 program.launches.size(), " ranks, found it on ", count);
  return Status();
}

Status checkFill(const GpuProgram &program, const GpuFill &fill) {
  if (fill.offset < 0 || fill.bytes < 0 ||
      fill.offset > program.symmetricBytes ||
      fill.bytes > program.symmetricBytes - fill.offset)
    return error(fill.bytes, " bytes at ", fill.offset,
                 " are not inside of the ", program.symmetricBytes,
                 " of symmetric memory");
  if (fill.value < 0 || fill.value > 255)
    return error("expected a byte, found ", fill.value);
  return Status();
}

/// The bytes of the memory that a message refers to.
int64_t messageMemory(const Plan &plan, const GpuProgram &program,
                      const GpuMessage &message) {
  if (message.argument < 0)
    return program.symmetricBytes;
  auto owner = static_cast<size_t>(message.isWrite ? message.to : message.from);
  auto number = static_cast<size_t>(
      program.sharedArguments[static_cast<size_t>(message.argument)]);
  int64_t bytes = sizeInBytes(plan.arguments[number].type);
  for (int64_t size : plan.ranks[owner].placements[number].sizes)
    bytes *= size;
  return bytes;
}

Status checkMessage(const Plan &plan, const GpuProgram &program,
                    const GpuMessage &message) {
  auto ranks = static_cast<int>(plan.ranks.size());
  for (int rank : {message.from, message.to})
    if (rank < 0 || rank >= ranks)
      return error("expected ranks below ", ranks, ", found ", rank);
  if (message.from == message.to)
    return error("expected two ranks, found ", message.from, " twice");
  auto shared = static_cast<int>(program.sharedArguments.size());
  if (message.argument < -1 || message.argument >= shared)
    return error("expected a shared argument below ", shared, ", or -1, found ",
                 message.argument);
  if (message.counts.size() != message.strides.size())
    return error("expected as many strides as counts, found ",
                 message.strides.size(), " and ", message.counts.size());
  int64_t size = messageMemory(plan, program, message);
  bool fits = message.bytes >= 1 && message.bytes <= size &&
              message.offset >= 0 && message.offset <= size - message.bytes;
  // Ranges must not overlap, so together they have no more bytes than the
  // memory.
  int64_t left = fits ? size - message.bytes - message.offset : 0;
  int64_t span = message.bytes;
  for (size_t i = message.counts.size(); fits && i-- > 0;) {
    int64_t count = message.counts[i], stride = message.strides[i];
    fits = count >= 1 && stride >= span && count - 1 <= left / stride;
    int64_t more = fits ? (count - 1) * stride : 0;
    left -= more;
    span += more;
  }
  return fits ? Status()
              : error(message.bytes, " bytes at ", message.offset,
                      " in steps are not inside of the ", size,
                      " of their memory");
}

Status checkSegments(const Plan &plan, const GpuProgram &program, size_t launch,
                     const GpuSegments &segments) {
  constexpr int maxSegments = 1 << 20;
  if (segments.count < 0 || segments.count > maxSegments)
    return error("expected 0 to ", maxSegments, " segments, found ",
                 segments.count);
  if (segments.messages.size() != 2 * static_cast<size_t>(segments.count))
    return error("expected messages before and after each of ", segments.count,
                 " segments, found ", segments.messages.size());
  for (int other : segments.waits)
    if (other < 0 || other >= static_cast<int>(launch))
      return error("expected an earlier launch to wait for, found ", other);
  for (const std::vector<GpuMessage> &messages : segments.messages)
    for (size_t i = 0; i < messages.size(); ++i)
      if (Status status = checkMessage(plan, program, messages[i]); !status)
        return error("message ", i, ": ", status.message());
  return Status();
}

Status checkMemory(const Plan &plan, const GpuProgram &program) {
  int64_t least = plan.ranks[0].symmetricBytes;
  if (program.symmetricBytes < least ||
      program.symmetricBytes > maxSymmetricBytes)
    return error("expected ", least, " to ", maxSymmetricBytes,
                 " bytes of symmetric memory, found ", program.symmetricBytes);
  constexpr int64_t maxFlags = int64_t(1) << 24;
  if (program.flags < plan.ranks[0].flags || program.flags > maxFlags)
    return error("expected ", plan.ranks[0].flags, " to ", maxFlags,
                 " flags, found ", program.flags);
  for (size_t i = 0; i < program.fills.size(); ++i)
    if (Status status = checkFill(program, program.fills[i]); !status)
      return error("fill ", i, ": ", status.message());
  return Status();
}

} // namespace

size_t addressCount(const Plan &plan, const GpuProgram &program) {
  return std::max<size_t>(plan.arguments.size() +
                              program.sharedArguments.size() *
                                  plan.ranks.size(),
                          1);
}

Status checkGpuProgram(const Plan &plan, const GpuProgram &program) {
  size_t ranks = plan.ranks.size();
  if (ranks > CCN_MAX_RANKS)
    return error("expected at most ", CCN_MAX_RANKS,
                 " ranks, whose memory a kernel can address, found ", ranks);
  for (const std::string *source :
       {&program.source, &program.peerSource, &program.messageSource})
    if (source->find('\0') != std::string::npos)
      return error("the source of the kernels is not text");
  std::set<int> shared;
  for (int argument : program.sharedArguments)
    if (argument < 0 || argument >= static_cast<int>(plan.arguments.size()) ||
        !shared.insert(argument).second)
      return error("expected shared arguments below ", plan.arguments.size(),
                   ", each once, found ", argument);
  std::set<std::string> names;
  for (size_t i = 0; i < program.kernels.size(); ++i) {
    const GpuKernel &kernel = program.kernels[i];
    if (Status status = checkKernel(plan, program, kernel); !status)
      return error("kernel ", i, " ('", kernel.name, "'): ", status.message());
    if (!names.insert(kernel.name).second)
      return error("kernel ", i, " ('", kernel.name,
                   "'): another one has the same name");
  }
  bool hasLists =
      std::any_of(plan.arguments.begin(), plan.arguments.end(),
                  [](const Argument &argument) { return argument.scattered; });
  if (program.tableKernel < -1 ||
      program.tableKernel >= static_cast<int>(program.kernels.size()) ||
      (hasLists && program.tableKernel < 0))
    return error("expected a kernel for tables", hasLists ? "" : ", or -1",
                 ", found ", program.tableKernel);
  if (program.tableKernel >= 0) {
    const GpuKernel &kernel =
        program.kernels[static_cast<size_t>(program.tableKernel)];
    if (kernel.waits || kernel.numbers < 3 || kernel.sharedBytes != 0 ||
        kernel.blockBytes != 0 || kernel.tensorMaps != 0)
      return error("kernel '", kernel.name,
                   "' for tables: expected one that does not wait, with 3 "
                   "numbers or more, no memory and no tensor maps");
  }
  if (program.launches.size() != ranks)
    return error("expected the launches of ", ranks, " ranks, found ",
                 program.launches.size());
  for (size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<GpuLaunch> &launches = program.launches[rank];
    const std::vector<Launch> &planned = plan.ranks[rank].launches;
    if (launches.size() != planned.size())
      return error("rank ", rank, ": expected the plan's ", planned.size(),
                   " launches, found ", launches.size());
    for (size_t i = 0; i < launches.size(); ++i) {
      auto own = static_cast<int>(rank);
      Status status = checkLaunch(plan, program, own, launches[i]);
      if (status)
        status = checkPreferred(plan, program, own, launches[i]);
      if (!status)
        return error("rank ", rank, ": launch ", i, " ('", planned[i].name,
                     "'): ", status.message());
    }
  }
  if (Status status = checkMemory(plan, program); !status)
    return status;
  const std::vector<Launch> &planned = plan.ranks[0].launches;
  if (program.segments.size() != planned.size())
    return error("expected the segments of ", planned.size(),
                 " launches, found ", program.segments.size());
  for (size_t i = 0; i < planned.size(); ++i) {
    Status status = checkAgreement(program, i);
    if (status)
      status = checkSegments(plan, program, i, program.segments[i]);
    if (!status)
      return error("launch ", i, " ('", planned[i].name,
                   "'): ", status.message());
  }
  return Status();
}

} // namespace ccn::runtime
