//===- ParserFuzzer.cpp - No text makes the parser fall over --------------===//
//
// Any bytes must parse to a tree or to errors, both must print, what prints
// must be valid UTF-8, and a tree without errors must survive being written as
// source and parsed again.
//
//===----------------------------------------------------------------------===//

#include "lib/Frontend/Parser.h"
#include "llvm/Support/JSON.h"
#include <cstdlib>
#include <string>

using namespace ccn;
using namespace ccn::frontend;

static void check(bool condition, const char *what) {
  if (condition)
    return;
  llvm::errs() << "fuzzer: " << what << '\n';
  std::abort();
}

static std::string showTree(const ast::File &file, bool places) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ast::print(file, os, places);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceFile source("fuzz.ccn",
                    std::string(reinterpret_cast<const char *>(data), size));
  Diagnostics diagnostics;
  std::unique_ptr<ast::File> file = parse(source, diagnostics);
  check(file != nullptr, "no tree");
  showTree(*file, /*places=*/true);

  std::string text, json, written;
  llvm::raw_string_ostream textStream(text), jsonStream(json),
      writtenStream(written);
  diagnostics.renderText(textStream);
  diagnostics.renderJson(jsonStream);
  check(llvm::json::isUTF8(text), "text output is not UTF-8");
  check(llvm::json::isUTF8(json), "JSON output is not UTF-8");
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(json);
  check(bool(parsed), "JSON output does not parse");
  check(diagnostics.hasErrors() == !text.empty(), "errors are not shown");

  ast::printSource(*file, writtenStream);
  if (diagnostics.hasErrors())
    return 0;
  SourceFile again("again.ccn", written);
  Diagnostics noErrors;
  std::unique_ptr<ast::File> copy = parse(again, noErrors);
  check(!noErrors.hasErrors(), "what was written does not parse");
  check(showTree(*file, false) == showTree(*copy, false),
        "what was written parses to another tree");
  return 0;
}
