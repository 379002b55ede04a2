//===- Certificate.h - Bounds that others can verify ------------*- C++ -*-===//
//
// A certificate holds a machine, a collective, a claim (no schedule takes less
// than so many microseconds for a buffer of 1 GB, or fewer than so many steps)
// and what proves it. It is verified from the links and the chunks alone,
// without the fabric, the searches, and the bounds that made it.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_CERTIFICATE_H
#define CCN_SYNTH_CERTIFICATE_H

#include "synth/Collective.h"
#include "synth/Topology.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

struct Certificate {
  Topology topology;
  Collective collective;
  /// For a buffer of 1e9 bytes, besides latency; 0: nothing is claimed.
  double leastUsPerGB = 0;
  /// One of these proves it: nodes that chunks must leave; lengths of the links
  /// and then of the edge sets, of which each chunk with one source and one
  /// destination passes at least the distance; prices of the links, of which
  /// each chunk of an all_reduce costs at least twice a spanning tree; or the
  /// number of sends that a sum needs.
  std::vector<int> cut;
  std::vector<int64_t> lengths, prices;
  bool countsSends = false;
  /// For a buffer of `bytes`, if there are any, with latency: the longer of
  /// that from one rank to another, and of the time that the proof shows plus
  /// the least latency of a send.
  double bytes = 0, leastUs = 0;
  int latencyFrom = 0, latencyTo = 0;
  /// A rank that needs data of another, and the least number of steps between
  /// them; -1: nothing is claimed.
  int from = 0, to = 0, steps = -1;
};

/// Whether the text of a file is a certificate, or a list, as only certificates
/// come in.
bool isCertificate(std::string_view text);

std::string writeCertificate(const Certificate &certificate);
Result<Certificate> parseCertificate(std::string_view text,
                                     std::string_view where);

/// The kind of collective that a relation is, if it has the name of a kind and
/// the chunks that this kind has.
std::optional<CollectiveKind> kindOf(const Collective &collective);

/// Empty if the proof shows the claims; else what is wrong.
std::string verify(const Certificate &certificate);

/// The microseconds that the cut, lengths, prices or sends prove for 1e9 bytes:
/// what a right claim is.
double provedUsPerGB(const Certificate &certificate);

/// The same for `bytes`, with latency.
double provedUs(const Certificate &certificate);

} // namespace ccn::synth

#endif // CCN_SYNTH_CERTIFICATE_H
