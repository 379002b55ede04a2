//===- TokenMemory.cpp - Buffers that hold contributions ------------------===//
//
// See TokenMemory.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/TokenMemory.h"

#include <algorithm>

using namespace ccn::synth;

/// More would take gigabytes.
static constexpr int64_t maxPlaces = 1 << 24;

int ccn::synth::addTokens(TokenValue &sum, const TokenValue &more) {
  sum.parts.insert(sum.parts.end(), more.parts.begin(), more.parts.end());
  std::sort(sum.parts.begin(), sum.parts.end());
  sum.depth = std::max(sum.depth, more.depth);
  sum.trail.insert(sum.trail.end(), more.trail.begin(), more.trail.end());
  std::sort(sum.trail.begin(), sum.trail.end());
  sum.trail.erase(std::unique(sum.trail.begin(), sum.trail.end()),
                  sum.trail.end());
  auto twice = std::adjacent_find(sum.parts.begin(), sum.parts.end());
  return twice == sum.parts.end() ? -1 : *twice;
}

void ccn::synth::joinClock(TokenClock &clock, const TokenClock &other) {
  for (size_t i = 0; i < clock.size(); ++i)
    clock[i] = std::max(clock[i], other[i]);
}

/// Whether an event is known to be done, or is the same element of one step.
static bool before(const TokenEvent &event, const TokenClock &clock,
                   const TokenEvent &now) {
  return event.thread < 0 || event == now || clock[event.thread] > event.step;
}

static void addTrail(TokenValue &value, const TokenEvent &event) {
  auto at = std::lower_bound(value.trail.begin(), value.trail.end(), event);
  if (at == value.trail.end() || *at != event)
    value.trail.insert(at, event);
}

std::string TokenMemory::layOut(CollectiveKind collective,
                                const std::vector<BufferSizes> &sizes,
                                bool inPlace, int slices) {
  kind = collective;
  ranks = static_cast<int>(sizes.size());
  for (int g = 0; g < ranks; ++g)
    if (sizes[g].input != sizes[0].input || sizes[g].output != sizes[0].output)
      return "gpu " + std::to_string(g) +
             ": expected as many input and output chunks as gpu 0 has";
  int i = sizes[0].input, o = sizes[0].output;
  // Asked before and after the sizes are completed: no product may run over.
  int64_t scratch = 0;
  for (const BufferSizes &size : sizes)
    scratch += int64_t(size.scratch) * slices;
  auto tooMany = [&](int64_t perRank) -> std::string {
    int64_t places = perRank * ranks * slices + scratch;
    return places <= maxPlaces
               ? ""
               : "expected buffers of at most " + std::to_string(maxPlaces) +
                     " places together, found " + std::to_string(places);
  };
  if (std::string problem = tooMany(int64_t(i) + o); !problem.empty())
    return problem;
  switch (kind) {
  case CollectiveKind::AllGather:
    inputs = i > 0 ? i : o / ranks;
    outputs = inputs * ranks;
    break;
  case CollectiveKind::ReduceScatter:
    outputs = o > 0 ? o : i / ranks;
    inputs = outputs * ranks;
    break;
  default:
    inputs = outputs = std::max(i, o);
    break;
  }
  if (inputs == 0 || outputs == 0)
    return "gpu 0: expected input or output chunks, found none";
  if ((!inPlace && (i != inputs || o != outputs)) || (i != inputs && i != 0) ||
      (o != outputs && o != 0))
    return "gpu 0: expected " + std::to_string(inputs) + " input and " +
           std::to_string(outputs) + " output chunks, found " +
           std::to_string(i) + " and " + std::to_string(o);
  if (kind == CollectiveKind::AllToAll && inputs % ranks != 0)
    return "gpu 0: expected a multiple of " + std::to_string(ranks) +
           " chunks, found " + std::to_string(inputs);
  if (std::string problem = tooMany(int64_t(inputs) + outputs);
      !problem.empty())
    return problem;
  inputs *= slices;
  outputs *= slices;
  for (int g = 0; g < ranks; ++g) {
    int scratch = sizes[g].scratch * slices;
    int inputAt = 0, outputAt = inputs, total = inputs + outputs;
    if (inPlace) {
      total = std::max(inputs, outputs);
      inputAt = kind == CollectiveKind::AllGather ? g * inputs : 0;
      outputAt = kind == CollectiveKind::ReduceScatter ? g * outputs : 0;
    }
    buffers.push_back({{'i', {inputAt, inputs}},
                       {'o', {outputAt, outputs}},
                       {'s', {total, scratch}}});
    memory.emplace_back(total + scratch);
    for (int c = 0; c < inputs; ++c) {
      TokenCell &cell = memory[g][inputAt + c];
      cell.value.parts = {g * inputs + c};
      cell.written = true;
    }
  }
  return "";
}

