//===- NvidiaSmi.cpp - Topologies from nvidia-smi topo -m -----------------===//
//
// The matrix tells for each pair of devices the number of NVLinks, or what the
// way over PCIe passes. Devices that share a bridge (PIX) or several (PXB) are
// put under a switch; what passes a host bridge (PHB, NODE) meets at the root
// of the NUMA node, and SYS goes from root to root. NVLinks hide the way over
// PCIe, which is then guessed from the CPU affinities where no cell says
// otherwise.
//
//===----------------------------------------------------------------------===//

#include "synth/interop/TopologyImport.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;

namespace {

/// No GPU has more NVLinks than this. A matrix shows more only if the GPUs are
/// joined by an NVSwitch.
constexpr int maxNvlinks = 18;

enum Level { Pix, Pxb, Phb, Numa, Sys, Unknown };

constexpr const char *levelNames[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

struct Device {
  std::string name, affinity;
  bool gpu = false;
  int line = 0;
};

struct Cell {
  int nvlinks = 0;
  Level level = Unknown;
  std::string text;
};

class Reader {
public:
  Reader(std::string_view text, std::string_view where,
         const ImportOptions &options)
      : text(text), where(where), options(options) {}
  Result<Topology> run();

private:
  Status error(int line, const std::string &message) const {
    return Status::failure(std::string(where) + ":" + std::to_string(line) +
                           ": " + message);
  }
  static std::vector<std::string> words(const std::string &line);
  static std::optional<Cell> parseCell(const std::string &word);
  Status readMatrix();
  Status group();
  std::vector<int> closure(Level level) const;
  void joinByAffinity(std::vector<int> &group) const;
  void addNvlinks(Topology &t);
  void addPcie(Topology &t);

  std::string_view text, where;
  ImportOptions options;
  std::vector<Device> devices;
  std::vector<std::vector<Cell>> cells;
  /// For each device the first one of its group, by level.
  std::vector<std::vector<int>> groups;
};

/// The length of a terminal's escape at `begin`: "[4m" after an escape
/// character, what logs show for it, or, where it got lost, nothing. 0: none.
static size_t escapeAt(std::string_view line, size_t begin) {
  std::string_view rest = line.substr(begin);
  size_t at = 0;
  for (std::string_view escape :
       {"\x1b", "^[", "\\033", "\\e", "\\x1b", "\\x1B", "\\u001b"})
    if (rest.starts_with(escape))
      at = escape.size();
  if (at == rest.size() || rest[at] != '[')
    return rest.starts_with("\x1b") ? 1 : 0;
  size_t end = rest.find_first_not_of("0123456789;", at + 1);
  if (end == std::string_view::npos || (rest[end] != 'm' && rest[end] != 'K'))
    return 0;
  return end + 1;
}

/// The words of a line, without the escapes of a terminal.
std::vector<std::string> Reader::words(const std::string &line) {
  std::string plain;
  for (size_t i = 0; i < line.size();) {
    size_t length = escapeAt(line, i);
    if (length == 0)
      plain += line[i++];
    i += length;
  }
  std::istringstream in(plain);
  std::vector<std::string> result;
  for (std::string word; in >> word;)
    result.push_back(word);
  return result;
}

std::optional<Cell> Reader::parseCell(const std::string &word) {
  Cell cell;
  cell.text = word;
  for (int l = Pix; l <= Sys; ++l)
    if (word == levelNames[l]) {
      cell.level = static_cast<Level>(l);
      return cell;
    }
  // Older drivers say SOC for SYS.
  if (word == "SOC") {
    cell.level = Sys;
    return cell;
  }
  if (word.starts_with("NV")) {
    auto [end, ec] = std::from_chars(word.data() + 2, word.data() + word.size(),
                                     cell.nvlinks);
    if (ec == std::errc() && end == word.data() + word.size() &&
        cell.nvlinks > 0 && cell.nvlinks <= 1024)
      return cell;
  }
  return std::nullopt;
}

static bool isGpu(const std::string &word) {
  return word.size() > 3 && word.starts_with("GPU") &&
         word.find_first_not_of("0123456789", 3) == std::string::npos;
}

Status Reader::readMatrix() {
  std::istringstream in{std::string(text)};
  int number = 0;
  std::map<std::string, int> index;
  std::string line;
  while (std::getline(in, line)) {
    ++number;
    std::vector<std::string> list = words(line);
    if (devices.empty()) {
      // The header names the devices, then "CPU Affinity" and more.
      if (list.empty() || !isGpu(list[0]) ||
          (list.size() > 1 && list[1] == "X"))
        continue;
      for (const std::string &word : list) {
        if (word == "CPU" || word == "NUMA" || word == "GPU")
          break;
        if (word == "X" || parseCell(word))
          return error(number, "expected the header, whose words name the "
                               "devices, before the row of " +
                                   list[0]);
        if (!index.emplace(word, static_cast<int>(devices.size())).second)
          return error(number, "expected distinct devices, found \"" + word +
                                   "\" twice");
        devices.push_back({word, "", isGpu(word), 0});
      }
      cells.assign(devices.size(), std::vector<Cell>(devices.size()));
      continue;
    }
    auto it = list.empty() ? index.end() : index.find(list[0]);
    if (it == index.end())
      continue;
    Device &device = devices[it->second];
    if (device.line)
      return error(number,
                   "expected one row for " + device.name + ", found a second");
    if (list.size() < devices.size() + 1)
      return error(
          number, device.name + ": expected " + std::to_string(devices.size()) +
                      " entries, found " + std::to_string(list.size() - 1));
    device.line = number;
    for (size_t k = 0; k < devices.size(); ++k) {
      const std::string &word = list[k + 1];
      bool self = static_cast<int>(k) == it->second;
      std::optional<Cell> cell = parseCell(word);
      if (self ? word != "X" : !cell)
        return error(number,
                     device.name + " and " + devices[k].name + ": expected " +
                         (self ? "X" : "NV#, PIX, PXB, PHB, NODE or SYS") +
                         ", found \"" + word + "\"");
      if (!self)
        cells[it->second][k] = *cell;
    }
    if (list.size() > devices.size() + 1)
      device.affinity = list[devices.size() + 1];
  }
  if (devices.empty())
    return error(1, "expected the matrix of nvidia-smi topo -m, whose header "
                    "begins with GPU0, found none");
  for (const Device &device : devices)
    if (!device.line)
      return error(number,
                   "expected a row for " + device.name + ", found none");
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (cells[i][j].text != cells[j][i].text)
        return error(devices[i].line,
                     devices[i].name + " and " + devices[j].name +
                         ": expected \"" + cells[j][i].text +
                         "\" as the other way round, found \"" +
                         cells[i][j].text + "\"");
  return Status();
}

/// Groups of devices that have a way between them of at most `level`.
std::vector<int> Reader::closure(Level level) const {
  std::vector<int> parent(devices.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int x) {
    while (parent[x] != x)
      x = parent[x];
    return x;
  };
  auto join = [&](size_t i, size_t j) {
    int a = find(static_cast<int>(i)), b = find(static_cast<int>(j));
    parent[std::max(a, b)] = std::min(a, b);
  };
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (cells[i][j].level <= level)
        join(i, j);
  std::vector<int> result;
  for (size_t i = 0; i < devices.size(); ++i)
    result.push_back(find(static_cast<int>(i)));
  if (level == Numa)
    joinByAffinity(result);
  return result;
}

/// GPUs of the same cores share a root, unless a way between the groups that
/// are then one is shown to go from root to root.
void Reader::joinByAffinity(std::vector<int> &group) const {
  auto apart = [&](int a, int b) {
    for (size_t i = 0; i < devices.size(); ++i)
      for (size_t j = 0; j < devices.size(); ++j)
        if (group[i] == a && group[j] == b && cells[i][j].level == Sys)
          return true;
    return false;
  };
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      int a = std::min(group[i], group[j]), b = std::max(group[i], group[j]);
      if (a != b && cells[i][j].level == Unknown &&
          devices[i].affinity == devices[j].affinity && !apart(a, b))
        std::replace(group.begin(), group.end(), b, a);
    }
}

Status Reader::group() {
  for (int l = Pix; l <= Numa; ++l)
    groups.push_back(closure(static_cast<Level>(l)));
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      Level level = cells[i][j].level;
      if (level == Unknown)
        continue;
      for (int l = Pix; l < level && l <= Numa; ++l)
        if (groups[l][i] == groups[l][j])
          return error(devices[i].line,
                       devices[i].name + " and " + devices[j].name +
                           ": expected at most " + levelNames[l] +
                           ", as their ways to other devices say, found " +
                           levelNames[level]);
    }
  return Status();
}

