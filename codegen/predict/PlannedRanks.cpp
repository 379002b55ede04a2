//===- PlannedRanks.cpp - Ranks that stand for others ---------------------===//

#include "codegen/predict/PlannedRanks.h"

#include "lib/Plan/RankClasses.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace ccn;
using namespace ccn::codegen;

PlannedRanks::PlannedRanks(std::vector<int64_t> exported, size_t planned,
                           MeshOp mesh)
    : ranks(std::move(exported)), counts(planned) {
  auto own = llvm::ArrayRef(ranks).take_front(planned);
  plan::RankClasses classes = plan::RankClasses::of(mesh, own);
  std::map<int64_t, int> numbers;
  for (auto [number, rank] : llvm::enumerate(own))
    numbers[rank] = static_cast<int>(number);
  for (int64_t rank : ranks) {
    likes.push_back(numbers.at(classes.representativeOf(rank)));
    ++counts[static_cast<size_t>(likes.back())];
  }
}
