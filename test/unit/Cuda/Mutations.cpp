//===- Mutations.cpp - Ways to break the kernels' protocols ---------------===//

#include "test/unit/Cuda/Mutations.h"

using namespace ccn::test;

namespace {

using enum FoundBy;

/// Flags and the counts of blocks.
const std::vector<Mutation> flags = {
    {"flag stored relaxed", "scheduled-broadcast", Both,
     "st.release.sys.global.u32", "st.relaxed.sys.global.u32", true},
    {"flag stored for the device", "edge-barriers", Both,
     "st.release.sys.global.u32", "st.release.gpu.global.u32", true},
    {"flag stored for the block", "pipeline-of-2", Both,
     "st.release.sys.global.u32", "st.release.cta.global.u32"},
    {"flag stored volatile", "pipeline-of-2", Both, "st.release.sys.global.u32",
     "st.volatile.global.u32"},
    {"flag loaded relaxed", "scheduled-sum", Both, "ld.acquire.sys.global.u32",
     "ld.relaxed.sys.global.u32", true},
    {"flag loaded for the device", "group-barriers", Both,
     "ld.acquire.sys.global.u32", "ld.acquire.gpu.global.u32"},
    {"flag loaded volatile", "scheduled-broadcast", Both,
     "ld.acquire.sys.global.u32", "ld.volatile.global.u32"},
    {"count loaded relaxed", "grid-barriers", Both, "ld.acquire.gpu.global.u32",
     "ld.relaxed.gpu.global.u32"},
    {"flag of the epoch before", "group-barriers", Running,
     "!ccnReached(seen = loadAcquire(word), epoch);",
     "!ccnReached(seen = loadAcquire(word), epoch - 1);", true},
    {"flag of the next epoch", "edge-barriers", Running,
     "!ccnReached(seen = loadAcquire(word), epoch);",
     "!ccnReached(seen = loadAcquire(word), epoch + 1);"},
    {"epochs from 0", "group-barriers", Running,
     "return c.control->epochs[blockIdx.x] + 1;",
     "return c.control->epochs[blockIdx.x];"},
    {"epochs that stay", "lamport", Running,
     "    atomicAdd(&c.control->epochs[blockIdx.x], u64(1));", "    ;"},
    {"run counted while threads begin", "ll", Running,
     "  __syncthreads();\n  if (threadIdx.x == 0)\n"
     "    atomicAdd(&c.control->epochs",
     "  if (threadIdx.x == 0)\n    atomicAdd(&c.control->epochs"},
    {"one flag of all blocks", "scheduled-broadcast", Running,
     "u64(flag) * CCN_MAX_BLOCKS + block;", "u64(flag) * CCN_MAX_BLOCKS;"},
    {"fault's kind without a fence", "edge-barriers", Reading,
     "fault->seen = seen;\n  __threadfence_system();\n",
     "fault->seen = seen;\n"},
};

/// Barriers of ranks and of blocks.
const std::vector<Mutation> barriers = {
    {"edge: told before all threads have stored", "edge-barriers", Both,
     "  __syncthreads();\n  meet(c, group, flags, blockIdx.x, u32(epoch));",
     "  meet(c, group, flags, blockIdx.x, u32(epoch));", true},
    {"edge: only who waits is held up", "edge-barriers", Running,
     "meet(c, group, flags, blockIdx.x, u32(epoch));\n  __syncthreads();",
     "meet(c, group, flags, blockIdx.x, u32(epoch));"},
    {"meeting: nobody is told", "edge-barriers", Running,
     "  tellMembers(c, group, flags, block, epoch);\n  awaitMembers",
     "  awaitMembers"},
    {"meeting: nobody is awaited", "group-barriers", Running,
     "  awaitMembers(c, group, flags, block, epoch);\n}\n\n/// A barrier",
     "}\n\n/// A barrier"},
    {"meeting: told after waiting", "edge-barriers", Running,
     "  tellMembers(c, group, flags, block, epoch);\n"
     "  awaitMembers(c, group, flags, block, epoch);\n",
     "  awaitMembers(c, group, flags, block, epoch);\n"
     "  tellMembers(c, group, flags, block, epoch);\n"},
    {"meeting: only one is told", "barriers-of-3", Running,
     "  if (threadIdx.x < count && int(threadIdx.x) != group.position)\n"
     "    storeRelease(",
     "  if (threadIdx.x < count - 1 && int(threadIdx.x) != group.position)\n"
     "    storeRelease("},
    {"meeting: only one is awaited", "barriers-of-3", Running,
     "  if (threadIdx.x < count && int(threadIdx.x) != group.position)\n"
     "    awaitFlag(",
     "  if (threadIdx.x < count - 1 && int(threadIdx.x) != group.position)\n"
     "    awaitFlag("},
    {"gathering: counted before all threads have stored", "group-barriers",
     Running,
     "const Deferred &deferred) {\n  __syncthreads();\n  if (blockIdx.x != 0)",
     "const Deferred &deferred) {\n  if (blockIdx.x != 0)"},
    {"gathering: no fence before a count", "group-barriers", Both,
     "      __threadfence_system();\n"
     "      u32 before = atomicAdd(&c.control->arrived, 1u);",
     "      u32 before = atomicAdd(&c.control->arrived, 1u);", true},
    {"gathering: one block is not awaited", "group-barriers", Running,
     "~barrierBit) != gridDim.x - 1;)", "~barrierBit) < gridDim.x - 2;)"},
    {"gathering: threads do not wait for the first", "group-barriers", Running,
     "    __threadfence_system();\n  }\n  __syncthreads();\n  deferred();",
     "    __threadfence_system();\n  }\n  deferred();"},
    {"gathering: blocks go on before all have met", "barriers-of-3", Running,
     "  deferred();\n  __syncthreads();\n  if (threadIdx.x == 0) {",
     "  deferred();\n  if (threadIdx.x == 0) {"},
    {"gathering: no fence before blocks go on", "group-barriers", Reading,
     "    __threadfence();\n    atomicAdd(&c.control->arrived, barrierBit",
     "    atomicAdd(&c.control->arrived, barrierBit"},
    {"gathering: other threads go on", "group-barriers", Running,
     "    __syncthreads();\n    return;\n  }\n  if (threadIdx.x == 0) {",
     "    return;\n  }\n  if (threadIdx.x == 0) {"},
    {"grid: counted before all threads have stored", "grid-barriers", Running,
     "  __syncthreads();\n  if (threadIdx.x == 0 && gridDim.x > 1) {",
     "  if (threadIdx.x == 0 && gridDim.x > 1) {"},
    {"grid: no fence before a count", "grid-barriers", Both,
     "    __threadfence();\n    u32 before = atomicAdd",
     "    u32 before = atomicAdd"},
    {"grid: one block is not awaited", "grid-barriers", Running,
     "blockIdx.x == 0 ? barrierBit - (gridDim.x - 1) : 1);",
     "blockIdx.x == 0 ? barrierBit - (gridDim.x - 2) : 1);"},
    {"grid: other threads go on", "grid-barriers", Running,
     "      patience.wait(c.rank, 0, before, seen);\n  }\n  __syncthreads();\n",
     "      patience.wait(c.rank, 0, before, seen);\n  }\n"},
    {"cluster: arrival orders nothing", "cluster-barriers", Both,
     "barrier.cluster.arrive.aligned;",
     "barrier.cluster.arrive.relaxed.aligned;"},
    {"cluster: blocks do not wait", "cluster-barriers", Running,
     "    return __syncthreads();\n  arriveInCluster();\n  awaitCluster();",
     "    return __syncthreads();\n  __syncthreads();"},
};

/// Signals and pipelines.
const std::vector<Mutation> signals = {
    {"signal: counted before all threads have stored", "signals", Running,
     "  __syncthreads();\n  if (threadIdx.x == 0) {\n"
     "    __threadfence_system();\n    u32 come",
     "  if (threadIdx.x == 0) {\n    __threadfence_system();\n    u32 come"},
    {"signal: no fence before a count", "signals", Both,
     "    __threadfence_system();\n    u32 come", "    u32 come"},
    {"signal: no fence after the count", "signals", Reading,
     "      __threadfence_system();\n      storeRelease(flagOf(c, rank",
     "      storeRelease(flagOf(c, rank", true},
    {"signal: a block less", "signals", Running,
     "come == u32(epoch) * gridDim.x)", "come + 1 == u32(epoch) * gridDim.x)",
     true},
    {"signal: other threads go on", "signals", Running,
     "    awaitFlag(c, rank, flag, 0, u32(epoch));\n  __syncthreads();",
     "    awaitFlag(c, rank, flag, 0, u32(epoch));"},
    {"signal: of the run before", "signals", Running,
     "awaitFlag(c, rank, flag, 0, u32(epoch));",
     "awaitFlag(c, rank, flag, 0, u32(epoch - 1));"},
    {"pipeline: told before all threads have stored", "pipeline-of-3", Both,
     "u32 flags, u32 number) {\n  __syncthreads();\n  tellMembers",
     "u32 flags, u32 number) {\n  tellMembers"},
    {"pipeline: other threads go on", "pipeline-of-2", Running,
     "  awaitMembers(c, group, flags, blockIdx.x, number);\n"
     "  __syncthreads();",
     "  awaitMembers(c, group, flags, blockIdx.x, number);"},
    {"pipeline: a step less", "pipeline-of-2", Running,
     "u32(epoch * steps + step - 1));", "u32(epoch * steps + step - 2));",
     true},
    {"pipeline: steps of all runs are the same", "pipeline-of-3", Running,
     "u32(epoch * steps + step - 1));", "u32(step - 1));"},
};

/// Exchanges by packets.
const std::vector<Mutation> packets = {
    {"packet stored in four", "ll", Both,
     "\"st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};\"",
     "\"st.relaxed.sys.global.u32 [%0], %1;\"\n"
     "\"st.relaxed.sys.global.u32 [%0+4], %2;\"\n"
     "\"st.relaxed.sys.global.u32 [%0+8], %3;\"\n"
     "\"st.relaxed.sys.global.u32 [%0+12], %4;\"",
     true},
    {"packet stored in two", "lamport", Reading,
     "\"st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};\"",
     "\"st.relaxed.sys.global.v2.u32 [%0], {%1, %2};\"\n"
     "\"st.relaxed.sys.global.v2.u32 [%0+8], {%3, %4};\""},
    {"packet loaded in four", "ll-of-3", Both,
     "\"ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];\"",
     "\"ld.relaxed.sys.global.u32 %0, [%4];\"\n"
     "\"ld.relaxed.sys.global.u32 %1, [%4+4];\"\n"
     "\"ld.relaxed.sys.global.u32 %2, [%4+8];\"\n"
     "\"ld.relaxed.sys.global.u32 %3, [%4+12];\""},
    {"packet loaded in two", "ll", Reading,
     "\"ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];\"",
     "\"ld.relaxed.sys.global.v2.u32 {%0, %1}, [%4];\"\n"
     "\"ld.relaxed.sys.global.v2.u32 {%2, %3}, [%4+8];\""},
    {"packet stored for the device", "lamport-of-3", Reading,
     "st.relaxed.sys.global.v4.u32", "st.relaxed.gpu.global.v4.u32"},
    {"packet loaded for the device", "ll", Reading,
     "ld.relaxed.sys.global.v4.u32", "ld.relaxed.gpu.global.v4.u32"},
    {"ll: one of two flags", "ll", Running,
     "return packet.y == flag && packet.w == flag;", "return packet.y == flag;",
     true},
    {"ll: the other of two flags", "ll-of-3", Running,
     "return packet.y == flag && packet.w == flag;",
     "return packet.w == flag;"},
    {"ll: any flag", "ll", Running,
     "return packet.y == flag && packet.w == flag;",
     "return packet.y != 0 && packet.w != 0;"},
    {"ll: a buffer less", "ll", Running, "#define CCN_LL_BUFFERS 2",
     "#define CCN_LL_BUFFERS 1"},
    {"lamport: a buffer less", "lamport", Running,
     "#define CCN_LAMPORT_BUFFERS 3", "#define CCN_LAMPORT_BUFFERS 2", true},
    {"lamport: half of a packet", "lamport", Running,
     "return packet.x != ~0u && packet.y != ~0u && packet.z != ~0u &&\n"
     "           packet.w != ~0u;",
     "return packet.x != ~0u && packet.y != ~0u;"},
    {"lamport: nothing is cleared", "lamport-of-3", Running,
     "static constexpr bool clears = true;",
     "static constexpr bool clears = false;"},
    {"lamport: the next buffer is cleared", "lamport", Running,
     "ccnBufferBefore(buffer, P::buffers)",
     "ccnBufferOf(buffer + 1, P::buffers)"},
    {"lamport: the own buffer is cleared for others", "lamport-of-3", Running,
     "*place(c.rank, int(ccnBufferBefore(buffer, P::buffers)), member.value,",
     "*place(c.rank, int(ccnBufferBefore(buffer, P::buffers)), 0,"},
};

/// Synthesized schedules, and asynchronous copies.
const std::vector<Mutation> schedules = {
    {"schedule: slots free two runs too early", "scheduled-broadcast", Running,
     "ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS)",
     "ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS + 1)", true},
    {"schedule: slots are always free", "scheduled-broadcast", Running,
     "        awaitFlag(c, peer, flag, blockIdx.x,\n"
     "                  ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS));",
     "        ;"},
    {"schedule: a buffer less", "scheduled-broadcast", Running,
     "const i64 buffer = ccnBufferOf(epoch, CCN_SCHEDULE_BUFFERS)",
     "const i64 buffer = ccnBufferOf(epoch, 1)"},
    {"schedule: told free before all have read", "scheduled-broadcast", Running,
     "case CCN_TELL_FREE:\n      __syncthreads();", "case CCN_TELL_FREE:"},
    {"schedule: told free for a run more", "scheduled-broadcast", Running,
     "case CCN_TELL_FREE:\n      __syncthreads();\n      if (threadIdx.x == "
     "0)\n"
     "        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));",
     "case CCN_TELL_FREE:\n      __syncthreads();\n      if (threadIdx.x == "
     "0)\n"
     "        storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch + "
     "1));"},
    {"schedule: other threads do not wait for a slot", "scheduled-broadcast",
     Running,
     "        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch));\n"
     "      __syncthreads();",
     "        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch));"},
    {"schedule: the slot of the run before", "scheduled-sum", Running,
     "        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch));\n",
     "        awaitFlag(c, peer, flag, blockIdx.x, u32(epoch - 1));\n"},
    {"schedule: other threads do not wait for a free slot",
     "scheduled-broadcast", Running,
     "ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS));\n      __syncthreads();",
     "ccnEpochBefore(epoch, CCN_SCHEDULE_BUFFERS));"},
    {"schedule: sent before all threads have stored", "scheduled-broadcast",
     Both,
     "if (sends) {\n"
     "      __syncthreads();",
     "if (sends) {"},
    {"schedule: the flag before the data", "scheduled-sum", Both,
     "    formSum<T, kind>(c, action, buffer, from, to);",
     "    if (action[0] == CCN_SEND_SUM && threadIdx.x == 0)\n"
     "      storeRelease(flagOf(c, peer, flag, blockIdx.x), u32(epoch));\n"
     "    formSum<T, kind>(c, action, buffer, from, to);"},
    {"copies: no instruction waits", "asynchronous-copies", Both,
     "\"cp.async.wait_all;\"", "\"\""},
    {"copies: nobody waits", "asynchronous-copies", Both,
     "    awaitCopies();\n    // All", "    // All", true},
    {"gather: a chunk is told before all have moved it", "gathered-copies",
     Running,
     "      syncThreads(moversBarrier, movers);\n"
     "      if (threadIdx.x == 32)\n"
     "        storeRelease(flagOf(c, c.rank, gather.chunkFlags",
     "      if (threadIdx.x == 32)\n"
     "        storeRelease(flagOf(c, c.rank, gather.chunkFlags"},
    {"gather: chunks are not awaited", "gathered-copies", Running,
     "flags.wait(slice.rank, gather.chunkFlags, u32(i), epoch);", ";", true},
    {"gather: chunks of the run before", "signals-of-gathered-copies", Running,
     "flags.wait(slice.rank, gather.chunkFlags, u32(i), epoch);",
     "flags.wait(slice.rank, gather.chunkFlags, u32(i), epoch - 1);"},
    {"gather: other ranks are not awaited", "signals-of-gathered-copies",
     Running,
     "waits.wait(slice.rank, slice.flag, meets ? blockIdx.x : 0, epoch);", ";"},
    {"gather: only who waits is held up", "gathered-copies", Running,
     "meets ? blockIdx.x : 0, epoch);\n      syncThreads(moversBarrier, "
     "movers);",
     "meets ? blockIdx.x : 0, epoch);"},
    {"gather: nobody waits at the end", "gathered-copies", Running,
     "    FlagWaits(c).wait(table.ranks[member], flags + u32(member), "
     "blockIdx.x,"
     "\n                      epoch);",
     "    ;", true},
    {"gather: the run is not counted", "signals-of-gathered-copies", Running,
     "  if (member == 0)\n    atomicAdd(&c.control->epochs[blockIdx.x], "
     "u64(1));",
     ""},
    {"copies: only the own are awaited", "asynchronous-copies", Running,
     "any more.\n    __syncthreads();\n", "any more.\n"},
};

/// Products of which ranks have slices.
const std::vector<Mutation> scatters = {
    {"scatter: tiles told of before they are stored",
     "copies-of-scattered-product", Running,
     "    waits.wait(ring.stored(user), u32(use) & 1);\n", "", true},
    {"scatter: tiles of a warp told of before they are stored",
     "copies-of-scattered-product", Running,
     "    __syncwarp();\n    if (isLeader) {\n"
     "      waits.wait(ring.told(user), (uses & 1) ^ 1);",
     "    if (isLeader) {\n"
     "      waits.wait(ring.told(user), (uses & 1) ^ 1);"},
    {"scatter: slots stored to before their owner has begun",
     "copies-of-scattered-product-of-3", Running,
     "      waits.awaitProgress(scatter, what.owner, blockIdx.x, "
     "scatter.progress(0));\n",
     "      ;\n", true},
    {"scatter: owners do not wait for tiles",
     "copies-of-scattered-product-of-3", Running,
     "      awaitTile(waits, scatter, what.number);\n", "", true},
    {"scatter: owners wait for a tile less", "copies-of-scattered-product",
     Running, "scatter.progress((tile - first) / blocks + 1));",
     "scatter.progress((tile - first) / blocks));"},
    {"scatter: owners wait for another block",
     "copies-of-scattered-product-of-3", Running, "int block = tile % blocks;",
     "int block = (tile + 1) % blocks;"},
    {"scatter: other lanes do not wait", "copies-of-scattered-product", Running,
     "        scatter.progress((tile - first) / blocks + 1));\n  }\n"
     "  __syncwarp();",
     "        scatter.progress((tile - first) / blocks + 1));\n  }"},
    {"scatter: progress of all runs is the same",
     "copies-of-scattered-product-of-3", Running,
     "return epoch * most + 1 + u32(sent);", "return 1 + u32(sent);"},
    {"scatter: members share a slot", "copies-of-scattered-product-of-3",
     Running, "i64(sender < owner ? sender : sender - 1) * sliceRows * n",
     "i64(0) * sliceRows * n"},
};

} // namespace

const std::vector<Mutation> &ccn::test::mutations() {
  static const std::vector<Mutation> all = [] {
    std::vector<Mutation> result;
    for (const auto *some :
         {&flags, &barriers, &signals, &packets, &schedules, &scatters})
      result.insert(result.end(), some->begin(), some->end());
    return result;
  }();
  return all;
}
