//===- Lowering.h - The checker's state -------------------------*- C++ -*-===//
//
// Private to the checker. FileLowering holds what a file declares;
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

/// What an expression is: a constant without a type, a tensor, several values
/// of a function, or nothing because an error was reported.
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
  /// In a program: it may be named in a schedule.
  bool isProgramValue = false;
};

using Scope = llvm::MapVector<llvm::StringRef, Declaration>;

class FileLowering {
public:
  FileLowering(const ast::File &file, mlir::MLIRContext *context,
               const LowerOptions &options, Diagnostics &diagnostics);

  Lowered run(bool &badOption);

private:
  friend class ProgramLowering;

  void lowerMesh(const ast::MeshItem &item);
  void lowerParam(const ast::ParamItem &item);
  void lowerFn(const ast::FnItem &item);
  /// Checks the functions that nothing called with arguments that are right.
  void checkFunctions();
  void checkSchedule(const ast::ScheduleItem &item);
  void checkAlgorithm(const ast::AlgorithmClause &algorithm);
  /// What `synth(...)` asks for, by the names of its arguments; null if errors
  /// were reported.
  mlir::DictionaryAttr readSynthArgs(const ast::AlgorithmClause &algorithm);
  /// A path relative to the file that names it.
  std::string resolvePath(llvm::StringRef path) const;
  void lowerSchedule(const ast::ScheduleItem &item);
  void lowerSchedules(llvm::ArrayRef<const ast::ScheduleItem *> items);
  /// Those of `options.scheduleFile`.
  void lowerScheduleFile(const ast::File &other);
  void checkOptions();
  /// Declares a file-level name; reports a name that is taken.
  void declare(const ast::Name &name, Declaration declaration);

  /// The value of a constant expression; none if an error was reported.
  std::optional<Constant> evaluate(const ast::Expr *expr);
  std::optional<int64_t> evaluateInteger(const ast::Expr *expr,
                                         llvm::StringRef what);

  /// The size that an expression gives whose value is known: if it has no
  /// names, what the command line may have set in its place.
  std::optional<int64_t> sizeOf(const ast::Expr *expr, int64_t value);

  DiagnosticHandle error(SourceRange range, const llvm::Twine &message) {
    return diagnostics.error(*source, range, message);
  }
  /// As error, of what the command line set: a mistake in usage.
  DiagnosticHandle optionError(SourceRange range, const llvm::Twine &message) {
    badOption = true;
    return error(range, message + " on the command line");
  }
  /// Reports a name that is not declared, unless syntax errors may be why.
  void unknownName(llvm::StringRef what, llvm::StringRef name,
                   SourceRange range,
                   llvm::ArrayRef<llvm::StringRef> candidates,
                   const llvm::Twine &where = "");
  mlir::Location location(SourceRange range);

  const ast::File &file;
  /// Where ranges are in: the file's source, or that of a file of schedules.
  const SourceFile *source;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  const LowerOptions &options;
  Diagnostics &diagnostics;
  /// Syntax errors were reported, which explain names that are missing.
  bool hadSyntaxErrors;

  Scope globals;
  llvm::StringMap<const ast::FnItem *> functions;
  /// Those whose bodies were checked: at a call, or by themselves.
  llvm::SmallPtrSet<const ast::FnItem *, 8> checkedFunctions;
  /// What schedules may name, by program.
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

  // What is going on in the item at hand, across the ProgramLowerings that
  // evaluate it and the constants in it.

  /// Functions being inlined, the outermost first, and where they are called;
  /// nowhere if the function is checked by itself.
  struct Call {
    const ast::FnItem *fn;
    std::optional<SourceRange> range;
  };
  llvm::SmallVector<Call> callStack;
  /// The names of the program, for hints; null outside of one.
  const Scope *programScope = nullptr;
  unsigned numOperations = 0;
  unsigned numExpressions = 0;
  unsigned depth = 0;
  bool tooLarge = false;
  /// Functions are checked by themselves, for which bounds are not reported.
  bool checksFunctions = false;
  /// Errors in functions, which several calls would repeat: place and message.
  std::set<std::tuple<uint32_t, uint32_t, std::string>> functionErrors;
};

class ProgramLowering {
public:
  explicit ProgramLowering(FileLowering &file)
      : file(file), builder(file.context) {}

  void lower(const ast::ProgramItem &item);
  /// Checks a function's body without a call: parameters have their types if
  /// these are given; of others, and of what is computed from them, nothing is
  /// known.
  void check(const ast::FnItem &fn);
  /// Evaluates an expression outside of a program: constants only.
  Operand evaluateConstant(const ast::Expr *expr);

private:
  // Bounds of one program or constant, far above any real one, that functions
  // which double their work cannot pass.
  static constexpr unsigned maxOperations = 100000;
  static constexpr unsigned maxExpressions = 4000000;
  static constexpr unsigned maxInlining = 64;
  /// Of expressions in expressions through functions; a bound of the stack.
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
  /// The name of a result that is no name itself: `result`, or with its
  /// position among several.
  llvm::StringRef nameResult(const ast::ReturnStmt &stmt, size_t index);
  /// Whether the program has an argument of the name.
  bool isArgument(llvm::StringRef name);
  bool declare(Scope &scope, const ast::Name &name, Declaration declaration);
  /// Reports that a value of layout `from` is stored where layout `to` is
  /// declared, and says how to bring it there.
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
  /// Gives constants the element type of the tensors and all one shape. An
  /// error unless there is a tensor. `typed` says which operands share an
  /// element type.
  bool unify(llvm::MutableArrayRef<Operand> operands, SourceRange range,
             llvm::ArrayRef<bool> typed = {});
  Operand materialize(const Operand &operand, mlir::Type elementType);
  Operand inlineCall(const ast::FnItem &fn, const ast::CallExpr &call);
  /// As check(), in the program at hand, unless the body was checked before.
  /// `call` is where the function is called with something that is not known.
  void checkBody(const ast::FnItem &fn, std::optional<SourceRange> call);
  Operand lowerFnBody(const ast::FnItem &fn, Scope &scope);
  /// What stands there, on one line and not long, for errors that say what to
  /// write in its place.
  std::string textOf(SourceRange range) const;
  /// The message with the text of each operand for what inference calls it.
  std::string nameOperands(llvm::StringRef message, mlir::ValueRange operands);
  /// Reports several values where one belongs.
  bool isOneValue(const Operand &operand);

