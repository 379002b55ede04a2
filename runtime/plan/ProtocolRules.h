//===- ProtocolRules.h - What all forms of a protocol share -----*- C++ -*-===//
//
// The numbers and conditions of Protocols.h that the kernels of GPUs have too,
// in whose text this file is pasted after GpuAbi.h: no includes. What the model
// checker, the threads of the CPU, the emulator and GPUs run is this.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PROTOCOLRULES_H
#define CCN_RUNTIME_PROTOCOLRULES_H

/// How many buffers each protocol takes in turn: LL's and Lamport's exchanges,
/// and the slots of synthesized schedules, whose sender may be a run less ahead
/// of the receiver.
#define CCN_LL_BUFFERS 2
#define CCN_LAMPORT_BUFFERS 3
#define CCN_SCHEDULE_BUFFERS 2

/// Whether a flag holds `wanted` or a later epoch. Both wrap around; before the
/// first epoch all have been reached.
constexpr bool ccnReached(unsigned seen, unsigned wanted) {
  return static_cast<int>(seen - wanted) >= 0;
}

/// Which of `buffers` buffers is an epoch's.
constexpr unsigned ccnBufferOf(unsigned long long epoch, unsigned buffers) {
  return static_cast<unsigned>(epoch % buffers);
}

/// What the readers of a buffer must have done before it is written in `epoch`.
constexpr unsigned ccnEpochBefore(unsigned long long epoch, unsigned buffers) {
  return static_cast<unsigned>(epoch - buffers);
}

/// The buffer of the epoch before that of `buffer`. Lamport's exchange clears
/// it: of three, nobody writes it before all have finished this epoch.
constexpr unsigned ccnBufferBefore(unsigned buffer, unsigned buffers) {
  return (buffer + buffers - 1) % buffers;
}

#endif // CCN_RUNTIME_PROTOCOLRULES_H
