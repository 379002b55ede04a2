//===- PackageTest.cpp - Packages in files and in memory ------------------===//
//
// What is written is read; whatever else is read is refused with its reason.
//
//===----------------------------------------------------------------------===//

#include "SamplePackages.h"
#include "runtime/base/Hash.h"
#include "runtime/plan/JsonFields.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>

using namespace ccn;
using namespace ccn::runtime;

namespace {

std::string encode(const Package &package) {
  Result<std::string> bytes = encodePackage(package);
  EXPECT_TRUE(bytes.ok()) << bytes.message();
  return bytes ? *bytes : "";
}

std::string whyNot(std::string_view bytes) {
  return decodePackage(bytes).message();
}

/// Gives bytes that were changed a right size and hash.
std::string seal(std::string bytes) {
  uint64_t size = bytes.size();
  std::memcpy(bytes.data() + 16, &size, 8);
  std::string hash = sha256({std::string_view(bytes).substr(0, 32),
                             std::string_view(bytes).substr(64)});
  std::memcpy(bytes.data() + 32, hash.data(), 32);
  return bytes;
}

/// A file around any JSON.
std::string sealJson(const std::string &json) {
  std::string bytes = encode(Package()).substr(0, 64) + json;
  uint64_t size = json.size();
  std::memcpy(bytes.data() + 24, &size, 8);
  bytes.resize((bytes.size() + 63) / 64 * 64);
  return seal(bytes);
}

Json jsonOf(const std::string &bytes) {
  uint64_t size;
  std::memcpy(&size, bytes.data() + 24, 8);
  return Json::parse(bytes.substr(64, size));
}

/// Why the package `everything` with this change to its JSON is refused.
template <typename Change> std::string whyNotWith(Change change) {
  Json json = jsonOf(encode(everything()));
  change(json);
  return whyNot(sealJson(json.dump()));
}

/// A folder for one test, removed after it.
struct Folder {
  Folder() {
    char name[] = "/tmp/ccn-package-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string &name) const { return path + "/" + name; }
  std::string path;
};

/// How many fields an aggregate has.
struct Any {
  template <typename T> operator T() const;
};
template <typename T, typename... Fields> constexpr size_t fieldCount() {
  if constexpr (requires { T{Fields{}..., Any{}}; })
    return fieldCount<T, Fields..., Any>();
  else
    return sizeof...(Fields);
}
struct Counter {
  size_t number = 0;
  template <typename T> void operator()(const char *, const T &) { ++number; }
  template <typename T> void shared(const char *, const T &) { ++number; }
  template <typename T> void sharedEach(const char *, const T &) { ++number; }
};
/// `leftOut`: how many are only for the compiler.
template <typename T> void expectAllFields(size_t leftOut = 0) {
  Counter counter;
  const T value{};
  fields(counter, value);
  EXPECT_EQ(counter.number + leftOut, fieldCount<T>()) << typeid(T).name();
}

} // namespace

//===----------------------------------------------------------------------===//
// What is written is read
//===----------------------------------------------------------------------===//

TEST(Package, EveryFieldIsStored) {
  expectAllFields<Buffer>();
  expectAllFields<View>();
  expectAllFields<LoopOperand>();
  expectAllFields<Loop>();
  expectAllFields<RowsPart>();
  expectAllFields<CopyPart>();
  expectAllFields<BarrierPart>();
  expectAllFields<SignalPart>();
  expectAllFields<AwaitPart>();
  expectAllFields<MatmulPart>();
  expectAllFields<Conv2dPart>();
  expectAllFields<GatherRowsPart>();
  expectAllFields<ScatterRowsPart>();
  expectAllFields<ExchangePart>();
  expectAllFields<PieceDim>();
  expectAllFields<GatherPart>();
  // Not the program's lines.
  expectAllFields<Launch>(/*leftOut=*/1);
  expectAllFields<Placement>();
  expectAllFields<RankPlan>();
  expectAllFields<Transfer>();
  expectAllFields<Chunk>();
  expectAllFields<ChunkSchedule>();
  expectAllFields<MeshAxis>();
  expectAllFields<Argument>();
  expectAllFields<Plan>();
  expectAllFields<GpuKernel>();
  expectAllFields<GpuLaunch>();
  expectAllFields<GpuFill>();
  expectAllFields<GpuMessage>();
  expectAllFields<GpuSegments>();
  expectAllFields<GpuProgram>();
}

TEST(Package, NamesFollowTheEnumerators) {
  for (ElementType type : allElementTypes)
    EXPECT_EQ(names<ElementType>[size_t(type)], name(type));
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max,
                          ReduceKind::Min, ReduceKind::Mean})
    EXPECT_EQ(names<ReduceKind>[size_t(kind)], name(kind));
  EXPECT_EQ(names<Memory>[size_t(Memory::Symmetric)], "symmetric");
  EXPECT_EQ(names<Access>[size_t(Access::Index)], "index");
  EXPECT_EQ(names<Exchange>[size_t(Exchange::Schedule)], "schedule");
  EXPECT_EQ(names<ArgumentKind>[size_t(ArgumentKind::Result)], "result");
  EXPECT_EQ(names<TransferOp>[size_t(TransferOp::Stash)], "stash");
  EXPECT_EQ(names<Part>[Part(AwaitPart()).index()], "await");
  EXPECT_EQ(names<Part>[Part(ExchangePart()).index()], "exchange");
  EXPECT_EQ(names<Part>[Part(GatherPart()).index()], "gather");
}

