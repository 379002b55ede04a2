//===- RunIdentity.cpp - Checks that ranks agree on their run -------------===//
//
// Compares one property after the other and reports the first that differs,
// since later differences follow from it.
//
//===----------------------------------------------------------------------===//

#include "runtime/team/RunIdentity.h"

#include "runtime/base/Environment.h"

#include <functional>

namespace ccn::runtime {

namespace {

using Property = std::function<std::string(const RunIdentity &)>;

Status compare(const std::vector<RankIdentity> &all, const char *what,
               const Property &property) {
  // Each value with its ranks, in the order in which values first appear.
  std::vector<std::pair<std::string, std::vector<int>>> values;
  for (const RankIdentity &one : all) {
    std::string value = property(one.identity);
    auto found = values.begin();
    while (found != values.end() && found->first != value)
      ++found;
    if (found == values.end())
      found = values.insert(found, {value, {}});
    found->second.push_back(one.rank);
  }
  if (values.size() < 2)
    return Status();
  std::string text =
      std::string("the ranks of this run differ: expected one ") + what +
      ", found ";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i == 0 ? "'" : ", '") + values[i].first + "' on " +
            rankList(values[i].second);
  return Status::failure(text);
}

} // namespace

std::string rankList(const std::vector<int> &ranks) {
  constexpr size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size() && i < most; ++i) {
    bool isLast = i + 1 == ranks.size();
    text += i == 0 ? "" : isLast ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  if (ranks.size() > most)
    text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

Result<RunIdentity> RunIdentity::make(int ranks, int64_t bytesPerRank,
                                      const std::string &content) {
  if (content.size() > maxContent)
    return error("what is run has a name of ", content.size(),
                 " characters, expected at most ", maxContent);
  RunIdentity identity;
  identity.ranks = ranks;
  identity.bytesPerRank = bytesPerRank;
  setText(identity.content, content);
  return identity;
}

Status compareIdentities(const std::vector<RankIdentity> &all) {
  struct {
    const char *what;
    Property property;
  } properties[] = {
      {"program",
       [](const RunIdentity &run) {
         return std::string(run.content,
                            strnlen(run.content, RunIdentity::maxContent));
       }},
      {"number of ranks",
       [](const RunIdentity &run) { return std::to_string(run.ranks); }},
      {"CCN_TRANSPORT",
       [](const RunIdentity &run) {
         return std::string(name(static_cast<TransportChoice>(run.transport)));
       }},
      {"size of symmetric memory",
       [](const RunIdentity &run) { return std::to_string(run.bytesPerRank); }},
  };
  for (const auto &[what, property] : properties)
    if (Status status = compare(all, what, property); !status)
      return status;
  return Status();
}

} // namespace ccn::runtime
