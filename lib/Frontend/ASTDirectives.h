//===- ASTDirectives.h - The directives of schedules ------------*- C++ -*-===//
//
// A directive is a line of a schedule: a primitive, what it is applied to, and
// the names that it binds. Part of the syntax tree that AST.h describes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_ASTDIRECTIVES_H
#define CCN_LIB_FRONTEND_ASTDIRECTIVES_H

#include "lib/Frontend/ASTExpr.h"
#include "lib/Frontend/Primitives.h"

namespace ccn::frontend::ast {

/// An argument of `synth(...)`: `ring`, `"dgx.json"`, `chunks = 4`.
struct SynthArg {
  SourceRange range;
  /// Before `=`, if there is one.
  std::optional<Name> key;
  /// One of the two is set. A bare name is a NameExpr.
  std::optional<StringLiteral> string;
  const Expr *value = nullptr;
};

/// `name | "file" | synth(...)`.
struct AlgorithmClause {
  enum class Source : uint8_t { Name, File, Synth } source = Source::Name;
  SourceRange range;
  Name name;                          ///< Source::Name
  StringLiteral file;                 ///< Source::File
  llvm::ArrayRef<SynthArg> synthArgs; ///< Source::Synth
};

/// A line of a schedule: a primitive with what its grammar (Primitives.h) says.
class Directive {
public:
  /// `primitive`, with the range of its word.
  Directive(const Primitive &primitive, SourceRange wordRange)
      : primitive(primitive), wordRange(wordRange) {}

  const Primitive &primitive;
  SourceRange range;
  SourceRange wordRange;
  /// The names bound by a leading `let` (none without one), and whether they
  /// stand in parentheses.
  llvm::ArrayRef<Name> results;
  bool inParens = false;

  llvm::ArrayRef<Name> targets;
  // What the clause has, by its kind; nothing where it is left out.
  llvm::ArrayRef<Name> names;
  const Expr *number = nullptr;
  llvm::StringRef word;
  const AlgorithmClause *algorithm = nullptr;
};

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_ASTDIRECTIVES_H
