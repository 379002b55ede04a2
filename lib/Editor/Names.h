//===- Names.h - Where names are defined and used ---------------*- C++ -*-===//
//
// Answers editors' questions about the names of a file. It follows the scopes
// of the language's guide, and also works for texts with errors, whose trees
// are incomplete.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_EDITOR_NAMES_H
#define CCN_LIB_EDITOR_NAMES_H

#include "lib/Frontend/AST.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <vector>

namespace ccn::editor {

/// A name that a file defines.
struct Symbol {
  enum class Kind : uint8_t {
    Axis,
    Param,
    Function,
    Program,
    Schedule,
    /// An argument of a program or a function.
    Argument,
    /// A name that a `let` of a program or a function defines.
    Value,
    /// A name that a line of a schedule defines.
    Part
  };

  Kind kind;
  llvm::StringRef name;
  /// The range of the name in its definition.
  SourceRange range;
  /// The range of the statement, argument, directive or item that defines it.
  SourceRange whole;
  /// The item in which it is defined. It can be used there and, if the item is
  /// a program, in that program's schedules. Null if it can be used everywhere.
  const frontend::ast::Item *owner = nullptr;
  /// The ranges of its uses, in the order of the text, without the definition.
  std::vector<SourceRange> uses;
};

/// The symbols of a file, with their uses.
class Names {
public:
  explicit Names(const frontend::ast::File &file);

  const std::deque<Symbol> &getSymbols() const { return symbols; }

  /// The symbol whose definition or use contains the byte `offset`, or ends
  /// there; null if there is none. Sets *place, unless null, to the range of
  /// the name.
  const Symbol *find(uint32_t offset, SourceRange *place = nullptr) const;

  /// The symbols that may be named at the byte `offset`, in the order of their
  /// definitions: those that can be used everywhere, and those that the item
  /// there has defined before.
  std::vector<const Symbol *> getVisible(uint32_t offset) const;

  /// Whether renaming the symbol to `name` could change what a name in the file
  /// means.
  bool clashes(const Symbol &symbol, llvm::StringRef name) const;

private:
  // Functions and programs have separate scopes for their names.
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

/// The item that contains the byte `offset`, or the last one before it; null if
/// there is none.
const frontend::ast::Item *findItem(const frontend::ast::File &file,
                                    uint32_t offset);

} // namespace ccn::editor

#endif // CCN_LIB_EDITOR_NAMES_H
