//===- LowerCalls.cpp - Built-in functions of one rank --------------------===//
//
// Has the table of built-in functions, reads their arguments, and builds the
// functions that do not move data between ranks. LowerCollectives.cpp builds
// the others.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

const llvm::StringMap<ProgramLowering::Builtin> &
ProgramLowering::getBuiltins() {
  using Self = ProgramLowering;
  constexpr unsigned any = Builtin::any;
  static const llvm::StringMap<Builtin> table = [] {
    llvm::StringMap<Builtin> map;
    auto add = [&](StringRef name, auto method, unsigned min, unsigned max,
                   StringRef usage) {
      map[name] = {[method](Self &self, const ast::CallExpr &call) {
                     return (self.*method)(call);
                   },
                   min, max, usage.str()};
    };
    auto addReduction = [&](StringRef name, ReductionKind kind,
                            StringRef usage) {
      map[name] = {[kind](Self &self, const ast::CallExpr &call) {
                     return self.callReduction(call, kind);
                   },
                   1, 2, usage.str()};
    };
    for (const ElementwiseFunction *function : elementwiseFunctions())
      if (function->isCalled()) {
        StringRef name(function->name);
        unsigned count = function->numOperands;
        map[name] = {[function](Self &self, const ast::CallExpr &call) {
                       return self.callElementwise(call, *function);
                     },
                     count, count,
                     (name + (count == 1 ? "(x)" : "(x, y)")).str()};
      }
    // With one argument, or with a list of dimensions, `min` and `max` are
    // reductions.
    for (ReductionKind kind : {ReductionKind::min, ReductionKind::max}) {
      std::string name = stringifyReductionKind(kind).str();
      map[name] = {[kind](Self &self, const ast::CallExpr &call) {
                     return self.callMinMax(call, kind);
                   },
                   1, 2,
                   name + "(x), " + name + "(x, [dim]) or " + name + "(x, y)"};
    }
    addReduction("sum", ReductionKind::sum, "sum(x) or sum(x, dim)");
    addReduction("prod", ReductionKind::prod, "prod(x) or prod(x, dim)");
    addReduction("mean", ReductionKind::mean, "mean(x) or mean(x, dim)");
    add("matmul", &Self::callMatmul, 2, 2, "matmul(a, b)");
    add("conv2d", &Self::callConv2d, 2, 4, "conv2d(x, w, stride, padding)");
    add("transpose", &Self::callTranspose, 1, 2,
        "transpose(x) or transpose(x, [1, 0])");
    add("reshape", &Self::callReshape, 2, 2, "reshape(x, [2, 3])");
    add("broadcast_to", &Self::callBroadcastTo, 2, 2,
        "broadcast_to(x, [2, 3])");
    add("slice", &Self::callSlice, 2, any,
        "slice(x, dim, axis) or slice(x, dim, begin, end)");
    add("concat", &Self::callConcat, 2, 2, "concat([x, y], dim)");
    add("gather_rows", &Self::callGatherRows, 2, 2,
        "gather_rows(table, indices)");
    add("scatter_rows", &Self::callScatterRows, 3, 3,
        "scatter_rows(table, indices, rows)");
    add("cast", &Self::callCast, 2, 2, "cast(x, f32)");
    add("select", &Self::callSelect, 3, 3, "select(condition, x, y)");
    add("dropout", &Self::callDropout, 3, 3, "dropout(x, rate, seed)");
    add("iota", &Self::callIota, 2, 2, "iota(x, dim)");
    add("norm", &Self::callNorm, 1, 2, "norm(x) or norm(x, dim)");
    add("softmax", &Self::callSoftmax, 2, 2, "softmax(x, dim)");
    add("layer_norm", &Self::callLayerNorm, 4, 4,
        "layer_norm(x, gamma, beta, eps)");
    add("rms_norm", &Self::callRmsNorm, 3, 3, "rms_norm(x, gamma, eps)");
    addCollectives(map);
    return map;
  }();
  return table;
}

