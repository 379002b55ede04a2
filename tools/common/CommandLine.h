//===- CommandLine.h - Command lines in our words ---------------*- C++ -*-===//
//
// What the command lines of our tools have in common on top of CLI11. It
// reports mistakes by exceptions, so who includes this is compiled with them.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TOOLS_COMMON_COMMANDLINE_H
#define CCN_TOOLS_COMMON_COMMANDLINE_H

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ccn::cli {

/// Takes each `name=value` apart. `example` is what it should be.
std::vector<std::pair<std::string, std::string>>
splitAll(const std::vector<std::string> &texts, const std::string &option,
         const std::string &example);

/// A check of an option's text; what it should be is said in our words.
CLI::Validator expect(const std::string &what,
                      const std::function<bool(const std::string &)> &holds);
CLI::Validator expectOneOf(const std::vector<std::string> &words);

/// What to say of an argument that there is not: "unknown argument '--shedule';
/// did you mean '--schedule'", if `app` has an option that it may misspell.
std::string unknownArgument(const CLI::App &app, const std::string &argument);

/// Whether a text is an integer from 0 to 2^64 - 1.
bool isSeed(const std::string &text);
/// Whether a text is an integer, or a real number, in a range.
std::function<bool(const std::string &)> isIntegerFrom(int64_t least,
                                                       int64_t most);
std::function<bool(const std::string &)> isNumberFrom(double least,
                                                      double most);

/// `--input`, `--output` and `--seed` of tools that run programs, in a group of
/// the help. What is given goes where the references say.
void addArrayOptions(CLI::App &app, std::vector<std::string> &inputs,
                     std::vector<std::string> &outputs, uint64_t &seed,
                     const std::string &group);
/// How arrays travel, for the end of the help.
extern const char *const arraysNote;

/// Reads the command line, then calls `check`, which may throw a
/// CLI::ValidationError. If the tool is to end at once, after `--help`,
/// `--version` or a mistake, the result is its exit code. A mistake is passed
/// to `report`, or printed if that is empty. `file` is what the help calls the
/// argument that every call needs.
std::optional<int>
parse(CLI::App &app, int argc, char **argv, const std::string &file,
      const std::function<void()> &check,
      const std::function<void(const std::string &)> &report = {});

} // namespace ccn::cli

#endif // CCN_TOOLS_COMMON_COMMANDLINE_H
