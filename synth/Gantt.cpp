//===- Gantt.cpp - Links over time, as a drawing --------------------------===//
//
// See Gantt.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Gantt.h"
#include "synth/Bound.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;

namespace {

constexpr double left = 150, top = 56, width = 900, rowHeight = 14;
/// A page holds no more rows than these, and readers cannot tell more sends
/// apart.
constexpr size_t maxRows = 80, maxBoxes = 6000;

class Chart {
public:
  Chart(const Schedule &schedule, const Fabric &fabric, double bytes)
      : schedule(schedule), fabric(fabric), t(fabric.topology),
        chunkBytes(bytes / schedule.collective.bufferChunks),
        onLink(schedule.steps.size(),
               std::vector<std::vector<int>>(t.links.size())),
        busy(t.links.size()), inCut(t.links.size()) {}

  std::string collect();
  std::string draw(double bytes) const;

private:
  double cost(size_t link) const {
    return chunkBytes / (t.links[link].gbps * 1000);
  }
  void markCut();
  void timeSteps();
  void drawRow(std::ostringstream &out, size_t link, double y,
               bool boxes) const;
  double x(double us) const { return left + width * us / total; }
  std::string linkName(size_t link) const {
    return t.nodes[t.links[link].src].name + "->" +
           t.nodes[t.links[link].dst].name;
  }

  const Schedule &schedule;
  const Fabric &fabric;
  const Topology &t;
  double chunkBytes;
  /// By step and link, the chunks that pass.
  std::vector<std::vector<std::vector<int>>> onLink;
  std::vector<double> busy, start;
  std::vector<char> inCut;
  std::string bound;
  double total = 0;
};

} // namespace

/// The text with the characters escaped that XML reserves.
static std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

std::string Chart::collect() {
  for (size_t i = 0; i < schedule.steps.size(); ++i)
    for (const Send &send : schedule.steps[i].sends) {
      int edge = send.edge;
      for (int e : fabric.out[send.src])
        if (edge < 0 && fabric.edges[e].dst == send.dst)
          edge = e;
      if (edge < 0)
        return "step " + std::to_string(i + 1) +
               ": the topology has no link from rank " +
               std::to_string(send.src) + " to rank " +
               std::to_string(send.dst);
      for (int l : fabric.edges[edge].path) {
        onLink[i][l].push_back(send.chunk);
        busy[l] += cost(l);
      }
    }
  timeSteps();
  markCut();
  return "";
}

/// Every step lasts its longest latency and its busiest link or edge set.
void Chart::timeSteps() {
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    double longest = 0, latency = 0;
    for (size_t l = 0; l < t.links.size(); ++l)
      longest =
          std::max(longest, static_cast<double>(onLink[i][l].size()) * cost(l));
    for (const EdgeSet &set : t.edgeSets) {
      double chunks = 0;
      for (int l : set.links)
        chunks += static_cast<double>(onLink[i][l].size());
      longest = std::max(longest, chunks * chunkBytes / (set.gbps * 1000));
    }
    for (const Send &send : schedule.steps[i].sends)
      if (send.edge >= 0)
        latency = std::max(latency, fabric.edges[send.edge].us);
    start.push_back(total);
    total += longest + latency;
  }
  start.push_back(total);
}

void Chart::markCut() {
  RoundBound cut = roundBound(fabric, schedule.collective);
  if (cut.roundsPerChunk.num == 0 || cut.nodes.empty())
    return;
  std::vector<char> in(t.nodes.size());
  for (int v : cut.nodes)
    in[v] = 1;
  for (size_t l = 0; l < t.links.size(); ++l)
    inCut[l] = in[t.links[l].src] && !in[t.links[l].dst];
  double us = cut.roundsPerChunk.value() * schedule.collective.chunksPerNode *
              chunkBytes / (fabric.unitGBps * 1000);
  char text[96];
  std::snprintf(text, sizeof text,
                "the cut (red) needs %.3f us, %.1f %% of what the steps take",
                us, total > 0 ? 100 * us / total : 100.0);
  bound = text;
}

