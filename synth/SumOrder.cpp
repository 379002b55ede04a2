//===- SumOrder.cpp - In which order a schedule adds ----------------------===//
//
// Goes through the schedule one chunk at a time. Sums are numbered by what they
// are made of, so that equal trees have equal numbers.
//
//===----------------------------------------------------------------------===//

#include "synth/SumOrder.h"

#include <algorithm>
#include <cassert>
#include <map>

using namespace ccn::synth;

namespace {

/// A sum that lies in one place: its number and whose contributions it holds,
/// sorted.
struct Part {
  int sum = 0;
  std::vector<int> ranks;
};

/// A sum that is formed of some parts.
struct Value {
  std::vector<int> ranks;
  std::vector<Part> parts;
};

/// What one host has of the chunk.
struct Holding {
  Value own, running;
  std::vector<Value> stashed;
};

class OrderOfChunk {
public:
  OrderOfChunk(const Schedule &schedule, int chunk)
      : schedule(schedule),
        relation(schedule.collective.chunks[static_cast<size_t>(chunk)]),
        chunk(chunk), holdings(static_cast<size_t>(schedule.hosts)) {}

  /// The sums at the ranks that need it.
  std::vector<int> run();
  std::string text(int sum) const;
  const std::vector<std::pair<int, int>> &sums() const { return operandsOf; }

private:
  Part form(Value value);
  Value take(const Holding &holding, const std::vector<int> &ranks) const;
  int number(int a, int b);
  Holding &at(int host) { return holdings[static_cast<size_t>(host)]; }

  const Schedule &schedule;
  const ChunkRelation &relation;
  const int chunk;
  std::vector<Holding> holdings;
  /// By their operands; a contribution is -1 less its rank.
  std::map<std::pair<int, int>, int> numbers;
  std::vector<std::pair<int, int>> operandsOf;
  std::vector<int> lowestRank;
};

void append(Value &value, const Value &more) {
  value.ranks.insert(value.ranks.end(), more.ranks.begin(), more.ranks.end());
  std::sort(value.ranks.begin(), value.ranks.end());
  value.parts.insert(value.parts.end(), more.parts.begin(), more.parts.end());
}

} // namespace

int OrderOfChunk::number(int a, int b) {
  auto lowest = [&](int operand) {
    return operand < 0 ? -1 - operand
                       : lowestRank[static_cast<size_t>(operand)];
  };
  // It does not matter which comes first.
  if (lowest(b) < lowest(a))
    std::swap(a, b);
  auto [it, isNew] =
      numbers.emplace(std::pair(a, b), static_cast<int>(operandsOf.size()));
  if (isNew) {
    lowestRank.push_back(lowest(a));
    operandsOf.emplace_back(a, b);
  }
  return it->second;
}

/// Adds up the parts of a value in one place.
Part OrderOfChunk::form(Value value) {
  assert(!value.parts.empty() && "expected a schedule that was checked");
  std::sort(value.parts.begin(), value.parts.end(),
            [](const Part &a, const Part &b) {
              return std::pair(a.ranks.size(), a.ranks.front()) <
                     std::pair(b.ranks.size(), b.ranks.front());
            });
  int sum = value.parts.front().sum;
  for (size_t i = 1; i < value.parts.size(); ++i)
    sum = number(sum, value.parts[i].sum);
  return {sum, value.ranks};
}

/// The sum of exactly `ranks`' contributions.
Value OrderOfChunk::take(const Holding &holding,
                         const std::vector<int> &ranks) const {
  std::vector<const Value *> candidates = {&holding.running, &holding.own};
  for (const Value &stashed : holding.stashed)
    candidates.push_back(&stashed);
  auto cover = [&](auto &self, const std::vector<int> &rest,
                   Value &sum) -> bool {
    if (rest.empty())
      return true;
    for (const Value *candidate : candidates) {
      const std::vector<int> &there = candidate->ranks;
      if (!std::binary_search(there.begin(), there.end(), rest.front()) ||
          !std::includes(rest.begin(), rest.end(), there.begin(), there.end()))
        continue;
      std::vector<int> left;
      std::set_difference(rest.begin(), rest.end(), there.begin(), there.end(),
                          std::back_inserter(left));
      Value longer = sum;
      append(longer, *candidate);
      if (!self(self, left, longer))
        continue;
      sum = std::move(longer);
      return true;
    }
    return false;
  };
  Value value;
  [[maybe_unused]] bool found = cover(cover, ranks, value);
  assert(found && "expected a schedule that was checked");
  return value;
}