Operand ProgramLowering::lowerCall(const ast::CallExpr &call) {
  StringRef name = call.callee.text;
  if (call.callee.isMissing())
    return {};
  if (const ast::FnItem *fn = file.functions.lookup(name))
    return inlineCall(*fn, call);
  const auto &builtins = getBuiltins();
  auto it = builtins.find(name);
  if (it == builtins.end()) {
    SmallVector<StringRef> candidates(builtins.keys());
    llvm::append_range(candidates, file.functions.keys());
    file.unknownName("function", name, call.callee.range, candidates);
    return {};
  }
  const Builtin &builtin = it->second;
  size_t count = call.args.size();
  if (count < builtin.minArgs || count > builtin.maxArgs) {
    std::string expected = std::to_string(builtin.minArgs);
    if (builtin.maxArgs == Builtin::any)
      expected += " or more";
    else if (builtin.maxArgs != builtin.minArgs)
      expected += (builtin.maxArgs == builtin.minArgs + 1 ? " or " : " to ") +
                  std::to_string(builtin.maxArgs);
    expected += expected == "1" ? " argument" : " arguments";
    error(call.range, "expected " + expected + " of '" + name + "', found " +
                          Twine(count) + "; write " + builtin.usage);
    return {};
  }
  return builtin.build(*this, call);
}

StringRef ProgramLowering::getUsage(StringRef name) {
  const auto &builtins = getBuiltins();
  auto it = builtins.find(name);
  return it == builtins.end() ? StringRef() : it->second.usage;
}

