//===- ExchangePackets.h - What exchanges send at a time --------*- C++ -*-===//
//
// The sizes of an exchange by packets, by which its elements are shared out.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H
#define CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H

#include "runtime/plan/Plan.h"

namespace ccn::codegen {

/// What a packet of an exchange has of elements, in bytes.
inline int64_t payloadOf(runtime::Exchange exchange) {
  return exchange == runtime::Exchange::LL ? 8 : 16;
}
/// What a thread has of packets on their way at once, in bytes of elements: its
/// registers hold them.
constexpr int64_t exchangedByThread = 64;
/// What exchanges have in memory begins at multiples of so many bytes.
constexpr int64_t exchangeAlignment = 256;

} // namespace ccn::codegen

#endif // CCN_CODEGEN_GPU_MAP_EXCHANGEPACKETS_H
