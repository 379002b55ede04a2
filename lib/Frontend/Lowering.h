//===- Lowering.h - The checker's state -------------------------*- C++ -*-===//
//
// Private to the checker. FileLowering holds the declarations of a file;
// ProgramLowering builds one program, expression by expression.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_FRONTEND_LOWERING_H
#define CCN_LIB_FRONTEND_LOWERING_H

#include "dialect/ccn/Ccn.h"
#include "lib/Frontend/Constant.h"
#include "lib/Frontend/Lower.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace ccn::frontend {

/// The value of an expression: a constant without a type, a tensor, several
/// values that a function returns, or none because an error was reported.
struct Operand {
  enum class Kind { Error, Constant, Tensor, Tuple } kind = Kind::Error;
  Constant constant;
  mlir::Value value;
  std::vector<Operand> elements;
  SourceRange range;

  Operand() = default;
  Operand(Constant constant, SourceRange range)
      : kind(Kind::Constant), constant(std::move(constant)), range(range) {}
  Operand(mlir::Value value, SourceRange range)
      : kind(Kind::Tensor), value(value), range(range) {}

  bool isError() const { return kind == Kind::Error; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool isTensor() const { return kind == Kind::Tensor; }
  mlir::RankedTensorType getType() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
};

/// A declared name.
struct Declaration {
  enum class Kind { Param, Axis, Value } kind;
  Operand operand; // of an axis its size
  SourceRange range;
  bool inout = false;
  /// Whether the name is a program's value that schedules may name.
  bool isProgramValue = false;
};

using Scope = llvm::MapVector<llvm::StringRef, Declaration>;

/// Checks a file and builds its module.
class FileLowering {
public:
  FileLowering(const ast::File &file, mlir::MLIRContext *context,
               const LowerOptions &options, Diagnostics &diagnostics);

  Lowered run(bool &badOption);
  /// The schedules of the file, which has nothing else, for programs in IR.
  mlir::OwningOpRef<mlir::ModuleOp> runOnIr(mlir::ModuleOp programs);

private:
  friend class ProgramLowering;

  void lowerMesh(const ast::MeshItem &item);
  void lowerParam(const ast::ParamItem &item);
  void lowerFn(const ast::FnItem &item);
  /// Checks the functions whose bodies no call has checked.
  void checkFunctions();
  void checkSchedule(const ast::ScheduleItem &item);
  /// Adds a note at a definition, unless that is in IR.
  void noteDefinition(DiagnosticHandle handle, SourceRange range,
                      llvm::StringRef message) const;
  void checkAlgorithm(const ast::AlgorithmClause &algorithm);
  /// The arguments of `synth(...)` by name; null if errors were reported.
  mlir::DictionaryAttr readSynthArgs(const ast::AlgorithmClause &algorithm);
  /// Resolves a path relative to the file that contains it.
  std::string resolvePath(llvm::StringRef path) const;
  void lowerSchedule(const ast::ScheduleItem &item);
  void lowerSchedules(llvm::ArrayRef<const ast::ScheduleItem *> items);
  /// Lowers the schedules of `options.scheduleFile`.
  void lowerScheduleFile(const ast::File &other);
  void checkOptions();
  /// Declares a file-level name; reports an error if the name is taken.
  void declare(const ast::Name &name, Declaration declaration);

  /// The value of a constant expression; none if an error was reported.
  std::optional<Constant> evaluate(const ast::Expr *expr);
  std::optional<int64_t> evaluateInteger(const ast::Expr *expr,
                                         llvm::StringRef what);

  /// The size that an expression gives; `value` is its value in the file. If
  /// the expression has no names, the command line may replace that size. None
  /// if an error was reported.
  std::optional<int64_t> sizeOf(const ast::Expr *expr, int64_t value);

  DiagnosticHandle error(SourceRange range, const llvm::Twine &message) {
    return diagnostics.error(*source, range, message);
  }
  /// Like error, for a value from the command line: a mistake in usage.
  DiagnosticHandle optionError(SourceRange range, const llvm::Twine &message) {
    badOption = true;
    return error(range, message + " on the command line");
  }
  /// Reports a name that is not declared, unless syntax errors may be the
  /// reason.
  void unknownName(llvm::StringRef what, llvm::StringRef name,
                   SourceRange range,
                   llvm::ArrayRef<llvm::StringRef> candidates,
                   const llvm::Twine &where = "");
  mlir::Location location(SourceRange range);

