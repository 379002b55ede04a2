//===- PlanUtil.h - Programs and their plans in tests -----------*- C++ -*-===//
//
// Compiles texts in one context, and compares what their plans leave with what
// the interpreter leaves.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_PLAN_PLANUTIL_H
#define CCN_TEST_UNIT_PLAN_PLANUTIL_H

#include "test/common/PlanTeam.h"
#include "test/unit/Verify/ProveUtil.h"

#include <gtest/gtest.h>

namespace ccn::test {

using Outputs = std::vector<interp::Output>;

/// Says which bits differ.
inline testing::AssertionResult haveSameBits(const Outputs &expected,
                                             const Outputs &found) {
  if (expected.size() != found.size())
    return testing::AssertionFailure() << "expected " << expected.size()
                                       << " outputs, found " << found.size();
  for (size_t i = 0; i < expected.size(); ++i) {
    const runtime::HostTensor &a = expected[i].tensor, &b = found[i].tensor;
    if (expected[i].name != found[i].name || a.type() != b.type() ||
        a.shape() != b.shape())
      return testing::AssertionFailure()
             << "expected '" << expected[i].name << "' of " << a.describe()
             << ", found '" << found[i].name << "' of " << b.describe();
    if (auto element = runtime::firstDifference(a, b))
      return testing::AssertionFailure()
             << "element " << runtime::describeIndex(a.shape(), *element)
             << " of '" << expected[i].name << "' is " << b.textAt(*element)
             << ", expected " << a.textAt(*element);
  }
  return testing::AssertionSuccess();
}

/// Compiles in one context.
class PlanCompiler {
public:
  PlanCompiler()
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  /// As `variant` says, as far as `phase`. Null, with `messages`, if the text
  /// is wrong.
  mlir::OwningOpRef<mlir::ModuleOp> compileTo(Phase phase,
                                              const std::string &text,
                                              const verify::Variant &variant,
                                              std::string &messages) {
    SourceFile source("test.ccn", text);
    Diagnostics diagnostics;
    CompileOptions options;
    options.lower.mesh = variant.mesh;
    options.lower.params = variant.params;
    options.lower.schedule = variant.schedule;
    options.stopAfter = phase;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    compile(source, &context, options, diagnostics, module);
    llvm::raw_string_ostream os(messages);
    if (!module)
      diagnostics.renderText(os);
    return module;
  }

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
};

} // namespace ccn::test

#endif // CCN_TEST_UNIT_PLAN_PLANUTIL_H