TEST(Package, ReadsWhatItWrote) {
  Package package = everything();
  std::string bytes = encode(package);
  Result<Package> read = decodePackage(bytes);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(encode(*read), bytes);
  EXPECT_EQ(read->program, "everything");
  EXPECT_EQ(read->schedule, "fused");
  EXPECT_EQ(read->compiler, "hand");
  EXPECT_EQ(read->objectCode, "object code");
  EXPECT_EQ(read->cpuFeatures, package.cpuFeatures);
  EXPECT_EQ(read->hash, toHex(std::string_view(bytes).substr(32, 32)));
  ASSERT_EQ(read->plan.ranks.size(), 2u);
  EXPECT_EQ(read->plan.ranks[1].placements[0].offsets[0], 9);
  EXPECT_EQ(read->plan.ranks[1].launches[2].name, "fused \"1\"\n\xc3\xa9");
  ASSERT_TRUE(read->reference.has_value());
  EXPECT_EQ(read->reference->ranks.size(), 1u);
  ASSERT_TRUE(read->bounds.has_value());
  EXPECT_TRUE(read->bounds->arguments.empty());
  EXPECT_EQ(read->bounded, (std::vector<int>{3, 1}));
  const auto &part =
      std::get<MatmulPart>(read->plan.ranks[0].launches[0].parts[5]);
  EXPECT_EQ(part.batch, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(part.a.strides, (std::vector<int64_t>{3, 4, INT64_MIN}));
  EXPECT_EQ(part.k, 5);
  ASSERT_TRUE(read->gpu.has_value());
  EXPECT_EQ(read->gpu->source, package.gpu->source);
  EXPECT_TRUE(read->gpu->kernels[0].waits);
  EXPECT_EQ(read->gpu->launches[0][0].numbers, (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(read->gpu->fills[0].value, 9);
  EXPECT_EQ(read->variant, "default");
  ASSERT_EQ(read->variants.size(), 2u);
  EXPECT_EQ(read->variants[0].name, "first");
  EXPECT_EQ(read->variants[0].plan.ranks[1].flags,
            package.plan.ranks[1].flags + 7);
  EXPECT_EQ(read->variants[0].gpu->source, "// first\n");
  EXPECT_EQ(read->variants[1].schedule, "fused");
}

TEST(Package, VariantsChangePlaces) {
  Package package = everything();
  swapVariant(package, 2);
  EXPECT_EQ(package.variant, "second");
  EXPECT_EQ(package.schedule, "fused");
  EXPECT_EQ(package.gpu->source, "// second\n");
  EXPECT_EQ(package.variants[1].name, "default");
  EXPECT_EQ(package.variants[0].name, "first");
  swapVariant(package, 2);
  EXPECT_EQ(encode(package), encode(everything()));
}

TEST(Package, SameInputSameBytes) {
  EXPECT_EQ(encode(everything()), encode(everything()));
  Package changed = everything();
  changed.plan.ranks[1].flags += 1;
  EXPECT_NE(encode(changed), encode(everything()));
}

TEST(Package, WhatRanksShareIsStoredOnce) {
  Package package = everything();
  size_t two = encode(package).size();
  package.plan.ranks.resize(1000, package.plan.ranks[0]);
  EXPECT_LT(encode(package).size(), two + 3000);
  // Ranks that differ in their placements share launches and buffers.
  for (size_t i = 0; i < 1000; ++i)
    package.plan.ranks[i].placements[0].offsets[0] = int64_t(i);
  size_t different = encode(package).size();
  EXPECT_LT(different, two + 200 * 1000);
  Result<Package> read = decodePackage(encode(package));
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->plan.ranks[999].placements[0].offsets[0], 999);
}

TEST(Package, Hashes) {
  EXPECT_EQ(toHex(sha256({"a", "bc"})),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

//===----------------------------------------------------------------------===//
// What is wrong is refused
//===----------------------------------------------------------------------===//

TEST(Package, EveryFlippedBitIsNoticed) {
  std::string bytes = encode(everything());
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit : {0, 3, 7}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      ASSERT_NE(whyNot(changed), "") << "byte " << i << " bit " << bit;
    }
}

TEST(Package, EveryTruncationIsNoticed) {
  std::string bytes = encode(everything());
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string why = whyNot(std::string_view(bytes).substr(0, size));
    ASSERT_NE(why, "");
    if (size >= 8) {
      ASSERT_NE(why.find("truncated"), why.npos) << size << ": " << why;
    }
  }
  EXPECT_NE(whyNot(bytes + "x").find("too long"), std::string::npos);
}

TEST(Package, OtherVersionsAreNamed) {
  std::string bytes = encode(everything());
  bytes[8] = 12;
  EXPECT_EQ(whyNot(seal(bytes)), "expected version 11 of the package format, "
                                 "found 12, which a newer ccn has made");
  bytes[8] = 1;
  EXPECT_EQ(
      whyNot(seal(bytes)),
      "expected version 11 of the package format, found 1, which an older "
      "ccn has made; compile again");
}

TEST(Package, RandomBytesAreRefused) {
  std::mt19937_64 random(1);
  std::string valid = encode(everything());
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char &c : bytes)
      c = static_cast<char>(random());
    // Half of them look like a package, some up to the hash.
    if (i % 2 && bytes.size() >= 64) {
      std::memcpy(bytes.data(), valid.data(), 12);
      if (i % 4 == 1) {
        std::memset(bytes.data() + 12, 0, 4);
        uint64_t json = random() % bytes.size();
        std::memcpy(bytes.data() + 24, &json, 8);
        bytes = seal(bytes);
      }
    }
    ASSERT_NE(whyNot(bytes), "");
  }
}

