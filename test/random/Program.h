//===- Program.h - A random program as text ---------------------*- C++ -*-===//
//
// A file with one program and one schedule, in parts that can be left out: what
// fails is made smaller by that.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_TEST_RANDOM_PROGRAM_H
#define CCN_TEST_RANDOM_PROGRAM_H

#include <string>
#include <vector>

namespace ccn::random {

struct Program {
  /// `mesh m (a = 2, b = 3)`.
  std::string mesh;
  /// `fn h(q0, q1) = q0 + q1`.
  std::vector<std::string> functions;
  /// `inout p: f32[3, 4] sliced(0, a)`.
  std::vector<std::string> arguments;
  /// `let v = x + y`, `p <- v`.
  std::vector<std::string> statements;
  /// What is returned.
  std::vector<std::string> results;
  /// The schedule `t` of the program `f`.
  std::vector<std::string> lines;

  std::string text() const;
  /// The line of the text, from 1, on which a line of the schedule stands.
  unsigned textLine(size_t scheduleLine) const;
};

} // namespace ccn::random

#endif // CCN_TEST_RANDOM_PROGRAM_H
