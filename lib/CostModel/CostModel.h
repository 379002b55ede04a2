//===- CostModel.h - What operations move -----------------------*- C++ -*-===//
//
// Bytes that pass between ranks and through memory: the measure by which
// schedules are explained and layouts chosen. Times are not here: they are
// measured, or predicted for a topology (CollectiveTime.h).
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_COSTMODEL_COSTMODEL_H
#define CCN_LIB_COSTMODEL_COSTMODEL_H

#include "dialect/ccn/Ccn.h"

namespace ccn {

/// The bytes of the largest part of a tensor that a rank holds. Saturates.
int64_t bytesOnRank(mlir::RankedTensorType type, MeshOp mesh);

/// What the busiest rank does.
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

/// The bytes that a rank receives in a collective of n ranks by an algorithm
/// that moves as few as possible: of B bytes that it holds before, 2 (n - 1) /
/// n * B for all_reduce, (n - 1) / n * B for reduce_scatter and all_to_all, (n
/// - 1) * B for all_gather and, at its root, gather; what it ends with for the
/// others.
double bytesReceived(mlir::Operation *collective);

/// The traffic of an operation, or of a region as one kernel (of an overlapped
/// region, of its stages): what it reads from outside and leaves there, each
/// value once. Constants, slices and stores cost nothing.
Traffic trafficOf(mlir::Operation *op);

/// The sum over a program.
Traffic trafficOf(ProgramOp program);

/// "1.5 MB": bytes for people, in powers of 1000.
std::string describeBytes(double bytes);

} // namespace ccn

#endif // CCN_LIB_COSTMODEL_COSTMODEL_H
