//===- ccn-format.cpp - Formats .ccn text ---------------------------------===//
//
// The command line of the formatter.
//
//===----------------------------------------------------------------------===//

#include "lib/Editor/Format.h"
#include "lib/Frontend/Parser.h"
#include "runtime/base/File.h"
#include "tools/common/CommandLine.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace ccn;

namespace {

struct FormatOptions {
  std::vector<std::string> files;
  bool inPlace = false;
  bool check = false;
};

std::optional<int> parseOptions(int argc, char **argv, FormatOptions &options) {
  CLI::App app("Formats .ccn text, and prints it.", "ccn-format");
  app.add_option("FILE", options.files, "files; none, or -, is standard input");
  app.add_flag("-i", options.inPlace, "write the files anew instead");
  app.add_flag("--check", options.check,
               "print the names of files that are not formatted instead, and "
               "end with exit code 1 if there are such");
  app.footer("Exit codes: 0 done, 1 a text does not parse or, with --check, is "
             "not formatted,\n2 usage, or a file cannot be read or written.");
  std::optional<int> code = cli::parse(app, argc, argv, "FILE", [&] {
    if (options.inPlace && options.check)
      throw CLI::ValidationError("-i", "expected without --check");
    if (options.files.empty())
      options.files = {"-"};
    if (options.inPlace && std::find(options.files.begin(), options.files.end(),
                                     "-") != options.files.end())
      throw CLI::ValidationError("-i", "expected files, found standard input");
  });
  return code;
}

/// Formats a file; returns its exit code.
int formatFile(const std::string &path, const FormatOptions &options,
               Diagnostics &diagnostics) {
  std::unique_ptr<SourceFile> source = frontend::readSource(path, diagnostics);
  if (!source)
    return 2;
  // What is reported points into the source.
  static std::vector<std::unique_ptr<SourceFile>> kept;
  kept.push_back(std::move(source));
  const SourceFile &file = *kept.back();
  std::optional<std::string> text = editor::format(file, diagnostics);
  if (!text)
    return 1;
  bool isFormatted = *text == file.getText();
  if (options.check) {
    if (!isFormatted)
      llvm::outs() << file.getName() << "\n";
    return isFormatted ? 0 : 1;
  }
  if (!options.inPlace) {
    llvm::outs() << *text;
    return 0;
  }
  if (isFormatted)
    return 0;
  Status status = writeFileAtomically(path, {*text});
  if (status)
    return 0;
  diagnostics.error(status.message());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  FormatOptions options;
  if (std::optional<int> code = parseOptions(argc, argv, options))
    return *code;
  int code = 0;
  for (const std::string &path : options.files) {
    // So many errors are shown of each file.
    Diagnostics diagnostics;
    code = std::max(code, formatFile(path, options, diagnostics));
    llvm::outs().flush();
    diagnostics.renderText(llvm::errs(), llvm::errs().has_colors());
  }
  Diagnostics diagnostics;
  if (llvm::outs().has_error()) {
    llvm::outs().clear_error();
    diagnostics.error("cannot write standard output: " + systemError());
    code = 2;
  }
  diagnostics.renderText(llvm::errs(), llvm::errs().has_colors());
  return code;
}
