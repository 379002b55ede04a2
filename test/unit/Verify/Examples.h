//===- Examples.h - The example programs in tests ---------------*- C++ -*-===//
//
// Finds the programs of examples/ and their schedules, and how to compile them
// for small shapes.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_VERIFY_EXAMPLES_H
#define CCN_TEST_UNIT_VERIFY_EXAMPLES_H

#include "ProveUtil.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

namespace ccn::verify {

inline std::vector<std::filesystem::path> findExamples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(CCN_EXAMPLES))
    if (entry.path().extension() == ".ccn")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Example {
  explicit Example(const std::filesystem::path &path)
      : name(path.stem().string()) {
    std::ifstream file(path);
    std::ostringstream content;
    content << file.rdbuf();
    text = content.str();
    axes = matches(matches(text, "\nmesh \\w+ \\((.*)\\)").at(0), "(\\w+) =");
    schedules = matches(text, "\nschedule (\\w+) for");
    schedules.emplace_back();
  }

  /// With one size for each axis that the example has.
  Variant variant(Phase phase, const std::vector<int64_t> &mesh,
                  std::string schedule = {}) const {
    Variant result = {.phase = phase, .schedule = std::move(schedule)};
    int64_t ranks = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      result.mesh.emplace_back(axes[i], std::to_string(mesh.at(i)));
      ranks *= mesh.at(i);
    }
    // Sizes that slices do not divide, by the names that examples use.
    std::map<std::string, int64_t> sizes = {{"N", 2 * ranks + 1},
                                            {"B", 3},
                                            {"S", 2},
                                            {"H", 5},
                                            {"T", 5},
                                            {"F", 6},
                                            {"E", 5},
                                            {"C", 3}};
    for (const std::string &param : matches(text, "param (\\w+) = [0-9]+\\s"))
      result.params.emplace_back(
          param, std::to_string(sizes.contains(param) ? sizes.at(param) : 4));
    return result;
  }

  std::string name, text;
  std::vector<std::string> axes;
  /// The empty one, which is none, comes last.
  std::vector<std::string> schedules;

private:
  /// The first group of every match.
  static std::vector<std::string> matches(const std::string &text,
                                          const char *pattern) {
    std::regex regex(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end;
         it != end; ++it)
      found.push_back((*it)[1]);
    return found;
  }
};

} // namespace ccn::verify

#endif // CCN_TEST_UNIT_VERIFY_EXAMPLES_H
