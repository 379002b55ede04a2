//===- CertificateCommand.cpp - Bounds written and verified ---------------===//
//
// The command bound, what --certificate writes, and ccsynth check of it.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/Certificate.h"
#include "synth/Prove.h"
#include "synth/StepProof.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace ccn::synth {

/// Whether all that a link or an edge set carries is so many units.
static bool isAll(double units, double unitGBps, double gbps) {
  constexpr double rounding = 1e-9;
  return units * unitGBps >= gbps * (1 - rounding);
}

/// Whether every link and edge set of the machine carries whole units, as many
/// as proofs about steps count.
static bool hasWholeUnits(const Topology &machine, double unitGBps) {
  auto isWhole = [&](const auto &carrier) {
    return isAll(std::floor(carrier.gbps / unitGBps + 1e-6), unitGBps,
                 carrier.gbps);
  };
  return std::all_of(machine.links.begin(), machine.links.end(), isWhole) &&
         std::all_of(machine.edgeSets.begin(), machine.edgeSets.end(), isWhole);
}

/// Whether every link and edge set of the machine carries as much in the
/// fabric, a whole number of units.
static bool isExact(const Fabric &fabric, const Topology &machine) {
  for (size_t l = 0; l < machine.links.size(); ++l)
    if (!isAll(fabric.linkCap[l], fabric.unitGBps, machine.links[l].gbps))
      return false;
  return hasWholeUnits(machine, fabric.unitGBps);
}

/// What proves a bound, verified; see emitCertificate.
static Result<std::string>
certificateOf(const Topology &machine, const Fabric &fabric,
              const Collective &collective, const Fraction &rate,
              const RoundBound &rounds, const StepBound &steps,
              const std::vector<int64_t> &lengths) {
  if (rate.den == 0)
    return error("--certificate: expected ranks that can reach each other");
  Certificate certificate;
  certificate.topology = machine;
  certificate.collective = collective;
  certificate.cut = rounds.nodes;
  certificate.countsSends = rounds.byCount;
  certificate.lengths = lengths;
  // In rounds a chunk, of a buffer of 1e9 bytes; 1 GB/s is 1000 bytes a
  // microsecond.
  certificate.leastUsPerGB = isExact(fabric, machine)
                                 ? rate.value() * collective.chunksPerNode /
                                       collective.bufferChunks * 1e9 /
                                       (fabric.unitGBps * 1000)
                                 : provedUsPerGB(certificate);
  if (steps.steps >= 0 && steps.path.size() > 1) {
    certificate.from = steps.path.front();
    certificate.to = steps.path.back();
    certificate.steps = steps.steps;
  }
  if (std::string wrong = verify(certificate); !wrong.empty())
    return error("the bound is not proved (a bug): " + wrong);
  return writeCertificate(certificate);
}

/// Writes a certificate, if there is one.
static int emitText(const std::string &path, const Result<std::string> &text) {
  if (text)
    return emit(path, *text);
  return fail(text.status(), text.message().find("(a bug)") == std::string::npos
                                 ? InputWrong
                                 : Failed);
}

int emitCertificate(const std::string &path, const Topology &machine,
                    const Fabric &fabric, const Collective &collective,
                    const Fraction &rate, const RoundBound &rounds,
                    const StepBound &steps,
                    const std::vector<int64_t> &lengths) {
  return emitText(path, certificateOf(machine, fabric, collective, rate, rounds,
                                      steps, lengths));
}

int emitTreeCertificates(const TreesCommand &c, const Topology &machine,
                         const Fabric &fabric, CollectiveKind kind) {
  std::vector<CollectiveKind> halves = {kind};
  if (kind == CollectiveKind::AllReduce)
    halves = {CollectiveKind::ReduceScatter, CollectiveKind::AllGather};
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (CollectiveKind half : halves) {
    Problem problem = c.problem;
    problem.collective = kindName(half);
    Result<Collective> collective =
        problem.load(fabric, problem.granule(fabric.ranks));
    if (!collective)
      return fail(collective.status());
    RoundBound bound = roundBound(fabric, *collective);
    Result<std::string> text =
        certificateOf(machine, fabric, *collective, bound.roundsPerChunk, bound,
                      StepBound{-1, 0, {}}, {});
    if (!text)
      return emitText(c.certificate, text);
    list.push_back(nlohmann::ordered_json::parse(*text));
  }
  return emit(c.certificate, list.dump(1) + "\n");
}

