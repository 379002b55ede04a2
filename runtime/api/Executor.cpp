//===- Executor.cpp - Executors of the C API ------------------------------===//
//
// A mistake of the caller must not fail the team. So arguments are checked
// here, before the executor is called.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/cpu/PlanExecutor.h"
#include "runtime/cuda/GpuExecutor.h"
#include "runtime/plan/Pieces.h"

#include <algorithm>
#include <cstddef>

using namespace ccn;
using namespace ccn::runtime;
using namespace ccn::runtime::api;

namespace {

/// An argument, as far as checks of calls need it.
struct Slot {
  int64_t count = 0;
  ElementType type = ElementType::F32;
  bool isWritten = false;
  /// isValue: callers may pass it by value. isScattered: callers pass a list of
  /// buffers.
  bool isValue = false, isScattered = false;

  uintptr_t alignment() const {
    return static_cast<uintptr_t>(sizeInBytes(type));
  }
  uintptr_t bytes() const {
    return static_cast<uintptr_t>(count) * alignment();
  }
};

/// The addresses of an argument or of one of its buffers.
struct Extent {
  uintptr_t begin, end;
  size_t argument;
  std::optional<size_t> buffer = std::nullopt;
};

enum class Scalars { Here, OnHost, Bound };

/// Executors read the callers' structures as their own.
static_assert(sizeof(ccn_buffer) == sizeof(Piece) &&
              offsetof(ccn_buffer, data) == offsetof(Piece, data) &&
              offsetof(ccn_buffer, count) == offsetof(Piece, count));
static_assert(sizeof(ccn_buffers) == sizeof(PieceList) &&
              offsetof(ccn_buffers, list) == offsetof(PieceList, pieces) &&
              offsetof(ccn_buffers, count) == offsetof(PieceList, count));

} // namespace

struct ccn_executor {
  std::shared_ptr<TeamState> team;
  std::shared_ptr<const LoadedProgram> program;
  int rank = 0;
  std::vector<Slot> slots;
  /// Scratch memory for the check of a call.
  std::vector<Extent> extents;
  /// The arguments, as numbers, of the last call that was accepted, and those
  /// of the present call.
  std::vector<uintptr_t> known, present;
  std::unique_ptr<PlanExecutor> cpu;
  std::unique_ptr<GpuExecutor> gpu;

  void describe();
  /// An error if a call must not have these arguments.
  Status check(void *const *arguments, size_t count, Scalars scalars);
  Status checkArgument(size_t argument, const void *address, Scalars scalars);
  Status checkBuffers(size_t argument, const PieceList *list);
  Status addExtent(const Extent &extent, uintptr_t bytes);
  Status checkOverlaps();
  bool isKnown(void *const *arguments, Scalars scalars);
  std::string nameOf(size_t argument) const {
    return "argument '" + program->package.plan.arguments[argument].name + "'";
  }
  std::string nameOf(const Extent &extent) const {
    return (extent.buffer ? "buffer " + std::to_string(*extent.buffer) + " of "
                          : "") +
           nameOf(extent.argument);
  }
  ccn_status run(void *const *arguments, size_t count, void *stream,
                 Scalars scalars);
};

void ccn_executor::describe() {
  const Plan &plan = program->package.plan;
  const RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument &argument = plan.arguments[i];
    slots.push_back({countOf(own, i), argument.type,
                     argument.kind != ArgumentKind::Input, isValue(argument),
                     argument.scattered});
  }
  extents.reserve(slots.size());
}

Status ccn_executor::check(void *const *arguments, size_t count,
                           Scalars scalars) {
  if (count != slots.size())
    return error("program '", program->package.program, "' has ", slots.size(),
                 " arguments and results, found ", count);
  if (!arguments && count > 0)
    return error("the arguments are null");
  if (isKnown(arguments, scalars))
    return Status();
  extents.clear();
  for (size_t i = 0; i < count; ++i)
    if (Status status = checkArgument(i, arguments[i], scalars); !status)
      return status;
  Status status = checkOverlaps();
  if (status && gpu && scalars != Scalars::Bound)
    status = gpu->checkRun({arguments, count});
  if (status)
    std::swap(known, present);
  return status;
}

