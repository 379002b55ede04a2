//===- Program.cpp - A random program as text -----------------------------===//
//
// Puts the parts together, each on a line of its own.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include <algorithm>

using namespace ccn::random;

std::string Program::text() const {
  std::string text = mesh + "\n";
  for (const std::string &function : functions)
    text += function + "\n";
  text += "program f(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ",\n          " : "") + arguments[i];
  text += ") {\n";
  for (const std::string &statement : statements)
    text += "  " + statement + "\n";
  for (size_t i = 0; i < results.size(); ++i)
    text += (i ? ", " : "  return ") + results[i];
  text += results.empty() ? "}\n" : "\n}\n";
  if (lines.empty())
    return text;
  text += "schedule t for f {\n";
  for (const std::string &line : lines)
    text += "  " + line + "\n";
  return text + "}\n";
}

unsigned Program::textLine(size_t scheduleLine) const {
  // The mesh, the arguments, the end of the program, the schedule's head.
  size_t before = 1 + functions.size() + std::max<size_t>(arguments.size(), 1) +
                  statements.size() + !results.empty() + 2;
  return static_cast<unsigned>(before + scheduleLine + 1);
}
