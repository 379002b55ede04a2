//===- Series.h - Lists whose entries differ in numbers only ----*- C++ -*-===//
//
// The plans of many ranks are the same but for numbers that grow evenly from
// rank to rank: offsets, peers, indices. A series stores such entries of a list
// once, with what each number grows by, so that the size of a package grows
// with the program and hardly with the number of ranks.
//
// A series stands in the list for `times` * p entries, where p is the length of
// `entries`:
//
//   {"times": 1024, "entries": [...], "steps": [...]}
//
// Entry k * p + i of them is entries[i], with k times its step added to each
// integer. `steps` has one for each integer in `entries`, in the order in which
// they are written. Everything else in the list is an entry as it is.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_PLAN_SERIES_H
#define CCN_RUNTIME_PLAN_SERIES_H

#include "runtime/base/Status.h"

#include <nlohmann/json_fwd.hpp>

namespace ccn::runtime {

/// The list with long series in place of their entries. Entries must not be
/// objects with a field `times`.
nlohmann::json packSeries(const nlohmann::json &list);

/// The list that packSeries packed. Anything else in the place of a list stays
/// as it is. Fails if a series is wrong, and if series stand for more values
/// than are left to them; takes theirs from `valuesLeft`.
Status unpackSeries(nlohmann::json &list, int64_t &valuesLeft);

} // namespace ccn::runtime

#endif // CCN_RUNTIME_PLAN_SERIES_H
