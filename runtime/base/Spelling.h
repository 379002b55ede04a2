//===- Spelling.h - What a misspelt name was to be --------------*- C++ -*-===//
//
// The one rule by which all tools suggest names.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_RUNTIME_BASE_SPELLING_H
#define CCN_RUNTIME_BASE_SPELLING_H

#include <span>
#include <string>
#include <string_view>

namespace ccn {

/// The candidate that `name` most likely misspells, or empty unless exactly
/// one is closest and close: at most a third of the name's letters differ
/// (one for a name of three letters, none for shorter ones), or only the case.
std::string_view closestName(std::string_view name,
                             std::span<const std::string_view> candidates);

/// "; did you mean 'X'", or empty when closestName is not sure. Made to stand
/// at the end of a message.
std::string didYouMean(std::string_view name,
                       std::span<const std::string_view> candidates);

} // namespace ccn

#endif // CCN_RUNTIME_BASE_SPELLING_H
