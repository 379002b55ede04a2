//===- Places.cpp - Where programs keep chunks ----------------------------===//
//
// See Places.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Places.h"

#include <utility>

using namespace ccn;
using namespace ccn::synth;

bool ccn::synth::hasBuffers(const Collective &collective) {
  using enum CollectiveKind;
  return collective.kind == AllGather || collective.kind == ReduceScatter ||
         collective.kind == AllReduce || collective.kind == AllToAll;
}

bool ccn::synth::usesCpus(const Schedule &schedule) {
  int ranks = schedule.collective.ranks;
  for (const Step &step : schedule.steps)
    for (const Send &send : step.sends)
      if (send.src >= ranks || send.dst >= ranks)
        return true;
  return false;
}

Places::Places(const Schedule &schedule)
    : coll(schedule.collective), ranks(coll.ranks), scratch(ranks),
      sent(transfersOf(schedule, &held)) {
  if (!coll.combining)
    return;
  for (const Transfer &t : sent)
    for (size_t term : t.terms)
      ownNeeded[{t.chunk, t.src}] |= term == 1;
  forEachFinalSum([&](int chunk, int rank, const std::vector<size_t> &terms) {
    for (size_t term : terms)
      ownNeeded[{chunk, rank}] |= term == 1;
  });
}

int Places::inputChunks() const {
  return coll.kind == CollectiveKind::ReduceScatter ? coll.chunksPerNode * ranks
                                                    : coll.chunksPerNode;
}

int Places::outputChunks() const {
  return coll.kind == CollectiveKind::AllGather ? coll.chunksPerNode * ranks
                                                : coll.chunksPerNode;
}

Place Places::home(int chunk, int rank) {
  if (coll.kind == CollectiveKind::AllGather)
    return {'o', chunk};
  if (coll.kind != CollectiveKind::AllToAll)
    return {'i', chunk};
  int perRank = coll.chunksPerNode, share = perRank / ranks;
  int source = chunk / perRank, index = chunk % perRank;
  if (rank == source)
    return {'i', index};
  if (rank == index / share)
    return {'o', source * share + index % share};
  auto it = relays.find({chunk, rank});
  if (it == relays.end())
    it = relays.emplace(std::pair(chunk, rank), newScratch(rank)).first;
  return it->second;
}

Place &Places::sum(int chunk, int rank, size_t index) {
  std::vector<Place> &places = sums[{chunk, rank}];
  if (places.empty())
    places.assign(2, home(chunk, rank));
  return places[index];
}

void Places::addSum(int chunk, int rank, const Place &place) {
  sum(chunk, rank, 0);
  sums[{chunk, rank}].push_back(place);
}

bool Places::takeOwnNeeded(int chunk, int rank) {
  return std::exchange(ownNeeded[{chunk, rank}], false);
}

void Places::forEachFinalSum(
    const std::function<void(int, int, const std::vector<size_t> &)> &body)
    const {
  if (!coll.combining)
    return;
  const HeldSums nothing;
  for (size_t c = 0; c < coll.chunks.size(); ++c)
    for (int rank : coll.chunks[c].post) {
      int chunk = static_cast<int>(c);
      auto has = held.find({chunk, rank});
      std::optional<std::vector<size_t>> terms =
          termsOf(coll.chunks[c].pre,
                  has == held.end() ? nothing.sets : has->second.sets);
      if (*terms != std::vector<size_t>{0})
        body(chunk, rank, *terms);
    }
}
