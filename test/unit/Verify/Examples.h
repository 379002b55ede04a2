//===- Examples.h - The examples, on many meshes ----------------*- C++ -*-===//
//
// Reads the programs of examples/ and finds out, from their text, on which
// meshes and sizes and under which schedules they can be tested.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_UNIT_VERIFY_EXAMPLES_H
#define CCN_TEST_UNIT_VERIFY_EXAMPLES_H

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ccn::verify {

/// `name=value`, for mesh axes and parameters.
using Settings = std::vector<std::pair<std::string, std::string>>;

inline std::vector<std::filesystem::path> findExamples() {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(CCN_EXAMPLES))
    if (entry.path().extension() == ".ccn")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Example {
public:
  explicit Example(const std::filesystem::path &path) {
    std::ifstream file(path);
    std::ostringstream stream;
    stream << file.rdbuf();
    source = stream.str();
    axes = matches(matches(source, "\nmesh \\w+ \\((.*)\\)").at(0), "(\\w+) =");
  }

  const std::string &text() const { return source; }

  /// The names of all schedules, and an empty one for none.
  std::vector<std::string> schedules() const {
    std::vector<std::string> names = matches(source, "\nschedule (\\w+) for");
    names.emplace_back();
    return names;
  }

  /// Sizes for the axes of the mesh: one or two.
  std::vector<std::vector<int64_t>> meshShapes() const {
    if (axes.size() == 2)
      return {{1, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}, {4, 1}};
    return {{1}, {2}, {3}, {4}, {8}};
  }
  Settings mesh(const std::vector<int64_t> &shape) const {
    Settings mesh;
    for (size_t i = 0; i < axes.size(); ++i)
      mesh.emplace_back(axes[i], std::to_string(shape.at(i)));
    return mesh;
  }
  static int64_t ranks(const std::vector<int64_t> &shape) {
    int64_t ranks = 1;
    for (int64_t size : shape)
      ranks *= size;
    return ranks;
  }

  /// Sizes that slices do not divide, by the names that examples use.
  Settings smallParams(int64_t ranks) const {
    std::map<std::string, int64_t> sizes = {{"N", 2 * ranks + 1},
                                            {"B", 3},
                                            {"S", 2},
                                            {"H", 5},
                                            {"T", 5},
                                            {"F", 6},
                                            {"E", 5},
                                            {"C", 3}};
    Settings params;
    for (const std::string &name : paramNames())
      params.emplace_back(
          name, std::to_string(sizes.contains(name) ? sizes[name] : 4));
    return params;
  }
  /// All sizes the same.
  Settings params(int64_t size) const {
    Settings params;
    for (const std::string &name : paramNames())
      params.emplace_back(name, std::to_string(size));
    return params;
  }

private:
  std::vector<std::string> paramNames() const {
    return matches(source, "param (\\w+) = [0-9]+\\s");
  }
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

  std::string source;
  /// The names of the mesh's axes.
  std::vector<std::string> axes;
};

} // namespace ccn::verify

#endif // CCN_TEST_UNIT_VERIFY_EXAMPLES_H