  const ast::File &file;
  /// The source to which ranges refer: that of the file or of a file of
  /// schedules.
  const SourceFile *source;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  const LowerOptions &options;
  Diagnostics &diagnostics;
  /// Whether syntax errors were reported, which may explain undeclared names.
  bool hadSyntaxErrors;

  Scope globals;
  llvm::StringMap<const ast::FnItem *> functions;
  /// The functions whose bodies were checked, at a call or by themselves.
  llvm::SmallPtrSet<const ast::FnItem *, 8> checkedFunctions;
  /// The names that schedules may use, by program.
  llvm::StringMap<Scope> programs;
  llvm::StringMap<SourceRange> programRanges;
  llvm::StringMap<SourceRange> scheduleRanges;
  std::vector<Param> params;
  std::set<int64_t> literalSizes;
  llvm::StringMap<llvm::StringMap<mlir::RankedTensorType>> types;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OwningOpRef<mlir::ModuleOp> schedules;
  MeshOp mesh;
  SourceRange meshRange;
  bool badOption = false;

  // The state of the current item, which all ProgramLowerings share that
  // evaluate it and its constants.

  /// The functions that are being inlined, outermost first, and where they are
  /// called; no range if the function is checked by itself.
  struct Call {
    const ast::FnItem *fn;
    std::optional<SourceRange> range;
  };
  llvm::SmallVector<Call> callStack;
  /// The names of the program, for hints; null outside of a program.
  const Scope *programScope = nullptr;
  unsigned numOperations = 0;
  unsigned numExpressions = 0;
  unsigned depth = 0;
  bool tooLarge = false;
  /// Whether functions are being checked by themselves; exceeded limits are
  /// then not reported.
  bool checksFunctions = false;
  /// Errors in functions, as place and message, so that several calls do not
  /// repeat them.
  std::set<std::tuple<uint32_t, uint32_t, std::string>> functionErrors;
};

/// Builds one program, or evaluates one constant expression.
class ProgramLowering {
public:
  explicit ProgramLowering(FileLowering &file)
      : file(file), builder(file.context) {}

  void lower(const ast::ProgramItem &item);
  /// Checks a function's body without a call. Parameters have their declared
  /// types; those without types, and values computed from them, are unknown.
  void check(const ast::FnItem &fn);
  /// Evaluates an expression outside of a program, which must be constant.
  Operand evaluateConstant(const ast::Expr *expr);

private:
  // Limits for one program or constant, far above real ones. They stop
  // functions that call others twice, level after level.
  static constexpr unsigned maxOperations = 100000;
  static constexpr unsigned maxExpressions = 4000000;
  static constexpr unsigned maxInlining = 64;
  /// The largest depth of nested expressions, through functions too; it limits
  /// the stack.
  static constexpr unsigned maxDepth = 1000;

  // Types (LowerTypes.cpp)
  mlir::RankedTensorType lowerType(const ast::TypeSpec &spec);
  bool lowerStates(llvm::ArrayRef<ast::LayoutState> states, Layout &layout);
  std::optional<mlir::StringAttr>
  lowerAxis(const std::optional<ast::Name> &axis, SourceRange range);

  // Statements (LowerProgram.cpp)
  void lowerBody(const ast::Block &block);
  void lowerLet(const ast::LetStmt &stmt, Scope &scope);
  void nameParts(const ast::LetStmt &stmt, llvm::ArrayRef<Operand> values);
  void lowerStore(const ast::StoreStmt &stmt);
  void lowerReturn(const ast::ReturnStmt &stmt);
  /// The name of a returned value that is not a name itself: `result`, with its
  /// number if there are several.
  llvm::StringRef nameResult(const ast::ReturnStmt &stmt, size_t index);
  /// Whether the program has an argument of that name.
  bool isArgument(llvm::StringRef name);
  bool declare(Scope &scope, const ast::Name &name, Declaration declaration);
  /// Reports that a value with layout `from` is stored where layout `to` is
  /// declared, and suggests how to convert it.
  void wrongLayout(const Layout &from, const Layout &to, SourceRange range,
                   SourceRange declared);
  Operand toLayout(Operand value, mlir::RankedTensorType type,
                   SourceRange declared);

