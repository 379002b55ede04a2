//===- CheckerFuzzer.cpp - No text makes the compiler fall over -----------===//
//
// Any bytes must compile through the phases parse and schedule, with the IR
// written and read back after each, or end in errors. These must be in the
// language's words: no name or type of the IR, no sentence's end.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Phases.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>

using namespace ccn;

static void check(bool condition, const llvm::Twine &what) {
  if (condition)
    return;
  llvm::errs() << "fuzzer: " << what << '\n';
  std::abort();
}

static void checkMessage(llvm::StringRef message) {
  check(!message.empty() && !message.ends_with("."),
        "a message that ends as a sentence: " + message);
  // Of the compiler's own words; what the program says stands in quotes too,
  // but cannot hold these.
  for (llvm::StringRef word :
       {"'ccn.", "#ccn.", "tensor<", " op ", "operand #", "mistake in ccn",
        "does not survive", "' failed"})
    check(!message.contains(word), "a message in the IR's words: " + message);
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  llvm::install_fatal_error_handler(
      [](void *, const char *reason, bool) { check(false, reason); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Not a .mlir, which MLIR's own parser reads.
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (text.starts_with("ML\xefR"))
    return -1;
  SourceFile source("fuzz.ccn", text.str());
  mlir::DialectRegistry registry;
  registerDialects(registry);
  // A context for each input: what it uniques lives as long as it does.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  CompileOptions options;
  options.roundTrip = true;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CompileStatus status =
      compile(source, &context, options, diagnostics, module);
  check((status == CompileStatus::Done) == bool(module),
        "a module without success, or success without a module");
  check((status == CompileStatus::Done) != diagnostics.hasErrors(),
        "errors with success, or neither");
  check(status != CompileStatus::WrongUsage, "wrong usage without options");
  if (module)
    check(mlir::succeeded(mlir::verify(*module)), "the result does not verify");
  for (const Diagnostic *diagnostic : diagnostics.getSorted()) {
    checkMessage(diagnostic->message);
    for (const Diagnostic &note : diagnostic->notes)
      checkMessage(note.message);
  }
  std::string rendered;
  llvm::raw_string_ostream os(rendered);
  diagnostics.renderText(os);
  diagnostics.renderJson(os);
  return 0;
}