/// Whether the last accepted call had the same arguments. With thousands of
/// buffers, comparing is faster than checking.
bool ccn_executor::isKnown(void *const *arguments, Scalars scalars) {
  present.clear();
  present.push_back(static_cast<uintptr_t>(scalars));
  for (size_t i = 0; i < slots.size(); ++i) {
    present.push_back(reinterpret_cast<uintptr_t>(arguments[i]));
    if (!slots[i].isScattered)
      continue;
    PieceSpan pieces = piecesAt(arguments[i]);
    if (!pieces.data() && !pieces.empty())
      return false;
    present.push_back(pieces.size());
    for (const Piece &piece : pieces) {
      present.push_back(reinterpret_cast<uintptr_t>(piece.data));
      present.push_back(static_cast<uintptr_t>(piece.count));
    }
  }
  return present == known;
}

Status ccn_executor::checkArgument(size_t argument, const void *address,
                                   Scalars scalars) {
  const Slot &slot = slots[argument];
  if (slot.isScattered)
    return checkBuffers(argument, static_cast<const PieceList *>(address));
  if (slot.count == 0)
    return Status();
  if (!address && slot.isValue && scalars == Scalars::Bound)
    return Status();
  if (!address)
    return error(nameOf(argument), " is null");
  if (slot.isValue && scalars == Scalars::OnHost && gpu)
    return Status();
  auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin % slot.alignment() != 0)
    return error(nameOf(argument), " is not aligned to ", slot.alignment(),
                 " bytes");
  return addExtent({begin, 0, argument}, slot.bytes());
}

Status ccn_executor::checkBuffers(size_t argument, const PieceList *list) {
  const Slot &slot = slots[argument];
  if (!list)
    return error(nameOf(argument), " is null, expected a list of buffers");
  if (!list->pieces && list->count > 0)
    return error(nameOf(argument), ": the list of its ", list->count,
                 " buffers is null");
  PieceSpan pieces = piecesAt(list);
  if (Status status = checkPieces(
          pieces, slot.count, slot.type,
          [](size_t buffer) { return "buffer " + std::to_string(buffer); });
      !status)
    return error(nameOf(argument), ": ", status.message());
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].count == 0)
      continue;
    Extent extent{reinterpret_cast<uintptr_t>(pieces[i].data), 0, argument, i};
    if (Status status = addExtent(
            extent, static_cast<uintptr_t>(pieces[i].count) * slot.alignment());
        !status)
      return status;
  }
  return Status();
}

/// Adds a range of `bytes` bytes to those that must not overlap.
Status ccn_executor::addExtent(const Extent &extent, uintptr_t bytes) {
  if (bytes > UINTPTR_MAX - extent.begin)
    return error(nameOf(extent), " has ", bytes,
                 " bytes, more than there are from its address on");
  extents.push_back(extent);
  extents.back().end = extent.begin + bytes;
  return Status();
}

/// An error if a range that is written overlaps another range.
Status ccn_executor::checkOverlaps() {
  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  // Of the ranges so far, the one with the last end: among all, and among those
  // that are written.
  const Extent *any = nullptr, *written = nullptr;
  for (const Extent &extent : extents) {
    bool isWritten = slots[extent.argument].isWritten;
    const Extent *before = isWritten ? any : written;
    if (before && before->end > extent.begin)
      return error(nameOf(*before), " and ", nameOf(extent),
                   " overlap, and one of them is written");
    if (!any || extent.end > any->end)
      any = &extent;
    if (isWritten && (!written || extent.end > written->end))
      written = &extent;
  }
  return Status();
}