/// The same machine, whatever it is called.
static bool isSame(Topology a, const Topology &b) {
  a.name = b.name;
  return writeTopology(a) == writeTopology(b);
}

/// The name of a certificate's machine: what the file says of itself is not
/// proved by it, so it is compared with the problem's, if there is one.
static Result<std::string> machineOf(const Problem &problem,
                                     const Topology &topology,
                                     const std::string &file) {
  if (problem.topology.empty() && !problem.without.empty())
    return error("--without: expected a topology (-t), found none");
  if (problem.topology.empty())
    return "a machine that the file calls \"" + topology.name + "\"";
  Result<Topology> loaded = problem.machine();
  if (!loaded)
    return loaded.status();
  if (!isSame(*loaded, topology))
    return error(file + ": expected the nodes, links and edge sets of " +
                 loaded->name + ", found others");
  return loaded->name;
}

static std::string describe(const Collective &collective) {
  std::optional<CollectiveKind> kind = kindOf(collective);
  return kind ? std::string(kindName(*kind))
              : "a custom relation that the file calls \"" + collective.name +
                    "\"";
}

/// "1 cut", "2 cuts"; empty if there are none.
static std::string countOf(int64_t count, const std::string &what) {
  if (count == 0)
    return "";
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

static int checkStepProof(const Problem &problem, const std::string &text,
                          const std::string &file) {
  Result<StepProof> proof = parseStepProof(text, file);
  if (!proof)
    return fail(proof.status());
  Result<std::string> machine = machineOf(problem, proof->topology, file);
  if (!machine)
    return fail(machine.status());
  int64_t lemmas = 0;
  if (std::string wrong = verify(*proof, &lemmas); !wrong.empty())
    return fail(file + ": " + wrong);
  std::string how = countOf(static_cast<int64_t>(proof->cuts.size()), "cut");
  if (!proof->searches.empty())
    how += (how.empty() ? "" : " and ") +
           (lemmas == 0 ? "unit propagation"
                        : countOf(lemmas, "lemma") + " of a search");
  char unit[32];
  std::snprintf(unit, sizeof unit, "%.6g", proof->unitGBps);
  std::cout << file << ": proved: no schedule of "
            << describe(proof->collective) << " on " << *machine;
  // The proof is one about less capacity than the machine has.
  if (!hasWholeUnits(proof->topology, proof->unitGBps))
    std::cout << " with capacities rounded down to whole " << unit << " GB/s";
  std::cout << " moves "
            << countOf(static_cast<int64_t>(proof->collective.chunks.size()),
                       "chunk")
            << " in " << countOf(proof->steps, "step") << " and ";
  if (proof->rounds >= 0)
    std::cout << countOf(proof->rounds, "round");
  else
    std::cout << "fewer than " << proof->least.str() << " rounds";
  std::cout << " of " << unit << " GB/s"
            << (proof->rounds < 0 ? ", nor more chunks in proportion" : "")
            << " (by " << how << ")\n";
  return Done;
}

int emitRateProofs(const ParetoCommand &c, const Topology &machine,
                   const Fabric &fabric, const ParetoResult &result) {
  // More chunks need more rounds in proportion.
  Result<Collective> collective =
      c.problem.loadTimes(fabric, c.problem.granule(fabric.ranks));
  if (!collective)
    return fail(collective.status());
  nlohmann::ordered_json proofs = nlohmann::ordered_json::array();
  for (const ParetoPoint &point : result.points) {
    if (point.proof != Proof::Optimal)
      continue;
    Result<StepProof> proof =
        proveRate(machine, fabric, *collective, point.steps,
                  Limits::seconds(c.timeLimit, &interrupted));
    if (!proof) {
      std::cerr << "ccsynth: note: " << point.steps
                << " steps: no certificate: " << proof.message() << "\n";
      continue;
    }
    proofs.push_back(nlohmann::ordered_json::parse(writeStepProof(*proof)));
  }
  if (proofs.empty())
    printNotes({"--certificate: no point was proved to be optimal: the list of "
                "proofs is empty"});
  return emit(c.certificate, proofs.dump(1) + "\n");
}

int sayWhoProved(const SolveResult &result) {
  for (const char *cut : {"step cut", "step bound", "round bound"})
    if (result.method.starts_with(cut))
      return NoneFound;
  std::cerr << "proved by " << result.method
            << " alone; --certificate writes a proof that ccsynth check "
               "verifies, if it finds one\n";
  return NoneFound;
}

int emitStepProof(const SolveCommand &c, const Topology &machine,
                  const Fabric &fabric, const Collective &collective,
                  const SolveResult &result) {
  Result<StepProof> proof =
      proveNone(machine, fabric, collective, c.steps, c.rounds,
                Limits::seconds(c.timeLimit, &interrupted));
  if (!proof) {
    std::cerr << "proved by " << result.method
              << " alone, no certificate: " << proof.message() << "\n";
    return NoneFound;
  }
  int code = emit(c.certificate, writeStepProof(*proof));
  return code == Done ? NoneFound : code;
}

/// Whether latency alone proves what a certificate claims for its size.
static bool isByLatency(Certificate certificate) {
  certificate.cut.clear();
  certificate.lengths.clear();
  certificate.prices.clear();
  certificate.countsSends = false;
  return certificate.bytes > 0 &&
         certificate.leastUs <= provedUs(certificate) * (1 + 1e-9);
}

/// All digits, of which a double has up to 309.
static std::string fixed(double value, int decimals) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// Each of a list of certificates.
static int checkEach(const Problem &problem, const std::string &text,
                     const std::string &file) {
  nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  if (!list.is_array() || list.empty())
    return fail(file + ": expected a list of certificates, found " +
                (list.is_array() ? "an empty one" : "other text"));
  for (const nlohmann::json &each : list)
    if (int code = checkCertificate(problem, each.dump(1), file))
      return code;
  return Done;
}

int checkCertificate(const Problem &problem, const std::string &text,
                     const std::string &file) {
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '[')
    return checkEach(problem, text, file);
  if (isStepProof(text))
    return checkStepProof(problem, text, file);
  Result<Certificate> certificate = parseCertificate(text, file);
  if (!certificate)
    return fail(certificate.status());
  Result<std::string> machine = machineOf(problem, certificate->topology, file);
  if (!machine)
    return fail(machine.status());
  if (std::string wrong = verify(*certificate); !wrong.empty())
    return fail(file + ": " + wrong);
  std::string time = certificate->bytes > 0
                         ? fixed(certificate->leastUs, 3) + " us for " +
                               fixed(certificate->bytes, 0) + " bytes"
                         : fixed(certificate->leastUsPerGB, 3) + " us for 1 GB";
  std::cout << file << ": proved: no schedule of "
            << describe(certificate->collective) << " on " << *machine
            << " takes less than " << time << " ("
            << (isByLatency(*certificate)       ? "by latency"
                : certificate->countsSends      ? "by its sends"
                : !certificate->prices.empty()  ? "by prices of links"
                : !certificate->lengths.empty() ? "by lengths of links"
                                                : "by a cut")
            << ")";
  if (certificate->steps >= 0)
    std::cout << ", or fewer than " << certificate->steps << " steps";
  std::cout << "\n";
  return Done;
}

