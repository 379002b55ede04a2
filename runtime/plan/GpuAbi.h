//===- GpuAbi.h - What the host passes to generated kernels -----*- C++ -*-===//
//
// Shared by the executor and by the generated CUDA C++, in which this file is
// pasted: plain structures, no includes.
//
// A kernel has three or four parameters by value: a CcnContext; an array of the
// addresses of the plan's arguments and then, for each argument that ranks
// access of each other, of every rank's, as this device sees it; and an array
// of its numbers (what differs between the launches that share the kernel). The
// arrays have at least one element. A kernel that accesses tensors by
// asynchronous copies of boxes gets their tensor maps as a fourth parameter, an
// array of CcnTensorMap:
//
//   extern "C" __global__ void kernel0(
//       const __grid_constant__ CcnContext c,
//       const __grid_constant__ Pointers<3> a,
//       const __grid_constant__ Numbers<1> n,
//       const __grid_constant__ TensorMaps<2> t)
//
// `&t.at[i]` is the generic address that instructions get. Each launch gets the
// maps of its arguments' addresses in its parameters, which the host has
// written before, so that no fence is needed; a captured graph keeps them as it
// keeps the addresses.
//
// The address of a scattered argument is that of a table of 64-bit words: how
// many pieces there are; of each two words, its first element and its address;
// and the number of all elements. None is empty. The tables of ranks that are
// accessed together have the same pieces, in different places.
//
// The kernel that writes a table has its place as `workspace`, and as numbers
// how many words, from which word on, and the words.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_GPUABI_H
#define CCN_RUNTIME_GPUABI_H

/// The most ranks whose memory a kernel can address.
#define CCN_MAX_RANKS 16
/// The most blocks of a kernel whose blocks wait for each other or for other
/// ranks.
#define CCN_MAX_BLOCKS 512
/// The threads of a cluster of 2, 4 or 8 blocks that share rows, in all.
#define CCN_CLUSTER_THREADS 1024
/// The most signals of one kernel.
#define CCN_MAX_SIGNALS 64

enum CcnFaultKind {
  CCN_NO_FAULT = 0,
  /// A flag of `peer` did not reach `expected` within the time limit.
  CCN_TIMED_OUT = 1,
  /// Something could not be computed: `code` is 1 + the index in
  /// Plan::failures, or negative: -1 is an index outside of a table.
  CCN_FAILED = 2,
  /// The host asked to stop.
  CCN_STOPPED = 3,
};

/// What an action of a schedule does; schedules.cuh says what its other numbers
/// are.
enum CcnScheduleAction {
  /// Waits for a slot of the own.
  CCN_AWAIT_SLOT = 0,
  /// Forms a sum in a slot of the peer.
  CCN_SEND_SUM = 1,
  /// Forms a sum in the output.
  CCN_STORE_SUM = 2,
  /// Waits until the peer's slots may be written again.
  CCN_AWAIT_FREE = 3,
  /// Tells the peer so of the own.
  CCN_TELL_FREE = 4,
  CCN_END_OF_SCHEDULE = 5,
  /// Forms a sum of some contributions in a slot of the peer, in the type in
  /// which elements accumulate.
  CCN_SEND_PARTIAL = 6,
};

/// Where a part of a sum is.
enum CcnSchedulePart {
  CCN_INPUT_PART = 0,
  /// In a slot of the own, in the type of the elements, or as
  /// CCN_SEND_PARTIAL has left it.
  CCN_SLOT_PART = 1,
  CCN_PARTIAL_PART = 2,
};

/// In host memory that the device can access; the first fault stays.
struct CcnFault {
  /// A CcnFaultKind; set last.
  unsigned kind;
  /// The launch's number in the plan.
  int launch;
  int peer;
  int code;
  /// What was waited for: the flag's number, and the epochs, or of a pipeline
  /// the numbers of steps of all runs.
  unsigned flag, expected, seen;
};

/// Device memory of one launch of one rank; zero before the first run. Nothing
/// is ever reset, so a captured graph can be replayed.
struct CcnControl {
  /// The kind of the fault that has been reported; 0 as long as there is none.
  unsigned faulted;
  /// Of barriers between all blocks.
  unsigned arrived;
  /// How many blocks have come to each signal, in all runs.
  unsigned signals[CCN_MAX_SIGNALS];
  /// The number of the last run, by block.
  unsigned long long epochs[CCN_MAX_BLOCKS];
};

/// What the driver makes of a GpuTensorMap (GpuProgram.h): its CUtensorMap. The
/// map of a tensor without elements is zeros, and must not be used.
struct alignas(128) CcnTensorMap {
  unsigned long long words[16];
};

struct CcnContext {
  /// Each rank's symmetric memory as this device sees it, by rank.
  unsigned char *symmetric[CCN_MAX_RANKS];
  /// Where in it the flags are: flag f of block b is the 32-bit word
  /// f * CCN_MAX_BLOCKS + b.
  unsigned long long flags;
  unsigned char *privateMemory;
  /// Of this launch: GpuLaunch::workspaceBytes, then GpuKernel::blockBytes for
  /// each block.
  unsigned char *workspace;
  CcnControl *control;
  CcnFault *fault;
  /// In host memory; not zero asks kernels to stop.
  const volatile unsigned *stop;
  /// In nanoseconds.
  unsigned long long timeLimit;
  int rank;
  /// The launch's number in the plan.
  int launch;
  /// 2 to the power of it blocks, one after the other, are a cluster.
  int clusterBits;
  /// For kernels of messages (GpuProgram.h), the one of GpuProgram::segments to
  /// do: what is another rank's in `symmetric` is a copy in the own memory, and
  /// nothing waits for other ranks. -1 for others, which do everything.
  int segment;
  /// Not zero: the launch's first part is a product of matrices, and done.
  int hasProduct;
};

#endif // CCN_RUNTIME_GPUABI_H
