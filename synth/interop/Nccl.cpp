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

/// How NCCL calls the longest way between neighbours of a machine: over
/// NVLinks, one PCIe switch, or several. Switches whose names begin with "nv"
/// are NVSwitches.
const char *typeOf(const Rings &rings, const Fabric &fabric) {
  const Topology &t = fabric.topology;
  size_t longest = 0;
  for (const std::vector<int> &edges : rings.edges)
    for (int e : edges) {
      const std::vector<int> &path = fabric.edges[e].path;
      size_t pcie = 0;
      bool isBetween = false;
      for (size_t l = 0; l + 1 < path.size(); ++l) {
        const Node &passed = t.nodes[t.links[path[l]].dst];
        isBetween |= passed.kind == NodeKind::Nic;
        pcie += !passed.name.starts_with("nv");
      }
      longest = std::max(longest, isBetween ? 0 : pcie);
    }
  return longest == 0 ? "NVL" : longest == 1 ? "PIX" : "PXB";
}

/// What a channel is in one machine: its GPUs in order, and the NICs by which
/// the ring comes and goes, if it does.
struct LocalChannel {
  std::vector<int> gpus;
  int nicIn = -1, nicOut = -1;
  bool operator==(const LocalChannel &) const = default;
};

class LocalChannels {
public:
  LocalChannels(const Rings &rings, const Fabric &fabric, int machine)
      : fabric(fabric), t(fabric.topology) {
    for (size_t r = 0; r < rings.rings.size(); ++r)
      channels.push_back(
          rings.machines.empty()
              ? LocalChannel{rings.rings[r]}
              : cut(rings.rings[r], rings.edges[r], rings.machines[machine]));
  }
  std::vector<LocalChannel> channels;

private:
  static int placeIn(const std::vector<int> &list, int value) {
    return static_cast<int>(std::find(list.begin(), list.end(), value) -
                            list.begin());
  }
  /// The NICs on the way of an edge, in order of travel.
  std::vector<int> nicsOn(int edge) const {
    std::vector<int> nics;
    for (int link : fabric.edges[edge].path)
      if (t.nodes[t.links[link].dst].kind == NodeKind::Nic)
        nics.push_back(t.links[link].dst);
    return nics;
  }
  LocalChannel cut(std::vector<int> ring, std::vector<int> edges,
                   const RingMachine &machine) const {
    auto isHere = [&](int rank) {
      return std::find(machine.ranks.begin(), machine.ranks.end(), rank) !=
             machine.ranks.end();
    };
    // The machine's GPUs follow each other: turned, they come first.
    while (!isHere(ring.front()) || isHere(ring.back())) {
      std::rotate(ring.begin(), ring.begin() + 1, ring.end());
      std::rotate(edges.begin(), edges.begin() + 1, edges.end());
    }
    LocalChannel channel;
    size_t count = machine.ranks.size();
    channel.nicIn = placeIn(machine.nics, nicsOn(edges.back()).back());
    channel.nicOut = placeIn(machine.nics, nicsOn(edges[count - 1]).front());
    for (size_t i = 0; i < count; ++i)
      channel.gpus.push_back(placeIn(machine.ranks, ring[i]));
    return channel;
  }

  const Fabric &fabric;
  const Topology &t;
};

std::string graphOf(int id, int pattern, const NcclChannels &channels,
                    const std::vector<LocalChannel> &local,
                    const Fabric &fabric) {
  bool same = std::equal(local.begin() + 1, local.end(), local.begin());
  bool crosses =
      std::any_of(local.begin(), local.end(), [](const LocalChannel &channel) {
        return channel.nicIn != channel.nicOut;
      });
  char head[300];
  double speed = channels.rings.units * fabric.unitGBps / channels.copies;
  std::snprintf(head, sizeof head,
                "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"%d\" "
                "nchannels=\"%zu\" speedintra=\"%.6g\" speedinter=\"%.6g\" "
                "latencyinter=\"0\" typeintra=\"%s\" typeinter=\"PIX\" "
                "samechannels=\"%d\">\n",
                id, pattern, crosses ? 1 : 0, local.size() * channels.copies,
                speed, speed, typeOf(channels.rings, fabric), same ? 1 : 0);
  std::string text = head;
  // Newer versions of NCCL take a number for hexadecimal, older ones if it says
  // so.
  auto add = [&](const char *what, int dev) {
    char line[64];
    std::snprintf(line, sizeof line, "      <%s dev=\"0x%x\"/>\n", what, dev);
    text += line;
  };
  for (int copy = 0; copy < channels.copies; ++copy)
    for (const LocalChannel &channel : local) {
      text += "    <channel>\n";
      if (channel.nicIn >= 0)
        add("net", channel.nicIn);
      for (int gpu : channel.gpus)
        add("gpu", gpu);
      if (channel.nicOut >= 0)
        add("net", channel.nicOut);
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
                                        const Fabric &fabric, int machine) {
  constexpr int tree = 3, ring = 4;
  LocalChannels local(channels.rings, fabric, machine);
  return "<graphs version=\"1\">\n" +
         graphOf(0, ring, channels, local.channels, fabric) +
         graphOf(1, tree, channels, local.channels, fabric) + "</graphs>\n";
}

Result<std::string> ccn::synth::writeNcclTuner(const NcclChannels &channels,
                                               const Fabric &fabric) {
  constexpr double noLonger = 1.1, faster = 0.98;
  const Rings &rings = channels.rings;
  if (!rings.machines.empty())
    return error("--tuner: expected one machine, found " +
                 std::to_string(rings.machines.size()) +
                 ", between which NCCL's trees are not modelled");
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
    uint64_t from = 0;
    auto end = [&](uint64_t to) {
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
        end(static_cast<uint64_t>(bytes) - 1);
        if (known.empty())
          from = 0;
        known = choice;
      }
    }
    // Without a row for a size the plugin chooses one channel.
    end(UINT64_MAX);
  }
  return text;
}
