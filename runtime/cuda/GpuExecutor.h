//===- GpuExecutor.h - Executes plans on GPUs -------------------*- C++ -*-===//
//
// The counterpart of PlanExecutor for GPUs: runs the plan of one rank, on one
// device, with the kernels of its program. Ranks are threads or processes,
// which access each other's memory on one host, and send messages between
// several.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_CUDA_GPUEXECUTOR_H
#define CCN_RUNTIME_CUDA_GPUEXECUTOR_H

#include "runtime/base/Environment.h"
#include "runtime/plan/GpuProgram.h"
#include "runtime/plan/TraceSink.h"
#include "runtime/team/Transport.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

/// A stream of CUDA, as cuda.h declares it.
struct CUstream_st;

namespace ccn::runtime {

using GpuStream = CUstream_st *;

struct GpuExecutorOptions {
  /// How long to wait for another rank at a time, in seconds.
  double timeLimit = 60;
  /// How many executors of a rank may have runs in progress on its device at
  /// once, this one included. Each has that part of the device for kernels that
  /// wait for other ranks: all blocks of all of them must be there at once.
  int runsAtOnce = 1;
  /// `device` is the device's number in this process. Without it, ranks are
  /// assigned to devices in turn, by `localRank`, their number among the ranks
  /// of this host, if it is given.
  std::optional<int> device, localRank;
  /// Bytes of the device that the caller will take itself, for which there must
  /// be room too.
  int64_t callerBytes = 0;
  /// What computes the products of matrices of f16, bf16 and f64 that are
  /// launches of their own: cuBLASLt if all ranks have it and the strides and
  /// addresses (multiples of 16 bytes) allow, else kernels of the program,
  /// which add in another order. So addresses should be aligned alike on all
  /// ranks. Kernels compute all other products. An error if the library is
  /// asked for and not there.
  ProductChoice products = ProductChoice::Auto;
  /// How ranks reach each other's memory; the same on all ranks.
  GpuTransport transport = GpuTransport::Auto;
  /// Gets what ran when, for the last run before each synchronize(). Tracing
  /// makes runs somewhat slower.
  TraceSink *trace = nullptr;
};

/// Compiles the kernels of programs that executors will run, several at once:
/// those of messages if the transport is NCCL's, else those of peers. Errors
/// are left for the executors to report.
void compileAhead(std::span<const GpuProgram *const> programs,
                  GpuTransport transport);

/// The bytes of the transport's memory, per rank, that the executors of a plan
/// allocate in all: it carries addresses, never the program's data.
int64_t gpuTransportBytes(const Plan &plan);

class GpuExecutor {
public:
  /// Prepares the plan of `rank`: checks plan and program, compiles the kernels
  /// or takes them from the cache, takes all memory of the device that runs
  /// need. All ranks of the team call this, with the same plan and in the same
  /// order if there are several; each may wait for the others. `transport` and
  /// what `options` points to outlive the executor; plan and program need not.
  /// An error fails the team.
  static Result<std::unique_ptr<GpuExecutor>>
  create(const Plan &plan, const GpuProgram &program, int rank,
         Transport &transport, const GpuExecutorOptions &options);

  /// Waits for this rank's last run and then for the other ranks to come to
  /// their end, as they still use this rank's memory. If the team has failed it
  /// does so for seconds only; memory that may still be in use is kept then.
  /// Graphs that were captured must have ended; where ranks send messages they
  /// must have been destroyed.
  ~GpuExecutor();
  GpuExecutor(const GpuExecutor &) = delete;
  GpuExecutor &operator=(const GpuExecutor &) = delete;

  /// Lets the other ranks access arguments where the caller has them; else runs
  /// copy what others access. All ranks call this at the same point, with
  /// addresses in memory that stays until the executor is destroyed or bind has
  /// been called again. Graphs that were captured must have ended before that.
  /// Null for a value is the place where runValues puts it. Waits for this
  /// rank's runs. Runs still copy what other ranks cannot access
  /// (GpuTeam::shareIfPossible), and scattered arguments whose pieces have
  /// other sizes on other ranks. Runs may still be given other addresses.
  Status bind(std::span<void *const> arguments);

  /// Starts the plan once, as all ranks do, on `stream`, which is of this
  /// rank's device. `arguments` are addresses in its memory, as
  /// PlanExecutor::run has them. Allocates nothing and does not wait, unless
  /// ranks of this process share the device and one is hundreds of launches
  /// ahead; the stream may be capturing a graph, which can be run any number of
  /// times, as often on each rank. An error is the team's failure.
  Status run(std::span<void *const> arguments, GpuStream stream);

  /// The same, but arguments for which isValue (Plan.h) holds are in host
  /// memory, and have been read when this returns: the stream writes their
  /// values into memory of the executor. A graph that is captured keeps the
  /// values.
  Status runValues(std::span<void *const> arguments, GpuStream stream);

  /// Waits until all in `stream` is done. An error is the team's failure: what
  /// a kernel reports, that another rank has failed or ended, CUDA's. After
  /// one, every run fails.
  Status synchronize(GpuStream stream);

  /// Whether a run may have these arguments after what was bound. A run that
  /// has other addresses uses the bound memory for its copies, so its own
  /// arguments must not overlap that.
  Status checkRun(std::span<void *const> arguments) const;

  /// Whether runs copy an argument, even if they are given what was bound.
  bool isCopied(int argument) const;

  /// The rank's device, by the number that this process gives it.
  int device() const;
  /// The blocks of a launch.
  int64_t blocks(int launch) const;

private:
  friend class GpuRuns;
  struct State;

  explicit GpuExecutor(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace ccn::runtime

#endif // CCN_RUNTIME_CUDA_GPUEXECUTOR_H
