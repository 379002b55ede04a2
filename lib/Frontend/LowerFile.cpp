//===- LowerFile.cpp - Declarations of a file -----------------------------===//
//
// Lowers meshes, params and functions, with the changes of the command line.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Lowering.h"

using namespace mlir;
using namespace ccn;
using namespace ccn::frontend;

FileLowering::FileLowering(const ast::File &file, MLIRContext *context,
                           const LowerOptions &options,
                           Diagnostics &diagnostics)
    : file(file), source(&file.source), context(context), builder(context),
      options(options), diagnostics(diagnostics),
      hadSyntaxErrors(diagnostics.hasErrors()) {
  module = ModuleOp::create(location({0, 0}));
  (*module)->setAttr(kPhaseAttr, builder.getStringAttr("parse"));
  builder.setInsertionPointToEnd(module->getBody());
}

Location FileLowering::location(SourceRange range) {
  LineColumn place = source->getLineColumn(range.begin);
  return FileLineColLoc::get(context, source->getName(), place.line,
                             place.column);
}

void FileLowering::unknownName(StringRef what, StringRef name,
                               SourceRange range,
                               ArrayRef<StringRef> candidates,
                               const Twine &where) {
  if (hadSyntaxErrors)
    return;
  constexpr size_t most = 40;
  error(range, "unknown " + what + " '" + name.take_front(most) +
                   (name.size() > most ? "...'" : "'") + where +
                   didYouMean(name, candidates));
}

void FileLowering::declare(const ast::Name &name, Declaration declaration) {
  if (name.isMissing())
    return;
  auto [it, inserted] = globals.insert({name.text, declaration});
  if (!inserted)
    error(name.range, "'" + name.text + "' is already defined")
        .note(file.source, it->second.range, "the other definition");
}

std::optional<Constant> FileLowering::evaluate(const ast::Expr *expr) {
  Operand operand = ProgramLowering(*this).evaluateConstant(expr);
  if (operand.isError())
    return std::nullopt;
  return operand.constant;
}

std::optional<int64_t> FileLowering::evaluateInteger(const ast::Expr *expr,
                                                     StringRef what) {
  std::optional<Constant> constant = evaluate(expr);
  if (!constant)
    return std::nullopt;
  if (const int64_t *integer = constant->getInteger())
    return *integer;
  bool large = !constant->isReal() && !constant->isBool();
  error(expr->range, Twine("expected an integer ") +
                         (large ? "below 2^63 " : "") + "as " + what +
                         ", found " + constant->str());
  return std::nullopt;
}

static const std::string *
findOption(ArrayRef<std::pair<std::string, std::string>> list, StringRef name) {
  // The last option on the command line overrides earlier ones.
  for (const auto &option : llvm::reverse(list))
    if (option.first == name)
      return &option.second;
  return nullptr;
}

void FileLowering::lowerMesh(const ast::MeshItem &item) {
  if (mesh) {
    error(item.range, "expected one mesh, found another")
        .note(file.source, meshRange, "the first mesh");
    return;
  }
  constexpr int64_t maxRanks = 65536;
  SmallVector<Attribute> names;
  SmallVector<int64_t> sizes;
  int64_t ranks = 1;
  bool tooMany = false;
  for (const ast::MeshAxis &axis : item.axes) {
    if (axis.name.isMissing())
      continue;
    std::optional<int64_t> size;
    SourceRange range = axis.size ? axis.size->range : axis.range;
    const std::string *text = findOption(options.mesh, axis.name.text);
    auto report = [&](const Twine &message) {
      text ? optionError(range, message) : error(range, message);
    };
    if (text) {
      int64_t value;
      if (!StringRef(*text).getAsInteger(10, value))
        size = value;
      else
        report("expected an integer as size of axis '" + axis.name.text +
               "', found '" + *text + "'");
    } else if (axis.size) {
      size = evaluateInteger(axis.size, "size of an axis");
    }
    if (size && *size < 1) {
      report("expected a size of at least 1 for axis '" + axis.name.text +
             "', found " + Twine(*size));
      size.reset();
    }
    if (size && (*size > maxRanks || ranks * *size > maxRanks)) {
      if (!tooMany)
        report("expected at most " + Twine(maxRanks) +
               " ranks in the mesh, found more");
      tooMany = true;
      size.reset();
    }
    int64_t known = size.value_or(1);
    ranks *= known;
    Declaration declaration;
    declaration.kind = Declaration::Kind::Axis;
    declaration.operand = Operand(Constant(known), axis.name.range);
    declaration.range = axis.name.range;
    declare(axis.name, declaration);
    StringAttr name = builder.getStringAttr(axis.name.text);
    if (llvm::is_contained(names, name))
      continue; // reported by declare
    names.push_back(name);
    sizes.push_back(known);
  }
  meshRange = item.range;
  if (names.empty() || item.name.isMissing())
    return;
  mesh = MeshOp::create(builder, location(item.range), item.name.text,
                        builder.getArrayAttr(names),
                        builder.getDenseI64ArrayAttr(sizes));
}

