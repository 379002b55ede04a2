//===- Spelling.h - Suggestions for misspelt names --------------*- C++ -*-===//
//
// The rule by which all tools suggest names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_SPELLING_H
#define CCN_RUNTIME_BASE_SPELLING_H

#include <span>
#include <string>
#include <string_view>

namespace ccn {

/// The candidate that `name` most likely misspells. Empty unless exactly one
/// candidate is closest, and close enough: only the case differs, or at most a
/// third of the name's letters (so one of three letters, none of fewer).
std::string_view closestName(std::string_view name,
                             std::span<const std::string_view> candidates);

/// "; did you mean 'X'", to be appended to a message; empty if closestName
/// finds nothing.
std::string didYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

} // namespace ccn

#endif // CCN_RUNTIME_BASE_SPELLING_H
