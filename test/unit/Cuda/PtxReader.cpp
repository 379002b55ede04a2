//===- PtxReader.cpp - What kernels' PTX does to memory -------------------===//

#include "test/unit/Cuda/PtxReader.h"

#include "runtime/plan/GpuAbi.h"
#include "test/common/emulator/MemoryInstructions.h"

#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

using namespace ccn;
using namespace ccn::test;
using emulator::MemoryInstruction;
using emulator::Order;
using emulator::Scope;

namespace {

/// A line of a kernel: `opcode` without its operands, which are as written.
struct Line {
  std::string text, opcode, operands;
  bool isPredicated = false;
  /// The lines that may follow it.
  std::vector<size_t> next;

  bool is(const char *prefix) const { return opcode.rfind(prefix, 0) == 0; }
};

/// What a register may be made of: the context's members, by their offsets.
struct Origin {
  std::set<size_t> members;
  /// Whether it is an address in the context itself, and which.
  bool isContext = false;
  std::optional<int64_t> offset = 0;

  bool operator==(const Origin &) const = default;
};

/// What has happened on the way to a line; true is the worse.
struct State {
  bool isReached = false;
  /// A store or the block's barrier without a fence since; a count without one.
  bool lacksFence = true, lacksFenceAfterCount = false;
  bool hasStored = false, hasLoadedFlag = false;
  /// Copies have begun; and the block's barrier has been since.
  bool hasCopies = false, hasLateCopies = false;
  /// Something of a fault has been stored, without a fence since.
  bool hasFault = false;

  bool operator==(const State &) const = default;
  bool merge(const State &other) {
    State old = *this;
    if (!isReached)
      *this = other;
    lacksFence |= other.lacksFence;
    lacksFenceAfterCount |= other.lacksFenceAfterCount;
    hasStored |= other.hasStored;
    hasLoadedFlag |= other.hasLoadedFlag;
    hasCopies |= other.hasCopies;
    hasLateCopies |= other.hasLateCopies;
    hasFault |= other.hasFault;
    isReached = true;
    return !(*this == old);
  }
};

class Reader {
public:
  Reader(std::string name, const std::string &body) {
    kernel.name = std::move(name);
    read(body);
    link();
    findOrigins();
    classify();
    follow();
  }

  PtxKernel kernel;

private:
  void read(const std::string &body);
  void link();
  void findOrigins();
  bool setOrigin(const Line &line);
  Origin originOf(const std::string &operand) const;
  Origin originOfAddress(const Line &line) const;
  void classify();
  void classify(const Line &line);
  void follow();
  void step(const Line &line, State &state, bool reports);
  void expect(bool holds, const char *rule, const Line &line) {
    if (!holds)
      kernel.faults.push_back(kernel.name + ": " + rule + ": " + line.text);
  }

  bool isAt(const Line &line, size_t member) const {
    return originOfAddress(line).members.count(member) > 0;
  }
  bool isFlag(const Line &line) const {
    return isAt(line, offsetof(CcnContext, flags));
  }
  bool isControl(const Line &line) const {
    return isAt(line, offsetof(CcnContext, control));
  }
  /// Whether a line loads from behind the counts, by the offset that it says.
  static bool isRunNumber(const Line &line) {
    size_t plus = line.operands.find('+');
    return plus != line.operands.npos &&
           std::atoll(line.operands.c_str() + plus + 1) >=
               static_cast<long long>(offsetof(CcnControl, epochs));
  }
  bool isFault(const Line &line) const {
    return isAt(line, offsetof(CcnContext, fault));
  }
  /// A block counts itself.
  bool isCount(const Line &line) const {
    return line.is("atom.") &&
           line.opcode.find(".add.u32") != line.opcode.npos && isControl(line);
  }
  static bool isFence(const Line &line) {
    return line.is("membar.gl") || line.is("membar.sys") ||
           line.is("fence.acq_rel.gpu") || line.is("fence.acq_rel.sys") ||
           line.is("fence.sc.gpu") || line.is("fence.sc.sys");
  }

  std::vector<Line> lines;
  std::map<std::string, size_t> labels;
  std::map<std::string, Origin> origins;
};

std::vector<std::string> matches(const std::string &text,
                                 const std::regex &what) {
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), what), end; it != end;
       ++it)
    found.push_back(it->str());
  return found;
}

const std::regex registerName("%\\w+");
const std::regex labelName("\\$L\\w+");

void Reader::read(const std::string &body) {
  std::istringstream stream(body);
  for (std::string text; std::getline(stream, text);) {
    text = text.substr(0, text.find("//"));
    size_t first = text.find_first_not_of(" \t{}");
    if (first == text.npos)
      continue;
    text = text.substr(first);
    if (size_t colon = text.find(':'); text[0] == '$' && colon != text.npos) {
      labels[text.substr(0, colon)] = lines.size();
      text = text.substr(colon + 1);
      first = text.find_first_not_of(" \t");
      if (first == text.npos)
        continue;
      text = text.substr(first);
    }
    Line line;
    line.text = text;
    if (text[0] == '@') {
      line.isPredicated = true;
      text = text.substr(text.find_first_of(" \t") + 1);
      text = text.substr(text.find_first_not_of(" \t"));
    }
    size_t end = text.find_first_of(" \t;");
    line.opcode = text.substr(0, end);
    if (end != text.npos)
      line.operands = text.substr(end);
    lines.push_back(std::move(line));
  }
}

