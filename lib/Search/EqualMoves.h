//===- EqualMoves.h - One move in many equal places -------------*- C++ -*-===//
//
// A program of many layers has as many places for each move. Made in all of
// them at once, a move is one step of a search, however many layers there are.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_LIB_SEARCH_EQUALMOVES_H
#define CCN_LIB_SEARCH_EQUALMOVES_H

#include "lib/Search/FindMoves.h"

namespace ccn::search {

/// Moves that are to be made together, each of which may be refused.
using JoinedMoves = std::vector<Move>;

/// Joins moves of equal lines on equal operations, but for names. Of three or
/// more equal moves the first is there by itself, too; of two, both are; of the
/// same move, one. The results of lines get names that nothing has and that are
/// not in `taken`. The order is that of the first of each.
std::vector<JoinedMoves> joinEqualMoves(llvm::ArrayRef<Move> moves,
                                        ProgramOp program,
                                        const llvm::StringSet<> &taken);

} // namespace ccn::search

#endif // CCN_LIB_SEARCH_EQUALMOVES_H
