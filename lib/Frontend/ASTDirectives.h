//===- ASTDirectives.h - The directives of schedules ------------*- C++ -*-===//
//
// A directive is a line of a schedule: a primitive, what it is applied to, and
// the names that it binds. Part of the syntax tree that AST.h describes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_ASTDIRECTIVES_H
#define CCN_LIB_FRONTEND_ASTDIRECTIVES_H

#include "lib/Frontend/ASTExpr.h"

namespace ccn::frontend::ast {

class Directive {
public:
  enum class Kind : uint8_t {
    Split,
    Reorder,
    SliceState,
    Fuse,
    Overlap,
    Algorithm,
    Protocol,
    Sms,
    Bucket,
    Order
  };

  /// What every directive has: the names bound by a leading `let` (empty
  /// without one), whether they stand in parentheses, and the range of the
  /// primitive's word.
  struct Head {
    SourceRange range;
    SourceRange wordRange;
    llvm::ArrayRef<Name> results;
    bool inParens = false;
  };

  const Kind kind;
  const SourceRange range;
  const SourceRange wordRange;
  const llvm::ArrayRef<Name> results;
  const bool inParens;

protected:
  Directive(Kind kind, const Head &head)
      : kind(kind), range(head.range), wordRange(head.wordRange),
        results(head.results), inParens(head.inParens) {}
};

/// As written: "split", "slice_state".
llvm::StringRef getSpelling(Directive::Kind kind);
std::optional<Directive::Kind> getDirectiveKind(llvm::StringRef spelling);

enum class SplitForm : uint8_t { RsAg, ReduceBroadcast, Hierarchical };
enum class ProtocolKind : uint8_t { LL, Lamport, Simple, Push };
llvm::StringRef getSpelling(SplitForm form);
llvm::StringRef getSpelling(ProtocolKind protocol);
std::optional<SplitForm> getSplitForm(llvm::StringRef spelling);
std::optional<ProtocolKind> getProtocolKind(llvm::StringRef spelling);

/// `split x [as form]`.
class SplitDirective : public Directive {
public:
  SplitDirective(const Head &head, Name target, std::optional<SplitForm> form)
      : Directive(Kind::Split, head), target(target), form(form) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Split; }

  const Name target;
  const std::optional<SplitForm> form;
};

/// `reorder gather after v, …`.
class ReorderDirective : public Directive {
public:
  ReorderDirective(const Head &head, Name gather, llvm::ArrayRef<Name> after)
      : Directive(Kind::Reorder, head), gather(gather), after(after) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Reorder; }

  const Name gather;
  const llvm::ArrayRef<Name> after;
};

/// `slice_state t, …`.
class SliceStateDirective : public Directive {
public:
  SliceStateDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::SliceState, head), targets(targets) {}
  static bool classof(const Directive *d) {
    return d->kind == Kind::SliceState;
  }

  const llvm::ArrayRef<Name> targets;
};

/// `fuse v, …`.
class FuseDirective : public Directive {
public:
  FuseDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::Fuse, head), targets(targets) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Fuse; }

  const llvm::ArrayRef<Name> targets;
};

/// `overlap v, … [chunks n]`.
class OverlapDirective : public Directive {
public:
  OverlapDirective(const Head &head, llvm::ArrayRef<Name> targets,
                   const Expr *chunks)
      : Directive(Kind::Overlap, head), targets(targets), chunks(chunks) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Overlap; }

  const llvm::ArrayRef<Name> targets;
  /// A constant, or null when left out.
  const Expr *const chunks;
};

/// An argument of `synth(...)`: `ring`, `"dgx.json"`, `chunks = 4`.
struct SynthArg {
  SourceRange range;
  /// Before `=`, if there is one.
  std::optional<Name> key;
  /// One of the two is set. A bare name is a NameExpr.
  std::optional<StringLiteral> string;
  const Expr *value = nullptr;
};

/// `algorithm target = name | "file" | synth(...)`.
class AlgorithmDirective : public Directive {
public:
  enum class Source : uint8_t { Name, File, Synth };

  AlgorithmDirective(const Head &head, Name target, Source source,
                     SourceRange valueRange, Name name, StringLiteral file,
                     llvm::ArrayRef<SynthArg> synthArgs)
      : Directive(Kind::Algorithm, head), target(target), source(source),
        valueRange(valueRange), name(name), file(file), synthArgs(synthArgs) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Algorithm; }

  const Name target;
  const Source source;
  /// All that stands after `=`.
  const SourceRange valueRange;
  const Name name;                          ///< Source::Name
  const StringLiteral file;                 ///< Source::File
  const llvm::ArrayRef<SynthArg> synthArgs; ///< Source::Synth
};

/// `protocol target = ll | lamport | push | simple`.
class ProtocolDirective : public Directive {
public:
  ProtocolDirective(const Head &head, Name target,
                    std::optional<ProtocolKind> protocol)
      : Directive(Kind::Protocol, head), target(target), protocol(protocol) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Protocol; }

  const Name target;
  /// Absent after a syntax error only.
  const std::optional<ProtocolKind> protocol;
};

/// `sms target = n`.
class SmsDirective : public Directive {
public:
  SmsDirective(const Head &head, Name target, const Expr *count)
      : Directive(Kind::Sms, head), target(target), count(count) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Sms; }

  const Name target;
  const Expr *const count;
};

/// `bucket v, … size n`.
class BucketDirective : public Directive {
public:
  BucketDirective(const Head &head, llvm::ArrayRef<Name> targets,
                  const Expr *size)
      : Directive(Kind::Bucket, head), targets(targets), size(size) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Bucket; }

  const llvm::ArrayRef<Name> targets;
  const Expr *const size;
};

/// `order v, …`.
class OrderDirective : public Directive {
public:
  OrderDirective(const Head &head, llvm::ArrayRef<Name> targets)
      : Directive(Kind::Order, head), targets(targets) {}
  static bool classof(const Directive *d) { return d->kind == Kind::Order; }

  const llvm::ArrayRef<Name> targets;
};

} // namespace ccn::frontend::ast

#endif // CCN_LIB_FRONTEND_ASTDIRECTIVES_H
