//===- SamplePackages.cpp - Packages made by hand -------------------------===//
//
// Plans as the compiler would make them.
//
//===----------------------------------------------------------------------===//

#include "SamplePackages.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

namespace ccn::runtime {

namespace {

Package empty(const std::string &program, int ranks) {
  Package package;
  package.compiler = "hand";
  package.program = program;
  package.objectCode = sampleObjectCode();
  package.plan.mesh = {{"dp", ranks}};
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  package.plan.groups = {all};
  return package;
}

Part rows(Loop loop) {
  int64_t count = loop.sizes.front();
  return RowsPart{count, {std::move(loop)}};
}

} // namespace

std::string sampleObjectCode() {
  std::ifstream file(CCN_SAMPLE_LOOPS, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Package everything() {
  Package package = empty("everything", 2);
  package.schedule = "fused";
  package.target = "cuda";
  package.objectCode = "object code";
  package.cpuFeatures = {"avx2", "fma"};
  View view{1, 2, {3, 4, INT64_MIN}, 5}, other{6, 7, {}, 8};
  Loop loop{"f",
            {1, 2},
            1,
            {{Access::LoadReduced, view, ElementType::BF16, 1, ReduceKind::Max},
             {Access::Index, other, ElementType::I64, 2, ReduceKind::Mean}},
            {{Access::StoreAll, view, ElementType::F8E4M3, 3, ReduceKind::Min},
             {Access::Scratch, other, ElementType::Bool, 4, ReduceKind::Prod}}};
  Launch first{"fused \"1\"\n\xc3\xa9", 1, {2, 3}, {}};
  first.parts = {RowsPart{7, {loop, loop}},
                 CopyPart{{1, 2}, view, other},
                 BarrierPart{1, 2},
                 SignalPart{1, 2},
                 AwaitPart{3, 4},
                 MatmulPart{{1, 2}, 3, 4, 5, view, other, view},
                 Conv2dPart{{1}, {2}, {3, 4}, 5, 6, view, other, view},
                 GatherRowsPart{1, 2, 3, view, other, view},
                 ScatterRowsPart{1, 2, 3, view, other, view, other},
                 ExchangePart{Exchange::Lamport, 1, ReduceKind::Prod, 2, 3, 4,
                              view, other, 5}};
  Launch second{"second", 2, {}, {SignalPart{5, 6}}};
  Placement placement{{1, 2}, {3, 4}};
  RankPlan rank{{{Memory::Symmetric, ElementType::F16, 10, 64},
                 {Memory::Private, ElementType::U64, 11, 128},
                 {Memory::Argument, ElementType::F32, 12, 1}},
                13,
                14,
                15,
                16,
                {first, second, first},
                {placement}};
  RankPlan another = rank;
  another.placements[0].offsets[0] = 9;
  package.plan.ranks = {rank, another};
  package.plan.mesh = {{"dp", 2}, {"tp", 1}};
  package.plan.arguments = {
      {"x",
       ArgumentKind::InOut,
       ElementType::F64,
       {2, 3},
       1,
       true,
       "f64[3] local",
       true},
      {"r", ArgumentKind::Result, ElementType::U8, {}, 2, false, "u8", false}};
  package.plan.groups = {{0, 1}, {}, {1}};
  ChunkSchedule schedule{"all_gather", 2, true, {}, {}};
  schedule.chunks = {{{0}, {0, 1}, 1, 2, 3}, {{1}, {}, 4, 5, 6}};
  schedule.steps = {{{0, 0, 1, TransferOp::Reduce, {0, 1}}},
                    {},
                    {{1, 1, 0, TransferOp::Stash, {}}}};
  package.plan.schedules = {schedule};
  package.plan.failures = {"division by zero at adam.ccn:7:3"};
  package.reference = package.plan;
  package.reference->ranks.pop_back();
  package.gpu =
      GpuProgram{{3, 1},
                 "// \xc3\xa9\n",
                 "// peers\n",
                 "// messages\n",
                 {{"f", 1, 2, 3, true, 4}, {"g", 5, 6, 7, false, 8, true, 9}},
                 1,
                 {{{1,
                    2,
                    3,
                    {4, 5},
                    {},
                    {{TensorMemory::Workspace,
                      6,
                      7,
                      8,
                      ElementType::BF16,
                      {9, 10},
                      {11, 12},
                      {13, 14},
                      15}}}},
                  {}},
                 6,
                 10,
                 {{7, 8, 9}},
                 {{1, {{{2, 3, true, 4, 5, 6, {7}, {8}}}, {}}, {9}}}};
  package.bounds = package.plan;
  package.bounds->arguments.clear();
  package.bounded = {3, 1};
  package.variant = "default";
  package.variants = {{"first", "", package.plan, package.gpu},
                      {"second", "fused", package.plan, package.gpu}};
  package.variants[0].plan.ranks[1].flags += 7;
  package.variants[0].gpu->source = "// first\n";
  package.variants[1].gpu->source = "// second\n";
  return package;
}

Package average(int ranks, int64_t count, const std::string &function) {
  Package package = empty("average", ranks);
  Plan &plan = package.plan;
  plan.arguments = {{"x",
                     ArgumentKind::Input,
                     ElementType::F32,
                     {ranks, count},
                     1,
                     false,
                     "f32[" + std::to_string(count) + "] local(dp)",
                     false},
                    {"y",
                     ArgumentKind::InOut,
                     ElementType::F32,
                     {count},
                     0,
                     true,
                     "f32[" + std::to_string(count) + "]",
                     false},
                    {"scale",
                     ArgumentKind::Input,
                     ElementType::F32,
                     {},
                     0,
                     true,
                     "f32",
                     false},
                    {"s",
                     ArgumentKind::Result,
                     ElementType::F32,
                     {count},
                     0,
                     false,
                     "f32[" + std::to_string(count) + "] sliced(0, dp)",
                     false}};
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t width = (count + ranks - 1) / ranks;
    int64_t begin = std::min(count, rank * width);
    int64_t size = std::min(count - begin, width);
    RankPlan own;
    own.buffers = {{Memory::Argument, ElementType::F32, count, 0},
                   {Memory::Argument, ElementType::F32, count, 1},
                   {Memory::Argument, ElementType::F32, 1, 2},
                   {Memory::Argument, ElementType::F32, size, 3},
                   {Memory::Symmetric, ElementType::F32, count, 0}};
    own.symmetricBytes = (count * 4 + 63) / 64 * 64;
    own.flags = 2 * ranks;
    own.placements = {
        {{rank, 0}, {1, count}}, {{0}, {count}}, {{}, {}}, {{begin}, {size}}};
    LoopOperand y{Access::Load, {1, 0, {1}, -1}, ElementType::F32, -1, {}};
    LoopOperand scale{Access::Load, {2, 0, {0}, -1}, ElementType::F32, -1, {}};
    LoopOperand sum{
        Access::LoadReduced, {4, 0, {1}, -1}, ElementType::F32, 0, {}};
    LoopOperand out{Access::Store, {1, 0, {1}, -1}, ElementType::F32, -1, {}};
    own.launches = {{"publish",
                     0,
                     {},
                     {CopyPart{{count}, {0, 0, {1}, -1}, {4, 0, {1}, -1}},
                      BarrierPart{0, 0}}},
                    {"all_reduce + update", 0, {}, {}},
                    {"slice",
                     0,
                     {},
                     {CopyPart{{size}, {1, begin, {1}, -1}, {3, 0, {1}, -1}}}}};
    own.launches[1].parts = {
        rows({function, {count}, 0, {y, scale, sum}, {out}}),
        BarrierPart{0, ranks}};
    plan.ranks.push_back(own);
  }
  return package;
}

Package scatteredAverage(int ranks, int64_t count) {
  Package package = average(ranks, count);
  package.plan.arguments[1].scattered = true;
  return package;
}

Package averageOnGpus(int ranks, int64_t count, int wrongRank, bool doesFail) {
  Package package = average(ranks, count);
  package.target = "cuda";
  package.plan.failures = {"division by zero at sample.ccn:7:3"};
  GpuProgram &gpu = package.gpu.emplace();
  for (const char *path : {CCN_GPU_ABI, CCN_SAMPLE_KERNELS}) {
    std::ifstream file(path);
    gpu.source += std::string(std::istreambuf_iterator<char>(file), {});
  }
  gpu.kernels = {{"publish", 256, 0, 0, true, 3},
                 {"update", 256, 0, 0, true, 3},
                 {"slice", 128, 0, 0, false, 3}};
  gpu.symmetricBytes = package.plan.ranks[0].symmetricBytes;
  gpu.flags = package.plan.ranks[0].flags;
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlan &own = package.plan.ranks[static_cast<size_t>(rank)];
    own.streams = 2;
    own.launches[2].stream = 1;
    own.launches[2].waits = {1};
    int64_t begin = own.placements[3].offsets[0];
    int64_t size = own.placements[3].sizes[0];
    int64_t wrong = rank != wrongRank ? 0 : doesFail ? 2 : 1;
    gpu.launches.push_back({{0, (count + 255) / 256, 0, {count, ranks, wrong}},
                            {1, (count + 255) / 256, 0, {count, ranks, wrong}},
                            {2, (size + 127) / 128, 0, {begin, size, 0}}});
  }
  gpu.segments = {{1, {{}, {}}, {}}, {1, {{}, {}}, {}}, {1, {{}, {}}, {1}}};
  // What all have published all read.
  for (int from = 0; from < ranks && count > 0; ++from)
    for (int to = 0; to < ranks; ++to)
      if (from != to)
        gpu.segments[1].messages[0].push_back(
            {from, to, false, -1, 0, count * 4, {}, {}});
  return package;
}

Package pipelineOnGpus(int ranks, int stages, int chunks, int group) {
  const int launches = stages * chunks;
  Package package = averageOnGpus(ranks, launches);
  GpuProgram &gpu = *package.gpu;
  gpu.kernels = {{"count", 128, 0, 0, true, 3}};
  gpu.flags = launches * ranks;
  gpu.launches.assign(static_cast<size_t>(ranks), {});
  gpu.segments.assign(static_cast<size_t>(launches), {1, {{}, {}}, {}});
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlan &own = package.plan.ranks[static_cast<size_t>(rank)];
    own.flags = gpu.flags;
    own.streams = stages;
    own.launches.clear();
    for (int number = 0; number < launches; ++number) {
      int stage = number % stages;
      int64_t flags = number * ranks;
      std::vector<int> waits;
      if (stage > 0)
        waits.push_back(number - 1);
      own.launches.push_back({"stage " + std::to_string(stage),
                              stage,
                              waits,
                              {BarrierPart{0, flags}}});
      gpu.launches[static_cast<size_t>(rank)].push_back(
          {0, 1, 0, {number, group ? group : ranks, flags}});
    }
  }
  return package;
}