/// Ranks tell each other of which program they make an executor. If they
/// differ, the team fails, as they would wait for each other in vain or compute
/// nonsense.
static Status agree(TeamState &team, int rank, size_t listed) {
  Transport &transport = team.transport();
  Result<HostExchange *> exchange = team.exchangeOf(rank);
  if (!exchange)
    return exchange.status();
  Result<std::vector<int32_t>> all =
      (*exchange)->gather(static_cast<int32_t>(listed));
  if (!all)
    return all.status();
  auto nameOf = [&](int32_t index) {
    return "'" + team.programs[static_cast<size_t>(index)]->package.program +
           "' (program " + std::to_string(index) + " of the team)";
  };
  for (size_t other = 0; other < all->size(); ++other)
    if ((*all)[other] != (*all)[0])
      return transport.fail(static_cast<int>(other),
                            "makes an executor of " + nameOf((*all)[other]) +
                                ", rank 0 of " + nameOf((*all)[0]));
  return Status();
}

static Status prepare(ccn_executor &executor, int device) {
  TeamState &team = *executor.team;
  const LoadedProgram &program = *executor.program;
  const Plan &plan = program.package.plan;
  if (program.isOnGpus()) {
    GpuExecutorOptions options;
    options.timeLimit = team.timeLimit;
    options.localRank = team.localRank;
    options.products = team.products;
    options.runsAtOnce = team.runsAtOnce;
    options.transport = team.gpuTransport;
    if (device != CCN_ANY_DEVICE)
      options.device = device;
    Result<std::unique_ptr<GpuExecutor>> made = GpuExecutor::create(
        plan, *program.code.gpu, executor.rank, team.transport(), options);
    if (!made)
      return made.status();
    executor.gpu = *std::move(made);
    return Status();
  }
  ExecutorOptions options;
  options.timeLimit = team.timeLimit;
  options.resolve = [&](std::string_view name) {
    return program.code.cpu->find(name);
  };
  Result<std::unique_ptr<PlanExecutor>> made =
      PlanExecutor::create(plan, executor.rank, team.transport(), options);
  if (!made)
    return made.status();
  executor.cpu = *std::move(made);
  return Status();
}