std::vector<std::pair<StringRef, StringRef>> frontend::getBuiltinUsages() {
  std::vector<std::pair<StringRef, StringRef>> usages;
  for (const auto &builtin : ProgramLowering::getBuiltins())
    usages.emplace_back(builtin.getKey(), builtin.getValue().usage);
  llvm::sort(usages);
  return usages;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The argument as an expression; reports an error if it is something else.
const ast::Expr *ProgramLowering::getExpr(const ast::CallExpr &call,
                                          unsigned index) {
  const ast::CallArg *arg = call.args[index];
  if (auto *expr = dyn_cast<ast::ExprArg>(arg))
    return expr->value;
  if (auto *layout = dyn_cast<ast::LayoutArg>(arg))
    if (std::optional<ast::Name> name = layout->asName())
      return new (const_cast<llvm::BumpPtrAllocator &>(file.file.arena))
          ast::NameExpr(name->range, name->text);
  StringRef found = isa<ast::PairArg>(arg)   ? "a pair"
                    : isa<ast::ListArg>(arg) ? "a list"
                    : isa<ast::TypeArg>(arg) ? "a type"
                                             : "a layout";
  StringRef usage =
      file.functions.count(call.callee.text) ? "" : getUsage(call.callee.text);
  error(arg->range, "expected a value as argument of '" + call.callee.text +
                        "', found " + found +
                        (usage.empty() ? "" : "; write ") + usage);
  return nullptr;
}

void ProgramLowering::wrongArgument(const ast::CallArg *arg, const Twine &what,
                                    const Twine &advice) {
  auto *expr = dyn_cast<ast::ExprArg>(arg);
  if (expr && isa<ast::ErrorExpr>(expr->value))
    return;
  error(arg->range,
        "expected " + what + ", found '" + textOf(arg->range) + "'" + advice);
}

Operand ProgramLowering::argument(const ast::CallExpr &call, unsigned index) {
  const ast::Expr *expr = getExpr(call, index);
  return expr ? lower(expr) : Operand();
}

Operand ProgramLowering::tensorArgument(const ast::CallExpr &call,
                                        unsigned index) {
  Operand operand = argument(call, index);
  if (operand.isError() || operand.isTensor())
    return operand;
  if (isOneValue(operand))
    error(operand.range, "expected a tensor, found the constant " +
                             operand.constant.str() +
                             "; give it a type with 'cast(" +
                             textOf(operand.range) + ", f32)'");
  return {};
}

std::optional<int64_t>
ProgramLowering::integerArgument(const ast::CallExpr &call, unsigned index,
                                 StringRef what) {
  return getInteger(argument(call, index), what);
}

std::optional<int64_t> ProgramLowering::getInteger(const Operand &operand,
                                                   StringRef what) {
  if (operand.isError())
    return std::nullopt;
  if (operand.isConstant())
    if (const int64_t *integer = operand.constant.getInteger())
      return *integer;
  error(operand.range,
        "expected an integer constant as " + what + ", found " +
            (operand.isConstant() ? operand.constant.str()
             : operand.isTensor() ? "'" + typeName(operand.getType()) + "'"
                                  : std::string("several values")));
  return std::nullopt;
}

std::optional<SmallVector<int64_t>>
ProgramLowering::listArgument(const ast::CallExpr &call, unsigned index,
                              StringRef what) {
  auto *list = dyn_cast<ast::ListArg>(call.args[index]);
  if (!list) {
    wrongArgument(call.args[index], "a list of " + what + ", as in [2, 3]");
    return std::nullopt;
  }
  SmallVector<int64_t> values;
  for (const ast::Expr *element : list->elements) {
    std::optional<int64_t> value =
        getInteger(lower(element), ("element of the list of " + what).str());
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<SmallVector<int64_t>>
ProgramLowering::sizesArgument(const ast::CallExpr &call, unsigned index) {
  std::optional<SmallVector<int64_t>> sizes =
      listArgument(call, index, "sizes");
  if (!sizes)
    return std::nullopt;
  auto *list = cast<ast::ListArg>(call.args[index]);
  for (auto [element, size] : llvm::zip_equal(list->elements, *sizes)) {
    std::optional<int64_t> set = file.sizeOf(element, size);
    if (!set)
      return std::nullopt;
    size = *set;
  }
  return sizes;
}

std::optional<int64_t> ProgramLowering::boundArgument(const ast::CallExpr &call,
                                                      unsigned index,
                                                      StringRef what) {
  std::optional<int64_t> bound = integerArgument(call, index, what);
  auto *expr = dyn_cast<ast::ExprArg>(call.args[index]);
  return bound && expr ? file.sizeOf(expr->value, *bound) : bound;
}

//===----------------------------------------------------------------------===//
// Elementwise functions
//===----------------------------------------------------------------------===//

Operand ProgramLowering::callElementwise(const ast::CallExpr &call,
                                         const ElementwiseFunction &function) {
  SmallVector<Operand> operands;
  for (unsigned i = 0; i < function.numOperands; ++i)
    operands.push_back(argument(call, i));
  if (llvm::all_of(operands, [](const Operand &x) { return x.isConstant(); })) {
    auto constants = llvm::map_to_vector(
        operands, [](const Operand &x) { return x.constant; });
    std::string why;
    std::optional<Constant> result = evaluate(call.callee.text, constants, why);
    if (result)
      return Operand(*result, call.range);
    const Constant &first = constants[0];
    if (why.empty() && operands.size() == 2)
      why = "expected numbers, found " + first.str() + " and " +
            constants[1].str();
    else if (why.empty() && first.isBool())
      why = "expected a number, found " + first.str();
    else if (why.empty())
      why = "expected a tensor, found the constant " + first.str() +
            "; give it a type with 'cast(" + textOf(operands[0].range) +
            ", f32)'";
    error(call.range, why);
    return {};
  }
  if (!unify(operands, call.range))
    return {};
  auto values =
      llvm::map_to_vector(operands, [](const Operand &x) { return x.value; });
  return make(call.range, function, values);
}

/// `max(x, y)` is elementwise for any y; `max(x, [0])` reduces over dimension
/// 0.
Operand ProgramLowering::callMinMax(const ast::CallExpr &call,
                                    ReductionKind kind) {
  if (call.args.size() == 1 || isa<ast::ListArg>(call.args[1]))
    return callReduction(call, kind);
  return callElementwise(call, *findElementwise(call.callee.text));
}

Operand ProgramLowering::callCast(const ast::CallExpr &call) {
  auto *type = dyn_cast<ast::TypeArg>(call.args[1]);
  if (!type) {
    wrongArgument(call.args[1], "an element type, as in cast(x, f32)");
    return {};
  }
  Operand operand = argument(call, 0);
  if (operand.isError())
    return {};
  Type elementType =
      elementTypeByName(file.context, ast::getSpelling(type->element));
  if (operand.isConstant()) {
    Operand constant = materialize(operand, elementType);
    constant.range = call.range;
    return constant;
  }
  if (!unify(operand, call.range))
    return {};
  return make<CastOp>(call.range, operand.value, TypeAttr::get(elementType));
}

Operand ProgramLowering::callSelect(const ast::CallExpr &call) {
  Operand operands[] = {argument(call, 0), argument(call, 1),
                        argument(call, 2)};
  if (!unify(operands, call.range, {false, true, true}))
    return {};
  return make<SelectOp>(call.range, operands[0].value, operands[1].value,
                        operands[2].value);
}

Operand ProgramLowering::callDropout(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  Operand rate = argument(call, 1), seed = argument(call, 2);
  if (input.isError() || rate.isError() || seed.isError())
    return {};
  if (!isOneValue(rate))
    return {};
  if (!rate.isConstant() || rate.constant.isBool()) {
    error(rate.range,
          "expected a real constant as rate, found " +
              (rate.isConstant() ? rate.constant.str()
                                 : "'" + typeName(rate.getType()) + "'"));
    return {};
  }
  seed = materialize(seed, builder.getI64Type());
  if (seed.isError() || !unify(seed, call.range))
    return {};
  written.clear(); // the seed's, which is checked alone
  return make<DropoutOp>(call.range, input.value, seed.value,
                         llvm::APFloat(rate.constant.getReal()));
}

Operand ProgramLowering::callIota(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
  if (input.isError() || !dim)
    return {};
  return make<IotaOp>(call.range, input.value, *dim);
}

//===----------------------------------------------------------------------===//
// Products, reductions and movement
//===----------------------------------------------------------------------===//

Operand ProgramLowering::callReduction(const ast::CallExpr &call,
                                       ReductionKind kind) {
  Operand input = tensorArgument(call, 0);
  if (input.isError())
    return {};
  SmallVector<int64_t> dims;
  if (call.args.size() == 1) {
    dims = llvm::to_vector(llvm::seq<int64_t>(0, input.getType().getRank()));
  } else if (isa<ast::ListArg>(call.args[1])) {
    auto list = listArgument(call, 1, "dimensions");
    if (!list)
      return {};
    dims = *list;
    llvm::sort(dims);
  } else {
    std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
    if (!dim)
      return {};
    dims.push_back(*dim);
  }
  return make<ReductionOp>(call.range, kind, input.value,
                           ArrayRef<int64_t>(dims));
}

Operand ProgramLowering::callMatmul(const ast::CallExpr &call) {
  Operand a = tensorArgument(call, 0), b = tensorArgument(call, 1);
  if (a.isError() || b.isError())
    return {};
  written = {a, b};
  return make<MatmulOp>(call.range, a.value, b.value);
}

Operand ProgramLowering::callConv2d(const ast::CallExpr &call) {
  Operand x = tensorArgument(call, 0), w = tensorArgument(call, 1);
  std::optional<int64_t> stride = 1, padding = 0;
  if (call.args.size() > 2)
    stride = integerArgument(call, 2, "stride");
  if (call.args.size() > 3)
    padding = integerArgument(call, 3, "padding");
  if (x.isError() || w.isError() || !stride || !padding)
    return {};
  written = {x, w};
  return make<Conv2dOp>(call.range, x.value, w.value, *stride, *padding);
}

Operand ProgramLowering::callTranspose(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  if (input.isError())
    return {};
  SmallVector<int64_t> permutation;
  if (call.args.size() == 1) {
    if (input.getType().getRank() != 2) {
      error(call.range, "expected a permutation for '" +
                            typeName(input.getType()) +
                            "', as in transpose(x, [1, 0]), found none");
      return {};
    }
    permutation = {1, 0};
  } else {
    auto list = listArgument(call, 1, "dimensions");
    if (!list)
      return {};
    permutation = *list;
  }
  return make<TransposeOp>(call.range, input.value,
                           ArrayRef<int64_t>(permutation));
}

Operand ProgramLowering::callReshape(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  auto shape = sizesArgument(call, 1);
  if (input.isError() || !shape)
    return {};
  return make<ReshapeOp>(call.range, input.value, ArrayRef<int64_t>(*shape));
}

Operand ProgramLowering::callBroadcastTo(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  auto shape = sizesArgument(call, 1);
  if (input.isError() || !shape)
    return {};
  return make<BroadcastToOp>(call.range, input.value,
                             ArrayRef<int64_t>(*shape));
}

Operand ProgramLowering::callConcat(const ast::CallExpr &call) {
  auto *list = dyn_cast<ast::ListArg>(call.args[0]);
  if (!list) {
    wrongArgument(call.args[0], "a list of tensors, as in [x, y]");
    return {};
  }
  SmallVector<Operand> operands;
  for (const ast::Expr *element : list->elements) {
    operands.push_back(lower(element));
    if (operands.back().isError() || !isOneValue(operands.back()))
      return {};
    if (!operands.back().isTensor()) {
      error(element->range, "expected a tensor, found the constant " +
                                operands.back().constant.str());
      return {};
    }
  }
  std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
  if (!dim)
    return {};
  SmallVector<Value> values;
  for (const Operand &operand : operands)
    values.push_back(operand.value);
  written = std::move(operands);
  return make<ConcatOp>(call.range, ValueRange(values), *dim);
}

Operand ProgramLowering::callGatherRows(const ast::CallExpr &call) {
  Operand table = tensorArgument(call, 0), indices = tensorArgument(call, 1);
  if (table.isError() || indices.isError())
    return {};
  written = {table, indices};
  return make<GatherRowsOp>(call.range, table.value, indices.value);
}

Operand ProgramLowering::callScatterRows(const ast::CallExpr &call) {
  Operand table = tensorArgument(call, 0), indices = tensorArgument(call, 1);
  Operand rows = tensorArgument(call, 2);
  if (table.isError() || indices.isError() || rows.isError())
    return {};
  written = {rows, indices, table};
  return make<ScatterRowsOp>(call.range, rows.value, indices.value,
                             table.value);
}

/// Two functions have this name: `slice(x, dim, axis)` keeps each rank's own
/// slice; `slice(x, dim, begin, end)` takes the same range on every rank.
Operand ProgramLowering::callSlice(const ast::CallExpr &call) {
  Operand input = tensorArgument(call, 0);
  std::optional<int64_t> dim = integerArgument(call, 1, "dimension");
  if (input.isError() || !dim)
    return {};
  auto namesAxis = [&](const ast::CallArg *arg) {
    auto *expr = dyn_cast<ast::ExprArg>(arg);
    auto *name = expr ? dyn_cast<ast::NameExpr>(expr->value) : nullptr;
    if (!name)
      return false;
    auto it = file.globals.find(name->name);
    return it != file.globals.end() &&
           it->second.kind == Declaration::Kind::Axis;
  };
  if (call.args.size() == 4 && !namesAxis(call.args[2])) {
    std::optional<int64_t> begin = boundArgument(call, 2, "begin");
    std::optional<int64_t> end = boundArgument(call, 3, "end");
    if (!begin || !end)
      return {};
    return make<ExtractOp>(call.range, input.value, *dim, *begin, *end);
  }
  AxesAttr axes = axesArguments(call, 2);
  if (!axes)
    return {};
  return make<SliceOp>(call.range, input.value, *dim, axes);
}
