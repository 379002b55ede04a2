//===- Phases.cpp - The phases of the compiler ----------------------------===//
//
// Runs a program through the phases, from text or from the IR that an earlier
// run left.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Phases.h"

#include "lib/Frontend/Parser.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/ScheduleOps.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ccn;

StringRef ccn::phaseName(Phase phase) {
  switch (phase) {
  case Phase::Parse:
    return "parse";
  case Phase::Schedule:
    return "schedule";
  }
  llvm_unreachable("all phases are named");
}

std::optional<Phase> ccn::phaseByName(StringRef name) {
  for (Phase phase : allPhases)
    if (phaseName(phase) == name)
      return phase;
  return std::nullopt;
}

void ccn::registerDialects(DialectRegistry &registry) {
  registry.insert<CcnDialect>();
  registerScheduleOps(registry);
}

void ccn::forwardDiagnostic(mlir::Diagnostic &diagnostic,
                            Diagnostics &diagnostics) {
  auto place = [](Location location) {
    auto found = location->findInstanceOf<FileLineColLoc>();
    return found ? found : FileLineColLoc();
  };
  Severity severity;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    severity = Severity::Error;
    break;
  case DiagnosticSeverity::Warning:
    severity = Severity::Warning;
    break;
  default:
    return;
  }
  DiagnosticHandle handle;
  if (FileLineColLoc loc = place(diagnostic.getLocation()))
    handle =
        diagnostics.report(severity, loc.getFilename().getValue(),
                           loc.getLine(), loc.getColumn(), diagnostic.str());
  else
    handle = diagnostics.report(severity, diagnostic.str());
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    // What the operation prints as is no help beside its line.
    if (StringRef(note.str()).starts_with("see current operation"))
      continue;
    if (FileLineColLoc loc = place(note.getLocation()))
      handle.note(loc.getFilename().getValue(), loc.getLine(), loc.getColumn(),
                  note.str());
    else
      handle.note(note.str());
  }
}

static bool isMlir(const SourceFile &source) {
  return source.getName().ends_with(".mlir") ||
         source.getName().ends_with(".mlirbc") ||
         source.getText().starts_with("ML\xefR");
}

/// Reads what an earlier phase left, and which phase that was.
static OwningOpRef<ModuleOp> resume(const SourceFile &source,
                                    MLIRContext *context,
                                    const CompileOptions &options,
                                    Diagnostics &diagnostics, Phase &done,
                                    CompileStatus &status) {
  status = CompileStatus::WrongProgram;
  if (!options.lower.params.empty() || !options.lower.mesh.empty()) {
    status = CompileStatus::WrongUsage;
    diagnostics.error("params and mesh are fixed in '" + source.getName() +
                      "'; set them when compiling the .ccn file");
    return {};
  }
  diagnostics.addFile(source);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(source.getText(), source.getName()),
      llvm::SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sourceMgr, ParserConfig(context));
  if (!module) {
    if (!diagnostics.hasErrors())
      diagnostics.error("'" + source.getName() + "' holds no MLIR module");
    return {};
  }
  done = Phase::Parse;
  if (auto name = (*module)->getAttrOfType<StringAttr>(kPhaseAttr)) {
    std::optional<Phase> phase = phaseByName(name);
    if (!phase) {
      diagnostics.error("'" + source.getName() + "' comes from phase '" +
                        name.getValue() + "', which this ccn does not have");
      return {};
    }
    done = *phase;
  }
  status = CompileStatus::Done;
  return module;
}

static bool dump(ModuleOp module, Phase phase, const CompileOptions &options,
                 Diagnostics &diagnostics) {
  if (options.dumpFolder.empty())
    return true;
  SmallString<128> path(options.dumpFolder);
  llvm::sys::path::append(path, std::to_string(static_cast<int>(phase)) + "-" +
                                    phaseName(phase) + ".mlir");
  std::error_code failure =
      llvm::sys::fs::create_directories(options.dumpFolder);
  if (!failure) {
    llvm::raw_fd_ostream os(path, failure);
    if (!failure) {
      module->print(os);
      os << "\n";
      os.close();
      failure = os.error();
      os.clear_error();
    }
  }
  if (failure)
    diagnostics.error("cannot write '" + path + "': " + failure.message());
  return !failure;
}

/// The module written as text, read, written as bytecode and read again.
static OwningOpRef<ModuleOp> roundTrip(OwningOpRef<ModuleOp> module,
                                       Diagnostics &diagnostics) {
  MLIRContext *context = module->getContext();
  for (bool bytecode : {false, true}) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (bytecode) {
      if (failed(writeBytecodeToFile(*module, os)))
        return {};
    } else {
      // With locations, which later phases report at.
      module->print(os, OpPrintingFlags().enableDebugInfo());
    }
    module = parseSourceString<ModuleOp>(text, ParserConfig(context));
    if (!module) {
      diagnostics.error("the IR does not survive being written and read");
      return {};
    }
  }
  return module;
}

/// What follows every phase.
static bool finishPhase(OwningOpRef<ModuleOp> &module, Phase phase,
                        const CompileOptions &options,
                        Diagnostics &diagnostics) {
  if (options.roundTrip) {
    module = roundTrip(std::move(module), diagnostics);
    if (!module)
      return false;
  }
  return dump(*module, phase, options, diagnostics);
}

static void addPasses(Phase phase, OpPassManager &passes) {
  switch (phase) {
  case Phase::Parse:
    break;
  case Phase::Schedule:
    passes.addNestedPass<ProgramOp>(createLowerReshard());
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    break;
  }
}

CompileStatus ccn::compile(const SourceFile &source, MLIRContext *context,
                           const CompileOptions &options,
                           Diagnostics &diagnostics,
                           OwningOpRef<ModuleOp> &module) {
  ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    forwardDiagnostic(diagnostic, diagnostics);
    return success();
  });
  module = {};
  Phase done = Phase::Parse;
  OwningOpRef<ModuleOp> current;
  if (isMlir(source)) {
    CompileStatus status;
    current = resume(source, context, options, diagnostics, done, status);
    if (!current)
      return status;
  } else {
    std::unique_ptr<frontend::ast::File> file =
        frontend::parse(source, diagnostics);
    bool badOption = false;
    current =
        frontend::lower(*file, context, options.lower, diagnostics, badOption);
    if (!current)
      return badOption ? CompileStatus::WrongUsage
                       : CompileStatus::WrongProgram;
    if (!finishPhase(current, done, options, diagnostics))
      return CompileStatus::WrongUsage;
  }

  for (Phase phase : allPhases) {
    if (phase <= done || phase > options.stopAfter)
      continue;
    PassManager passes(context);
    if (options.configure && failed(options.configure(passes)))
      return CompileStatus::WrongUsage;
    addPasses(phase, passes);
    if (failed(passes.run(*current))) {
      if (!diagnostics.hasErrors())
        diagnostics.error("phase '" + phaseName(phase) + "' failed");
      return CompileStatus::WrongProgram;
    }
    (*current)->setAttr(kPhaseAttr, StringAttr::get(context, phaseName(phase)));
    if (!finishPhase(current, phase, options, diagnostics))
      return CompileStatus::WrongUsage;
  }
  module = std::move(current);
  return CompileStatus::Done;
}