void Reader::addNvlinks(Topology &t) {
  double perLink = options.nvlinkGBps > 0 ? options.nvlinkGBps : 25;
  int switches = 0;
  std::vector<char> done(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) {
    int total = 0, one = 0;
    for (const Cell &cell : cells[i]) {
      total += cell.nvlinks;
      one = std::max(one, cell.nvlinks);
    }
    if (done[i] || total <= maxNvlinks)
      continue;
    // More links than a GPU has: all of them lead to a switch.
    int sw =
        t.addNode("nvswitch" + std::to_string(switches++), NodeKind::Switch);
    for (size_t j = 0; j < devices.size(); ++j)
      if (j == i || cells[i][j].nvlinks > 0) {
        t.addDuplex(static_cast<int>(j), sw, perLink * one, nvswitchUs);
        done[j] = 1;
      }
  }
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (cells[i][j].nvlinks > 0 && !(done[i] && done[j]))
        t.addDuplex(static_cast<int>(j), static_cast<int>(i),
                    perLink * cells[i][j].nvlinks, nvlinkUs);
}

void Reader::addPcie(Topology &t) {
  int most = 0;
  for (const std::vector<Cell> &row : cells)
    for (const Cell &cell : row)
      most = std::max(most, cell.nvlinks);
  // The generation that came with as many NVLinks; 4 where there are none.
  double pcie = options.pcieGBps > 0 ? options.pcieGBps
                : most > 12          ? 48
                : most > 6           ? 24
                : most > 0           ? 12
                                     : 24;
  double nic = options.nicGBps > 0 ? options.nicGBps : pcie / 12 * 12.5;
  std::map<int, int> roots;
  std::map<std::pair<int, int>, int> bridges;
  auto groupSize = [&](Level level, int device) {
    return std::count(groups[level].begin(), groups[level].end(),
                      groups[level][device]);
  };
  auto rootOf = [&](int device) {
    auto [it, isNew] = roots.emplace(groups[Numa][device], 0);
    if (isNew)
      it->second = t.addNode("root" + std::to_string(roots.size() - 1),
                             NodeKind::Switch);
    return it->second;
  };
  // The switch of a device's group at a level, linked with what is above.
  auto bridgeOf = [&](Level level, int device, int above) {
    auto [it, isNew] =
        bridges.emplace(std::pair(level, groups[level][device]), 0);
    if (isNew) {
      it->second = t.addNode("pcie" + std::to_string(bridges.size() - 1),
                             NodeKind::Switch);
      t.addDuplex(it->second, above, pcie, pcieUs);
    }
    return it->second;
  };
  for (size_t d = 0; d < devices.size(); ++d) {
    int device = static_cast<int>(d), above = rootOf(device);
    auto pix = groupSize(Pix, device), pxb = groupSize(Pxb, device);
    if (pxb > pix)
      above = bridgeOf(Pxb, device, above);
    if (pix > 1)
      above = bridgeOf(Pix, device, above);
    t.addDuplex(device, above, devices[d].gpu ? pcie : std::min(pcie, nic),
                devices[d].gpu ? pcieUs : 0.5);
  }
  // What the sockets have between them, and each with its memory.
  double smp = options.smpGBps > 0 ? options.smpGBps : 10;
  int k = 0;
  for (auto [first, root] : roots) {
    addCpu(t, root, "cpu" + std::to_string(k++));
  }
  for (auto a = roots.begin(); a != roots.end(); ++a)
    for (auto b = std::next(a); b != roots.end(); ++b)
      t.addDuplex(a->second, b->second, smp, pcieUs);
}

