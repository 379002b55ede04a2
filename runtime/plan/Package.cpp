//===- Package.cpp - A compiled program in one file -----------------------===//
//
// The header is checked before memory is allocated for the sizes in it.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Package.h"

#include "runtime/base/File.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/Hash.h"
#include "runtime/plan/JsonFields.h"
#include "runtime/plan/ObjectCode.h"
#include "runtime/plan/PlanJson.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <new>
#include <set>

namespace ccn::runtime {

namespace {

constexpr std::string_view magic = "\x93"
                                   "CCNPKG\n";
constexpr uint32_t formatVersion = 11;
constexpr size_t headerSize = 64;
constexpr size_t hashOffset = 32, hashSize = 32;
/// A limit, so that a damaged header cannot make a reader allocate huge memory.
constexpr uint64_t maxFileSize = uint64_t(1) << 31;

struct VariantDescription {
  std::string name, schedule;
  RawJson plan, gpu;
};

void fields(auto &a, Is<VariantDescription> auto &v) {
  a("name", v.name);
  a("schedule", v.schedule);
  a("plan", v.plan);
  a("gpu", v.gpu);
}

/// The content of the JSON.
struct Description {
  std::string compiler, program, schedule, target;
  std::vector<std::string> cpuFeatures;
  RawJson plan, reference, bounds, gpu;
  std::vector<int> bounded;
  std::string variant;
  std::vector<VariantDescription> variants;
};

void fields(auto &a, Is<Description> auto &v) {
  a("compiler", v.compiler);
  a("program", v.program);
  a("schedule", v.schedule);
  a("target", v.target);
  a("cpuFeatures", v.cpuFeatures);
  a("plan", v.plan);
  a("reference", v.reference);
  a("bounds", v.bounds);
  a("bounded", v.bounded);
  a("gpu", v.gpu);
  a("variant", v.variant);
  a("variants", v.variants);
}

template <typename T> T readNumber(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

size_t padded(size_t size) { return (size + 63) / 64 * 64; }

/// The hash of a whole file without the hash stored in it.
std::string hashOf(std::string_view header, std::string_view rest) {
  return sha256({header.substr(0, hashOffset), rest});
}

/// Checks the header of a file of `size` bytes.
Status checkHeader(std::string_view header, uint64_t size) {
  if (header.substr(0, magic.size()) != magic)
    return error("expected a package of ccn, found something else");
  if (header.size() < headerSize)
    return error("truncated: expected at least ", headerSize, " bytes, found ",
                 header.size());
  auto version = readNumber<uint32_t>(header, 8);
  if (version != formatVersion)
    return error("expected version ", formatVersion,
                 " of the package format, found ", version,
                 version > formatVersion
                     ? ", which a newer ccn has made"
                     : ", which an older ccn has made; compile again");
  auto announced = readNumber<uint64_t>(header, 16);
  if (announced != size)
    return error(size < announced ? "truncated" : "too long", ": expected ",
                 announced, " bytes, found ", size);
  if (size > maxFileSize)
    return error("expected at most ", maxFileSize, " bytes, found ", size);
  auto jsonSize = readNumber<uint64_t>(header, 24);
  if (readNumber<uint32_t>(header, 12) != 0 || jsonSize > size - headerSize ||
      padded(headerSize + jsonSize) > size)
    return error("corrupt: the header contradicts itself");
  return Status();
}

} // namespace

Result<std::string> encodePackage(const Package &package) {
  Json plan = planToJson(package.plan), reference, bounds, gpu;
  // A deque, whose elements do not move, since descriptions refer to them.
  std::deque<Json> others;
  std::vector<VariantDescription> variants;
  for (const PackageVariant &variant : package.variants) {
    const Json &own = others.emplace_back(planToJson(variant.plan));
    const Json &kernels = others.emplace_back(
        variant.gpu ? JsonWriter().write(*variant.gpu) : Json());
    variants.push_back({variant.name, variant.schedule, {&own}, {&kernels}});
  }
  if (package.reference)
    reference = planToJson(*package.reference);
  if (package.bounds)
    bounds = planToJson(*package.bounds);
  if (package.gpu)
    gpu = JsonWriter().write(*package.gpu);
  Description description{
      package.compiler, package.program,     package.schedule,
      package.target,   package.cpuFeatures, {&plan},
      {&reference},     {&bounds},           {&gpu},
      package.bounded,  package.variant,     std::move(variants)};
  std::string json;
  try {
    json = JsonWriter().write(description).dump();
  } catch (const Json::exception &) {
    return error("a name in program '", package.program, "' is not UTF-8");
  }
  std::string bytes(headerSize, '\0');
  bytes += json;
  bytes.resize(padded(bytes.size()));
  bytes += package.objectCode;
  if (bytes.size() > maxFileSize)
    return error("a package has at most ", maxFileSize, " bytes, program '",
                 package.program, "' needs ", bytes.size());
  auto put = [&](size_t offset, auto value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  };
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put(8, formatVersion);
  put(16, uint64_t(bytes.size()));
  put(24, uint64_t(json.size()));
  std::string hash = hashOf(bytes, std::string_view(bytes).substr(headerSize));
  std::memcpy(bytes.data() + hashOffset, hash.data(), hashSize);
  return bytes;
}

/// Unpacks all plans of a package, whatever else it has.
static Status unpackPlans(Json &package) {
  int64_t left = mostInSeries;
  auto unpack = [&](Json &owner, const char *name, const std::string &where) {
    auto plan = owner.is_object() ? owner.find(name) : owner.end();
    return plan == owner.end() ? Status()
                               : unpackPlan(*plan, where + name, left);
  };
  for (const char *name : {"plan", "reference", "bounds"})
    if (Status status = unpack(package, name, ""); !status)
      return status;
  if (!package.is_object() || !package.contains("variants"))
    return Status();
  Json &variants = package["variants"];
  for (size_t i = 0; variants.is_array() && i < variants.size(); ++i)
    if (Status status =
            unpack(variants[i], "plan", "variants[" + std::to_string(i) + "].");
        !status)
      return status;
  return Status();
}

Result<Package> decodePackage(std::string_view bytes) {
  std::string_view header = bytes.substr(0, headerSize);
  if (Status status = checkHeader(header, bytes.size()); !status)
    return status;
  std::string_view rest = bytes.substr(headerSize);
  std::string_view expected = header.substr(hashOffset, hashSize);
  std::string hash = hashOf(header, rest);
  if (hash != expected)
    return error("corrupt: expected content of hash ", toHex(expected),
                 ", found ", toHex(hash));

  auto jsonSize = readNumber<uint64_t>(header, 24);
  Json json;
  try {
    json = Json::parse(rest.substr(0, jsonSize));
  } catch (const Json::exception &failure) {
    return error("corrupt: ", failure.what());
  }
  if (Status status = unpackPlans(json); !status)
    return error("corrupt: ", status.message());
  JsonReader reader("");
  Description description;
  reader.read(json, description);
  if (!reader.status())
    return error("corrupt: ", reader.status().message());
  auto readPlan = [](const Json &from, const char *where) -> Result<Plan> {
    Result<Plan> plan = planFromJson(from, where);
    if (!plan)
      return error("corrupt: ", plan.message());
    return plan;
  };
  Package package;
  Result<Plan> plan = readPlan(*description.plan.json, "plan");
  if (!plan)
    return plan.status();
  package.plan = *std::move(plan);
  auto readOptional = [&](const Json &from, const char *where,
                          std::optional<Plan> &to) {
    if (from.is_null())
      return Status();
    Result<Plan> read = readPlan(from, where);
    if (!read)
      return read.status();
    to = *std::move(read);
    return Status();
  };
  if (Status status = readOptional(*description.reference.json, "reference",
                                   package.reference);
      !status)
    return status;
  if (Status status =
          readOptional(*description.bounds.json, "bounds", package.bounds);
      !status)
    return status;
  package.bounded = std::move(description.bounded);
  auto readKernels = [](const Json &from, const std::string &where,
                        std::optional<GpuProgram> &to) {
    if (from.is_null())
      return Status();
    JsonReader gpuReader(where);
    gpuReader.read(from, to.emplace());
    return gpuReader.status()
               ? Status()
               : error("corrupt: ", gpuReader.status().message());
  };
  if (Status status = readKernels(*description.gpu.json, "gpu", package.gpu);
      !status)
    return status;
  for (VariantDescription &from : description.variants) {
    std::string where =
        "variants[" + std::to_string(package.variants.size()) + "]";
    PackageVariant &variant = package.variants.emplace_back();
    variant.name = std::move(from.name);
    variant.schedule = std::move(from.schedule);
    Result<Plan> own = readPlan(*from.plan.json, (where + ".plan").c_str());
    if (!own)
      return own.status();
    variant.plan = *std::move(own);
    if (Status status =
            readKernels(*from.gpu.json, where + ".gpu", variant.gpu);
        !status)
      return status;
  }
  package.variant = std::move(description.variant);
  package.compiler = std::move(description.compiler);
  package.program = std::move(description.program);
  package.schedule = std::move(description.schedule);
  package.target = std::move(description.target);
  package.cpuFeatures = std::move(description.cpuFeatures);
  package.objectCode = bytes.substr(padded(headerSize + jsonSize));
  package.hash = toHex(hash);
  return package;
}

Result<Package> readPackage(const std::string &path) {
  auto fail = [&](const auto &...why) {
    return error('\'', path, "': ", why...);
  };
  int64_t size = 0;
  Result<FileDescriptor> file = openRegularFile(path, "a package", size);
  if (!file)
    return fail(file.message());
  // Reads the header first, to refuse a file that is too large.
  char header[headerSize];
  int64_t got = readAt(file->get(), header, headerSize, 0);
  if (got < 0)
    return fail("cannot read: ", systemError());
  if (Status status = checkHeader({header, static_cast<size_t>(got)},
                                  static_cast<uint64_t>(size));
      !status)
    return fail(status.message());
  // Memory for the file, and as much again for what is decoded from it.
  MemoryNeeds needs;
  needs.add("the package and what it holds", 2, size);
  if (Status status = checkMemory(needs); !status)
    return fail(status.message());
  std::unique_ptr<char[]> bytes(
      new (std::nothrow) char[static_cast<size_t>(size)]);
  if (!bytes)
    return fail("out of memory: expected ", size, " bytes");
  got = readAt(file->get(), bytes.get(), size, 0);
  if (got < 0)
    return fail("cannot read: ", systemError());
  Result<Package> package =
      decodePackage({bytes.get(), static_cast<size_t>(got)});
  if (!package)
    return fail(package.message());
  return package;
}

Status writePackage(const std::string &path, const Package &package) {
  Result<std::string> bytes = encodePackage(package);
  if (!bytes)
    return error('\'', path, "': ", bytes.message());
  return writeFileAtomically(path, {*bytes});
}

void swapVariant(Package &package, size_t number) {
  PackageVariant &variant = package.variants[number - 1];
  std::swap(package.variant, variant.name);
  std::swap(package.schedule, variant.schedule);
  std::swap(package.plan, variant.plan);
  std::swap(package.gpu, variant.gpu);
}

//===----------------------------------------------------------------------===//
// This machine
//===----------------------------------------------------------------------===//

namespace {

/// The features of this machine's first CPU; all CPUs are assumed to be alike.
std::set<std::string> cpuFeatures() {
  std::set<std::string> features;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; features.empty() && std::getline(file, line);)
    // x86 has lines of "flags", Arm of "Features".
    if (line.starts_with("flags") || line.starts_with("Features")) {
      std::istringstream words(line.substr(line.find(':') + 1));
      for (std::string word; words >> word;)
        features.insert(word);
    }
  return features;
}

} // namespace

Status checkTarget(const Package &package) {
  if (package.target != "cpu" && package.target != "cuda")
    return error("expected a package for target 'cpu' or 'cuda', found one "
                 "for '",
                 package.target, "'");
  if (package.gpu.has_value() != (package.target == "cuda"))
    return error("a package for target '", package.target, "' ",
                 package.gpu ? "holds" : "lacks", " kernels for GPUs");
  for (const PackageVariant &variant : package.variants)
    if (variant.gpu.has_value() != package.gpu.has_value())
      return error("variant '", variant.name, "' ",
                   variant.gpu ? "holds" : "lacks", " kernels for GPUs");
  return Status();
}

Status checkMachine(const Package &package) {
  if (!package.objectCode.empty())
    if (Status status = checkObjectCode(package.objectCode); !status)
      return status;
  if (package.cpuFeatures.empty())
    return Status();
  std::set<std::string> found = cpuFeatures();
  std::string missing;
  for (const std::string &feature : package.cpuFeatures)
    if (!found.contains(feature))
      missing += (missing.empty() ? "'" : ", '") + feature + "'";
  if (!missing.empty())
    return error("expected a CPU with ", missing,
                 ", for which the package was compiled, found one without");
  return Status();
}

} // namespace ccn::runtime
