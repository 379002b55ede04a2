//===- Parallel.h - Work on all cores ---------------------------*- C++ -*-===//
//
// For work that would take one thread long: filling and copying large arrays,
// and compiling kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_PARALLEL_H
#define CCN_RUNTIME_BASE_PARALLEL_H

#include <cstdint>
#include <functional>

namespace ccn::runtime {

/// Calls body(first, n) for ranges [first, first + n) that cover [0, count).
/// Each range has `chunk` indices; the last may have fewer. The calls come in
/// any order, on as many threads as there are cores; a single range is done by
/// the calling thread. Returns when all calls are done. `body` must not throw.
void forEachChunk(int64_t count, int64_t chunk,
                  const std::function<void(int64_t, int64_t)> &body);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_BASE_PARALLEL_H
