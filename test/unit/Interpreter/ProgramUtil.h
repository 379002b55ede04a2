//===- ProgramUtil.h - Running programs in tests ----------------*- C++ -*-===//
//
// Compiles the text of a program for a mesh and runs it on the reference
// interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_INTERPRETER_PROGRAMUTIL_H
#define CCN_TEST_UNIT_INTERPRETER_PROGRAMUTIL_H

#include "lib/Driver/Phases.h"
#include "lib/Interpreter/Interpreter.h"

#include "TestUtil.h"

namespace ccn::interp {

/// `name=value`, for mesh axes and parameters.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// A compiled program; null if it is wrong, which fails the test.
class TestProgram {
public:
  TestProgram(const std::string &text, const Settings &mesh = {},
              const Settings &params = {}, Phase phase = Phase::Schedule)
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED),
        source("test.ccn", text) {
    context.loadAllAvailableDialects();
    CompileOptions options;
    options.lower.mesh = mesh;
    options.lower.params = params;
    options.stopAfter = phase;
    compile(source, &context, options, diagnostics, module);
    if (module)
      return;
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.renderText(os);
    ADD_FAILURE() << messages;
  }

  ProgramOp get() {
    return module ? *module->getOps<ProgramOp>().begin() : ProgramOp();
  }

  /// The outputs; none if the run failed, with the reason in `messages`.
  std::optional<std::vector<Output>> run(NamedTensors inputs = {},
                                         RunOptions options = {}) {
    ProgramOp program = get();
    if (!program)
      return std::nullopt;
    messages.clear();
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          llvm::raw_string_ostream os(messages);
          os << diagnostic.getLocation() << ": " << diagnostic.str() << "\n";
          return mlir::success();
        });
    mlir::FailureOr<std::vector<Output>> outputs =
        interp::run(program, program.getMesh(), std::move(inputs), options);
    if (mlir::failed(outputs))
      return std::nullopt;
    return *std::move(outputs);
  }

  /// The outputs of a run that must succeed.
  std::vector<Output> outputs(NamedTensors inputs = {},
                              RunOptions options = {}) {
    auto result = run(std::move(inputs), options);
    EXPECT_TRUE(result) << messages;
    return result.value_or(std::vector<Output>());
  }

  std::string messages;

private:
  static mlir::DialectRegistry makeRegistry() {
    // The driver asks for the pass manager's options, which a tool registers.
    static bool registered = (mlir::registerPassManagerCLOptions(), true);
    (void)registered;
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  SourceFile source;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace ccn::interp

#endif // CCN_TEST_UNIT_INTERPRETER_PROGRAMUTIL_H