  // Expressions (LowerExpr.cpp)
  Operand lower(const ast::Expr *expr);
  Operand lowerKind(const ast::Expr *expr);
  Operand lowerName(const ast::NameExpr &expr);
  Operand lowerUnary(const ast::UnaryExpr &expr);
  Operand lowerBinaryChain(const ast::BinaryExpr &expr);
  Operand lowerBinary(const ast::BinaryExpr &expr, Operand lhs, Operand rhs);
  /// Converts constants to the element type of the tensors, and all operands to
  /// one shape. Reports an error if there is no tensor. `typed` says which
  /// operands must have the same element type.
  bool unify(llvm::MutableArrayRef<Operand> operands, SourceRange range,
             llvm::ArrayRef<bool> typed = {});
  Operand materialize(const Operand &operand, mlir::Type elementType);
  Operand inlineCall(const ast::FnItem &fn, const ast::CallExpr &call);
  /// Like check(), in the current program, unless the body was checked before.
  /// `call` is where the function is called with unknown values.
  void checkBody(const ast::FnItem &fn, std::optional<SourceRange> call);
  Operand lowerFnBody(const ast::FnItem &fn, Scope &scope);
  /// The source text of a range, shortened to one line of about 40 characters,
  /// for errors that say what to write instead.
  std::string textOf(SourceRange range) const;
  /// Replaces inference's names of operands in a message by the source text of
  /// the operands.
  std::string nameOperands(llvm::StringRef message, mlir::ValueRange operands);
  /// Whether an operand is one value; reports an error if it is several.
  bool isOneValue(const Operand &operand);

  // Calls (LowerCalls.cpp, LowerCollectives.cpp)
  /// How a built-in function is built, how many arguments it takes, and how its
  /// call is written.
  struct Builtin {
    using Build =
        std::function<Operand(ProgramLowering &, const ast::CallExpr &)>;
    /// For maxArgs: any number of arguments.
    static constexpr unsigned any = ~0u;

    Build build;
    unsigned minArgs;
    unsigned maxArgs;
    std::string usage;
  };
  /// The functions that build collectives.
  struct Collectives;
  static void addCollectives(llvm::StringMap<Builtin> &builtins);
  static const llvm::StringMap<Builtin> &getBuiltins();
  /// How a built-in function is called; empty if there is no function of that
  /// name.
  static llvm::StringRef getUsage(llvm::StringRef name);
  friend std::vector<std::pair<llvm::StringRef, llvm::StringRef>>
  getBuiltinUsages();
  Operand lowerCall(const ast::CallExpr &call);
  Operand callElementwise(const ast::CallExpr &call,
                          const ElementwiseFunction &function);
  Operand callMinMax(const ast::CallExpr &call, ReductionKind kind);
  Operand callReduction(const ast::CallExpr &call, ReductionKind kind);
  Operand callMatmul(const ast::CallExpr &call);
  Operand callConv2d(const ast::CallExpr &call);
  Operand callTranspose(const ast::CallExpr &call);
  Operand callReshape(const ast::CallExpr &call);
  Operand callBroadcastTo(const ast::CallExpr &call);
  Operand callSlice(const ast::CallExpr &call);
  Operand callConcat(const ast::CallExpr &call);
  Operand callGatherRows(const ast::CallExpr &call);
  Operand callScatterRows(const ast::CallExpr &call);
  Operand callCast(const ast::CallExpr &call);
  Operand callSelect(const ast::CallExpr &call);
  Operand callDropout(const ast::CallExpr &call);
  Operand callIota(const ast::CallExpr &call);

