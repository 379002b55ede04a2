//===- Parallel.h - Work on all cores ---------------------------*- C++ -*-===//
//
// Work that would take one thread long: filling and copying large arrays, and
// compiling kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_PARALLEL_H
#define CCN_RUNTIME_BASE_PARALLEL_H

#include <cstdint>
#include <functional>

namespace ccn::runtime {

/// Calls body(first, n) for ranges [first, first + n) that cover [0, count),
/// each of `chunk` or, the last one, fewer, in no order and on as many threads
/// as there are cores: a single chunk on the calling one. Returns when all are
/// done. Nothing may be thrown.
void forEachChunk(int64_t count, int64_t chunk,
                  const std::function<void(int64_t, int64_t)> &body);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_PARALLEL_H
