//===- Nccl.cpp - Files that NCCL reads -----------------------------------===//
//
// See Nccl.h.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/Nccl.h"
#include "synth/Compose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// How NCCL calls the longest way between neighbours: over NVLinks, one PCIe
/// switch, or several.
const char *typeOf(const Rings &rings, const Fabric &fabric) {
  const Topology &t = fabric.topology;
  size_t longest = 0;
  for (const std::vector<int> &ring : rings.rings)
    for (size_t i = 0; i < ring.size(); ++i)
      for (int e : fabric.out[ring[i]]) {
        const FabricEdge &edge = fabric.edges[e];
        if (edge.dst != ring[(i + 1) % ring.size()])
          continue;
        size_t pcie = 0;
        for (size_t l = 0; l + 1 < edge.path.size(); ++l)
          pcie += !t.nodes[t.links[edge.path[l]].dst].name.starts_with("nv");
        longest = std::max(longest, pcie);
        break;
      }
  return longest == 0 ? "NVL" : longest == 1 ? "PIX" : "PXB";
}

std::string graphOf(int id, int pattern, const NcclChannels &channels,
                    const Fabric &fabric) {
  const Rings &rings = channels.rings;
  bool same = std::all_of(
      rings.rings.begin(), rings.rings.end(),
      [&](const std::vector<int> &ring) { return ring == rings.rings[0]; });
  char head[300];
  double speed = rings.units * fabric.unitGBps / channels.copies;
  std::snprintf(head, sizeof head,
                "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"0\" "
                "nchannels=\"%zu\" speedintra=\"%.6g\" speedinter=\"%.6g\" "
                "latencyinter=\"0\" typeintra=\"%s\" typeinter=\"PIX\" "
                "samechannels=\"%d\">\n",
                id, pattern, rings.rings.size() * channels.copies, speed, speed,
                typeOf(rings, fabric), same ? 1 : 0);
  std::string text = head;
  for (int copy = 0; copy < channels.copies; ++copy)
    for (const std::vector<int> &ring : rings.rings) {
      text += "    <channel>\n";
      for (int rank : ring)
        text += "      <gpu dev=\"" + std::to_string(rank) + "\"/>\n";
      text += "    </channel>\n";
    }
  return text + "  </graph>\n";
}

/// A schedule in several numbers of pieces, of which the best counts.
class Candidate {
public:
  explicit Candidate(const Fabric &fabric) : fabric(fabric) {}

  std::string add(Result<Schedule> schedule) {
    if (!schedule)
      return schedule.message();
    schedule->topology = fabric.topology.name;
    schedule->hosts = fabric.hosts;
    if (std::string wrong = placeOn(*schedule, fabric, true); !wrong.empty())
      return wrong;
    if (std::string wrong = check(*schedule, &fabric); !wrong.empty())
      return wrong + " (a bug)";
    schedules.push_back(*std::move(schedule));
    return "";
  }
  double us(double bytes) const {
    constexpr double minPiece = 4096;
    double least = -1;
    for (const Schedule &schedule : schedules) {
      // Smaller pieces cost more than they gain.
      if (&schedule != &schedules[0] &&
          bytes < minPiece * schedule.collective.bufferChunks)
        continue;
      Result<Timing> timing = simulate(schedule, fabric, bytes);
      if (timing && (least < 0 || timing->us() < least))
        least = timing->us();
    }
    return least;
  }

private:
  const Fabric &fabric;
  std::vector<Schedule> schedules;
};

/// What NCCL calls the collectives.
constexpr std::pair<CollectiveKind, const char *> collectives[] = {
    {CollectiveKind::AllReduce, "allreduce"},
    {CollectiveKind::AllGather, "allgather"},
    {CollectiveKind::ReduceScatter, "reducescatter"},
    {CollectiveKind::Broadcast, "broadcast"},
    {CollectiveKind::Reduce, "reduce"}};

} // namespace

NcclChannels ccn::synth::channelsOf(const Rings &rings, const Fabric &fabric,
                                    int most) {
  constexpr double channelGBps = 25;
  double wanted = std::ceil(rings.units * fabric.unitGBps / channelGBps);
  int allowed = most / static_cast<int>(rings.rings.size());
  return {rings, std::max(1, static_cast<int>(std::min(
                                 wanted, static_cast<double>(allowed))))};
}

std::string ccn::synth::writeNcclGraphs(const NcclChannels &channels,
                                        const Fabric &fabric) {
  constexpr int tree = 3, ring = 4;
  return "<graphs version=\"1\">\n" + graphOf(0, ring, channels, fabric) +
         graphOf(1, tree, channels, fabric) + "</graphs>\n";
}

Result<std::string> ccn::synth::writeNcclTuner(const NcclChannels &channels,
                                               const Fabric &fabric) {
  constexpr double noLonger = 1.1, faster = 0.98;
  const Rings &rings = channels.rings;
  constexpr int64_t first = 1 << 10, last = int64_t(1) << 30;
  std::string text = "# collective_type,min_bytes,max_bytes,algorithm,protocol,"
                     "channels,nNodes,nRanks,numPipeOps,regBuff\n# predicted "
                     "for " +
                     fabric.topology.name + "\n";
  for (auto [kind, name] : collectives) {
    Candidate ring(fabric), tree(fabric);
    bool isRooted =
        kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce;
    for (int pieces : {1, 4, 16, 64}) {
      if (pieces == 1 || isRooted)
        if (std::string wrong = ring.add(ringsSchedule(rings, kind, pieces));
            !wrong.empty())
          return error(wrong);
      if (kind == CollectiveKind::AllReduce)
        if (std::string wrong = tree.add(chainsSchedule(rings, pieces));
            !wrong.empty())
          return error(wrong);
    }
    std::string known;
    int64_t from = 0;
    auto end = [&](int64_t to) {
      if (!known.empty())
        text += std::string(name) + "," + std::to_string(from) + "," +
                std::to_string(to) + "," + known + "," +
                std::to_string(rings.rings.size() * channels.copies) + ",1," +
                std::to_string(fabric.ranks) + ",-1,-1\n";
      from = to + 1;
    };
    for (int64_t bytes = first; bytes <= last; bytes *= 2) {
      auto size = static_cast<double>(bytes);
      double byRing = ring.us(size), byTree = tree.us(size);
      const Candidate &best =
          byTree >= 0 && byTree < faster * byRing ? tree : ring;
      std::string choice = &best == &tree ? "tree," : "ring,";
      choice += best.us(2 * size) <= noLonger * best.us(size) ? "ll" : "simple";
      if (choice != known) {
        end(bytes - 1);
        if (known.empty())
          from = 0;
        known = choice;
      }
    }
    end(4 * last);
  }
  return text;
}