Package neighbourOnGpus(int64_t count) {
  constexpr int ranks = 2;
  Package package = averageOnGpus(ranks, count);
  Plan &plan = package.plan;
  plan.arguments.resize(2);
  plan.arguments[1] = plan.arguments[0];
  plan.arguments[1].name = "y";
  plan.arguments[1].kind = ArgumentKind::Result;
  GpuProgram &gpu = *package.gpu;
  gpu.kernels = {{"neighbour", 128, 0, 0, true, 3}};
  gpu.sharedArguments = {0};
  gpu.symmetricBytes = 0;
  gpu.flags = 2 * ranks;
  gpu.launches.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlan &own = plan.ranks[static_cast<size_t>(rank)];
    own.streams = 1;
    own.symmetricBytes = 0;
    own.buffers.resize(2);
    own.placements = {{{rank, 0}, {1, count}}, {{rank, 0}, {1, count}}};
    own.launches = {
        {"neighbour", 0, {}, {BarrierPart{0, 0}, BarrierPart{0, ranks}}}};
    gpu.launches.push_back({{0, 8, 0, {count, ranks, 0}}});
  }
  gpu.segments = {{1, {{}, {}}, {}}};
  for (int rank = 0; rank < ranks; ++rank)
    gpu.segments[0].messages[0].push_back(
        {(rank + 1) % ranks, rank, false, 0, 0, count * 4, {}, {}});
  return package;
}

