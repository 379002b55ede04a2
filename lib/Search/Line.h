//===- Line.h - Lines of schedules as data ----------------------*- C++ -*-===//
//
// What a search tries, a line of a schedule, is applied to a program as the
// schedule's line would be, and written as the text of such a line.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SEARCH_LINE_H
#define CCN_LIB_SEARCH_LINE_H

#include "lib/Transforms/Rewrites.h"

#include <string>
#include <vector>

namespace ccn::search {

struct Line {
  /// As in lib/Frontend/Primitives.h.
  enum class Primitive {
    Split,
    Reorder,
    SliceState,
    Fuse,
    Recompute,
    Overlap,
    Algorithm,
    Protocol,
    Bucket,
    Order
  };

  Primitive primitive;
  std::vector<std::string> targets = {};
  /// After `after` or `at`.
  std::vector<std::string> names = {};
  /// The names of what the line makes; all or none of them.
  std::vector<std::string> results = {};
  /// The number of chunks, or the size of a bucket.
  int64_t number = 0;
  /// The form of a split, the algorithm or the protocol.
  std::string word = "";

  /// "let (rs, ag) = split avg".
  std::string text() const;
};

/// Changes the program as the line of a schedule does. If that is refused, the
/// program is as before.
mlir::LogicalResult apply(const Line &line, ProgramOp program,
                          EmitRefusal emit);

} // namespace ccn::search

#endif // CCN_LIB_SEARCH_LINE_H
