//===- Primitives.h - The primitives of schedules ---------------*- C++ -*-===//
//
// How each primitive is written and what its line makes, as data: the parser,
// the printers, the checks, the lowering to transform operations and the random
// schedules of the tests all follow this table, and have no other list.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_PRIMITIVES_H
#define CCN_LIB_FRONTEND_PRIMITIVES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ccn::frontend::ast {

/// A line is `name targets [clause]`. It becomes the operation
/// `transform.ccn.name`, of the handles of the targets and of what the clause
/// names.
struct Primitive {
  enum class Targets : uint8_t {
    One,
    List,
    /// Arguments of the program that are inout; each is an operation of its
    /// own, of the program's handle.
    InoutArguments
  };
  enum class Clause : uint8_t {
    None,
    /// More names.
    Names,
    /// A constant of at least 1, which a tuner may choose otherwise.
    Number,
    /// One of `words`: the attribute `attribute` of the operation.
    Word,
    /// One of `words`, which a tuner may choose otherwise.
    Choice,
    /// A name, a file or `synth(...)`.
    Algorithm
  };

  llvm::StringLiteral name;
  Targets targets;
  Clause clause = Clause::None;
  /// What the clause begins with: a word, or "=" if it says how the target
  /// runs: then the operation is `transform.ccn.choose` of `name`.
  llvm::StringLiteral keyword = "";
  bool isOptional = false;
  /// How many values the line makes; one more if the word is `largerWord`.
  unsigned numResults = 0;
  llvm::StringLiteral largerWord = "";

  /// The first one is that of a clause which is left out.
  llvm::ArrayRef<llvm::StringLiteral> words = {};
  llvm::StringLiteral attribute = "";
  /// "number of chunks"; what a tuner tries; what is taken if it is left out.
  llvm::StringLiteral what = "";
  llvm::ArrayRef<int64_t> options = {};
  int64_t number = 1;

  bool isChoice() const { return keyword == "="; }
  unsigned getNumResults(llvm::StringRef word) const {
    return numResults + (!word.empty() && word == largerWord);
  }
};

/// In the order in which the language's guide has them.
llvm::ArrayRef<Primitive> getPrimitives();
/// Null if there is none of the name.
const Primitive *findPrimitive(llvm::StringRef name);

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_PRIMITIVES_H