void Reader::link() {
  for (size_t i = 0; i < lines.size(); ++i) {
    Line &line = lines[i];
    bool goesOn = true;
    if (line.is("bra") || line.is("brx")) {
      goesOn = line.isPredicated;
      for (const std::string &label : matches(line.operands, labelName)) {
        auto found = labels.find(label);
        if (found == labels.end())
          continue;
        // A table of labels is a line of its own.
        const Line *to =
            found->second < lines.size() ? &lines[found->second] : nullptr;
        if (to && to->is(".branchtargets")) {
          for (const std::string &each : matches(to->operands, labelName))
            line.next.push_back(labels[each]);
        } else {
          line.next.push_back(found->second);
        }
      }
    } else if (line.is("ret") || line.is("exit")) {
      goesOn = line.isPredicated;
    }
    if (goesOn && i + 1 < lines.size())
      line.next.push_back(i + 1);
  }
}

Origin Reader::originOf(const std::string &operand) const {
  static const std::regex parameter("\\w+_param_0(?:\\+(\\d+))?");
  std::smatch found;
  if (std::regex_search(operand, found, parameter)) {
    Origin origin;
    origin.isContext = true;
    origin.offset = found[1].matched ? std::stoll(found[1]) : 0;
    return origin;
  }
  static const std::regex sum("(%\\w+)(?:\\+(-?\\d+))?");
  if (!std::regex_search(operand, found, sum))
    return {};
  auto known = origins.find(found[1]);
  if (known == origins.end())
    return {};
  Origin origin = known->second;
  if (origin.isContext && origin.offset && found[2].matched)
    *origin.offset += std::stoll(found[2]);
  return origin;
}

Origin Reader::originOfAddress(const Line &line) const {
  size_t begin = line.operands.find('['), end = line.operands.find(']', begin);
  if (begin == line.operands.npos)
    return {};
  return originOf(line.operands.substr(begin, end - begin));
}

/// False if nothing is new.
bool Reader::setOrigin(const Line &line) {
  if (line.opcode[0] == '.' || line.is("st.") || line.is("bra") ||
      line.is("setp") || line.is("bar"))
    return false;
  // The results: one register, or those in the first braces.
  size_t open = line.operands.find('{'), comma = line.operands.find(',');
  size_t end = open < comma ? line.operands.find('}') : comma;
  if (end == line.operands.npos)
    return false;
  std::string results = line.operands.substr(0, end),
              sources = line.operands.substr(end + 1);
  Origin origin;
  if (line.is("ld.param")) {
    Origin from = originOfAddress(line);
    // One of the addresses of symmetric memory has no constant offset.
    if (from.isContext)
      origin.members.insert(from.offset ? static_cast<size_t>(*from.offset)
                                        : 0);
    origin.offset.reset();
  } else if (!line.is("ld.") && !line.is("atom.")) {
    bool isSum = line.is("add.") || line.is("mov.") || line.is("cvta");
    origin.offset.reset();
    for (const std::string &source : matches(sources, registerName)) {
      Origin one = originOf(source);
      origin.members.insert(one.members.begin(), one.members.end());
      if (isSum && one.isContext)
        origin.isContext = true;
    }
    Origin direct = originOf(sources);
    if (direct.isContext && isSum) {
      origin.isContext = true;
      // Of what is moved, and of sums with constants.
      static const std::regex constant(",\\s*(-?\\d+)\\s*;");
      std::smatch found;
      if (!line.is("add."))
        origin.offset = direct.offset;
      else if (std::regex_search(sources, found, constant) && direct.offset)
        origin.offset = *direct.offset + std::stoll(found[1]);
    }
  } else {
    return false;
  }
  bool isNew = false;
  for (const std::string &result : matches(results, registerName)) {
    auto [place, isFirst] = origins.try_emplace(result, origin);
    Origin &known = place->second;
    Origin before = known;
    known.members.insert(origin.members.begin(), origin.members.end());
    known.isContext |= origin.isContext;
    if (known.offset != origin.offset)
      known.offset.reset();
    isNew |= isFirst ? !(origin == Origin()) : !(known == before);
  }
  return isNew;
}

void Reader::findOrigins() {
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const Line &line : lines)
      isNew |= setOrigin(line);
  }
}

