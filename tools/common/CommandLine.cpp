//===- CommandLine.cpp - Command lines in our words -----------------------===//
//
// Checks of values, and one way to say what is wrong.
//
//===----------------------------------------------------------------------===//

#include "tools/common/CommandLine.h"

#include <algorithm>
#include <charconv>
#include <iostream>

using namespace ccn;

namespace {

/// The number that all of a text is.
template <typename T> std::optional<T> parseAll(const std::string &text) {
  T value;
  const char *end = text.data() + text.size();
  auto [last, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || last != end)
    return std::nullopt;
  return value;
}

/// CLI11's words for an option without or with too many values in ours.
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
  return expect(what, [words](const std::string &text) {
    return std::find(words.begin(), words.end(), text) != words.end();
  });
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

std::optional<int> cli::parse(CLI::App &app, int argc, char **argv,
                              const std::string &file,
                              const std::function<void()> &check) {
  auto fail = [&](const std::string &what) {
    std::cerr << app.get_name() << ": error: " << what << "\n";
    return 2;
  };
  try {
    app.parse(argc, argv);
    check();
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::RequiredError &) {
    return fail("expected a " + file + "; see --help");
  } catch (const CLI::ExtrasError &) {
    return fail("unknown argument '" + app.remaining().front() +
                "'; see --help");
  } catch (const CLI::ArgumentMismatch &error) {
    return fail(describe(error));
  } catch (const CLI::Error &error) {
    return fail(error.what());
  }
  return std::nullopt;
}
