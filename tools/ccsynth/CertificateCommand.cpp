//===- CertificateCommand.cpp - Bounds written and verified ---------------===//
//
// What --certificate writes, and ccsynth check of it.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "synth/Certificate.h"

#include <cstdio>
#include <iostream>

namespace ccn::synth {

/// Whether every link carries a whole number of units.
static bool isExact(const Fabric &fabric) {
  constexpr double rounding = 1e-9;
  const std::vector<Link> &links = fabric.topology.links;
  for (size_t l = 0; l < links.size(); ++l)
    if (fabric.linkCap[l] * fabric.unitGBps < links[l].gbps * (1 - rounding))
      return false;
  return true;
}

int emitCertificate(const std::string &path, const Fabric &fabric,
                    const Collective &collective, const Fraction &rate,
                    const RoundBound &rounds, const StepBound &steps,
                    const std::vector<int64_t> &lengths) {
  Certificate certificate;
  certificate.topology = fabric.topology;
  certificate.collective = collective;
  certificate.cut = rounds.nodes;
  certificate.countsSends = rounds.byCount;
  certificate.lengths = lengths;
  // In rounds a chunk, of a buffer of 1e9 bytes; 1 GB/s is 1000 bytes a
  // microsecond.
  certificate.leastUsPerGB = isExact(fabric)
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

int checkCertificate(const std::string &text, const std::string &file) {
  Result<Certificate> certificate = parseCertificate(text, file);
  if (!certificate)
    return fail(certificate.status());
  if (std::string wrong = verify(*certificate); !wrong.empty())
    return fail(file + ": " + wrong);
  char time[64];
  std::snprintf(time, sizeof time, "%.3f us for 1 GB",
                certificate->leastUsPerGB);
  std::cout << file << ": proved: no schedule of "
            << certificate->collective.name << " on "
            << certificate->topology.name << " takes less than " << time << " ("
            << (certificate->countsSends       ? "by its sends"
                : certificate->lengths.empty() ? "by a cut"
                                               : "by lengths of links")
            << ")";
  if (certificate->steps >= 0)
    std::cout << ", or fewer than " << certificate->steps << " steps";
  std::cout << "\n";
  return Done;
}

} // namespace ccn::synth
