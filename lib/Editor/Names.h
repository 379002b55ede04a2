//===- Names.h - Where names are defined and used ---------------*- C++ -*-===//
//
// What editors ask of a file's names. It follows the scopes of the language's
// guide, and takes texts with errors too, whose trees have holes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_NAMES_H
#define CCN_LIB_EDITOR_NAMES_H

#include "lib/Frontend/AST.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <vector>

namespace ccn::editor {

struct Symbol {
  enum class Kind : uint8_t {
    Axis,
    Param,
    Function,
    Program,
    Schedule,
    /// Of a program or a function.
    Argument,
    /// What a `let` of a program or a function names.
    Value,
    /// What a line of a schedule names.
    Part
  };

  Kind kind;
  llvm::StringRef name;
  /// Of the name where it is defined.
  SourceRange range;
  /// Of the statement, argument, directive or item that defines it.
  SourceRange whole;
  /// The item in which it is defined: it can be used there and, if it is a
  /// program's, in that program's schedules. Null if it can be used anywhere.
  const frontend::ast::Item *owner = nullptr;
  /// In the order of the text, without the definition.
  std::vector<SourceRange> uses;
};

class Names {
public:
  explicit Names(const frontend::ast::File &file);

  const std::deque<Symbol> &getSymbols() const { return symbols; }

  /// The symbol whose definition or use is at a byte, or ends there; null if
  /// there is none. `place` becomes the range of the name there.
  const Symbol *find(uint32_t offset, SourceRange *place = nullptr) const;

  /// What may be named at a byte, in the order of its definition: what is
  /// defined anywhere, and what the item there has so far.
  std::vector<const Symbol *> getVisible(uint32_t offset) const;

  /// Whether giving the symbol a name may make it, or another one, mean
  /// something else.
  bool clashes(const Symbol &symbol, llvm::StringRef name) const;

private:
  // Functions, and programs, have names of their own.
  using Scope = llvm::DenseMap<llvm::StringRef, Symbol *>;

  void declare(Scope &scope, Symbol::Kind kind, const frontend::ast::Name &name,
               SourceRange whole, const frontend::ast::Item *owner = nullptr);
  void use(const Scope &local, llvm::StringRef name, SourceRange range);
  SourceRange getNameRange(const frontend::ast::NameExpr &expr) const;
  void declareItem(const frontend::ast::Item &item);
  void resolveItem(const frontend::ast::Item &item);
  void resolveSchedule(const frontend::ast::ScheduleItem &item);

  const frontend::ast::File &file;
  std::deque<Symbol> symbols;
  Scope globals, functions, programs;
  llvm::DenseMap<const frontend::ast::Item *, Scope> locals;
};

/// The item that a byte is in or stands behind; null if there is none.
const frontend::ast::Item *findItem(const frontend::ast::File &file,
                                    uint32_t offset);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_NAMES_H