Result<Topology> Reader::run() {
  Status problem = readMatrix();
  if (problem)
    problem = group();
  if (!problem)
    return problem;
  Topology t;
  t.name = where;
  for (const Device &device : devices) {
    std::string name = device.name;
    if (device.gpu)
      name = "gpu" + name.substr(3);
    t.addNode(name, device.gpu ? NodeKind::Gpu : NodeKind::Nic);
  }
  addNvlinks(t);
  if (!options.nvlinkOnly) {
    addPcie(t);
  } else {
    // Without PCIe nothing leads to the NICs.
    std::vector<Node> kept;
    std::vector<int> moved(t.nodes.size(), -1);
    for (size_t n = 0; n < t.nodes.size(); ++n)
      if (t.nodes[n].kind != NodeKind::Nic) {
        moved[n] = static_cast<int>(kept.size());
        kept.push_back(t.nodes[n]);
      }
    for (Link &link : t.links) {
      link.src = moved[link.src];
      link.dst = moved[link.dst];
    }
    t.nodes = std::move(kept);
  }
  std::string wrong = validate(t);
  if (!wrong.empty())
    return ccn::error(where, ": ", wrong);
  return t;
}

} // namespace

Result<Topology> ccn::synth::parseNvidiaSmi(std::string_view text,
                                            std::string_view where,
                                            const ImportOptions &options) {
  return Reader(text, where, options).run();
}
