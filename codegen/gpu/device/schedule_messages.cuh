//===- schedule_messages.cuh - Synthesized collectives by messages --------===//
//
// Follows schedule_sums.cuh, which says what the tables of actions are.
//
//===----------------------------------------------------------------------===//

/// Executes what is in the present segment of a schedule. As nobody waits,
/// slots need one buffer.
template <class T, Kind kind, class From, class To>
__device__ inline void
executeScheduleByMessages(const CcnContext &c, const i64 *table,
                          const From &from, const To &to) {
  for (const i64 *action = table; action[0] != CCN_END_OF_SCHEDULE;
       action = nextAction(action))
    if (isSum(action) && action[6] == c.segment)
      formSum<T, kind>(c, action, 0, from, to);
}