TEST(Package, ChangedJsonIsReadOrRefused) {
  // With a right hash: what a wrong writer might leave. Each character is
  // replaced by others; what is still valid must be written as it was read.
  std::string json = jsonOf(encode(everything())).dump();
  std::mt19937_64 random(2);
  const std::string other = "0123456789-[]{},:\"ax.e \xff";
  int accepted = 0;
  for (size_t i = 0; i < json.size(); i += 1 + random() % 8) {
    std::string changed = json;
    switch (random() % 3) {
    case 0:
      changed[i] = other[random() % other.size()];
      break;
    case 1:
      changed.erase(i, 1 + random() % 4);
      break;
    default:
      changed.insert(i, 1 + random() % 3, other[random() % other.size()]);
    }
    Result<Package> read = decodePackage(sealJson(changed));
    if (!read)
      continue;
    ++accepted;
    Result<std::string> again = encodePackage(*read);
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(encode(*decodePackage(*again)), *again);
  }
  EXPECT_GT(accepted, 10);
}

TEST(Package, ErrorsNameTheField) {
  auto &launch = "launches";
  EXPECT_EQ(
      whyNotWith([&](Json &j) { j["plan"][launch][0]["parts"][5].erase("k"); }),
      "corrupt: plan.launches[0].parts[5]: expected a field 'k', found "
      "none");
  EXPECT_EQ(whyNotWith([&](Json &j) {
              j["plan"][launch][0]["parts"][5]["a"]["strides"][1] = "four";
            }),
            "corrupt: plan.launches[0].parts[5].a.strides[1]: expected an "
            "integer, found \"four\"");
  EXPECT_EQ(
      whyNotWith(
          [&](Json &j) { j["plan"][launch][0]["parts"][0]["kind"] = "magic"; }),
      "corrupt: plan.launches[0].parts[0].kind: expected one of 'rows', "
      "'copy', 'barrier', 'signal', 'await', 'matmul', 'conv2d', "
      "'gather_rows', 'scatter_rows', 'exchange', 'gather', found \"magic\"");
  EXPECT_EQ(whyNotWith([](Json &j) { j["plan"]["groups"] = 3; }),
            "corrupt: plan.groups: expected a list, found 3");
  EXPECT_EQ(whyNotWith([](Json &j) { j["plan"]["mesh"][0]["size"] = 1.5; }),
            "corrupt: plan.mesh[0].size: expected an integer, found 1.5");
  EXPECT_EQ(whyNotWith([](Json &j) {
              j["plan"]["rankPlans"][0]["streams"] = 1ull << 40;
            }),
            "corrupt: plan.rankPlans[0].streams: expected an integer from "
            "-2147483648 to 2147483647, found 1099511627776");
  EXPECT_EQ(whyNotWith([](Json &j) { j["plan"]["mesh"][0]["siez"] = 1; }),
            "corrupt: plan.mesh[0]: unexpected field 'siez'");
  EXPECT_EQ(whyNotWith([](Json &j) { j["plan"]["ranks"][1] = 2; }),
            "corrupt: plan.ranks[1]: expected an index below 2, found 2");
  EXPECT_EQ(whyNotWith([](Json &j) { j["bounds"] = 1; }).substr(0, 17),
            "corrupt: bounds: ");
  EXPECT_EQ(whyNotWith([](Json &j) { j["bounded"] = "p"; }),
            "corrupt: bounded: expected a list, found \"p\"");
  EXPECT_EQ(whyNotWith([](Json &j) { j["reference"]["ranks"] = nullptr; }),
            "corrupt: reference.ranks: expected a list, found null");
  EXPECT_EQ(whyNotWith([](Json &j) { j["gpu"]["kernels"][1]["waits"] = 1; }),
            "corrupt: gpu.kernels[1].waits: expected true or false, found 1");
  EXPECT_EQ(whyNotWith([](Json &j) { j["gpu"].erase("source"); }),
            "corrupt: gpu: expected a field 'source', found none");
  EXPECT_EQ(whyNotWith([](Json &j) { j["program"] = 1; }),
            "corrupt: program: expected a text, found 1");
  EXPECT_EQ(
      whyNotWith([](Json &j) { j["plan"]["schedules"][0]["combining"] = 1; }),
      "corrupt: plan.schedules[0].combining: expected true or false, "
      "found 1");
}

