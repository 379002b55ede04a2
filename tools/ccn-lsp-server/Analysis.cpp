//===- Analysis.cpp - What the compiler says of a text --------------------===//
//
// The frontend's errors are those of `cccompile FILE`; the schedules are then
// applied as `--schedule NAME` does, each to a program of its own.
//
//===----------------------------------------------------------------------===//

#include "dialect/ccn/Ccn.h"
#include "dialect/ccn/Placement.h"
#include "lib/CostModel/CostModel.h"
#include "lib/Driver/Phases.h"
#include "lib/Frontend/Parser.h"
#include "tools/ccn-lsp-server/Document.h"

#include "llvm/ADT/StringSet.h"

using namespace ccn;
using namespace ccn::lsp;
using namespace ccn::frontend;

namespace {

/// Of a file, at most this many schedules are applied while the user types; the
/// others are only checked.
constexpr unsigned maxApplied = 32;

mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

/// A context with all dialects. Each use has its own, since a context keeps
/// everything that was ever made in it.
class Context : public mlir::MLIRContext {
public:
  Context() : MLIRContext(getRegistry(), Threading::DISABLED) {
    loadAllAvailableDialects();
  }

private:
  static const mlir::DialectRegistry &getRegistry() {
    static const mlir::DialectRegistry registry = makeRegistry();
    return registry;
  }
};

void keep(const Diagnostics &reported, std::vector<Diagnostic> &kept) {
  for (const Diagnostic *diagnostic : reported.getSorted())
    if (!llvm::is_contained(kept, *diagnostic))
      kept.push_back(*diagnostic);
}

ValueType describe(mlir::RankedTensorType type, MeshOp mesh) {
  // The first rank has whole slices.
  mlir::RankedTensorType part = localType(type, mesh, 0);
  double bytes = elementBytes(part.getElementType());
  for (int64_t size : part.getShape())
    bytes *= static_cast<double>(size);
  return {typeName(type), typeName(part) + ", " + describeBytes(bytes)};
}

Types typesOf(Lowered &lowered) {
  Types types;
  for (ProgramOp program : lowered.module->getOps<ProgramOp>())
    if (auto named = lowered.types.find(program.getSymName());
        named != lowered.types.end())
      for (const auto &[name, type] : named->second)
        types[program.getSymName()][name] = describe(type, program.getMesh());
  return types;
}

/// Whether a schedule asks for a search, which may take minutes: the server
/// answers nothing meanwhile.
bool searches(const ast::ScheduleItem &schedule) {
  return llvm::any_of(schedule.directives, [](const ast::Directive *directive) {
    return directive->algorithm && !directive->algorithm->synthArgs.empty();
  });
}

void applySchedules(Analysis &analysis) {
  llvm::StringSet<> done;
  for (const ast::Item *item : analysis.file->items) {
    auto *schedule = llvm::dyn_cast<ast::ScheduleItem>(item);
    if (!schedule || searches(*schedule) || done.size() == maxApplied ||
        !done.insert(schedule->name.text).second)
      continue;
    Context context;
    Diagnostics diagnostics;
    CompileOptions options;
    options.lower.schedule = schedule->name.text.str();
    mlir::OwningOpRef<mlir::ModuleOp> module;
    compile(*analysis.source, &context, options, diagnostics, module);
    keep(diagnostics, analysis.diagnostics);
  }
}

} // namespace

std::unique_ptr<Analysis> lsp::analyze(std::string path, std::string text) {
  auto analysis = std::make_unique<Analysis>();
  analysis->source =
      std::make_unique<SourceFile>(std::move(path), std::move(text));
  Diagnostics diagnostics;
  analysis->file = parse(*analysis->source, diagnostics);
  analysis->names = std::make_unique<editor::Names>(*analysis->file);

  Context context;
  bool badOption = false;
  Lowered lowered =
      lower(*analysis->file, &context, {}, diagnostics, badOption);
  keep(diagnostics, analysis->diagnostics);
  if (!lowered.module)
    return analysis;
  analysis->types = typesOf(lowered);
  for (const Param &param : lowered.params)
    analysis->params[param.name] = param.value.str();
  applySchedules(*analysis);
  return analysis;
}

std::optional<std::string> lsp::getRepair(const Diagnostic &diagnostic,
                                          const SourceFile &source) {
  if (diagnostic.suggestion)
    return diagnostic.suggestion;
  std::optional<SourceRange> range = getRange(diagnostic.place, source);
  auto [before, after] =
      llvm::StringRef(diagnostic.message).rsplit("; did you mean '");
  // It is for the word at hand alone.
  llvm::StringRef word = range ? source.getText(*range) : llvm::StringRef();
  if (after.empty() || !after.consume_back("'") || word.empty() ||
      !llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return std::nullopt;
  return after.str();
}

std::optional<SourceRange> lsp::getRange(const DiagnosticPlace &place,
                                         const SourceFile &source) {
  if (place.file)
    return place.file == &source ? std::optional(place.range) : std::nullopt;
  if (place.fileName != source.getName() || place.line == 0)
    return std::nullopt;
  uint32_t begin = source.getOffset({place.line, place.column});
  llvm::StringRef word = source.getText().substr(begin).take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return SourceRange{begin, begin + static_cast<uint32_t>(word.size())};
}
