//===- CommandLine.cpp - Command lines in our words -----------------------===//
//
// Checks of values, and one way to say what is wrong.
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"

#include "runtime/base/Spelling.h"

#include <algorithm>
#include <charconv>
#include <iostream>

using namespace ccn;

namespace {

/// Parses a text that is a number as a whole.
template <typename T> std::optional<T> parseAll(const std::string &text) {
  T value;
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || last != end)
    return std::nullopt;
  return value;
}

/// Says in our words what CLI11 says of an option with no or too many values.
std::string describe(const CLI::ArgumentMismatch &error) {
  std::string text = error.what();
  std::string option = text.substr(0, text.find(':'));
  bool missing = text.find("missing") != std::string::npos;
  return option + (missing ? ": expected a value, found none"
                           : ": expected once, found twice");
}

} // namespace

std::vector<std::pair<std::string, std::string>>
cli::splitAll(const std::vector<std::string> &texts, const std::string &option,
              const std::string &example) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string &text : texts) {
    size_t equal = text.find('=');
    if (equal == 0 || equal == std::string::npos || equal + 1 == text.size())
      throw CLI::ValidationError(option, "expected " + example + ", found '" +
                                             text + "'");
    std::string name = text.substr(0, equal);
    for (const auto &[other, value] : values)
      if (other == name)
        throw CLI::ValidationError(option, "'" + name + "' is given twice");
    values.emplace_back(name, text.substr(equal + 1));
  }
  return values;
}

CLI::Validator
cli::expect(const std::string &what,
            const std::function<bool(const std::string &)> &holds) {
  return CLI::Validator(
      [what, holds](std::string &text) {
        return holds(text) ? std::string()
                           : "expected " + what + ", found '" + text + "'";
      },
      "");
}

CLI::Validator cli::expectOneOf(const std::vector<std::string> &words) {
  std::string what;
  for (const std::string &word : words) {
    const char *before = word == words.front()  ? "'"
                         : word == words.back() ? " or '"
                                                : ", '";
    what += before + word + "'";
  }
  return CLI::Validator(
      [what, words](std::string &text) {
        if (std::find(words.begin(), words.end(), text) != words.end())
          return std::string();
        std::vector<std::string_view> candidates(words.begin(), words.end());
        // Another number is meant as it is.
        bool hasNumber = text.find_first_of("0123456789") != std::string::npos;
        return "expected " + what + ", found '" + text + "'" +
               (hasNumber ? "" : didYouMean(text, candidates));
      },
      "");
}

std::string cli::unknownArgument(const CLI::App &app,
                                 const std::string &argument) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    // Those without a group are hidden.
    if (!option->get_group().empty())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
  std::vector<std::string_view> candidates(names.begin(), names.end());
  std::string meant =
      argument.starts_with("-")
          ? didYouMean(std::string_view(argument).substr(0, argument.find('=')),
                       candidates)
          : "";
  return "unknown argument '" + argument + "'" +
         (meant.empty() ? "; see --help" : meant);
}

bool cli::isSeed(const std::string &text) {
  return parseAll<uint64_t>(text).has_value();
}

std::function<bool(const std::string &)> cli::isIntegerFrom(int64_t least,
                                                            int64_t most) {
  return [=](const std::string &text) {
    std::optional<int64_t> value = parseAll<int64_t>(text);
    return value && *value >= least && *value <= most;
  };
}

std::function<bool(const std::string &)> cli::isNumberFrom(double least,
                                                           double most) {
  return [=](const std::string &text) {
    std::optional<double> value = parseAll<double>(text);
    return value && *value >= least && *value <= most;
  };
}

void cli::addArrayOptions(CLI::App &app, std::vector<std::string> &inputs,
                          std::vector<std::string> &outputs, uint64_t &seed,
                          const std::string &group) {
  app.add_option("--input", inputs,
                 "an argument: a .npy file, or the number itself of a scalar; "
                 "a file for each buffer of a scattered one. What is not given "
                 "is drawn at random")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all()
      ->group(group);
  app.add_option("--output", outputs,
                 "where to write an inout argument or result, as .npy")
      ->type_name("NAME=FILE")
      ->expected(1)
      ->take_all()
      ->group(group);
  app.add_option("--seed", seed,
                 "the seed of what is drawn at random (default 0): floats in "
                 "(0, 1], those of large matrices as much smaller as products "
                 "stay finite; integers from 0 to 3; truth values")
      ->type_name("N")
      ->check(expect("an integer from 0 to 2^64 - 1", isSeed))
      ->group(group);
}

const char *const cli::arraysNote =
    "Arrays have the global shape of a replicated or sliced tensor; a local "
    "or\npartial one has a leading dimension for each mesh axis it is local "
    "on. bf16\ntravels as V2, f8e4m3 and f8e5m2 as V1.\n\n";

std::optional<int>
cli::parse(CLI::App &app, int argc, char **argv, const std::string &file,
           const std::function<void()> &check,
           const std::function<void(const std::string &)> &report) {
  auto fail = [&](const std::string &what) {
    if (report)
      report(what);
    else
      std::cerr << app.get_name() << ": error: " << what << "\n";
    return 2;
  };
  app.set_version_flag("--version", app.get_name() + " " CCN_VERSION,
                       "print the version, and end");
  try {
    app.parse(argc, argv);
    check();
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::CallForVersion &version) {
    std::cout << version.what() << "\n";
    return 0;
  } catch (const CLI::RequiredError &) {
    return fail("expected a " + file + "; see --help");
  } catch (const CLI::ExtrasError &) {
    return fail(unknownArgument(app, app.remaining().front()));
  } catch (const CLI::ArgumentMismatch &error) {
    return fail(describe(error));
  } catch (const CLI::Error &error) {
    return fail(error.what());
  }
  return std::nullopt;
}
