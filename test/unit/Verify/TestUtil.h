//===- TestUtil.h - Programs from text, for verification --------*- C++ -*-===//
//
// Several programs in one context, compiled from text, and their comparison.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_VERIFY_TESTUTIL_H
#define CCN_TEST_UNIT_VERIFY_TESTUTIL_H

#include "lib/Driver/Phases.h"
#include "lib/Verify/Verify.h"

#include "gtest/gtest.h"

#include <deque>

namespace ccn::verify {

class VerifyTest : public testing::Test {
protected:
  VerifyTest()
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }

  /// A file without a mesh gets one of two ranks, on a line of its own.
  static std::string withMesh(const std::string &text) {
    bool has = text.find("mesh ") == 0;
    return has ? text : "mesh m (r = 2)\n" + text;
  }

  /// The one program of the text, after Phase::Parse. It must be right.
  ProgramOp parse(const std::string &text) {
    sources.emplace_back("test.ccn", withMesh(text));
    CompileOptions options;
    options.stopAfter = Phase::Parse;
    Diagnostics diagnostics;
    modules.emplace_back();
    compile(sources.back(), &context, options, diagnostics, modules.back());
    if (!modules.back()) {
      std::string messages;
      llvm::raw_string_ostream os(messages);
      diagnostics.renderText(os);
      ADD_FAILURE() << messages << text;
      return {};
    }
    return onlyProgram(*modules.back());
  }

  /// Compares two programs on all sets of values; the mismatch, or empty.
  std::string compare(const std::string &before, const std::string &after) {
    ProgramOp a = parse(before), b = parse(after);
    if (!a || !b)
      return "no program";
    agreement = {};
    Comparison comparison(a, b);
    if (auto error = comparison.checkInterface())
      return *error;
    for (ValueSet set : allValueSets)
      if (auto error = comparison.run(set, /*seed=*/1, agreement))
        return name(set).str() + ": " + *error;
    return {};
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  std::deque<SourceFile> sources;
  std::deque<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  Agreement agreement;
};

} // namespace ccn::verify

#endif // CCN_TEST_UNIT_VERIFY_TESTUTIL_H