Package boxesOnGpus(int64_t rows, int64_t columns, int64_t row,
                    int64_t column) {
  Package package = empty("boxes", 1);
  package.target = "cuda";
  Plan &plan = package.plan;
  GpuProgram &gpu = package.gpu.emplace();
  for (const char *path : {CCN_GPU_ABI, CCN_SAMPLE_BOXES}) {
    std::ifstream file(path);
    gpu.source += std::string(std::istreambuf_iterator<char>(file), {});
  }
  constexpr int64_t boxRows = 8, boxColumns = 32, boxBytes = 1024;
  gpu.kernels = {{"box", 32, boxBytes, 0, false, 3}};
  gpu.kernels.front().tensorMaps = 2;
  gpu.segments = {{1, {{}, {}}, {}}, {1, {{}, {}}, {}}};
  gpu.launches.resize(1);
  RankPlan own;
  for (const char *name : {"x", "y", "u", "v"}) {
    auto number = static_cast<int64_t>(own.buffers.size());
    plan.arguments.push_back({name,
                              ArgumentKind::InOut,
                              ElementType::F32,
                              {rows, columns},
                              0,
                              true,
                              "f32",
                              false});
    own.buffers.push_back(
        {Memory::Argument, ElementType::F32, rows * columns, number});
    own.placements.push_back({{0, 0}, {rows, columns}});
  }
  for (int from : {0, 2}) {
    own.launches.push_back({from == 0 ? "first" : "second", 0, {}, {}});
    GpuLaunch &launch = gpu.launches[0].emplace_back();
    launch.numbers = {column, row, boxBytes};
    for (int buffer : {from, from + 1})
      launch.tensorMaps.push_back({TensorMemory::Buffer,
                                   buffer,
                                   -1,
                                   0,
                                   ElementType::F32,
                                   {rows, columns},
                                   {columns, 1},
                                   {boxRows, boxColumns},
                                   128});
  }
  plan.ranks = {own};
  return package;
}

