//===- Shrink.cpp - Smaller programs that fail ----------------------------===//
//
// Leaves out one part after the other, from the end, until none can be left
// out.
//
//===----------------------------------------------------------------------===//

#include "Shrink.h"

using namespace ccn::random;

Program ccn::random::shrink(Program program,
                            const std::function<bool(const Program &)> &fails,
                            unsigned attempts) {
  using Part = std::vector<std::string> Program::*;
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (Part part : {&Program::lines, &Program::results, &Program::statements,
                      &Program::functions, &Program::arguments})
      for (size_t i = (program.*part).size(); i-- > 0;) {
        if (attempts-- == 0)
          return program;
        Program less = program;
        (less.*part).erase((less.*part).begin() + static_cast<ptrdiff_t>(i));
        if (!fails(less))
          continue;
        program = std::move(less);
        smaller = true;
      }
  }
  return program;
}
