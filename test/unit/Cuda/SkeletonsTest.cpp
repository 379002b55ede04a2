//===- SkeletonsTest.cpp - Which skeletons do which parts -----------------===//

#include "codegen/gpu/skeletons/Skeletons.h"
#include "codegen/gpu/device/CudaSource.h"
#include "codegen/gpu/device/DeviceLibrary.h"
#include "codegen/gpu/map/LaunchMapper.h"
#include "codegen/gpu/map/MapKernels.h"
#include "test/unit/Cuda/PlanBuilder.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <regex>
#include <set>

using namespace ccn;
using namespace ccn::codegen;
using namespace ccn::test;

namespace {

/// Does all parts of a launch that begins with a barrier, with fewer threads
/// than others would have.
class WholeSkeleton : public KernelSkeleton {
public:
  size_t match(const LaunchMapper &launch, size_t part) const override {
    return part == 0 && isBarrier(launch.parts.front()) ? launch.parts.size()
                                                        : 0;
  }
  llvm::Expected<std::unique_ptr<SkeletonPlan>> map(LaunchMapper &launch,
                                                    size_t) const override {
    launch.kernel.properties.threads = 384;
    launch.needBlocks(5);
    launch.meetRanks();
    return std::make_unique<SkeletonPlan>(*this);
  }
  void require(const SkeletonPlan &, DeviceFiles &files) const override {
    files.add({"columns.cuh"});
  }
  llvm::Error emit(CudaPart &, const SkeletonPlan &) const override {
    return llvm::Error::success();
  }
  void print(llvm::raw_ostream &os, const SkeletonPlan &,
             unsigned) const override {
    os << "whole\n";
  }
};

std::string kernelsOf(const PlanBuilder &plan, Skeletons skeletons) {
  LoopKernels none({});
  auto mapped = mapKernels(plan.plan, none, skeletons, Target::anyGpu(),
                           Machine::of(Target::anyGpu()));
  if (!mapped)
    return llvm::toString(mapped.takeError());
  return printKernels(**mapped);
}

/// Two launches: ranks copy what others have between barriers; each copies.
PlanBuilder twoLaunches() {
  PlanBuilder plan(2);
  int place = plan.symmetric({64}), out = plan.privateBuffer({64});
  plan.barrier();
  for (int rank : {0, 1})
    plan.add(rank, copy(64, view(place, 0, 1 - rank), view(out)));
  plan.barrier();
  plan.launch();
  for (int rank : {0, 1})
    plan.add(rank, copy(64, view(out), view(place)));
  return plan;
}

} // namespace

TEST(Skeletons, ComposeAKernelOfItsParts) {
  std::string text = kernelsOf(twoLaunches(), allSkeletons());
  EXPECT_NE(text.find("    barrier at the edge\n    elements\n"
                      "      copy elements(64) width(4) fetched(16)\n"
                      "    barrier at the edge\n"),
            text.npos)
      << text;
}

// Who comes first in the list is asked first, and may take all of a launch.
TEST(Skeletons, MayBeAWholeKernel) {
  WholeSkeleton whole;
  std::vector<const KernelSkeleton *> skeletons = {&whole};
  llvm::append_range(skeletons, allSkeletons());
  std::string text = kernelsOf(twoLaunches(), skeletons);
  std::string kernel =
      "  kernel ranks(0-1) threads(384) blocks(5) blocks_wait ";
  EXPECT_NE(text.find(kernel + "ranks_wait transport(peers)\n    whole\n" +
                      kernel + "transport(messages)\n    whole\nlaunch 1"),
            text.npos)
      << text;
  // The other launch is not its.
  EXPECT_NE(text.find("copy elements(64)"), text.npos) << text;
  EXPECT_EQ(text.find("barrier"), text.npos) << text;
}

// What kernels need of the device's files is what their skeletons say.
TEST(Skeletons, BringTheFilesThatTheyNeed) {
  auto has = [](const PlanBuilder &plan, const char *file) {
    return emit(plan.plan)
               .textFor(runtime::KernelTransport::Peers)
               .find(std::string("//===- ") + file) != std::string::npos;
  };
  PlanBuilder plain(1);
  int in = plain.argument({64}), out = plain.argument({64});
  plain.add(0, copy(64, view(in), view(out)));
  EXPECT_TRUE(has(plain, "kernel.cuh"));
  for (const char *file :
       {"barriers.cuh", "combine.cuh", "exchange.cuh", "f16.cuh", "faults.cuh",
        "rows.cuh", "products.cuh", "schedules.cuh"})
    EXPECT_FALSE(has(plain, file)) << file;
  EXPECT_TRUE(has(twoLaunches(), "edges.cuh"));
  EXPECT_FALSE(has(twoLaunches(), "barriers.cuh"));
  PlanBuilder rows(1);
  in = rows.argument({99999 * 8}), out = rows.argument({99999 * 8});
  rows.add(0, throughScratch(99999, 8, {in, 0, {8, 1}}, {out, 0, {8, 1}}));
  EXPECT_TRUE(has(rows, "rows.cuh"));
  EXPECT_FALSE(has(rows, "exchange.cuh"));
}

// What a file of the library defines is known to be there, so that the file
// comes with it; and what it uses comes before.
TEST(Skeletons, TheLibraryKnowsItsFiles) {
  const std::regex definition(
      "^(?:template <.*> )?(?:__device__ inline [\\w<>, ]* \\**(\\w+)\\(|"
      "constexpr \\w+ (\\w+)\\(|(?:struct|class|enum class) (\\w+) [:{])");
  std::set<std::string> before;
  for (const LibraryFile &file : deviceLibrary()) {
    SCOPED_TRACE(file.file.str());
    llvm::SmallVector<llvm::StringRef> names, lines;
    file.names.split(names, ' ');
    llvm::StringRef text = cudaSource(file.file);
    ASSERT_FALSE(text.empty());
    text.split(lines, '\n');
    std::set<std::string> defined;
    for (llvm::StringRef line : lines) {
      std::string text = line.str();
      std::smatch found;
      if (std::regex_search(text, found, definition))
        for (size_t group : {1, 2, 3})
          if (found[group].matched)
            defined.insert(found[group]);
    }
    for (const std::string &name : defined) {
      // Overloads of a name may be in several files.
      bool isKnown = llvm::is_contained(names, name) || before.count(name);
      EXPECT_TRUE(isKnown || name == "toFloat") << name;
    }
    std::vector<llvm::StringRef> needed = deviceFilesFor(text, {});
    EXPECT_EQ(needed.back(), file.file);
    for (llvm::StringRef name : names)
      before.insert(name.str());
  }
}