std::vector<int> OrderOfChunk::run() {
  for (int rank : relation.pre) {
    at(rank).own = {{rank}, {{-1 - rank, {rank}}}};
    at(rank).running = at(rank).own;
  }
  for (const Step &step : schedule.steps) {
    std::vector<std::pair<const Send *, Value>> arriving;
    for (const Send &send : step.sends) {
      if (send.chunk != chunk)
        continue;
      std::vector<int> wanted = send.sums;
      std::sort(wanted.begin(), wanted.end());
      const Holding &from = at(send.src);
      Part sum = form(wanted.empty() ? from.running : take(from, wanted));
      arriving.push_back({&send, {sum.ranks, {sum}}});
    }
    for (auto &[send, value] : arriving) {
      Holding &to = at(send->dst);
      if (send->op == SendOp::Stash)
        to.stashed.push_back(std::move(value));
      else if (send->op == SendOp::Copy)
        to.running = std::move(value);
      else
        append(to.running, value);
    }
  }
  std::vector<int> sums;
  for (int rank : relation.post) {
    const Holding &holding = at(rank);
    sums.push_back(form(holding.running.ranks == relation.pre
                            ? holding.running
                            : take(holding, relation.pre))
                       .sum);
  }
  return sums;
}

std::string OrderOfChunk::text(int sum) const {
  if (sum < 0)
    return std::to_string(-1 - sum);
  auto [a, b] = operandsOf[static_cast<size_t>(sum)];
  return "(" + text(a) + "+" + text(b) + ")";
}

ChunkSums ccn::synth::sumsOf(const Schedule &schedule, int chunk) {
  OrderOfChunk order(schedule, chunk);
  std::vector<int> results = order.run();
  return {order.sums(), std::move(results)};
}

std::vector<std::vector<std::string>>
ccn::synth::sumOrders(const Schedule &schedule) {
  std::vector<std::vector<std::string>> result(
      schedule.collective.chunks.size());
  if (!schedule.collective.combining)
    return result;
  for (size_t c = 0; c < result.size(); ++c) {
    OrderOfChunk order(schedule, static_cast<int>(c));
    for (int sum : order.run())
      result[c].push_back(order.text(sum));
  }
  return result;
}

std::string ccn::synth::differingSums(const Schedule &schedule) {
  const Collective &collective = schedule.collective;
  if (!collective.combining)
    return "";
  for (size_t c = 0; c < collective.chunks.size(); ++c) {
    const std::vector<int> &ranks = collective.chunks[c].post;
    if (ranks.size() < 2)
      continue;
    OrderOfChunk order(schedule, static_cast<int>(c));
    std::vector<int> sums = order.run();
    auto other = std::find_if(sums.begin(), sums.end(),
                              [&](int sum) { return sum != sums.front(); });
    if (other == sums.end())
      continue;
    return "chunk " + std::to_string(c) + " is added as " +
           order.text(sums.front()) + " for rank " +
           std::to_string(ranks.front()) + " and as " + order.text(*other) +
           " for rank " +
           std::to_string(ranks[static_cast<size_t>(other - sums.begin())]);
  }
  return "";
}

std::vector<std::vector<bool>>
ccn::synth::partialSends(const Schedule &schedule) {
  const Collective &collective = schedule.collective;
  std::vector<std::vector<bool>> result;
  if (!collective.combining) {
    for (const Step &step : schedule.steps)
      result.emplace_back(step.sends.size());
    return result;
  }
  // How many contributions the running sums hold, by chunk and host.
  auto hosts = static_cast<size_t>(schedule.hosts);
  std::vector<size_t> running(collective.chunks.size() * hosts);
  auto at = [&](int chunk, int host) -> size_t & {
    return running[static_cast<size_t>(chunk) * hosts +
                   static_cast<size_t>(host)];
  };
  for (size_t c = 0; c < collective.chunks.size(); ++c)
    for (int rank : collective.chunks[c].pre)
      at(static_cast<int>(c), rank) = 1;
  for (const Step &step : schedule.steps) {
    std::vector<size_t> carried;
    std::vector<bool> &partial = result.emplace_back();
    for (const Send &send : step.sends) {
      carried.push_back(send.sums.empty() ? at(send.chunk, send.src)
                                          : send.sums.size());
      partial.push_back(
          carried.back() > 1 &&
          carried.back() <
              collective.chunks[static_cast<size_t>(send.chunk)].pre.size());
    }
    for (size_t i = 0; i < carried.size(); ++i) {
      const Send &send = step.sends[i];
      if (send.op == SendOp::Copy)
        at(send.chunk, send.dst) = carried[i];
      else if (send.op == SendOp::Reduce)
        at(send.chunk, send.dst) += carried[i];
    }
  }
  return result;
}
