//===- Skeletons.cpp - All skeletons --------------------------------------===//

#include "codegen/gpu/skeletons/Skeletons.h"

using namespace ccn;
using namespace ccn::codegen;

Skeletons codegen::allSkeletons() {
  static const KernelSkeleton *const all[] = {
      // Skeletons that execute several parts together come first.
      &pipelinesSkeleton(),
      &exchangedRowsSkeleton(),
      &flagsSkeleton(),
      &exchangesSkeleton(),
      &columnsSkeleton(),
      &productsSkeleton(),
      &rowsSkeleton(),
      &wholeProductsSkeleton(),
      &gatheredProductsSkeleton(),
      &scatteredProductsSkeleton(),
      &attentionSkeleton(),
  };
  return all;
}
