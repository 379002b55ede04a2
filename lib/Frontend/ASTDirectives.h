//===- ASTDirectives.h - The directives of schedules ------------*- C++ -*-===//
//
// A directive is a line of a schedule: a primitive, its targets, and the names
// that it binds. Directives are part of the syntax tree that AST.h describes.
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
  /// The name before `=`, if there is one.
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

/// A line of a schedule: a primitive with the parts that its grammar
/// (Primitives.h) has.
class Directive {
public:
  /// `wordRange` is the range of the primitive's name.
  Directive(const Primitive &primitive, SourceRange wordRange)
      : primitive(primitive), wordRange(wordRange) {}

  const Primitive &primitive;
  SourceRange range;
  SourceRange wordRange;
  /// The names that a leading `let` binds (none without it), and whether they
  /// are in parentheses.
  llvm::ArrayRef<Name> results;
  bool inParens = false;

  llvm::ArrayRef<Name> targets;
  // The parts of the clause; its kind says which are set. None is set if the
  // clause is left out.
  llvm::ArrayRef<Name> names;
  const Expr *number = nullptr;
  llvm::StringRef word;
  const AlgorithmClause *algorithm = nullptr;
};

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_ASTDIRECTIVES_H
