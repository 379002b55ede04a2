//===- ProgramTime.cpp - About how long a program takes -------------------===//

#include "lib/CostModel/ProgramTime.h"

#include "dialect/ccn/Placement.h"
#include "lib/CostModel/CostModel.h"

#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace ccn;

/// How many products an element of the result sums on a rank: a row of the left
/// operand with a column of the right one, or a filter. An operand that is
/// replicated is sliced for free as the other is.
static double summed(RankedTensorType left, RankedTensorType right, MeshOp mesh,
                     bool isConvolution) {
  TensorPart a = partOf(left, mesh, /*rank=*/0),
             b = partOf(right, mesh, /*rank=*/0);
  auto least = [](SliceBounds x, SliceBounds y) {
    return static_cast<double>(std::min(x.size, y.size));
  };
  if (isConvolution)
    return least(a[1], b[1]) * static_cast<double>(b[2].size) *
           static_cast<double>(b[3].size);
  return least(a.back(), b[b.size() - 2]);
}

/// Whether a product runs about as fast as a library's: those that are in no
/// region do, and those of attention on tensor cores.
static bool isFast(Operation *product) {
  auto kernel = dyn_cast<FusedOp>(product->getParentOp());
  if (!kernel)
    return !isa<OverlappedOp>(product->getParentOp());
  Type type = getElementTypeOrSelf(product->getResult(0).getType());
  return kernel.getSkeleton() == Skeleton::attention && type.isFloat(16);
}

/// Microseconds of the products in an operation.
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
    double flops =
        2 * elements(result) * summed(left, right, mesh, isa<Conv2dOp>(inner));
    const auto &tflops =
        isFast(inner) ? rates.libraryTflops : rates.kernelTflops;
    auto rate = tflops.find(elementTypeName(result.getElementType()));
    if (rate == tflops.end())
      rate = tflops.find("f32");
    us += flops / 1e6 /
          (isa<Conv2dOp>(inner) ? rates.convolutionTflops : rate->second);
  });
  return us;
}

/// Of a launch: what depends on its size, and what does not.
struct LaunchTime {
  double work = 0, fixed = 0;
};

/// With how many ranks an operation communicates, and how many of these are on
/// other nodes.
static std::pair<int64_t, int64_t> countOthers(Operation *op,
                                               const MachineRates &rates) {
  llvm::SetVector<StringAttr> axes;
  op->walk([&](CollectiveOpInterface collective) {
    axes.insert_range(collective.getMeshAxes().getNames());
  });
  if (axes.empty())
    return {0, 0};
  SmallVector<int64_t> group =
      getMesh(op).getGroup(/*rank=*/0, axes.getArrayRef());
  return {static_cast<int64_t>(group.size()) - 1,
          llvm::count_if(group,
                         [&](int64_t rank) { return rates.isFar(0, rank); })};
}

static LaunchTime timeOf(Operation *op, const MachineRates &rates) {
  Traffic traffic = trafficOf(op);
  if (traffic.launches == 0)
    return {};
  double links = traffic.received / 1e3 / rates.linkGBps, flags = 0;
  if (communicatesAlong(op)) {
    flags = 2 * rates.barrierUs + rates.linkUs;
    auto [others, far] = countOthers(op, rates);
    if (far > 0) {
      double part = static_cast<double>(far) / static_cast<double>(others);
      links = std::max(links * (1 - part),
                       part * traffic.received / 1e3 / rates.node->networkGBps);
      flags += 2 * (rates.node->networkUs +
                    static_cast<double>(far) * rates.node->messageUs);
    }
  }
  return {std::max({traffic.memory / 1e3 / rates.readGBps, links,
                    productUs(op, rates)}),
          rates.graphLaunchUs + flags};
}

/// Of a pipeline, which runs as fast as its slowest stage once it is filled.
static double usOf(OverlappedOp op, const MachineRates &rates) {
  auto chunks = static_cast<double>(op.getChunks());
  double first = 0, slowest = 0;
  for (Operation *stage : op.getStages()) {
    LaunchTime time = timeOf(stage, rates);
    double us = time.work / chunks + time.fixed + rates.eventUs;
    first += us;
    slowest = std::max(slowest, us);
  }
  return first + (chunks - 1) * slowest;
}

double ccn::estimateUs(ProgramOp program, const MachineRates &rates) {
  double us = rates.runUs;
  for (Operation &op : program.getBody().front())
    if (auto overlapped = dyn_cast<OverlappedOp>(op)) {
      us += usOf(overlapped, rates);
    } else {
      LaunchTime time = timeOf(&op, rates);
      us += time.work + time.fixed;
    }
  return us;
}
