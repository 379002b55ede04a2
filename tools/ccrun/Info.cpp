//===- Info.cpp - What a package is ---------------------------------------===//
//
// For people; what programs want to know they read from the package.
//
//===----------------------------------------------------------------------===//

#include "tools/ccrun/Report.h"

#include "runtime/PlanFields.h"

#include <algorithm>
#include <ostream>

using namespace ccn;
using namespace ccn::runtime;

void ccn::printInfo(std::ostream &os, const Package &package) {
  const Plan &plan = package.plan;
  os << "program " << package.program;
  if (!package.schedule.empty())
    os << ", schedule " << package.schedule;
  os << "\ntarget " << package.target << ", compiler "
     << (package.compiler.empty() ? "unknown" : package.compiler) << "\nhash "
     << package.hash << "\nmesh";
  for (const MeshAxis &axis : plan.mesh)
    os << " " << axis.name << " = " << axis.size << ",";
  os << " " << plan.ranks.size()
     << (plan.ranks.size() == 1 ? " rank" : " ranks") << "\nreference plan "
     << (package.reference ? "yes" : "no") << "\nerror bounds "
     << (package.bounds ? "yes" : "no") << "\n";

  os << "arguments\n";
  for (const Argument &argument : plan.arguments) {
    const char *kind = argument.kind == ArgumentKind::InOut    ? "inout "
                       : argument.kind == ArgumentKind::Result ? "result "
                                                               : "";
    os << "  " << kind << argument.name << ": " << argument.typeName;
    if (argument.scattered)
      os << " scattered";
    os << "; array " << describe(argument.type, argument.shape) << "\n";
  }

  if (plan.ranks.empty())
    return;
  const RankPlan &first = plan.ranks.front();
  os << "launches of " << first.streams
     << (first.streams == 1 ? " stream\n" : " streams\n");
  for (size_t i = 0; i < first.launches.size(); ++i) {
    const Launch &launch = first.launches[i];
    os << "  " << i << " " << launch.name << ": stream " << launch.stream;
    for (size_t j = 0; j < launch.waits.size(); ++j)
      os << (j ? ", " : ", after ") << launch.waits[j];
    // "3 rows, 1 barrier", in the order of their first.
    std::vector<std::pair<std::string_view, int>> kinds;
    for (const Part &part : launch.parts) {
      std::string_view kind = names<Part>[part.index()];
      auto same = std::find_if(kinds.begin(), kinds.end(),
                               [&](const auto &k) { return k.first == kind; });
      if (same == kinds.end())
        kinds.emplace_back(kind, 1);
      else
        ++same->second;
    }
    for (size_t j = 0; j < kinds.size(); ++j)
      os << (j ? ", " : "; ") << kinds[j].second << " " << kinds[j].first;
    os << "\n";
  }
  int64_t privateBytes = 0, symmetricBytes = 0;
  for (const RankPlan &rank : plan.ranks) {
    privateBytes = std::max(privateBytes, rank.privateBytes);
    symmetricBytes = std::max(symmetricBytes, rank.symmetricBytes);
  }
  os << "memory of a rank: " << privateBytes << " bytes private, "
     << symmetricBytes
     << " bytes symmetric\nobject code: " << package.objectCode.size()
     << " bytes";
  for (size_t i = 0; i < package.cpuFeatures.size(); ++i)
    os << (i ? ", " : "; needs ") << package.cpuFeatures[i];
  os << "\n";
}