void Reader::classify(const Line &line) {
  bool isLoad = line.is("ld."), isStore = line.is("st.");
  kernel.copies += line.is("cp.async.cg") || line.is("cp.async.ca");
  kernel.copyWaits += line.is("cp.async.wait_all");
  kernel.counts += isCount(line);
  expect(!line.is("cp.async.bulk"), "no rule for copies of this kind", line);
  if (line.is("barrier.cluster")) {
    ++kernel.clusterBarriers;
    expect(line.opcode.find("relaxed") == line.opcode.npos,
           "a cluster's barrier orders what is stored", line);
  }
  expect(!line.is("red.") || !isControl(line) ||
             line.opcode.find("u32") == line.opcode.npos,
         "a count's result is looked at", line);
  if (!isLoad && !isStore)
    return;
  auto has = [&](const char *word) {
    return line.opcode.find(word) != line.opcode.npos;
  };
  MemoryInstruction how = emulator::readInstruction(line.opcode);
  bool isSystem = how.scope == Scope::System;
  if (isFlag(line)) {
    kernel.flagStores += isStore;
    kernel.flagLoads += isLoad;
    expect(how.bytes == 4, "flags are of 32 bits", line);
    expect(how.order == (isStore ? Order::Release : Order::Acquire),
           isStore ? "flags are stored with release"
                   : "flags are loaded with acquire",
           line);
    expect(isSystem, "flags are for the whole system", line);
  } else if (has(".release") || has(".acquire")) {
    expect(isControl(line) && isLoad, "only flags and counts order others",
           line);
    expect(how.scope != Scope::Block, "counts are of the device", line);
  } else if (has(".relaxed")) {
    kernel.packetStores += isStore;
    kernel.packetLoads += isLoad;
    expect(how.bytes == 16, "packets are stored and loaded at once", line);
    expect(isSystem, "packets are for the whole system", line);
  } else if (isControl(line) && isLoad) {
    // Only the number of the run, which nobody else changes, or its half.
    expect(how.bytes == 8 || isRunNumber(line),
           "counts are loaded with acquire", line);
  }
}

void Reader::classify() {
  for (const Line &line : lines)
    classify(line);
}

void Reader::step(const Line &line, State &state, bool reports) {
  auto check = [&](bool holds, const char *rule) {
    if (reports)
      expect(holds, rule, line);
  };
  bool isBarrier = line.is("bar.sync") || line.is("barrier.sync");
  bool isCopy = line.is("cp.async.c") && !line.is("cp.async.commit");
  if (isBarrier) {
    state.lacksFence = true;
    state.lacksFenceAfterCount = state.hasStored = state.hasLoadedFlag = false;
    state.hasLateCopies |= state.hasCopies;
  } else if (isFence(line)) {
    state.lacksFence = state.lacksFenceAfterCount = state.hasFault = false;
  } else if (isCount(line)) {
    check(!state.lacksFence, "a fence comes before a count");
    state.lacksFenceAfterCount = true;
  } else if (line.is("cp.async.wait_all")) {
    state.hasCopies = state.hasLateCopies = false;
  } else if (line.is("ldmatrix")) {
    check(!state.hasLateCopies, "copies are waited for before a barrier");
  } else if (line.is("ld.acquire")) {
    state.lacksFenceAfterCount = false;
    state.hasLoadedFlag |= isFlag(line);
  } else if (line.is("st.") && isFlag(line)) {
    check(!state.hasStored, "threads wait for each other before a flag");
    check(!state.lacksFenceAfterCount, "a fence is between count and flag");
  } else if (line.is("st.") && isFault(line)) {
    bool isKind = line.operands.find('+') == line.operands.npos;
    check(!isKind || !state.hasFault, "a fault's kind comes after a fence");
    state.hasFault = true;
  } else if (isCopy || line.is("ld.global") || line.is("st.global")) {
    check(!state.hasLoadedFlag || isControl(line),
          "threads wait for each other after a flag");
    state.hasCopies |= isCopy;
    state.hasStored |= line.is("st.");
    state.lacksFence |= line.is("st.");
  }
}

/// Takes the worst of all ways to each line.
void Reader::follow() {
  std::vector<State> states(lines.size());
  std::vector<size_t> open = {0};
  if (lines.empty())
    return;
  states[0].isReached = true;
  while (!open.empty()) {
    size_t at = open.back();
    open.pop_back();
    State after = states[at];
    step(lines[at], after, false);
    for (size_t next : lines[at].next)
      if (states[next].merge(after))
        open.push_back(next);
  }
  for (size_t i = 0; i < lines.size(); ++i)
    if (states[i].isReached) {
      State state = states[i];
      step(lines[i], state, true);
    }
}

} // namespace

std::vector<PtxKernel> test::readPtx(const std::string &ptx) {
  static const std::regex entry("\\.entry (\\w+)\\(");
  std::vector<PtxKernel> kernels;
  for (std::sregex_iterator it(ptx.begin(), ptx.end(), entry), end; it != end;
       ++it) {
    size_t begin = ptx.find("\n{", static_cast<size_t>(it->position()));
    size_t stop = ptx.find("\n}", begin);
    kernels.push_back(
        Reader((*it)[1], ptx.substr(begin + 2, stop - begin - 2)).kernel);
  }
  return kernels;
}
