//===- MscclTest.cpp - MSCCL programs: read, write, check, export ---------===//
//
// Published programs are right and survive a round trip; mutations of them are
// judged as a brute-force token simulation of many random runs judges them;
// synthesized schedules export to programs that are right.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Msccl.h"
#include "Common.h"
#include "synth/Forest.h"
#include "synth/Solve.h"
#include "synth/interop/Transfers.h"

#include <deque>
#include <filesystem>
#include <map>
#include <random>

using namespace ccn;
using namespace ccn::synth;

/// The small files kept with the tests, and the whole corpus where present.
static std::vector<std::string> corpus() {
  std::vector<std::string> files;
  for (std::string folder : {CCN_SYNTH_TEST_DATA "/msccl", CCN_SYNTH_TEST_DATA
                             "/../../../../../shared/corpus/msccl-xml"})
    if (std::filesystem::exists(folder))
      for (const auto &entry : std::filesystem::directory_iterator(folder))
        files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

static MscclProgram load(const std::string &file) {
  Result<std::string> text = readFile(file);
  EXPECT_TRUE(bool(text)) << file;
  Result<MscclProgram> program = parseMsccl(*text, file);
  EXPECT_TRUE(bool(program)) << program.message();
  return *program;
}

TEST(Msccl, CorpusIsRightAndRoundTrips) {
  std::vector<std::string> files = corpus();
  ASSERT_GE(files.size(), 4u);
  for (const std::string &file : files) {
    MscclProgram program = load(file);
    EXPECT_EQ(checkMsccl(program), "") << file;
    for (MscclDialect dialect :
         {MscclDialect::Microsoft, MscclDialect::Azure, MscclDialect::Rccl}) {
      MscclProgram full = program;
      if (dialect != MscclDialect::Microsoft) {
        full.minBytes = full.minBytes.value_or(0);
        full.maxBytes = full.maxBytes.value_or(0);
      }
      Result<MscclProgram> again =
          parseMsccl(writeMsccl(program, dialect), "again.xml");
      ASSERT_TRUE(bool(again)) << again.message();
      EXPECT_TRUE(*again == full) << file;
    }
  }
}

namespace {

/// Runs a program once in a random order; knows nothing of clocks.
class Tokens {
public:
  Tokens(const MscclProgram &p, bool inPlace, uint32_t seed)
      : p(p), inPlace(inPlace), random(seed) {}
  bool right();

private:
  using Bag = std::map<int, int>;
  Bag &at(int g, char buffer, int offset) {
    if (inPlace && p.kind == CollectiveKind::AllGather && buffer == 'i') {
      buffer = 'o';
      offset += g * inputs;
    } else if (inPlace && p.kind == CollectiveKind::ReduceScatter &&
               buffer == 'o') {
      buffer = 'i';
      offset += g * outputs;
    } else if (inPlace && buffer == 'o' &&
               p.kind != CollectiveKind::AllGather) {
      buffer = 'i';
    }
    return memory[{g, buffer, offset}];
  }
  bool inside(int g, char buffer, int offset) const {
    int size = buffer == 'i'   ? inputs
               : buffer == 'o' ? outputs
                               : p.gpus[g].scratchChunks;
    return offset >= 0 && offset < size;
  }
  bool canRun(int g, int b) const;
  bool step(int g, int b);

  const MscclProgram &p;
  bool inPlace;
  std::mt19937 random;
  int inputs = 0, outputs = 0;
  std::map<std::tuple<int, char, int>, Bag> memory;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<Bag>>> wires;
  std::vector<std::vector<size_t>> done;
};

bool Tokens::canRun(int g, int b) const {
  const MscclBlock &block = p.gpus[g].blocks[b];
  if (done[g][b] == block.steps.size())
    return false;
  const MscclStep &s = block.steps[done[g][b]];
  if (s.dependBlock >= 0) {
    const auto &steps = p.gpus[g].blocks[s.dependBlock].steps;
    bool announced = false;
    for (size_t i = s.dependStep; i < done[g][s.dependBlock]; ++i)
      announced |= steps[i].hasDependents;
    if (!announced)
      return false;
  }
  auto in = wires.find({block.recv, g, block.channel});
  if (s.receives() && (in == wires.end() || in->second.empty()))
    return false;
  auto out = wires.find({g, block.send, block.channel});
  return !s.sends() || out == wires.end() || out->second.size() < 8;
}

bool Tokens::step(int g, int b) {
  const MscclBlock &block = p.gpus[g].blocks[b];
  const MscclStep &s = block.steps[done[g][b]++];
  if (s.type == "nop")
    return true;
  std::vector<Bag> in(s.count), out;
  if (s.receives()) {
    auto &wire = wires[{block.recv, g, block.channel}];
    in = wire.front();
    wire.pop_front();
    if (static_cast<int>(in.size()) != s.count)
      return false;
  }
  bool source =
      s.type == "s" || s.type == "cpy" || s.type == "re" || s.type[1] == 'r';
  bool store = s.type != "s" && s.type != "rrs";
  for (int i = 0; i < s.count; ++i) {
    if ((source && !inside(g, s.srcBuffer, s.srcOffset + i)) ||
        (store && !inside(g, s.dstBuffer, s.dstOffset + i)))
      return false;
    Bag value = in[i];
    auto add = [&](const Bag &more) {
      // Reading what nobody wrote spoils the value.
      if (more.empty())
        ++value[-1];
      for (auto [token, n] : more)
        value[token] += n;
    };
    if (source)
      add(at(g, s.srcBuffer, s.srcOffset + i));
    if (s.type == "re")
      add(at(g, s.dstBuffer, s.dstOffset + i));
    for (auto [token, n] : value)
      if (n > 1)
        return false;
    if (store)
      at(g, s.dstBuffer, s.dstOffset + i) = value;
    out.push_back(value);
  }
  if (s.sends())
    wires[{g, block.send, block.channel}].push_back(out);
  return true;
}

bool Tokens::right() {
  int ranks = p.gpus.size();
  int i = p.gpus[0].inputChunks, o = p.gpus[0].outputChunks;
  inputs = p.kind == CollectiveKind::AllGather       ? (i ? i : o / ranks)
           : p.kind == CollectiveKind::ReduceScatter ? (i ? i : o * ranks)
                                                     : std::max(i, o);
  outputs = p.kind == CollectiveKind::AllGather       ? inputs * ranks
            : p.kind == CollectiveKind::ReduceScatter ? inputs / ranks
                                                      : inputs;
  for (int g = 0; g < ranks; ++g) {
    for (int c = 0; c < inputs; ++c)
      at(g, 'i', c) = {{g * inputs + c, 1}};
    done.emplace_back(p.gpus[g].blocks.size(), 0);
  }
  // Some blocks are slow in this run.
  std::map<std::pair<int, int>, uint32_t> weight;
  for (int g = 0; g < ranks; ++g)
    for (size_t b = 0; b < done[g].size(); ++b)
      weight[{g, b}] = random();
  while (true) {
    std::vector<std::pair<int, int>> can;
    for (int g = 0; g < ranks; ++g)
      for (size_t b = 0; b < done[g].size(); ++b)
        if (canRun(g, b))
          can.push_back({g, b});
    if (can.empty())
      break;
    auto pick = can[random() % can.size()];
    if (random() % 8)
      for (auto c : can)
        if (weight[c] > weight[pick])
          pick = c;
    // The chosen block runs on for a while.
    do {
      if (!step(pick.first, pick.second))
        return false;
    } while (canRun(pick.first, pick.second) && random() % 4);
  }
  for (int g = 0; g < ranks; ++g)
    for (size_t b = 0; b < done[g].size(); ++b)
      if (done[g][b] < p.gpus[g].blocks[b].steps.size())
        return false;
  for (auto &[wire, queue] : wires)
    if (!queue.empty())
      return false;
  for (int g = 0; g < ranks; ++g)
    for (int c = 0; c < outputs; ++c) {
      Bag want;
      int share = inputs / ranks;
      if (p.kind == CollectiveKind::AllGather)
        want[c] = 1;
      else if (p.kind == CollectiveKind::AllToAll)
        want[c / share * inputs + g * share + c % share] = 1;
      else
        for (int r = 0; r < ranks; ++r)
          want[r * inputs +
               (p.kind == CollectiveKind::AllReduce ? c : g * outputs + c)] = 1;
      if (at(g, 'o', c) != want)
        return false;
    }
  return true;
}

/// Right in every one of many runs.
bool tokensRight(const MscclProgram &program, int runs) {
  for (int i = 0; i < runs; ++i)
    for (bool inPlace : {true, false})
      if ((inPlace ? program.inPlace : program.outOfPlace) &&
          !Tokens(program, inPlace, 100 + i).right())
        return false;
  return true;
}

} // namespace

static std::string canonicalText(const Schedule &schedule) {
  Result<Schedule> canonical = canonicalSchedule(schedule);
  EXPECT_TRUE(bool(canonical)) << canonical.message();
  canonical->topology = "";
  return writeSchedule(*canonical);
}

TEST(Msccl, CorpusImportsAndComesBack) {
  for (const std::string &file : corpus()) {
    MscclProgram program = load(file);
    Result<Schedule> schedule = importMsccl(program);
    ASSERT_TRUE(bool(schedule)) << file << ": " << schedule.message();
    EXPECT_EQ(check(*schedule), "") << file;
    // As many sends as chunks are received.
    int received = 0;
    for (const MscclGpu &gpu : program.gpus)
      for (const MscclBlock &block : gpu.blocks)
        for (const MscclStep &step : block.steps)
          received += step.receives() ? step.count : 0;
    EXPECT_EQ(schedule->totalSends(), received) << file;
    EXPECT_EQ(canonicalText(*schedule), writeSchedule(*schedule)) << file;
    Result<Schedule> text = parseSchedule(writeSchedule(*schedule), "s.json");
    ASSERT_TRUE(bool(text)) << text.message();
    Result<MscclProgram> out = exportMsccl(*text, "again");
    ASSERT_TRUE(bool(out)) << file << ": " << out.message();
    Result<Schedule> again = importMsccl(*out);
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(writeSchedule(*again), writeSchedule(*schedule)) << file;
  }
}

TEST(Msccl, ImportSaysWhatNoScheduleCan) {
  // Rank 0 sends its chunk twice: right for the interpreter, no schedule.
  MscclProgram p;
  p.name = "twice";
  p.kind = CollectiveKind::AllGather;
  p.chunksPerLoop = 2;
  p.inPlace = true;
  p.outOfPlace = false;
  p.gpus.assign(2, {1, 2, 0, {}});
  auto step = [](const char *type, int at) {
    MscclStep s;
    s.type = type;
    s.srcBuffer = s.dstBuffer = 'o';
    s.srcOffset = s.dstOffset = at;
    s.count = 1;
    return s;
  };
  p.gpus[0].blocks = {{1, -1, 0, {step("s", 0), step("s", 0)}},
                      {-1, 1, 0, {step("r", 1)}}};
  p.gpus[1].blocks = {{0, -1, 0, {step("s", 1)}},
                      {-1, 0, 0, {step("r", 0), step("r", 0)}}};
  ASSERT_EQ(checkMsccl(p), "");
  Result<Schedule> schedule = importMsccl(p);
  ASSERT_FALSE(bool(schedule));
  EXPECT_EQ(schedule.message(),
            "what is sent is not a schedule: step 1: chunk 0 from rank 0 to "
            "rank 1: the receiver has it already");
}

TEST(Msccl, MutationsAreJudgedAsTokensJudgeThem) {
  std::mt19937 random(11);
  int judged = 0, wrong = 0;
  std::vector<std::string> files = corpus();
  // The largest programs take long to run: fewer mutations and runs for them.
  auto large =
      std::partition(files.begin(), files.end(), [](const std::string &file) {
        return std::filesystem::file_size(file) <= 100000;
      });
  size_t small = large - files.begin(), many = files.size() - small;
  for (int i = 0; judged < 1000; ++i) {
    bool big = many > 0 && i % 25 == 0;
    size_t which = big ? small + i / 25 % many : i % small;
    MscclProgram p = load(files[which]);
    MscclGpu &gpu = p.gpus[random() % p.gpus.size()];
    MscclBlock &block = gpu.blocks[random() % gpu.blocks.size()];
    if (block.steps.empty())
      continue;
    size_t at = random() % block.steps.size();
    // Dependencies name steps by number: they move with the steps.
    auto shift = [&](size_t from, int by) {
      int id = static_cast<int>(&block - gpu.blocks.data());
      for (MscclBlock &b : gpu.blocks)
        for (MscclStep &s : b.steps)
          if (s.dependBlock == id && s.dependStep >= static_cast<int>(from))
            s.dependStep += by;
    };
    switch (random() % 4) {
    case 0: // dropped
      shift(at + 1, -1);
      block.steps.erase(block.steps.begin() + at);
      break;
    case 1: { // duplicated
      shift(at + 1, 1);
      MscclStep copy = block.steps[at];
      block.steps.insert(block.steps.begin() + at, copy);
      break;
    }
    case 2: // reordered
      std::swap(block.steps[at], block.steps[random() % block.steps.size()]);
      break;
    default: { // redirected
      MscclStep &step = block.steps[at];
      int &offset = random() % 2 ? step.dstOffset : step.srcOffset;
      offset =
          random() % std::max(1, std::max(gpu.inputChunks, gpu.outputChunks));
      break;
    }
    }
    std::string verdict = checkMsccl(p);
    // What is wrong shows in one of many runs, most often in the first ones.
    bool tokens = tokensRight(p, verdict.empty() ? (big ? 4 : 12) : 1000);
    ++judged;
    wrong += !tokens;
    EXPECT_EQ(verdict == "", tokens)
        << files[which] << ", mutation " << i << ": " << verdict;
  }
  EXPECT_GT(wrong, 400);
}

TEST(Msccl, NamesWhatIsWrong) {
  MscclProgram p = load(CCN_SYNTH_TEST_DATA "/msccl/ag_hier_4_LL.xml");
  MscclProgram self = p;
  self.gpus[1].blocks[0].send = 1;
  EXPECT_EQ(checkMsccl(self), "out of place: gpu 1, tb 0: expected another gpu "
                              "as its peer, found itself");
  MscclProgram lost = p;
  for (MscclBlock &block : lost.gpus[2].blocks)
    if (!block.steps.empty() && block.steps.back().sends()) {
      block.steps.pop_back();
      break;
    }
  EXPECT_NE(checkMsccl(lost).find("waits for ever"), std::string::npos)
      << checkMsccl(lost);
}

TEST(Msccl, ErrorsNameTheLine) {
  auto errorOf = [](const std::string &text) {
    Result<MscclProgram> p = parseMsccl(text, "p.xml");
    return p ? "" : p.message();
  };
  EXPECT_TRUE(errorOf("<algo>\n<gpu").starts_with("p.xml:2: not valid XML:"))
      << errorOf("<algo>\n<gpu");
  EXPECT_EQ(errorOf("<x/>"), "p.xml:1: expected <algo>, found <x>");
  std::string head = "<algo name=\"a\" proto=\"LL\" nchannels=\"1\" "
                     "nchunksperloop=\"1\" ngpus=\"1\" coll=\"allreduce\" "
                     "inplace=\"1\">\n";
  EXPECT_EQ(errorOf(head + "</algo>"),
            "p.xml:1: <algo>: expected a <gpu> with id 0, found none");
  EXPECT_EQ(errorOf(head + "<gpu id=\"0\" i_chunks=\"x\" o_chunks=\"0\" "
                           "s_chunks=\"0\"/></algo>"),
            "p.xml:2: <gpu i_chunks>: expected an integer from 0 to 1048576, "
            "found \"x\"");
  // Nothing is passed over in silence.
  std::string gpu =
      "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\"/>\n";
  std::string whole = head + gpu + "</algo>\n";
  EXPECT_EQ(errorOf(whole), "");
  EXPECT_EQ(
      errorOf("<?xml version=\"1.0\"?>\n<!-- a -->" + whole + "<!-- b -->"),
      "");
  EXPECT_EQ(errorOf(whole + whole),
            "p.xml:4: expected <algo> alone, found another element, <algo>");
  EXPECT_EQ(errorOf(whole + "Rank 0 is incorrect\n"),
            "p.xml:4: expected <algo> alone, found text outside it");
  EXPECT_EQ(errorOf("here it is: " + whole),
            "p.xml:1: expected <algo> alone, found text outside it");
  EXPECT_EQ(errorOf(whole + std::string(1, '\0') + "<"),
            "p.xml:4: not valid XML: found a zero byte");
  EXPECT_EQ(errorOf(head + gpu + "<rank/></algo>"),
            "p.xml:3: <algo>: expected <gpu>, found <rank>");
  EXPECT_EQ(errorOf(head + gpu + "x</algo>"),
            "p.xml:3: <algo>: expected elements, found text");
  EXPECT_EQ(errorOf(head + "<gpu id=\"0\" id=\"1\" i_chunks=\"1\" "
                           "o_chunks=\"1\" s_chunks=\"0\"/></algo>"),
            "p.xml:2: <gpu>: expected one attribute \"id\", found two");
  size_t at = whole.find("inplace");
  std::string strange = whole;
  strange.insert(at, "outOfPlace=\"0\" ");
  Result<MscclProgram> noted = parseMsccl(strange, "p.xml");
  ASSERT_TRUE(bool(noted)) << noted.message();
  EXPECT_EQ(noted->notes, std::vector<std::string>{
                              "p.xml:1: <algo>: the attribute \"outOfPlace\" "
                              "is not known and left out"});
}

TEST(Msccl, OwnContributionsOutliveTheRunningSum) {
  // Ranks 1 and 0 send what they began with after they added to it.
  Schedule s;
  s.collective = collectiveOf("all_reduce", 3, 1);
  s.hosts = 3;
  s.steps = {
      {1, {{0, 0, 1, SendOp::Reduce, -1, {}}}},
      {1,
       {{0, 1, 2, SendOp::Stash, -1, {1}},
        {0, 2, 0, SendOp::Reduce, -1, {}},
        {0, 2, 1, SendOp::Reduce, -1, {}}}},
      {1,
       {{0, 1, 0, SendOp::Copy, -1, {}}, {0, 0, 2, SendOp::Stash, -1, {0}}}}};
  ASSERT_EQ(check(s), "");
  Result<MscclProgram> program = exportMsccl(s, "own");
  ASSERT_TRUE(bool(program)) << program.message();
  EXPECT_TRUE(tokensRight(*program, 5));
  EXPECT_GT(program->gpus[0].scratchChunks, 0);
  Result<Schedule> again = importMsccl(*program);
  ASSERT_TRUE(bool(again)) << again.message();
  EXPECT_EQ(writeSchedule(*again), canonicalText(s));
}

TEST(Msccl, SchedulesExport) {
  for (auto [spec, name, c, s, r] :
       {std::tuple("dgx1", "all_gather", 6, 3, 7),
        std::tuple("dgx1", "reduce_scatter", 6, 3, 7),
        std::tuple("dgx1", "all_reduce", 48, 6, 14),
        std::tuple("z52", "all_reduce", 8, 7, 7),
        // Partial sums kept apart, and sums made only to be sent.
        std::tuple("dgx1", "all_reduce", 2, 2, 2),
        std::tuple("ring(5)", "all_reduce", 1, 2, 2),
        std::tuple("dgx1", "all_to_all", 24, 8, 8)}) {
    Fabric fabric = fabricOf(spec);
    Result<SolveResult> solved =
        solve(fabric, collectiveOf(name, fabric.ranks, c), s, r, {});
    ASSERT_TRUE(bool(solved));
    Result<MscclProgram> program = exportMsccl(solved->schedule, "test");
    ASSERT_TRUE(bool(program)) << name << ": " << program.message();
    EXPECT_EQ(checkMsccl(*program), "") << name;
    EXPECT_TRUE(tokensRight(*program, 3)) << name;
    Result<Schedule> again = importMsccl(*program);
    ASSERT_TRUE(bool(again)) << name << ": " << again.message();
    EXPECT_EQ(writeSchedule(*again), canonicalText(solved->schedule)) << name;
  }
  Fabric fabric = fabricOf("ndv2x2");
  Result<Schedule> trees =
      treeSchedule(fabric, CollectiveKind::AllReduce, 1, {});
  ASSERT_TRUE(bool(trees));
  Result<MscclProgram> program = exportMsccl(*trees, "trees");
  ASSERT_TRUE(bool(program)) << program.message();
  Result<MscclProgram> refused = exportMsccl(
      [] {
        Schedule s;
        s.collective = collectiveOf("broadcast", 2, 1);
        s.hosts = 2;
        return s;
      }(),
      "x");
  ASSERT_FALSE(bool(refused));
  EXPECT_EQ(refused.message(), "MSCCL XML has no broadcast");
}
