//===- ExchangePackets.h - The packets of exchanges -------------*- C++ -*-===//
//
// Sizes of the packets of LL and Lamport exchanges, which decide how their
// elements are divided among threads.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H
#define CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H

#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// The bytes of elements in a packet.
inline int64_t payloadOf(runtime::Exchange exchange) {
  return exchange == runtime::Exchange::LL ? 8 : 16;
}
/// The bytes of elements in the packets that a thread has in flight at once;
/// its registers hold them.
constexpr int64_t exchangedByThread = 64;
/// What exchanges have in memory begins at multiples of so many bytes.
constexpr int64_t exchangeAlignment = 256;

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H
