//===- MakeSample.cpp - Writes packages made by hand ----------------------===//
//
//   ccn-sample-package FILE average RANKS COUNT [FUNCTION [FUNCTION]]
//   ccn-sample-package FILE variants|scattered RANKS COUNT
//   ccn-sample-package FILE diverging RANKS COUNT
//   ccn-sample-package FILE sleeper RANKS
//   ccn-sample-package FILE failing RANKS RANK
//   ccn-sample-package FILE gpu RANKS COUNT [lost|failing RANK]
//   ccn-sample-package FILE neighbour COUNT
//   ccn-sample-package FILE foreign target|feature|garbage
//
// A second function of average is that of a reference plan. With variants,
// number 1 adds wrongly, so that it is seen which one has run.
//
//===----------------------------------------------------------------------===//

#include "SamplePackages.h"

#include <cstdlib>
#include <iostream>

using namespace ccn;
using namespace ccn::runtime;

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  std::string kind = argv[2];
  Package package;
  if (kind == "average" && argc >= 5) {
    int ranks = std::atoi(argv[3]);
    int64_t count = std::atoll(argv[4]);
    package = average(ranks, count, argc > 5 ? argv[5] : "add_scaled");
    if (argc > 6) {
      package.schedule = "fused";
      package.reference = average(ranks, count, argv[6]).plan;
    }
  } else if (kind == "scattered" && argc >= 5) {
    package = scatteredAverage(std::atoi(argv[3]), std::atoll(argv[4]));
  } else if (kind == "variants" && argc >= 5) {
    int ranks = std::atoi(argv[3]);
    int64_t count = std::atoll(argv[4]);
    package = average(ranks, count);
    package.variant = "right";
    package.variants.push_back(
        {"wrong", "", average(ranks, count, "add_scaled_wrongly").plan, {}});
  } else if (kind == "diverging" && argc >= 5) {
    package = diverging(std::atoi(argv[3]), std::atoll(argv[4]));
  } else if (kind == "sleeper") {
    package = sleeper(std::atoi(argv[3]));
  } else if (kind == "failing" && argc >= 5) {
    package = failing(std::atoi(argv[3]), std::atoi(argv[4]));
  } else if (kind == "gpu" && argc >= 5) {
    int wrongRank = argc > 6 ? std::atoi(argv[6]) : -1;
    package = averageOnGpus(std::atoi(argv[3]), std::atoll(argv[4]), wrongRank,
                            argc > 5 && std::string(argv[5]) == "failing");
  } else if (kind == "neighbour") {
    package = neighbourOnGpus(std::atoll(argv[3]));
  } else if (kind == "foreign") {
    package = average(2, 4);
    std::string what = argv[3];
    if (what == "target")
      package.target = "sm_90a";
    else if (what == "feature")
      package.cpuFeatures = {"warp_drive"};
    else
      package.objectCode = "garbage";
  } else {
    return 2;
  }
  Status status = writePackage(argv[1], package);
  if (!status)
    std::cerr << status.message() << "\n";
  return status ? 0 : 1;
}
