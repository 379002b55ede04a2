//===- ProveUtil.h - Proofs about programs in tests -------------*- C++ -*-===//
//
// Compiles texts of programs in one context and proves that they are equal.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_VERIFY_PROVEUTIL_H
#define CCN_TEST_UNIT_VERIFY_PROVEUTIL_H

#include "lib/Driver/Phases.h"
#include "lib/Verify/Prove.h"
#include "lib/Verify/SymbolicExecutor.h"

#include <gtest/gtest.h>

#include <deque>

namespace ccn::verify {

/// `name=value`, for mesh axes and parameters.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// How a text is compiled.
struct Variant {
  Phase phase = Phase::Parse;
  Settings mesh = {}, params = {};
  std::string schedule = {};
};

/// Programs, all in one context.
class Programs {
public:
  Programs() : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  /// A compiled program; null if it is wrong, which fails the test.
  ProgramOp compile(const std::string &text, const Variant &variant = {}) {
    sources.emplace_back("test.ccn", text);
    Diagnostics diagnostics;
    CompileOptions options;
    options.lower.mesh = variant.mesh;
    options.lower.params = variant.params;
    options.lower.schedule = variant.schedule;
    options.stopAfter = variant.phase;
    modules.emplace_back();
    ccn::compile(sources.back(), &context, options, diagnostics,
                 modules.back());
    if (modules.back())
      return *modules.back()->getOps<ProgramOp>().begin();
    std::string messages;
    llvm::raw_string_ostream os(messages);
    diagnostics.renderText(os);
    ADD_FAILURE() << messages;
    return {};
  }

  /// Of two texts on the same mesh.
  Proof prove(const std::string &before, const std::string &after,
              const ProveOptions &options = {}) {
    ProgramOp a = compile(before), b = compile(after);
    if (!a || !b)
      return {};
    return verify::prove(a, b, options);
  }

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
  std::deque<SourceFile> sources;
  std::deque<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

/// With what was found, if it is not so.
inline testing::AssertionResult is(Proof::Kind kind, const Proof &proof) {
  if (proof.kind == kind)
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << proof.describe();
}

/// `x` with what is outside of the box replaced by new symbols.
inline runtime::HostTensor obscureOutside(SymbolicKernels &kernels,
                                          const runtime::HostTensor &x,
                                          const interp::Box &box) {
  auto unknown = kernels.spoiled(runtime::ElementType::F32, x, x.shape());
  auto inside = interp::extractBox(x, box);
  EXPECT_TRUE(unknown && inside);
  return *interp::insertBox(*unknown, box.offsets, *inside);
}

} // namespace ccn::verify

#endif // CCN_TEST_UNIT_VERIFY_PROVEUTIL_H
