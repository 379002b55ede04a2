//===- CertificateCommand.cpp - Bounds written and verified ---------------===//
//
// The command bound, what --certificate writes, and ccsynth check of it.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/Certificate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace ccn::synth {

/// Whether every link and edge set of the machine carries as much in the
/// fabric, a whole number of units.
static bool isExact(const Fabric &fabric, const Topology &machine) {
  constexpr double rounding = 1e-9;
  auto carries = [&](double units, double gbps) {
    return units * fabric.unitGBps >= gbps * (1 - rounding);
  };
  for (size_t l = 0; l < machine.links.size(); ++l)
    if (!carries(fabric.linkCap[l], machine.links[l].gbps))
      return false;
  return std::all_of(
      machine.edgeSets.begin(), machine.edgeSets.end(),
      [&](const EdgeSet &set) {
        return carries(std::floor(set.gbps / fabric.unitGBps + 1e-6), set.gbps);
      });
}

int emitCertificate(const std::string &path, const Topology &machine,
                    const Fabric &fabric, const Collective &collective,
                    const Fraction &rate, const RoundBound &rounds,
                    const StepBound &steps,
                    const std::vector<int64_t> &lengths) {
  if (rate.den == 0)
    return fail("--certificate: expected ranks that can reach each other");
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
    return fail("the bound is not proved (a bug): " + wrong, Failed);
  return emit(path, writeCertificate(certificate));
}

/// The same machine, whatever it is called.
static bool isSame(Topology a, const Topology &b) {
  a.name = b.name;
  return writeTopology(a) == writeTopology(b);
}

int checkCertificate(const Problem &problem, const std::string &text,
                     const std::string &file) {
  Result<Certificate> certificate = parseCertificate(text, file);
  if (!certificate)
    return fail(certificate.status());
  if (problem.topology.empty() && !problem.without.empty())
    return fail("--without: expected a topology (-t), found none");
  // What the file says of itself is not proved by it.
  std::string machine =
      "a machine that the file calls \"" + certificate->topology.name + "\"";
  if (!problem.topology.empty()) {
    Result<Topology> loaded = problem.machine();
    if (!loaded)
      return fail(loaded.status());
    if (!isSame(*loaded, certificate->topology))
      return fail(file + ": expected the nodes, links and edge sets of " +
                  loaded->name + ", found others");
    machine = loaded->name;
  }
  if (std::string wrong = verify(*certificate); !wrong.empty())
    return fail(file + ": " + wrong);
  char time[64];
  std::snprintf(time, sizeof time, "%.3f us for 1 GB",
                certificate->leastUsPerGB);
  std::optional<CollectiveKind> kind = kindOf(certificate->collective);
  std::cout << file << ": proved: no schedule of "
            << (kind ? std::string(kindName(*kind))
                     : "a custom relation that the file calls \"" +
                           certificate->collective.name + "\"")
            << " on " << machine << " takes less than " << time << " ("
            << (certificate->countsSends       ? "by its sends"
                : certificate->lengths.empty() ? "by a cut"
                                               : "by lengths of links")
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
  Result<Topology> machine = problem.machine();
  if (!machine)
    return fail(machine.status());
  Result<Fabric> fabric = problem.fabricOf(*machine);
  if (!fabric)
    return fail(fabric.status());
  // Rounds are per chunk anyway.
  Result<Collective> collective =
      problem.load(*fabric, problem.granule(fabric->ranks));
  if (!collective)
    return fail(collective.status());
  StepBound steps = stepBound(*fabric, *collective);
  RoundBound rounds = roundBound(*fabric, *collective);
  // A certificate on standard output stands there alone.
  bool alone = certificate == "-";
  if (json && !alone)
    printJson(steps, rounds, *fabric);
  else if (!alone)
    std::cout << "steps: " << describe(steps, *fabric) << "\n"
              << "rounds: " << describe(rounds, *fabric) << "\n";
  return certificate.empty()
             ? Done
             : emitCertificate(certificate, *machine, *fabric, *collective,
                               rounds.roundsPerChunk, rounds, steps, {});
}

} // namespace ccn::synth
