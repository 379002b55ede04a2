//===- DeviceLibrary.cpp - The device files that code needs ---------------===//

#include "codegen/gpu/device/DeviceLibrary.h"

#include "codegen/gpu/device/CudaSource.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cassert>

using namespace ccn;
using namespace ccn::codegen;
using llvm::ArrayRef;
using llvm::StringRef;

ArrayRef<LibraryFile> codegen::deviceLibrary() {
  static const LibraryFile library[] = {
      {"ProtocolRules.h",
       "ccnReached ccnBufferOf ccnEpochBefore ccnBufferBefore CCN_LL_BUFFERS "
       "CCN_LAMPORT_BUFFERS CCN_SCHEDULE_BUFFERS"},
      {"faults.cuh",
       "loadAcquireOwn nanoseconds endThread report fail Patience"},
      {"groups.cuh", "Group"},
      {"runs.cuh", "beginRun endRun"},
      {"flags.cuh", "loadAcquire storeRelease flagOf awaitFlag"},
      {"clusters.cuh",
       "arriveInCluster awaitCluster sharedOfBlock clusterInGrid "
       "clustersInGrid blockInCluster blocksInCluster elementsOfBlock "
       "beginCluster openCluster clusterBarrier"},
      {"barriers.cuh", "barrierBit gatherBlocks gridBarrier"},
      {"edges.cuh", "tellMembers awaitMembers meet edgeBarrier"},
      {"meetings.cuh", "groupBarrier"},
      {"chunks.cuh", "Chunks"},
      {"steps.cuh", "tellStep awaitStep"},
      {"signals.cuh", "signal await"},
      {"patterns.cuh", "asBits asFloat asDouble"},
      {"narrow.cuh", "toHalf roundToOdd ComputeNarrow"},
      {"compute.cuh", "Compute Accumulate"},
      {"f16.cuh", "f16 bf16 decodeF16 encodeF16 encodeBF16"},
      {"f8.cuh", "f8e4m3 f8e5m2 FloatFormat FormatOf decodeNarrow "
                 "encodeNarrow"},
      {"extremes.cuh", "IsFloat minimum maximum"},
      {"divisions.cuh", "quotient reciprocal"},
      {"activations.cuh", "sigmoid silu gelu"},
      {"combine.cuh", "Kind Wrapping add multiply combine finish"},
      {"vectors.cuh", "loadSome storeSome combineAll"},
      {"rows.cuh", "LanesTeam ThreadTeam WarpTeam BlockTeam prefetchRow"},
      {"sums.cuh", "Reduction infinity Sum1 shuffleXor mergeLanes merge"},
      {"cluster_rows.cuh", "ClusterTeam"},
  };
  return library;
}

/// Adds the names that occur in a text, but for its comments and strings.
static void addNames(llvm::StringSet<> &names, StringRef text) {
  auto isOfName = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n'; });
    } else if (text.front() == '"') {
      text = text.drop_front().drop_until([](char c) { return c == '"'; });
      text = text.drop_front(!text.empty());
    } else if (isOfName(text.front())) {
      StringRef name = text.take_while(isOfName);
      names.insert(name);
      text = text.drop_front(name.size());
    } else {
      text = text.drop_front();
    }
  }
}

std::vector<StringRef> codegen::deviceFilesFor(StringRef code,
                                               ArrayRef<StringRef> required) {
  llvm::StringSet<> names;
  addNames(names, code);
  addNames(names, cudaSource("kernel.cuh"));
  for (StringRef file : required) {
    assert(!cudaSource(file).empty() && "such a file is there");
    addNames(names, cudaSource(file));
  }
  // Files use those before them.
  ArrayRef<LibraryFile> library = deviceLibrary();
  std::vector<StringRef> files;
  for (size_t i = library.size(); i-- > 0;) {
    llvm::SmallVector<StringRef> defined;
    library[i].names.split(defined, ' ');
    if (llvm::none_of(defined,
                      [&](StringRef name) { return names.contains(name); }))
      continue;
    addNames(names, cudaSource(library[i].file));
    files.insert(files.begin(), library[i].file);
  }
  for (StringRef file : required)
    if (!llvm::is_contained(files, file))
      files.push_back(file);
  return files;
}
