//===- Primitives.h - The primitives of schedules ---------------*- C++ -*-===//
//
// A table of how each primitive is written and what its line makes. The parser,
// the printers, the checks, the lowering to transform operations and the random
// schedules of the tests all use only this table.
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
/// `transform.ccn.name`, whose operands are the handles of the targets and of
/// the values that the clause names.
struct Primitive {
  enum class Targets : uint8_t {
    One,
    List,
    /// Inout arguments of the program; each gets its own operation, on the
    /// program's handle.
    InoutArguments
  };
  enum class Clause : uint8_t {
    None,
    /// More names.
    Names,
    /// A constant of at least 1, for which a tuner may choose another value.
    Number,
    /// One of `words`, which becomes the attribute `attribute` of the
    /// operation.
    Word,
    /// One of `words`, for which a tuner may choose another.
    Choice,
    /// A name, a file or `synth(...)`.
    Algorithm
  };

  llvm::StringLiteral name;
  Targets targets;
  Clause clause = Clause::None;
  /// The beginning of the clause: a word, or "=" if the clause says how the
  /// target runs; the operation then is `transform.ccn.choose` of `name`.
  llvm::StringLiteral keyword = "";
  bool isOptional = false;
  /// How many values the line makes, without the additional one if the word is
  /// `largerWord`.
  unsigned numResults = 0;
  llvm::StringLiteral largerWord = "";

  /// The first word is the default if the clause is left out.
  llvm::ArrayRef<llvm::StringLiteral> words = {};
  llvm::StringLiteral attribute = "";
  /// For a number: its meaning in words, such as "number of chunks"; the values
  /// that a tuner tries; the default if the clause is left out.
  llvm::StringLiteral what = "";
  llvm::ArrayRef<int64_t> options = {};
  int64_t number = 1;

  bool isChoice() const { return keyword == "="; }
  unsigned getNumResults(llvm::StringRef word) const {
    return numResults + (!word.empty() && word == largerWord);
  }
};

/// All primitives, in the order of the language's guide.
llvm::ArrayRef<Primitive> getPrimitives();
/// The primitive of that name; null if there is none.
const Primitive *findPrimitive(llvm::StringRef name);

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_PRIMITIVES_H
