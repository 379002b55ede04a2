//===- ProgramTime.cpp - About how long a program takes -------------------===//

#include "lib/CostModel/ProgramTime.h"

#include "lib/CostModel/CostModel.h"

using namespace mlir;
using namespace ccn;

/// Microseconds of the products in an operation, of which a library runs those
/// that are in no region.
static double productUs(Operation *op, const MachineRates &rates) {
  MeshOp mesh = getMesh(op);
  double us = 0;
  op->walk([&](Operation *inner) {
    if (!isa<MatmulOp, Conv2dOp>(inner))
      return;
    auto result = cast<RankedTensorType>(inner->getResult(0).getType()),
         left = cast<RankedTensorType>(inner->getOperand(0).getType()),
         right = cast<RankedTensorType>(inner->getOperand(1).getType());
    auto elements = [&](RankedTensorType type) {
      return static_cast<double>(bytesOnRank(type, mesh)) /
             static_cast<double>(elementBytes(type.getElementType()));
    };
    // Each multiplication is of a row, a column and what they have in common:
    // M K, K N and M N are known.
    double flops = 2 * std::sqrt(elements(left) * elements(right) *
                                 elements(result));
    const auto &tflops = inner == op ? rates.libraryTflops : rates.kernelTflops;
    auto rate = tflops.find(elementTypeName(result.getElementType()));
    if (rate == tflops.end())
      rate = tflops.find("f32");
    us += flops / 1e6 /
          (isa<Conv2dOp>(inner) ? rates.convolutionTflops : rate->second);
  });
  return us;
}

static double usOf(Operation *op, const MachineRates &rates) {
  Traffic traffic = trafficOf(op);
  if (traffic.launches == 0)
    return 0;
  double us = std::max({traffic.memory / 1e3 / rates.readGBps,
                        traffic.received / 1e3 / rates.linkGBps,
                        productUs(op, rates)});
  return us + rates.graphLaunchUs +
         (communicatesAlong(op) ? 2 * rates.barrierUs + rates.linkUs : 0);
}

/// Of a pipeline.
static double usOf(OverlappedOp op, const MachineRates &rates) {
  double sum = 0, longest = 0;
  auto chunks = static_cast<double>(op.getChunks());
  for (Operation *stage : op.getStages()) {
    // Each chunk is a launch.
    double us = usOf(stage, rates) + (chunks - 1) * rates.graphLaunchUs;
    sum += us;
    longest = std::max(longest, us);
  }
  return longest + (sum - longest) / chunks + rates.eventUs * chunks;
}

double ccn::estimateUs(ProgramOp program, const MachineRates &rates) {
  double us = rates.runUs;
  for (Operation &op : program.getBody().front())
    if (auto overlapped = dyn_cast<OverlappedOp>(op))
      us += usOf(overlapped, rates);
    else
      us += usOf(&op, rates);
  return us;
}
