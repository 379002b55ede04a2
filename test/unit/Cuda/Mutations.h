//===- Mutations.h - Ways to break the kernels' protocols -------*- C++ -*-===//
//
// Edits of the text of a case's kernels, each of which takes something away
// that its protocol needs, and must be found: by running the kernels on weak
// memory, by reading their PTX, or both. What is left out of the list makes no
// difference by PTX's memory model: of two fences one that orders only what an
// acquire and a barrier of the block order too, and a credit less where it only
// makes a sender wait sooner.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_CUDA_MUTATIONS_H
#define CCN_TEST_UNIT_CUDA_MUTATIONS_H

#include <string>
#include <vector>

namespace ccn::test {

/// Who finds it at least.
enum class FoundBy { Running, Reading, Both };

struct Mutation {
  const char *name;
  /// The case whose kernels show it.
  const char *protocol;
  FoundBy foundBy;
  /// What is replaced, which the text must have exactly once.
  std::string from, to;
  /// Whether it is one of the few that the quick tests take.
  bool isSample = false;
};

const std::vector<Mutation> &mutations();

} // namespace ccn::test

#endif // CCN_TEST_UNIT_CUDA_MUTATIONS_H