static void printJson(const StepBound &steps, const RoundBound &rounds,
                      const Fabric &fabric) {
  nlohmann::ordered_json out;
  out["steps"] = steps.steps;
  for (int h : steps.path)
    out["path"].push_back(fabric.hostName(h));
  out["rounds_per_chunk"] = rounds.roundsPerChunk.str();
  out["cut"] = nlohmann::json::array();
  for (int v : rounds.nodes)
    out["cut"].push_back(fabric.topology.nodes[v].name);
  out["demand"] = rounds.demand;
  out["capacity"] = rounds.capacity;
  out["exact"] = rounds.exact;
  std::cout << out.dump(2) << "\n";
}

int runBound(const Problem &problem, bool json,
             const std::string &certificate) {
  Result<MachineInUnits> loaded = problem.inUnits();
  if (!loaded)
    return fail(loaded.status());
  auto &[machine, fabric] = *loaded;
  // Rounds are per chunk anyway.
  Result<Collective> collective =
      problem.load(fabric, problem.granule(fabric.ranks));
  if (!collective)
    return fail(collective.status());
  StepBound steps = stepBound(fabric, *collective);
  RoundBound rounds = roundBound(fabric, *collective);
  // A certificate on standard output stands there alone.
  bool alone = certificate == "-";
  if (json && !alone)
    printJson(steps, rounds, fabric);
  else if (!alone)
    std::cout << "steps: " << describe(steps, fabric) << "\n"
              << "rounds: " << describe(rounds, fabric) << "\n";
  return certificate.empty()
             ? Done
             : emitCertificate(certificate, machine, fabric, *collective,
                               rounds.roundsPerChunk, rounds, steps, {});
}

} // namespace ccn::synth
