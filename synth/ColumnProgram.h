//===- ColumnProgram.h - A linear program that grows by columns -*- C++ -*-===//
//
// For programs with more columns than can be listed: those that gain by the
// prices of the rows are added as they are found, and each solution starts from
// the one before. In floating point, by Clp.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_COLUMNPROGRAM_H
#define CCN_SYNTH_COLUMNPROGRAM_H

#include "synth/Sat.h"

#include <memory>
#include <utility>
#include <vector>

class ClpSimplex;

namespace ccn::synth {

/// Minimizes the cost of columns, each at least 0.
class ColumnProgram {
public:
  /// A row's sum is at most `atMost[row]`, or equal to it if `equal[row]`.
  ColumnProgram(const std::vector<double> &atMost,
                const std::vector<char> &equal);
  ~ColumnProgram();
  ColumnProgram(const ColumnProgram &) = delete;
  ColumnProgram &operator=(const ColumnProgram &) = delete;

  /// Adds a column, a list of rows with coefficients; returns its number.
  int addColumn(double cost, const std::vector<std::pair<int, double>> &terms);
  /// Yes: `values` are those of the columns, `duals` those of the rows.
  Answer minimize(const Limits &limits, std::vector<double> &values,
                  std::vector<double> &duals);

private:
  std::unique_ptr<ClpSimplex> simplex;
};

} // namespace ccn::synth

#endif // CCN_SYNTH_COLUMNPROGRAM_H
