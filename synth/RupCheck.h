//===- RupCheck.h - Checks proofs that clauses cannot hold ------*- C++ -*-===//
//
// A forward checker of clausal proofs (the part of DRAT in which every lemma
// follows by unit propagation, "reverse unit propagation"). It shares no code
// with the solvers that write such proofs.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_RUPCHECK_H
#define CCN_SYNTH_RUPCHECK_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ccn::synth {

/// Variables count from 1; a literal is a variable or its negative.
struct Cnf {
  int variables = 0;
  std::vector<std::vector<int>> clauses;
};

/// Empty if the proof shows that the clauses cannot hold together; else what is
/// wrong with it. The text has a lemma a line, literals that end with 0, and
/// "d" before a clause that is no longer needed. `lemmas`, if it is given,
/// receives how many lemmas were checked.
std::string checkRup(const Cnf &cnf, std::string_view proof,
                     int64_t *lemmas = nullptr);

} // namespace ccn::synth

#endif // CCN_SYNTH_RUPCHECK_H
