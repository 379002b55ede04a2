//===- Machine.cpp - Figures that were measured on a machine --------------===//
//
// Reads figures with the synthesizer's JSON reader, whose errors say what was
// expected, what was found, and where.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Machine.h"

#include "lib/Target/MachineFiles.h"
#include "lib/Target/MachineJson.h"
#include "runtime/base/File.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ccn;
using synth::JsonAt;

namespace {

/// The largest size in a file, in bytes; it can be multiplied by numbers of
/// ranks without overflow.
constexpr int64_t maxBytes = int64_t(1) << 40;

/// Reads the name that remarks and diagnostics give the machine.
std::string readName(const JsonAt &at) {
  std::string name = at.string();
  bool isName = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
  if (!isName)
    at.fail("expected a name of letters, digits, '_', '-' and '.', found " +
            synth::shortJson(at.json()));
  return name;
}

int64_t readLimit(const JsonAt &at) {
  if (at.json() == "never")
    return Machine::never;
  if (at.json() == "always")
    return Machine::always;
  if (!at.json().is_number())
    at.fail("expected a number of bytes, \"never\" or \"always\", found " +
            synth::shortJson(at.json()));
  return at.integer(0, maxBytes);
}

Machine::OneShot readOneShot(const JsonAt &at, bool isInKernel) {
  if (isInKernel)
    at.onlyKeys({"ll", "lamport", "simple"});
  else
    at.onlyKeys({"ll", "lamport"});
  Machine::OneShot limits;
  limits.ll = readLimit(at.at("ll"));
  limits.lamport = readLimit(at.at("lamport"));
  if (isInKernel)
    limits.simple = readLimit(at.at("simple"));
  return limits;
}

Machine::Columns readColumns(const JsonAt &at) {
  at.onlyKeys({"piece_bytes", "busy_tiles", "even_tiles", "barrier_bytes"});
  Machine::Columns columns;
  columns.pieceBytes = at.at("piece_bytes").integer(128, 65536);
  columns.busyTiles = at.at("busy_tiles").integer(1, maxBytes);
  columns.evenTiles = at.at("even_tiles").integer(1, maxBytes);
  columns.barrierBytes = at.at("barrier_bytes").integer(0, maxBytes);
  return columns;
}

Machine::Gpu readGpu(const JsonAt &at) {
  at.onlyKeys({"multiprocessors", "launch_us", "link_gbps", "pipeline_bytes",
               "columns"});
  Machine::Gpu gpu;
  gpu.multiprocessors = at.at("multiprocessors").integer(1, 65536);
  gpu.launchUs = readPositive(at.at("launch_us"));
  gpu.linkGBps = readPositive(at.at("link_gbps"));
  gpu.pipelineBytes = at.at("pipeline_bytes").integer(1, maxBytes);
  gpu.columns = readColumns(at.at("columns"));
  return gpu;
}

MachineFile readMachine(const JsonAt &at) {
  at.onlyKeys({"name", "measured", "all_reduce", "push", "gpu", "rates"});
  MachineFile file;
  Machine &machine = file.machine;
  machine.name = readName(at.at("name"));
  JsonAt measured = at.at("measured");
  measured.onlyKeys({"on", "date", "how"});
  machine.measuredOn = readFilled(measured.at("on"));
  // These fields are only for people who read the file.
  readFilled(measured.at("date"));
  readFilled(measured.at("how"));
  JsonAt allReduce = at.at("all_reduce");
  allReduce.onlyKeys({"pair", "group", "pair_in_kernel", "group_in_kernel"});
  machine.pair = readOneShot(allReduce.at("pair"), /*isInKernel=*/false);
  machine.group = readOneShot(allReduce.at("group"), /*isInKernel=*/false);
  machine.pairInKernel =
      readOneShot(allReduce.at("pair_in_kernel"), /*isInKernel=*/true);
  machine.groupInKernel =
      readOneShot(allReduce.at("group_in_kernel"), /*isInKernel=*/true);
  // `push` is a lower limit, unlike the others, so `never` and `always` change
  // places.
  int64_t push = readLimit(at.at("push"));
  machine.push = push == Machine::never    ? Machine::always
                 : push == Machine::always ? 0
                                           : push;
  if (at.has("gpu"))
    machine.gpu = readGpu(at.at("gpu"));
  if (at.has("rates"))
    file.rates = readRates(at.at("rates"));
  return file;
}

/// `where` is the file's name in errors.
Result<MachineFile> parseFile(std::string_view text, std::string_view where) {
  try {
    nlohmann::json json = synth::parseJson(text, where);
    return readMachine(JsonAt(json, std::string(where), ""));
  } catch (const synth::JsonError &wrong) {
    return Status::failure(wrong.what());
  }
}

Result<Machine> machineOf(Result<MachineFile> file) {
  if (!file)
    return file.status();
  return std::move(file->machine);
}

/// The machines in the compiler, and which ones are the targets' defaults.
constexpr std::string_view ofCpu = "cpu", ofGpus = "h200",
                           machineNames[] = {ofCpu, ofGpus, "h100", "a100"};

Machine builtin(std::string_view name) {
  std::string file = std::string(name) + ".json";
  Result<Machine> machine = parseMachine(machineFile(file), file);
  assert(machine && "the compiler's own files are right");
  return *std::move(machine);
}

} // namespace

std::string ccn::readFilled(const JsonAt &at) {
  std::string text = at.string();
  if (text.empty())
    at.fail("expected a text, found \"\"");
  return text;
}

double ccn::readPositive(const JsonAt &at) {
  double number = at.number();
  if (!(number >= 1e-3 && number <= 1e6))
    at.fail("expected a number from 0.001 to 1000000, found " +
            synth::shortJson(at.json()));
  return number;
}

int64_t Machine::Gpu::bytesOfLaunch() const {
  // GB/s are kB/ms.
  double bytes = launchUs * linkGBps * 1000;
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(std::max(bytes, 1.0))));
}

const Machine &Machine::of(const Target &target) {
  static const Machine cpu = builtin(ofCpu), gpus = builtin(ofGpus);
  return target.isGpu() ? gpus : cpu;
}

Result<Machine> ccn::parseMachine(std::string_view text,
                                  std::string_view where) {
  return machineOf(parseFile(text, where));
}

bool ccn::isMachineFile(std::string_view nameOrFile) {
  return nameOrFile.find('/') != std::string_view::npos ||
         nameOrFile.ends_with(".json");
}

Result<MachineFile> ccn::loadMachineFile(std::string_view nameOrFile) {
  std::string known;
  for (std::string_view name : machineNames) {
    std::string file = std::string(name) + ".json";
    if (nameOrFile == name)
      return parseFile(machineFile(file), file);
    known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  std::string path(nameOrFile);
  if (!isMachineFile(nameOrFile))
    return error("expected ", known, " or a file that ends in .json, found '",
                 path, "'");
  constexpr int64_t most = 1 << 20;
  Result<std::optional<std::string>> text = readText(path, most);
  if (!text)
    return error("cannot read '", path, "': ", text.message());
  if (!*text)
    return error("expected at most ", most, " bytes, found more in '", path,
                 "'");
  return parseFile(**text, path);
}

Result<Machine> ccn::loadMachine(std::string_view nameOrFile) {
  return machineOf(loadMachineFile(nameOrFile));
}

Status ccn::checkMachine(const Machine &machine, const Target &target) {
  if (machine.gpu.has_value() == target.isGpu())
    return Status();
  return error("expected figures ", target.isGpu() ? "of" : "without",
               " GPUs for target '", target.name(), "', found '", machine.name,
               "', which has ", target.isGpu() ? "none" : "some");
}