TEST(Package, RepetitionCannotFillTheMemory) {
  // A kilobyte of JSON that stands for 10^11 launches.
  std::string why = whyNotWith([](Json &j) {
    Json many = Json::array();
    for (int i = 0; i < 30000; ++i)
      many.push_back(0);
    j["plan"]["rankPlans"][0]["launches"] = many;
    j["plan"]["ranks"] = many;
  });
  EXPECT_NE(why.find("with what is repeated, found more"), why.npos) << why;
  why = whyNotWith([](Json &j) {
    j["plan"]["ranks"] = {
        {{"times", 1000000000000}, {"entries", {0}}, {"steps", {0}}}};
  });
  EXPECT_NE(why.find("plan.ranks: expected fewer values"), why.npos) << why;
  // Lists that fit one by one do not together.
  why = whyNotWith([](Json &j) {
    for (int i = 0; i < 64; ++i)
      j["plan"]["groups"][i] = {
          {{"times", 1 << 20}, {"entries", {0}}, {"steps", {1}}}};
  });
  EXPECT_NE(why.find("plan.groups: expected fewer values"), why.npos) << why;
  // Nor can depth end the stack.
  why = whyNot(sealJson(std::string(1 << 20, '[')));
  EXPECT_NE(why.find("corrupt"), why.npos);
  Json json = jsonOf(encode(everything()));
  json["plan"]["groups"] = "deep";
  std::string text = json.dump(), placeholder = "\"deep\"";
  // To write such a value would take the stack, too.
  constexpr size_t depth = 100000;
  text.replace(text.find(placeholder), placeholder.size(),
               std::string(depth, '[') + std::string(depth, ']'));
  why = whyNot(sealJson(text));
  EXPECT_NE(why.find("plan.groups[0][0]: expected an integer, found a list"),
            why.npos)
      << why;
  text.clear();
  for (size_t i = 0; i < depth; ++i)
    text += R"({"variants":[)";
  for (size_t i = 0; i < depth; ++i)
    text += "]}";
  why = whyNot(sealJson(text));
  EXPECT_NE(why.find("corrupt"), why.npos);
  // Launches may hold launches.
  json = jsonOf(encode(everything()));
  json["gpu"]["launches"][0][0]["preferred"] = "deep";
  Json launch = jsonOf(encode(everything()))["gpu"]["launches"][0][0];
  launch["preferred"] = "deep";
  std::string inner = launch.dump();
  size_t at = inner.find(placeholder);
  std::string begin = "[" + inner.substr(0, at),
              end = inner.substr(at + placeholder.size()) + "]", nested = "[]";
  for (std::string *side : {&begin, &end})
    for (int doubled = 0; doubled < 14; ++doubled)
      *side += *side;
  nested = begin + nested + end;
  text = json.dump();
  text.replace(text.find(placeholder), placeholder.size(), nested);
  why = whyNot(sealJson(text));
  EXPECT_NE(why.find("expected values that are nested less"), why.npos)
      << why.substr(0, 500);
}