/// Whether a constant expression uses a name, including that of a function.
static bool usesNames(const ast::Expr *root) {
  SmallVector<const ast::Expr *> queue = {root};
  while (!queue.empty()) {
    const ast::Expr *expr = queue.pop_back_val();
    if (auto *unary = dyn_cast<ast::UnaryExpr>(expr)) {
      queue.push_back(unary->operand);
    } else if (auto *binary = dyn_cast<ast::BinaryExpr>(expr)) {
      queue.push_back(binary->lhs);
      queue.push_back(binary->rhs);
    } else if (isa<ast::NameExpr, ast::CallExpr>(expr)) {
      return true;
    }
  }
  return false;
}

std::optional<int64_t> FileLowering::sizeOf(const ast::Expr *expr,
                                            int64_t value) {
  if (value < 2 || usesNames(expr))
    return value;
  literalSizes.insert(value);
  const std::string *text = findOption(options.params, std::to_string(value));
  if (!text)
    return value;
  int64_t size;
  if (!StringRef(*text).getAsInteger(10, size) && size >= 0)
    return size;
  optionError(expr->range, "expected a size of at least 0 in place of " +
                               Twine(value) + ", found '" + *text + "'");
  return std::nullopt;
}

void FileLowering::lowerParam(const ast::ParamItem &item) {
  std::optional<Constant> value;
  bool isDerived = false;
  if (const std::string *text = findOption(options.params, item.name.text)) {
    value = parseConstant(*text);
    if (!value)
      optionError(item.range, "expected a number of 64 bits for param '" +
                                  item.name.text + "', found '" + *text + "'");
  } else if (item.value) {
    value = evaluate(item.value);
    isDerived = usesNames(item.value);
  }
  Declaration declaration;
  declaration.kind = Declaration::Kind::Param;
  if (value) {
    declaration.operand = Operand(*value, item.name.range);
    params.push_back({item.name.text.str(), *value, isDerived});
  }
  declaration.range = item.name.range;
  declare(item.name, declaration);
}

void FileLowering::lowerFn(const ast::FnItem &item) {
  if (item.name.isMissing())
    return;
  auto [it, inserted] = functions.try_emplace(item.name.text, &item);
  if (!inserted)
    error(item.name.range,
          "function '" + item.name.text + "' is already defined")
        .note(file.source, it->second->name.range, "the other definition");
}

void FileLowering::checkFunctions() {
  // Without a mesh there is no program that could call a function.
  if (!mesh)
    return;
  numOperations = numExpressions = 0;
  tooLarge = false;
  checksFunctions = true;
  for (const ast::Item *item : file.items)
    if (auto *fn = dyn_cast<ast::FnItem>(item);
        fn && functions.lookup(fn->name.text) == fn &&
        !checkedFunctions.contains(fn))
      ProgramLowering(*this).check(*fn);
  checksFunctions = false;
}

void FileLowering::checkOptions() {
  auto checkList = [&](ArrayRef<std::pair<std::string, std::string>> list,
                       Declaration::Kind kind, StringRef what) {
    SmallVector<StringRef> candidates;
    for (auto &[name, declaration] : globals)
      if (declaration.kind == kind)
        candidates.push_back(name);
    for (const auto &[name, value] : list) {
      int64_t size;
      bool isSize = kind == Declaration::Kind::Param &&
                    !StringRef(name).getAsInteger(10, size);
      // A number names a size only in its plain decimal form.
      if (isSize ? literalSizes.count(size) != 0 && std::to_string(size) == name
                 : llvm::is_contained(candidates, name))
        continue;
      badOption = true;
      diagnostics.error("the program has no " + (isSize ? "size" : what) +
                        " '" + name + "', which the command line sets" +
                        didYouMean(name, candidates));
    }
  };
  checkList(options.params, Declaration::Kind::Param, "param");
  checkList(options.mesh, Declaration::Kind::Axis, "mesh axis");
}

void FileLowering::lowerSchedules(ArrayRef<const ast::ScheduleItem *> items) {
  StringRef wanted = options.schedule;
  if (wanted.empty())
    wanted = "default";
  SmallVector<StringRef> candidates;
  bool found = false;
  for (const ast::ScheduleItem *item : items) {
    candidates.push_back(item->name.text);
    if (item->name.text != wanted)
      continue;
    found = true;
    lowerSchedule(*item);
  }
  if (found || options.schedule.empty())
    return;
  badOption = true;
  diagnostics.error("the file has no schedule '" + wanted +
                    "', which the command line asks for" +
                    didYouMean(wanted, candidates));
}

