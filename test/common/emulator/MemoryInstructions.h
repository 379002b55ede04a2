//===- MemoryInstructions.h - What PTX says of memory -----------*- C++ -*-===//
//
// The functions of codegen/gpu/device that are one instruction each, as the
// text of a program has them: for the emulator, which has these functions
// itself, to do no more than the instruction does, and for tests that read what
// the compiler makes of them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_COMMON_EMULATOR_MEMORYINSTRUCTIONS_H
#define CCN_TEST_COMMON_EMULATOR_MEMORYINSTRUCTIONS_H

#include "runtime/base/Status.h"

#include <string_view>

namespace ccn::emulator {

enum class Order { Relaxed, Acquire, Release };
/// Who sees it: threads of the block, of the device (and of a cluster, which is
/// not told apart), or all.
enum class Scope { Block, Device, System };

/// A load, a store or a fence.
struct MemoryInstruction {
  Order order = Order::Relaxed;
  Scope scope = Scope::Block;
  /// How much there is at once; an access of more is several.
  int bytes = 4;
};

/// The meaning of "st.release.sys.global.v2.u64".
MemoryInstruction readInstruction(std::string_view opcode);

struct MemoryInstructions {
  MemoryInstruction flagLoad, flagStore, ownLoad, packetLoad, packetStore;
  /// Relaxed if nothing is ordered by it.
  Order arriveInCluster = Order::Release, awaitCluster = Order::Acquire;
  bool awaitsCopies = true;
};

/// Those of a program's text, which may be without packets and copies; an error
/// if it lacks other such functions.
Result<MemoryInstructions> readInstructions(const std::string &source);

} // namespace ccn::emulator

#endif // CCN_TEST_COMMON_EMULATOR_MEMORYINSTRUCTIONS_H
