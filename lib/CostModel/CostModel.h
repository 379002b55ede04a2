//===- CostModel.h - What operations move -----------------------*- C++ -*-===//
//
// Counts the bytes that pass between ranks and through memory. Explanations of
// schedules and choices of layouts use these numbers. Times are elsewhere: they
// are measured, or predicted for a topology (CollectiveTime.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_COSTMODEL_COSTMODEL_H
#define CCN_LIB_COSTMODEL_COSTMODEL_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The bytes of the largest part of a tensor that any rank holds; saturates
/// instead of overflowing.
int64_t bytesOnRank(mlir::RankedTensorType type, MeshOp mesh);

/// The work of the busiest rank.
struct Traffic {
  /// Bytes that it receives from others.
  double received = 0;
  /// Bytes that it reads from and writes to its own memory.
  double memory = 0;
  /// Kernels and library calls that it launches.
  int64_t launches = 0;

  Traffic &operator+=(const Traffic &other) {
    received += other.received;
    memory += other.memory;
    launches += other.launches;
    return *this;
  }
};

/// The bytes that a rank receives in a collective of n ranks, with an algorithm
/// that moves as few bytes as possible. With B bytes that the rank holds
/// before: 2 (n - 1) / n * B for all_reduce, (n - 1) / n * B for reduce_scatter
/// and all_to_all, (n - 1) * B for all_gather and (at the root) gather. For
/// other collectives: the bytes that the rank holds afterwards.
double bytesReceived(mlir::Operation *collective);

/// The traffic of an operation. A region counts as one kernel, which reads each
/// value from outside once and writes each result once; an overlapped region
/// counts as the sum of its stages. Constants, slices, reshards and updates
/// cost nothing.
Traffic trafficOf(mlir::Operation *op);

/// The sum of the traffic of all operations of a program.
Traffic trafficOf(ProgramOp program);

/// Bytes in readable form, in powers of 1000, such as "1.5 MB".
std::string describeBytes(double bytes);

} // namespace ccn

#endif // CCN_LIB_COSTMODEL_COSTMODEL_H