  // Calls (LowerCalls.cpp, LowerCollectives.cpp)
  /// What builds it, how many arguments it takes, and how its call is written.
  struct Builtin {
    using Build =
        std::function<Operand(ProgramLowering &, const ast::CallExpr &)>;
    /// As the largest number of arguments.
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
  /// How a built-in function is called, empty if there is none of the name.
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
  /// The operand as an integer constant; reports others.
  std::optional<int64_t> getInteger(const Operand &operand,
                                    llvm::StringRef what);
  /// Reports `expected what, found ...` with the argument's text.
  void wrongArgument(const ast::CallArg *arg, const llvm::Twine &what,
                     const llvm::Twine &advice = "");
  std::optional<llvm::SmallVector<int64_t>>
  listArgument(const ast::CallExpr &call, unsigned index, llvm::StringRef what);
  /// Sizes, or a bound of a slice, as FileLowering::sizeOf gives them.
  std::optional<llvm::SmallVector<int64_t>>
  sizesArgument(const ast::CallExpr &call, unsigned index);
  std::optional<int64_t> boundArgument(const ast::CallExpr &call,
                                       unsigned index, llvm::StringRef what);
  std::optional<ReduceKind> kindArgument(const ast::CallExpr &call,
                                         unsigned index);
  /// The axes named by the arguments from `first` to the end; if there are
  /// none, the axis of a mesh that has one.
  AxesAttr axesArguments(const ast::CallExpr &call, unsigned first);

  // Functions over operations (LowerFunctions.cpp)
  Operand callNorm(const ast::CallExpr &call);
  Operand callSoftmax(const ast::CallExpr &call);
  Operand callLayerNorm(const ast::CallExpr &call);
  Operand callRmsNorm(const ast::CallExpr &call);
  Operand widen(const Operand &operand);
  Operand narrow(const Operand &operand, mlir::Type elementType);
  /// Reduces over dimensions and, along axes that cut them, over ranks.
  Operand reduceWhole(ReductionKind kind, const Operand &operand,
                      llvm::ArrayRef<int64_t> dims);
  /// The result of a reduction over `dim`, repeated to the shape it came from.
  Operand repeat(const Operand &reduced, const Operand &like, int64_t dim);
  /// Reports an operand with a reduction pending, which no norm takes.
  bool refusePartial(const Operand &operand);
  /// 1 / sqrt(mean of squares over `dim` + eps), repeated to the operand's
  /// shape.
  Operand rootScale(const Operand &operand, const Operand &eps, int64_t dim);
  template <typename OpTy> Operand apply(const Operand &a, const Operand &b);

  /// Builds an operation, checks it, and reports what is wrong at `range`.
  template <typename OpTy, typename... Args>
  Operand make(SourceRange range, Args &&...args) {
    mlir::OperationState state(file.location(range), OpTy::getOperationName());
    // The result type is inferred below, where it may fail.
    OpTy::build(builder, state, builder.getNoneType(),
                std::forward<Args>(args)...);
    state.types.clear();
    return finish(range, state, &OpTy::inferReturnTypes);
  }
  /// The same of an elementwise operation.
  Operand make(SourceRange range, const ElementwiseFunction &function,
               mlir::ValueRange operands);
  using InferReturnTypes = mlir::LogicalResult (*)(
      mlir::MLIRContext *, std::optional<mlir::Location>, mlir::ValueRange,
      mlir::DictionaryAttr, mlir::OpaqueProperties, mlir::RegionRange,
      llvm::SmallVectorImpl<mlir::Type> &);
  Operand finish(SourceRange range, mlir::OperationState &state,
                 InferReturnTypes infer);
  /// Verifies an operation just made; reports at `range` and removes it if it
  /// does not hold.
  bool check(SourceRange range, mlir::Operation *op);

  using Notes = llvm::ArrayRef<std::pair<SourceRange, std::string>>;
  /// Reports an error with notes and, in a function, where it was called.
  DiagnosticHandle error(SourceRange range, const llvm::Twine &message,
                         Notes notes = {});
  /// Reports MLIR's errors at a place in the source, while the result lives.
  mlir::ScopedDiagnosticHandler redirect(SourceRange range, Notes notes,
                                         mlir::ValueRange operands);
  /// Counts towards a bound; false, and reported once, when that is passed.
  bool count(unsigned &counter, unsigned most, llvm::StringRef what,
             SourceRange range);

  FileLowering &file;
  mlir::OpBuilder builder;
  ProgramOp program;
  /// The innermost scope comes last; a function sees only its own and globals.
  llvm::SmallVector<Scope *> scopes;
  /// The name that the statement at hand defines.
  llvm::StringRef letName;
  /// The operands of the operation that is made next, as they were written: an
  /// error about several shows which is what.
  llvm::SmallVector<Operand> written;
  /// Where each tensor was written last.
  llvm::DenseMap<mlir::Value, SourceRange> places;
  bool returned = false;
  /// The current value of each inout argument.
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<llvm::StringRef> resultNames;
};

} // namespace ccn::frontend

#endif // CCN_LIB_FRONTEND_LOWERING_H
