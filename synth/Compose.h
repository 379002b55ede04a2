//===- Compose.h - Schedules out of copying ones ----------------*- C++ -*-===//
//
// What needs no search: collectives that combine from those that copy, and the
// schedules of textbooks.
//
//===----------------------------------------------------------------------===//

#ifndef CCN_SYNTH_COMPOSE_H
#define CCN_SYNTH_COMPOSE_H

#include "synth/Schedule.h"

#include <functional>

namespace ccn::synth {

/// A schedule of a copying collective on a fabric.
using CopyingEngine =
    std::function<Result<Schedule>(const Fabric &, CollectiveKind)>;

/// all_gather and broadcast as `engine` makes them; reduce_scatter and reduce
/// from those on the reversed fabric, turned round; all_reduce as a
/// reduce_scatter and an all_gather, for which the engine must choose equally
/// many chunks a rank. Fails where the engine does, or the kind is another.
Result<Schedule> scheduleByCopies(const Fabric &fabric, CollectiveKind kind,
                                  int root, const CopyingEngine &engine);

/// One step in which each chunk goes from each rank that has it (or contributes
/// to it) to each that needs it. A chunk that several ranks have as it is comes
/// from the first of them.
Schedule directSchedule(const Collective &collective);

/// all_gather of one chunk a rank in log2(ranks) steps: ranks exchange all they
/// have with partners at half the distance each time, so that the most data
/// goes to the nearest. `ranks` is a power of two.
Schedule doublingAllGather(int ranks);

/// all_reduce of one chunk in log2(ranks) steps: partners exchange their sums.
Schedule doublingAllReduce(int ranks);

/// broadcast of one chunk down a binomial tree.
Schedule binomialBroadcast(int ranks, int root);

/// broadcast of some chunks, which follow each other from rank to rank.
Schedule chainBroadcast(int ranks, int root, int chunks);

/// broadcast over the links of all GPUs of the root's node: the buffer is cut
/// into a part for each of them, its relay, that passes it to the others of its
/// node and to its counterpart in the next node, which does the same, and so on
/// from node to node. What the root would pass on in its own node, others do
/// for it in turn. With one node the root is no relay: a switch then carries
/// the buffer once into each GPU. Each part has `pieces` chunks that follow
/// each other. `nodes` are the ranks of each node, of equal number.
Schedule relayBroadcast(std::vector<std::vector<int>> nodes, int root,
                        int pieces);

/// Gives every send without an edge the fabric's first one, or with `spread`
/// one after the other where there are several, and every step the rounds it
/// needs. Returns an empty text, or which ranks no edge joins.
std::string placeOn(Schedule &schedule, const Fabric &fabric,
                    bool spread = false);

} // namespace ccn::synth

#endif // CCN_SYNTH_COMPOSE_H