TEST(Package, NamesMustBeText) {
  Package package = everything();
  package.plan.ranks[0].launches[0].name = "\xff";
  EXPECT_EQ(encodePackage(package).message(),
            "a name in program 'everything' is not UTF-8");
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(Package, FilesAreReplacedWhole) {
  Folder folder;
  std::string path = folder.file("p.ccnpkg");
  ASSERT_TRUE(writePackage(path, everything()).ok());
  Package second = everything();
  second.program = "second";
  ASSERT_TRUE(writePackage(path, second).ok());
  Result<Package> read = readPackage(path);
  ASSERT_TRUE(read.ok()) << read.message();
  EXPECT_EQ(read->program, "second");
  auto entries = std::filesystem::directory_iterator(folder.path);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);

  EXPECT_EQ(writePackage("/dev/null", second).message(),
            "'/dev/null': cannot write: expected a regular file, found a "
            "special file");
  EXPECT_FALSE(writePackage(folder.file("no/such"), second).ok());
}

TEST(Package, FilesThatAreNoneAreNamed) {
  Folder folder;
  auto whyNotFile = [](const std::string &path) {
    return readPackage(path).message();
  };
  EXPECT_EQ(whyNotFile("/no/such"),
            "'/no/such': cannot open: No such file or directory");
  EXPECT_EQ(whyNotFile(folder.path),
            "'" + folder.path + "': expected a package, found a directory");
  std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(whyNotFile(pipe),
            "'" + pipe + "': expected a package, found a special file");
  std::string text = folder.file("adam.ccn");
  std::ofstream(text) << "mesh m (dp = 4)\n";
  EXPECT_EQ(whyNotFile(text),
            "'" + text + "': expected a package of ccn, found something else");
  // A header that announces more than any machine has, in a file that has it.
  std::string sparse = folder.file("sparse");
  std::string header = encode(everything()).substr(0, 64);
  uint64_t huge = uint64_t(1) << 42;
  std::memcpy(header.data() + 16, &huge, 8);
  std::ofstream(sparse) << header;
  if (truncate(sparse.c_str(), int64_t(huge)) == 0) {
    EXPECT_EQ(whyNotFile(sparse), "'" + sparse +
                                      "': expected at most 2147483648 bytes, "
                                      "found 4398046511104");
  }
}

TEST(Package, MachinesAreCompared) {
  Package package = everything();
  package.objectCode = sampleObjectCode();
  package.cpuFeatures = {};
  EXPECT_EQ(checkMachine(package).message(), "");
  package.cpuFeatures = {"warp_drive", "fma", "tricorder"};
  std::string why = checkMachine(package).message();
  EXPECT_NE(why.find("'warp_drive'"), why.npos) << why;
  EXPECT_NE(why.find("'tricorder'"), why.npos) << why;
  package.cpuFeatures = {};
  package.objectCode[18] = 0x16; // s390x
  package.objectCode[19] = 0;
  EXPECT_NE(checkMachine(package).message().find("found it for s390x"),
            std::string::npos);
}

TEST(Package, TargetsAreKnown) {
  Package package = everything();
  EXPECT_EQ(checkTarget(package).message(), "");
  package.gpu.reset();
  EXPECT_EQ(checkTarget(package).message(),
            "a package for target 'cuda' lacks kernels for GPUs");
  package.target = "cpu";
  package.variants.clear();
  EXPECT_EQ(checkTarget(package).message(), "");
  package.gpu.emplace();
  EXPECT_EQ(checkTarget(package).message(),
            "a package for target 'cpu' holds kernels for GPUs");
  EXPECT_EQ(checkTarget(everything()).message(), "");
  Package some = everything();
  some.variants[1].gpu.reset();
  EXPECT_EQ(checkTarget(some).message(),
            "variant 'second' lacks kernels for GPUs");
  package.target = "sm_90a";
  EXPECT_EQ(checkTarget(package).message(),
            "expected a package for target 'cpu' or 'cuda', found one for "
            "'sm_90a'");
}