  // Arguments of calls
  const ast::Expr *getExpr(const ast::CallExpr &call, unsigned index);
  Operand argument(const ast::CallExpr &call, unsigned index);
  Operand tensorArgument(const ast::CallExpr &call, unsigned index);
  std::optional<int64_t> integerArgument(const ast::CallExpr &call,
                                         unsigned index, llvm::StringRef what);
  /// The operand as an integer constant; reports an error if it is not one.
  std::optional<int64_t> getInteger(const Operand &operand,
                                    llvm::StringRef what);
  /// Reports `expected WHAT, found ...` with the argument's text.
  void wrongArgument(const ast::CallArg *arg, const llvm::Twine &what,
                     const llvm::Twine &advice = "");
  std::optional<llvm::SmallVector<int64_t>>
  listArgument(const ast::CallExpr &call, unsigned index, llvm::StringRef what);
  /// Sizes, or a bound of a slice, after FileLowering::sizeOf.
  std::optional<llvm::SmallVector<int64_t>>
  sizesArgument(const ast::CallExpr &call, unsigned index);
  std::optional<int64_t> boundArgument(const ast::CallExpr &call,
                                       unsigned index, llvm::StringRef what);
  std::optional<ReduceKind> kindArgument(const ast::CallExpr &call,
                                         unsigned index);
  /// The axes that the arguments from number `first` on name; if there are
  /// none, the only axis of the mesh.
  AxesAttr axesArguments(const ast::CallExpr &call, unsigned first);

  // Functions over operations (LowerFunctions.cpp)
  Operand callNorm(const ast::CallExpr &call);
  Operand callSoftmax(const ast::CallExpr &call);
  Operand callLayerNorm(const ast::CallExpr &call);
  Operand callRmsNorm(const ast::CallExpr &call);
  Operand widen(const Operand &operand);
  Operand narrow(const Operand &operand, mlir::Type elementType);
  /// Reduces over dimensions, also across the ranks along axes that cut them.
  Operand reduceWhole(ReductionKind kind, const Operand &operand,
                      llvm::ArrayRef<int64_t> dims);
  /// The result of a reduction over `dim`, repeated along `dim` to the shape of
  /// `like`.
  Operand repeat(const Operand &reduced, const Operand &like, int64_t dim);
  /// Reports an error and returns true if the operand has a pending reduction,
  /// which norms do not accept.
  bool refusePartial(const Operand &operand);
  /// 1 / sqrt(mean of squares over `dim` + eps), repeated to the operand's
  /// shape.
  Operand rootScale(const Operand &operand, const Operand &eps, int64_t dim);
  template <typename OpTy> Operand apply(const Operand &a, const Operand &b);

  /// Builds an operation and checks it; reports errors at `range`.
  template <typename OpTy, typename... Args>
  Operand make(SourceRange range, Args &&...args) {
    mlir::OperationState state(file.location(range), OpTy::getOperationName());
    // The result type is inferred below, where it may fail.
    OpTy::build(builder, state, builder.getNoneType(),
                std::forward<Args>(args)...);
    state.types.clear();
    return finish(range, state, &OpTy::inferReturnTypes);
  }
  /// The same for an elementwise operation.
  Operand make(SourceRange range, const ElementwiseFunction &function,
               mlir::ValueRange operands);
  using InferReturnTypes = mlir::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);
  Operand finish(SourceRange range, mlir::OperationState &state,
                 InferReturnTypes infer);
  /// Verifies an operation that was just made. If it is wrong, reports that at
  /// `range` and removes the operation.
  bool check(SourceRange range, mlir::Operation *op);

  using Notes = llvm::ArrayRef<std::pair<SourceRange, std::string>>;
  /// Reports an error with notes and, in a function, with the places of the
  /// calls.
  DiagnosticHandle error(SourceRange range, const llvm::Twine &message,
                         Notes notes = {});
  /// Reports MLIR's errors at `range` during the lifetime of the result.
  mlir::ScopedDiagnosticHandler redirect(SourceRange range, Notes notes,
                                         mlir::ValueRange operands);
  /// Counts towards a limit; returns false if it is exceeded, which is reported
  /// once.
  bool count(unsigned &counter, unsigned most, llvm::StringRef what,
             SourceRange range);

  FileLowering &file;
  mlir::OpBuilder builder;
  ProgramOp program;
  /// The scopes, innermost last. A function sees only its own scope and
  /// globals.
  llvm::SmallVector<Scope *> scopes;
  /// The name that the current statement defines.
  llvm::StringRef letName;
  /// The operands, as written, of the operation that is made next; errors show
  /// their text.
  llvm::SmallVector<Operand> written;
  /// Where each tensor last appears in the source.
  llvm::DenseMap<mlir::Value, SourceRange> places;
  bool returned = false;
  /// The current value of each inout argument.
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<llvm::StringRef> resultNames;
};

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LOWERING_H
