//===- NoGpu.cpp - The example without CUDA -------------------------------===//
//
// Built instead of OnGpu.cpp where CUDA's toolkit is not installed.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <stdexcept>

void trainOnGpu(ccn::Rank &, const ccn::Program &, const Training &,
                RankState &) {
  throw std::runtime_error("the example was built without CUDA's toolkit");
}
