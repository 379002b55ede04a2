//===- Spelling.cpp - Suggestions for misspelt names ----------------------===//
//
// Compares names by the number of edits that turn one into the other.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Spelling.h"

#include <algorithm>
#include <vector>

namespace ccn {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equalsInAnyCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

/// Whether two neighbouring letters are swapped and nothing else differs.
bool isSwap(std::string_view a, std::string_view b) {
  if (a.size() != b.size())
    return false;
  size_t i = 0;
  while (i < a.size() && a[i] == b[i])
    ++i;
  return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] &&
         a.substr(i + 2) == b.substr(i + 2);
}

/// How many letters must be added, dropped or replaced at least to turn one
/// name into the other (Levenshtein's distance).
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

} // namespace

std::string_view closestName(std::string_view name,
                             std::span<const std::string_view> candidates) {
  // For longer names, the distance says little about what was meant.
  constexpr size_t maxLength = 64;
  if (name.size() > maxLength)
    return {};
  size_t bestDistance = name.size() / 3 + 1;
  std::string_view best;
  for (std::string_view candidate : candidates) {
    if (candidate == name || candidate.empty() || candidate == best ||
        candidate.size() > 2 * maxLength)
      continue;
    size_t distance;
    if (equalsInAnyCase(candidate, name))
      distance = 0;
    else if (isSwap(candidate, name))
      distance = 1;
    else
      distance = editDistance(candidate, name);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    } else if (distance == bestDistance) {
      // Two candidates are equally close, so neither is suggested; a closer one
      // still may be.
      best = {};
    }
  }
  return best;
}

std::string didYouMean(std::string_view name,
                       std::span<const std::string_view> candidates) {
  std::string_view closest = closestName(name, candidates);
  return closest.empty() ? "" : "; did you mean '" + std::string(closest) + "'";
}

} // namespace ccn