void FileLowering::lowerScheduleFile(const ast::File &other) {
  source = &other.source;
  scheduleRanges.clear();
  llvm::MapVector<StringRef, SmallVector<const ast::ScheduleItem *>> byProgram;
  for (const ast::Item *item : other.items) {
    auto *schedule = dyn_cast<ast::ScheduleItem>(item);
    if (!schedule) {
      error(item->range, "expected schedules only in a file of schedules");
      continue;
    }
    checkSchedule(*schedule);
    byProgram[schedule->program.text].push_back(schedule);
  }
  if (byProgram.empty() && !diagnostics.hasErrors())
    error({0, 0}, "expected a schedule, found none");
  if (diagnostics.hasErrors())
    return;
  for (auto &[program, items] : byProgram) {
    auto *chosen = llvm::find_if(items, [](const ast::ScheduleItem *item) {
      return item->name.text == "default";
    });
    if (items.size() == 1)
      chosen = items.begin();
    if (chosen == items.end())
      error(items[1]->name.range,
            "expected one schedule for '" + program +
                "', or one named 'default', found several")
          .note(*source, items[0]->name.range, "another one");
    else
      lowerSchedule(**chosen);
  }
}

Lowered FileLowering::run(bool &wrongUsage) {
  // Schedules are lowered last, as they may come before the programs that they
  // name.
  SmallVector<const ast::ScheduleItem *> items;
  for (const ast::Item *item : file.items) {
    numOperations = numExpressions = 0;
    tooLarge = false;
    switch (item->kind) {
    case ast::Item::Kind::Mesh:
      lowerMesh(*cast<ast::MeshItem>(item));
      break;
    case ast::Item::Kind::Param:
      lowerParam(*cast<ast::ParamItem>(item));
      break;
    case ast::Item::Kind::Fn:
      lowerFn(*cast<ast::FnItem>(item));
      break;
    case ast::Item::Kind::Program:
      ProgramLowering(*this).lower(*cast<ast::ProgramItem>(item));
      break;
    case ast::Item::Kind::Schedule:
      items.push_back(cast<ast::ScheduleItem>(item));
      break;
    }
  }
  checkFunctions();
  for (const ast::ScheduleItem *schedule : items)
    checkSchedule(*schedule);
  if (!hadSyntaxErrors)
    checkOptions();
  if (file.items.empty() && !hadSyntaxErrors)
    error({0, 0}, "expected a program, found an empty file");
  if (options.scheduleFile)
    lowerScheduleFile(*options.scheduleFile);
  else if (!diagnostics.hasErrors())
    lowerSchedules(items);
  wrongUsage = badOption;
  if (diagnostics.hasErrors())
    return {};
  // The operations were verified when they were made; this verifies the whole
  // module.
  assert(succeeded(verify(*module)) && "what is checked here verifies");
  return {std::move(module), std::move(schedules), std::move(params),
          std::move(literalSizes), std::move(types)};
}

Lowered frontend::lower(const ast::File &file, MLIRContext *context,
                        const LowerOptions &options, Diagnostics &diagnostics,
                        bool &badOption) {
  return FileLowering(file, context, options, diagnostics).run(badOption);
}

OwningOpRef<ModuleOp> FileLowering::runOnIr(ModuleOp ir) {
  for (ProgramOp program : ir.getOps<ProgramOp>()) {
    Scope &values = programs[program.getSymName()];
    auto declare = [&](StringRef name, Value value, bool isInout) {
      values.insert({name, Declaration{Declaration::Kind::Value,
                                       Operand(value, {0, 0}),
                                       {0, 0},
                                       isInout,
                                       /*isProgramValue=*/true}});
    };
    for (unsigned i = 0; i < program.getNumArguments(); ++i)
      declare(program.getArgName(i), program.getArgument(i),
              program.isInout(i));
    program.walk([&](Operation *op) {
      if (auto name = op->getAttrOfType<StringAttr>(kLetAttr))
        declare(name, op->getResult(0), false);
    });
  }
  lowerScheduleFile(file);
  return diagnostics.hasErrors() ? OwningOpRef<ModuleOp>()
                                 : std::move(schedules);
}

OwningOpRef<ModuleOp> frontend::lowerSchedules(const ast::File &file,
                                               ModuleOp programs,
                                               Diagnostics &diagnostics) {
  return FileLowering(file, programs.getContext(), {}, diagnostics)
      .runOnIr(programs);
}