Package sleeper(int ranks) {
  Package package = empty("sleeper", ranks);
  Plan &plan = package.plan;
  plan.arguments = {{"seconds",
                     ArgumentKind::InOut,
                     ElementType::F32,
                     {ranks, 1},
                     1,
                     false,
                     "f32[1] local(dp)",
                     false}};
  for (int rank = 0; rank < ranks; ++rank) {
    RankPlan own;
    own.buffers = {{Memory::Argument, ElementType::F32, 1, 0}};
    own.flags = ranks;
    own.placements = {{{rank, 0}, {1, 1}}};
    LoopOperand in{Access::Load, {0, 0, {1}, -1}, ElementType::F32, -1, {}};
    LoopOperand out{Access::Store, {0, 0, {1}, -1}, ElementType::F32, -1, {}};
    Part sleep = rows({"sleep_for", {1}, 0, {in}, {out}});
    own.launches = {{"sleep", 0, {}, {sleep}},
                    {"meet", 0, {}, {BarrierPart{0, 0}}},
                    {"sleep again", 0, {}, {sleep}}};
    plan.ranks.push_back(own);
  }
  return package;
}

Package diverging(int ranks, int64_t count) {
  Package package = average(ranks, count);
  RankPlan &last = package.plan.ranks.back();
  std::get<RowsPart>(last.launches[1].parts[0]).loops[0].function =
      "add_scaled_wrongly";
  return package;
}

Package failing(int ranks, int failingRank) {
  Package package = sleeper(ranks);
  package.program = "failing";
  package.plan.failures = {"division by zero at sample.ccn:7:3"};
  RankPlan &rank = package.plan.ranks[static_cast<size_t>(failingRank)];
  std::get<RowsPart>(rank.launches[0].parts[0]).loops[0].function =
      "divide_by_zero";
  return package;
}

} // namespace ccn::runtime
