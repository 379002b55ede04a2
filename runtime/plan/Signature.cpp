//===- Signature.cpp - The signature of a program -------------------------===//
//
// A signature has the types as the language writes them, with shapes and
// layouts.
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Signature.h"

namespace ccn::runtime {

std::string signatureOf(const std::string &program, const Plan &plan) {
  std::string text = program;
  for (size_t i = 0; i < plan.mesh.size(); ++i)
    text += (i ? ", " : " (") + plan.mesh[i].name + " = " +
            std::to_string(plan.mesh[i].size);
  text += plan.mesh.empty() ? ":" : "):";
  const char *separator = " ";
  for (const Argument &argument : plan.arguments) {
    const char *kind = argument.kind == ArgumentKind::Input   ? "in "
                       : argument.kind == ArgumentKind::InOut ? "inout "
                                                              : "out ";
    text += separator + (kind + argument.name) + " " + argument.typeName +
            (argument.scattered ? " scattered" : "");
    separator = ", ";
  }
  return text;
}

} // namespace ccn::runtime