void TokenMemory::own(int rank, int thread) {
  for (char buffer : {'i', 'o'}) {
    auto [start, size] = buffers[rank][buffer];
    for (int k = start; k < start + size; ++k)
      memory[rank][k].writer = {thread, 0, 0};
  }
}

TokenCell *TokenMemory::cell(int rank, char buffer, int offset) {
  auto [start, size] = buffers[rank][buffer];
  return offset < 0 || offset >= size ? nullptr : &memory[rank][start + offset];
}

TokenConflict TokenMemory::read(TokenCell &cell, const TokenEvent &event,
                                const TokenClock &clock, TokenValue &value) {
  if (!cell.written)
    return {TokenConflict::Unwritten, {}};
  if (!before(cell.writer, clock, event))
    return {TokenConflict::WriteNotOrdered, cell.writer};
  cell.readers.push_back(event);
  value = cell.value;
  if (trails)
    addTrail(value, event);
  return {};
}

TokenConflict TokenMemory::write(TokenCell &cell, const TokenEvent &event,
                                 const TokenClock &clock,
                                 const TokenClock &order, TokenValue value) {
  auto inTrail = [&](const TokenEvent &other) {
    return std::binary_search(value.trail.begin(), value.trail.end(), other);
  };
  if (!before(cell.writer, clock, event) && !inTrail(cell.writer))
    return {TokenConflict::WriteNotOrdered, cell.writer};
  for (const TokenEvent &reader : cell.readers)
    if (!before(reader, order, event) && !inTrail(reader))
      return {TokenConflict::ReadNotOrdered, reader};
  if (trails)
    addTrail(value, event);
  cell.value = std::move(value);
  cell.packet = false;
  cell.written = true;
  cell.writer = event;
  cell.readers.clear();
  return {};
}

std::string TokenMemory::post() {
  for (int g = 0; g < ranks; ++g)
    for (int c = 0; c < outputs; ++c) {
      std::vector<int> want;
      int share = kind == CollectiveKind::AllToAll ? inputs / ranks : 0;
      switch (kind) {
      case CollectiveKind::AllGather:
        want = {c};
        break;
      case CollectiveKind::AllToAll:
        want = {c / share * inputs + g * share + c % share};
        break;
      default: {
        int index = kind == CollectiveKind::AllReduce ? c : g * outputs + c;
        for (int r = 0; r < ranks; ++r)
          want.push_back(r * inputs + index);
        break;
      }
      }
      const TokenCell &have = *cell(g, 'o', c);
      const std::vector<int> &parts = have.value.parts;
      if (have.written && parts == want)
        continue;
      std::string at = "at the end: gpu " + std::to_string(g) + ", output " +
                       std::to_string(c) + ": ";
      if (!have.written)
        return at + "nothing was written";
      for (int x : want)
        if (!std::binary_search(parts.begin(), parts.end(), x))
          return at + "expected chunk " + std::to_string(x % inputs) +
                 " of gpu " + std::to_string(x / inputs) + ", found none";
      for (int x : parts)
        if (!std::binary_search(want.begin(), want.end(), x))
          return at + "found chunk " + std::to_string(x % inputs) + " of gpu " +
                 std::to_string(x / inputs) + ", which does not belong there";
    }
  return "";
}