void Chart::drawRow(std::ostringstream &out, size_t link, double y,
                    bool boxes) const {
  const char *color = inCut[link] ? "#d62728" : "#1f77b4";
  out << "<text x=\"" << left - 6 << "\" y=\"" << y + rowHeight - 4
      << "\" text-anchor=\"end\"" << (inCut[link] ? " fill=\"#d62728\"" : "")
      << ">" << escaped(linkName(link)) << "</text>\n";
  double each = cost(link) * width / total;
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const std::vector<int> &chunks = onLink[i][link];
    auto box = [&](double from, double wide, const std::string &title) {
      out << "<rect x=\"" << from << "\" y=\"" << y + 1 << "\" width=\"" << wide
          << "\" height=\"" << rowHeight - 2 << "\" fill=\"" << color
          << "\" fill-opacity=\"0.7\" stroke=\"white\" stroke-width=\"0.4\">"
          << "<title>" << title << "</title></rect>\n";
    };
    std::string at = "step " + std::to_string(i + 1);
    if (!boxes && !chunks.empty())
      box(x(start[i]), each * static_cast<double>(chunks.size()),
          at + ": " + std::to_string(chunks.size()) + " chunks");
    for (size_t k = 0; boxes && k < chunks.size(); ++k)
      box(x(start[i]) + each * static_cast<double>(k), each,
          at + ": chunk " + std::to_string(chunks[k]));
  }
}

std::string Chart::draw(double bytes) const {
  std::vector<size_t> rows;
  for (size_t l = 0; l < t.links.size(); ++l)
    if (busy[l] > 0 || inCut[l])
      rows.push_back(l);
  std::stable_sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
    if (inCut[a] != inCut[b])
      return inCut[a] > inCut[b];
    return busy[a] > busy[b] + 1e-9;
  });
  size_t all = rows.size();
  rows.resize(std::min(rows.size(), maxRows));
  size_t boxes = 0;
  for (size_t l : rows)
    for (const auto &step : onLink)
      boxes += step[l].size();
  double bottom = top + rowHeight * static_cast<double>(rows.size());
  std::ostringstream out;
  out.precision(6);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
      << left + width + 30 << "\" height=\"" << bottom + 40
      << "\" font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\""
      << left + width + 30 << "\" height=\"" << bottom + 40
      << "\" fill=\"white\"/>\n<text x=\"" << left
      << "\" y=\"16\" font-size=\"13\">"
      << escaped(schedule.collective.name + " on " + t.name) << ", " << bytes
      << " bytes: " << schedule.steps.size() << " steps, " << total
      << " us</text>\n<text x=\"" << left << "\" y=\"32\">"
      << (bound.empty() ? "no cut bounds it" : bound);
  if (all > rows.size())
    out << "; " << rows.size() << " of " << all << " links";
  out << "</text>\n";
  for (size_t i = 0; i < start.size(); ++i)
    out << "<line x1=\"" << x(start[i]) << "\" y1=\"" << top - 4 << "\" x2=\""
        << x(start[i]) << "\" y2=\"" << bottom << "\" stroke=\"#bbb\"/>\n";
  for (size_t i = 0; i < schedule.steps.size(); ++i)
    if ((start[i + 1] - start[i]) / total * width > 18)
      out << "<text x=\"" << x((start[i] + start[i + 1]) / 2) << "\" y=\""
          << top - 8 << "\" text-anchor=\"middle\">" << i + 1 << "</text>\n";
  for (size_t i = 0; i < rows.size(); ++i)
    drawRow(out, rows[i], top + rowHeight * static_cast<double>(i),
            boxes <= maxBoxes);
  for (int i = 0; i <= 4; ++i)
    out << "<text x=\"" << left + width * i / 4 << "\" y=\"" << bottom + 16
        << "\" text-anchor=\"middle\">" << total * i / 4 << " us</text>\n";
  out << "</svg>\n";
  return out.str();
}

Result<std::string> ccn::synth::ganttSvg(const Schedule &schedule,
                                         const Fabric &fabric, double bytes) {
  if (fabric.hosts < schedule.hosts)
    return error("expected a topology with " + std::to_string(schedule.hosts) +
                 " hosts, found " + std::to_string(fabric.hosts));
  Chart chart(schedule, fabric, bytes);
  if (std::string wrong = chart.collect(); !wrong.empty())
    return error(wrong);
  if (schedule.steps.empty())
    return error("there is no step to draw");
  return chart.draw(bytes);
}
