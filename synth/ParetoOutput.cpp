//===- ParetoOutput.cpp - Frontiers as table, JSON and drawing ------------===//
//
// See Pareto.h.
//
//===----------------------------------------------------------------------===//

#include "synth/Json.h"
#include "synth/Pareto.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

using namespace ccn;
using namespace ccn::synth;
using nlohmann::json;

std::string ccn::synth::paretoTable(const ParetoResult &result,
                                    const Fabric &fabric) {
  std::ostringstream out;
  char line[256];
  std::snprintf(line, sizeof line, "%4s %4s %4s  %-8s %-10s %10s %10s  %s\n",
                "C", "S", "R", "R/C", "bound", "1 KB us", "1 GB us", "proof");
  out << line;
  for (const ParetoPoint &p : result.points) {
    Result<Timing> small = simulate(p.schedule, fabric, 1e3);
    Result<Timing> large = simulate(p.schedule, fabric, 1e9);
    std::snprintf(
        line, sizeof line, "%4d %4d %4d  %-8s %-10s %10.2f %10.1f  %s\n",
        p.chunks, p.steps, p.rounds, p.rate().str().c_str(),
        p.lowerBound.str().c_str(), small ? small->eventUs : 0.0,
        large ? large->eventUs : 0.0, std::string(proofName(p.proof)).c_str());
    out << line;
  }
  std::string open;
  for (int steps : result.open)
    open += (open.empty() ? "" : ", ") + std::to_string(steps);
  if (result.reachesBandwidthBound)
    out << (open.empty() ? "complete: the" : "the")
        << " last point reaches the bound of all cuts, "
        << result.bandwidthBound.str() << " rounds a chunk"
        << (open.empty() ? "" : "; out of time for steps " + open) << "\n";
  else
    out << (result.outOfTime ? "out of time" : "not complete")
        << ": the bound of all cuts is " << result.bandwidthBound.str()
        << " rounds a chunk\n";
  return out.str();
}

std::string ccn::synth::paretoJson(const ParetoResult &result,
                                   const Fabric &fabric) {
  std::ostringstream out;
  out << "{\n\"ccn_pareto\": 1,\n\"topology\": "
      << json(fabric.topology.name).dump() << ",\n\"bandwidth_bound\": \""
      << result.bandwidthBound.str() << "\",\n\"complete\": "
      << (result.reachesBandwidthBound && result.open.empty() ? "true"
                                                              : "false")
      << ",\n\"points\": [";
  for (size_t i = 0; i < result.points.size(); ++i) {
    const ParetoPoint &p = result.points[i];
    out << (i ? ",\n" : "\n") << "{\"chunks\": " << p.chunks
        << ", \"steps\": " << p.steps << ", \"rounds\": " << p.rounds
        << ", \"bound\": \"" << p.lowerBound.str() << "\", \"proof\": \""
        << proofName(p.proof) << "\", \"method\": " << json(p.method).dump()
        << ",\n\"schedule\": " << writeSchedule(p.schedule, &fabric) << "}";
  }
  out << "]\n}\n";
  return out.str();
}

static Fraction parseFraction(const JsonAt &at) {
  std::string text = at.string();
  long long num = 0, den = 1;
  int used = std::sscanf(text.c_str(), "%lld/%lld", &num, &den);
  if (used < 1 || num < 0 || den < 1)
    at.fail("expected a fraction, found \"" + text + "\"");
  return Fraction(num, den);
}

Result<std::vector<ParetoPoint>> ccn::synth::parsePareto(std::string_view text,
                                                         std::string_view where,
                                                         Fabric &fabric) {
  try {
    json document = parseJson(text, where);
    JsonAt root(document, std::string(where), "");
    root.onlyKeys(
        {"ccn_pareto", "topology", "bandwidth_bound", "complete", "points"});
    root.at("ccn_pareto").integer(1, 1);
    std::vector<ParetoPoint> points;
    JsonAt list = root.at("points");
    for (size_t i = 0, e = list.arraySize(); i < e; ++i) {
      JsonAt at = list.at(i);
      ParetoPoint p;
      p.chunks = static_cast<int>(at.at("chunks").integer(1, 1 << 20));
      p.steps = static_cast<int>(at.at("steps").integer(1, 1 << 20));
      p.rounds = static_cast<int>(at.at("rounds").integer(1, 1 << 20));
      p.lowerBound = parseFraction(at.at("bound"));
      p.method = at.at("method").string();
      std::string proof = at.at("proof").string();
      for (Proof candidate :
           {Proof::Optimal, Proof::BySolver, Proof::UpToChunks, Proof::Open})
        if (proof == proofName(candidate))
          p.proof = candidate;
      Result<Schedule> schedule =
          parseSchedule(at.at("schedule").json().dump(), where, &fabric);
      if (!schedule)
        return schedule.status();
      std::string wrong = check(*schedule, &fabric);
      if (!wrong.empty())
        at.at("schedule").fail(wrong);
      if (static_cast<int>(schedule->steps.size()) != p.steps ||
          schedule->totalRounds() != p.rounds)
        at.at("schedule")
            .fail("expected " + std::to_string(p.steps) + " steps and " +
                  std::to_string(p.rounds) + " rounds, found " +
                  std::to_string(schedule->steps.size()) + " and " +
                  std::to_string(schedule->totalRounds()));
      p.schedule = std::move(*schedule);
      points.push_back(std::move(p));
    }
    return points;
  } catch (const JsonError &e) {
    return error(e.what());
  }
}