ccn_status ccn_executor_create(ccn_team *team, const ccn_program *program,
                               int rank, int device, ccn_executor **executor) {
  return guarded([&] {
    if (!team || !program || !executor)
      return wrong(!team      ? "the team is null"
                   : !program ? "the program is null"
                              : "the place for the executor is null");
    TeamState &state = *team->state;
    if (Status status = state.checkRank(rank); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    if (device < CCN_ANY_DEVICE)
      return wrong("expected a device from 0, or CCN_ANY_DEVICE, found ",
                   device);
    if (device != CCN_ANY_DEVICE && !program->loaded->isOnGpus())
      return wrong("expected CCN_ANY_DEVICE for a program on the CPU, found ",
                   device);
    RankCall call(state, rank);
    if (!call)
      return RankCall::refuse(rank);
    TeamState::Rank &own = state.ranks[static_cast<size_t>(rank)];
    if (own.hasLeft)
      return wrong("rank ", rank, " has left its team");
    size_t listed = 0;
    while (listed < state.programs.size() &&
           (own.isUsed[listed] ||
            !state.programs[listed]->isSame(*program->loaded)))
      ++listed;
    if (listed == state.programs.size())
      return wrong("the team has no memory for another executor of program '",
                   program->loaded->package.program, "' on rank ", rank,
                   ": expected it to be listed once more");
    if (Status status = state.transport().failure(); !status)
      return fail(CCN_ERROR_TEAM, status);
    auto made = std::make_unique<ccn_executor>();
    made->team = team->state;
    made->program = state.chosen[listed];
    made->rank = rank;
    made->describe();
    own.isUsed[listed] = true;
    Status status = agree(state, rank, listed);
    if (status)
      status = prepare(*made, device);
    if (!status)
      return fail(CCN_ERROR_TEAM, status);
    ++own.executors;
    *executor = made.release();
    return CCN_OK;
  });
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

ccn_status ccn_executor::run(void *const *arguments, size_t count, void *stream,
                             Scalars scalars) {
  RankCall call(*team, rank);
  if (!call)
    return RankCall::refuse(rank);
  if (Status status = check(arguments, count, scalars); !status)
    return fail(CCN_ERROR_ARGUMENT, status);
  if (cpu && stream)
    return wrong("expected no stream for a program on the CPU");
  std::span<void *const> given(arguments, count);
  Status status = cpu ? cpu->run(given)
                  : scalars == Scalars::OnHost
                      ? gpu->runValues(given, static_cast<GpuStream>(stream))
                      : gpu->run(given, static_cast<GpuStream>(stream));
  return status ? CCN_OK : fail(CCN_ERROR_TEAM, status);
}

ccn_status ccn_executor_run(ccn_executor *executor, void *const *arguments,
                            size_t count, void *stream) {
  return guarded([&] {
    return executor ? executor->run(arguments, count, stream, Scalars::Here)
                    : wrong("the executor is null");
  });
}

ccn_status ccn_executor_run_values(ccn_executor *executor,
                                   void *const *arguments, size_t count,
                                   void *stream) {
  return guarded([&] {
    return executor ? executor->run(arguments, count, stream, Scalars::OnHost)
                    : wrong("the executor is null");
  });
}

ccn_status ccn_executor_bind(ccn_executor *executor, void *const *arguments,
                             size_t count) {
  return guarded([&] {
    if (!executor)
      return wrong("the executor is null");
    RankCall call(*executor->team, executor->rank);
    if (!call)
      return RankCall::refuse(executor->rank);
    if (Status status = executor->check(arguments, count, Scalars::Bound);
        !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    // Arguments must be checked again after this.
    executor->known.clear();
    Status status = executor->gpu ? executor->gpu->bind({arguments, count})
                                  : executor->team->transport().failure();
    return status ? CCN_OK : fail(CCN_ERROR_TEAM, status);
  });
}

ccn_status ccn_executor_copies(const ccn_executor *executor, int index,
                               int *copies) {
  return guarded([&] {
    if (!executor || !copies)
      return wrong(executor ? "the place for the answer is null"
                            : "the executor is null");
    RankCall call(*executor->team, executor->rank);
    if (!call)
      return RankCall::refuse(executor->rank);
    if (Status status = executor->program->checkIndex(index); !status)
      return fail(CCN_ERROR_ARGUMENT, status);
    *copies = executor->gpu && executor->gpu->isCopied(index);
    return CCN_OK;
  });
}

ccn_status ccn_executor_synchronize(ccn_executor *executor, void *stream) {
  return guarded([&] {
    if (!executor)
      return wrong("the executor is null");
    RankCall call(*executor->team, executor->rank);
    if (!call)
      return RankCall::refuse(executor->rank);
    if (executor->cpu && stream)
      return wrong("expected no stream for a program on the CPU");
    Status status;
    if (executor->gpu)
      status = executor->gpu->synchronize(static_cast<GpuStream>(stream));
    // Even if this rank has nothing left to do, the team may have failed.
    if (status)
      status = executor->team->transport().failure();
    return status ? CCN_OK : fail(CCN_ERROR_TEAM, status);
  });
}

ccn_status ccn_executor_device(const ccn_executor *executor, int *device) {
  return guarded([&] {
    if (!executor || !device)
      return wrong(executor ? "the place for the device is null"
                            : "the executor is null");
    *device = executor->gpu ? executor->gpu->device() : -1;
    return CCN_OK;
  });
}

ccn_status ccn_executor_release(ccn_executor *executor) {
  return guarded([&] {
    if (!executor)
      return CCN_OK;
    std::shared_ptr<TeamState> team = executor->team;
    int rank = executor->rank;
    RankCall call(*team, rank);
    if (!call)
      return RankCall::refuse(rank);
    delete executor;
    --team->ranks[static_cast<size_t>(rank)].executors;
    return CCN_OK;
  });
}
