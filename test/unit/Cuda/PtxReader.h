//===- PtxReader.h - What kernels' PTX does to memory -----------*- C++ -*-===//
//
// Reads what CUDA's compiler has made of kernels, and says where it breaks the
// rules by which blocks and ranks hand data to each other:
//
//  - Flags are u32, stored by st.release.sys and loaded by ld.acquire.sys.
//  - Before a flag is stored, no thread has stored anything since the block's
//    threads waited for each other.
//  - Packets are stored and loaded by relaxed.sys, 16 bytes at once.
//  - Who counts itself among the blocks that have come has done a fence before;
//    who then stores a flag, another one after.
//  - The counts are loaded by ld.acquire of the device.
//  - After a flag has been loaded, the block's threads wait for each other
//    before anything is loaded, stored or copied.
//  - Asynchronous copies have been waited for before the barrier after which
//    what they bring is used.
//  - Threads of a cluster that wait for each other see what others have stored.
//  - A fault's kind is stored after a fence.
//
// What an address is made of tells what lies there: PTX names the parameters
// (runtime/plan/GpuAbi.h) that a register's value comes from.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_PTXREADER_H
#define CCN_TEST_UNIT_CUDA_PTXREADER_H

#include <string>
#include <vector>

namespace ccn::test {

struct PtxKernel {
  std::string name;
  /// What is against the rules.
  std::vector<std::string> faults;
  /// How many instructions of each kind it has.
  int flagStores = 0, flagLoads = 0, packetStores = 0, packetLoads = 0;
  int counts = 0, copies = 0, copyWaits = 0, clusterBarriers = 0;
};

/// Of each kernel of a translation unit.
std::vector<PtxKernel> readPtx(const std::string &ptx);

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_PTXREADER_H