Result<std::string> ccn::synth::paretoSvg(const ParetoResult &result,
                                          const Fabric &fabric) {
  // Both axes are logarithmic: 1 KB to 1 GB, and the times that occur.
  constexpr double left = 70, top = 30, width = 560, height = 360;
  constexpr int samples = 61;
  static const char *colors[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                 "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};
  std::vector<std::vector<double>> times;
  double low = 1e300, high = 0;
  for (const ParetoPoint &p : result.points) {
    times.emplace_back();
    for (int i = 0; i < samples; ++i) {
      Result<Timing> t = simulate(p.schedule, fabric,
                                  std::pow(10, 3 + 6.0 * i / (samples - 1)));
      if (!t)
        return t.status();
      double us = std::max(t->eventUs, 1e-3);
      times.back().push_back(us);
      low = std::min(low, us);
      high = std::max(high, us);
    }
  }
  if (result.points.empty())
    return error("there is no point to draw");
  double lo = std::floor(std::log10(low)), hi = std::ceil(std::log10(high));
  if (hi <= lo)
    hi = lo + 1;
  auto y = [&](double us) {
    return top + height * (hi - std::log10(us)) / (hi - lo);
  };
  std::ostringstream out;
  out.precision(5);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" "
         "height=\"450\" font-family=\"sans-serif\" font-size=\"12\">\n"
         "<rect width=\"860\" height=\"450\" fill=\"white\"/>\n";
  static const char *sizes[] = {"1 KB",  "10 KB",  "100 KB", "1 MB",
                                "10 MB", "100 MB", "1 GB"};
  for (int i = 0; i <= 6; ++i) {
    double x = left + width * i / 6;
    out << "<line x1=\"" << x << "\" y1=\"" << top << "\" x2=\"" << x
        << "\" y2=\"" << top + height << "\" stroke=\"#ddd\"/>\n<text x=\"" << x
        << "\" y=\"" << top + height + 18 << "\" text-anchor=\"middle\">"
        << sizes[i] << "</text>\n";
  }
  for (double e = lo; e <= hi; ++e) {
    double at = y(std::pow(10, e));
    out << "<line x1=\"" << left << "\" y1=\"" << at << "\" x2=\""
        << left + width << "\" y2=\"" << at
        << "\" stroke=\"#ddd\"/>\n<text x=\"" << left - 6 << "\" y=\"" << at + 4
        << "\" text-anchor=\"end\">" << std::pow(10, e) << " us</text>\n";
  }
  for (size_t i = 0; i < result.points.size(); ++i) {
    const ParetoPoint &p = result.points[i];
    const char *color = colors[i % 8];
    out << "<polyline fill=\"none\" stroke=\"" << color
        << "\" stroke-width=\"1.5\" points=\"";
    for (int k = 0; k < samples; ++k)
      out << left + width * k / (samples - 1) << "," << y(times[i][k]) << " ";
    out << "\"/>\n<text x=\"" << left + width + 16 << "\" y=\""
        << top + 14 + 18 * static_cast<double>(i) << "\" fill=\"" << color
        << "\">(" << p.chunks << "," << p.steps << "," << p.rounds << ") "
        << (p.proof == Proof::Optimal || p.proof == Proof::BySolver ? "optimal"
                                                                    : "")
        << "</text>\n";
  }
  out << "<text x=\"" << left << "\" y=\"" << top - 10
      << "\">predicted time of " << result.points[0].schedule.collective.name
      << " on " << fabric.topology.name << "</text>\n</svg>\n";
  return out.str();
}
