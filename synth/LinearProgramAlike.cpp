//===- LinearProgramAlike.cpp - Linear programs with symmetries -----------===//
//
// Colour refinement: columns and rows start with a colour for their bounds and
// costs, and get a new one from the coefficients and colours of what they meet,
// until nothing changes. One column and one row of each colour remain.
//
//===----------------------------------------------------------------------===//

#include "synth/LinearProgram.h"

#include <algorithm>
#include <unordered_map>

using namespace ccn::synth;

namespace ccn::synth {

class Colouring {
public:
  Colouring(const LinearProgram &program, const LinearProgram::Terms &cost)
      : rows(program.rows) {
    size_t columns = program.lowerBounds.size();
    std::vector<uint64_t> hashes(columns);
    for (size_t c = 0; c < columns; ++c) {
      auto it = cost.find(static_cast<int>(c) + 1);
      hashes[c] = mix(mix(1, program.lowerBounds[c]),
                      it == cost.end() ? 0 : it->second);
    }
    columnColours = number(hashes, column);
    hashes.assign(rows.size(), 0);
    for (size_t r = 0; r < rows.size(); ++r)
      hashes[r] =
          mix(mix(2, static_cast<int64_t>(rows[r].relation)), rows[r].bound);
    rowColours = number(hashes, row);
    while (refine())
      ;
  }

  /// The colour of each column and row, counted from 0.
  std::vector<int> column, row;
  int columnColours = 0, rowColours = 0;

private:
  static uint64_t mix(uint64_t hash, int64_t value) {
    uint64_t x = hash * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(value);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  /// Numbers of equal hashes, by first occurrence.
  static int number(const std::vector<uint64_t> &hashes,
                    std::vector<int> &colours) {
    std::unordered_map<uint64_t, int> known;
    colours.resize(hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i)
      colours[i] = known.emplace(hashes[i], static_cast<int>(known.size()))
                       .first->second;
    return static_cast<int>(known.size());
  }
  bool refine() {
    std::vector<uint64_t> hashes(row.size());
    for (size_t r = 0; r < row.size(); ++r) {
      uint64_t sum = 0;
      for (auto [c, a] : rows[r].terms)
        sum += mix(mix(3, a), column[c - 1]);
      hashes[r] = mix(sum, row[r]);
    }
    int before = rowColours + columnColours;
    rowColours = number(hashes, row);
    hashes.assign(column.size(), 0);
    for (size_t r = 0; r < row.size(); ++r)
      for (auto [c, a] : rows[r].terms)
        hashes[c - 1] += mix(mix(4, a), row[r]);
    for (size_t c = 0; c < column.size(); ++c)
      hashes[c] = mix(hashes[c], column[c]);
    columnColours = number(hashes, column);
    return rowColours + columnColours > before;
  }

  const std::vector<LinearProgram::Row> &rows;
};

} // namespace ccn::synth

Answer LinearProgram::minimizeAlike(const Terms &cost, const Limits &limits,
                                    std::vector<double> &values,
                                    std::vector<double> &duals) const {
  Colouring colours(*this, cost);
  LinearProgram small;
  std::vector<char> seen(colours.columnColours);
  std::vector<int64_t> alike(colours.rowColours);
  small.lowerBounds.resize(colours.columnColours);
  Terms smallCost;
  for (size_t c = 0; c < lowerBounds.size(); ++c)
    small.lowerBounds[colours.column[c]] = lowerBounds[c];
  for (auto [c, a] : cost)
    smallCost[colours.column[c - 1] + 1] += a;
  for (int colour : colours.row)
    ++alike[colour];
  seen.assign(colours.rowColours, 0);
  // Rows are met in the order of their colours.
  for (size_t r = 0; r < rows.size(); ++r) {
    if (seen[colours.row[r]])
      continue;
    seen[colours.row[r]] = 1;
    Terms terms;
    for (auto [c, a] : rows[r].terms)
      terms[colours.column[c - 1] + 1] += a;
    small.addRow(terms, rows[r].relation, rows[r].bound);
  }
  std::vector<int> position(colours.rowColours);
  std::vector<char> placed(colours.rowColours);
  int next = 0;
  for (int colour : colours.row)
    if (!placed[colour]) {
      placed[colour] = 1;
      position[colour] = next++;
    }
  std::vector<double> x, y;
  Answer answer = small.minimize(smallCost, limits, x, y);
  if (answer != Answer::Yes)
    return answer;
  values.assign(lowerBounds.size() + 1, 0);
  for (size_t c = 0; c < lowerBounds.size(); ++c)
    values[c + 1] = x[colours.column[c] + 1];
  duals.assign(rows.size(), 0);
  for (size_t r = 0; r < rows.size(); ++r)
    duals[r] = y[position[colours.row[r]]] /
               static_cast<double>(alike[colours.row[r]]);
  return Answer::Yes;
}
