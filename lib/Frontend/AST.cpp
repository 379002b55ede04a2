//===- AST.cpp - Spellings and helpers of the syntax tree -----------------===//
//
// Tables of how enumerators are written in the language, and the methods of the
// tree.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/AST.h"
#include "llvm/ADT/STLExtras.h"

using namespace ccn;
using namespace ccn::frontend;
using namespace ccn::frontend::ast;

// Each table is indexed by its enumeration.
static constexpr llvm::StringLiteral reductionNames[] = {"sum", "prod", "max",
                                                         "min"};
static constexpr llvm::StringLiteral unaryNames[] = {"-", "+"};
static constexpr llvm::StringLiteral binaryNames[] = {
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="};
static constexpr llvm::StringLiteral stateNames[] = {"replicated", "sliced",
                                                     "partial", "local"};

template <typename Enum, size_t size>
static llvm::StringRef lookUp(const llvm::StringLiteral (&table)[size],
                              Enum value) {
  return table[static_cast<size_t>(value)];
}

template <typename Enum, size_t size>
static std::optional<Enum> find(const llvm::StringLiteral (&table)[size],
                                llvm::StringRef spelling) {
  const auto *entry = llvm::find(table, spelling);
  if (entry == std::end(table))
    return std::nullopt;
  return static_cast<Enum>(entry - std::begin(table));
}

llvm::StringRef ast::getSpelling(ElementType type) {
  return runtime::name(type);
}
llvm::StringRef ast::getSpelling(Reduction reduction) {
  return lookUp(reductionNames, reduction);
}
llvm::StringRef ast::getSpelling(UnaryOp op) { return lookUp(unaryNames, op); }
llvm::StringRef ast::getSpelling(BinaryOp op) {
  return lookUp(binaryNames, op);
}
llvm::StringRef ast::getSpelling(LayoutState::Kind kind) {
  return lookUp(stateNames, kind);
}

std::optional<ElementType> ast::getElementType(llvm::StringRef spelling) {
  return runtime::parseElementType(spelling);
}
std::optional<Reduction> ast::getReduction(llvm::StringRef spelling) {
  return find<Reduction>(reductionNames, spelling);
}
std::optional<LayoutState::Kind>
ast::getLayoutStateKind(llvm::StringRef spelling) {
  return find<LayoutState::Kind>(stateNames, spelling);
}

bool ast::isComparison(BinaryOp op) { return op >= BinaryOp::Eq; }

unsigned ast::getPrecedence(BinaryOp op) {
  if (isComparison(op))
    return 1;
  return op == BinaryOp::Add || op == BinaryOp::Sub ? 2 : 3;
}

llvm::SmallVector<const BinaryExpr *> ast::getLeftSpine(const Expr *expr) {
  llvm::SmallVector<const BinaryExpr *> spine;
  while (const auto *binary = llvm::dyn_cast<BinaryExpr>(expr)) {
    spine.push_back(binary);
    expr = binary->lhs;
  }
  std::reverse(spine.begin(), spine.end());
  return spine;
}

std::optional<Name> LayoutArg::asName() const {
  if (states.size() != 1)
    return std::nullopt;
  const LayoutState &state = states.front();
  // With an axis or a dimension in brackets it is not a name.
  if (state.dim || state.axis || state.reduction ||
      state.kind == LayoutState::Kind::Sliced ||
      state.kind == LayoutState::Kind::Partial)
    return std::nullopt;
  return Name{getSpelling(state.kind), state.range};
}
