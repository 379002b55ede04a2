//===- NoGpu.cpp - The example without CUDA -------------------------------===//
//
// Built instead of OnGpu.cpp where CUDA's toolkit is not installed.
//
//===----------------------------------------------------------------------===//

#include "Training.h"

#include <cstdio>

ccn_status trainOnGpu(ccn_team *, const ccn_program *, const Training &,
                      RankState &) {
  std::fputs("built without CUDA's toolkit\n", stderr);
  return CCN_ERROR_MACHINE;
}
